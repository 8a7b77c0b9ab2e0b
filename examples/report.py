"""Labels for scikit-learn's digits from a hundred, and a page to look at: python examples/report.py."""

from __future__ import annotations

import sys

from sklearn.datasets import load_digits

from bvdt import LabelPropagation
from bvdt.documents.holdout import measure_holdout
from bvdt.documents.predictions import Labeling
from bvdt.report import Report, map_coordinates, write_report

X, y = load_digits(return_X_y=True)
few = y.copy()
few[100:] = -1  # unlabeled
names = [f"digit {c}" for c in range(10)]

model = LabelPropagation("squared_euclidean", random_state=0).fit(X, few)
labeling = Labeling.of(model.label_distributions_, names, few)
report = Report(
    title="Handwritten digits",
    summary=[f"{len(y) - 100:,} images got their labels from 100."],
    ids=[f"image {i}" for i in range(len(y))],
    labels=labeling.labels,
    given=labeling.given,
    confidence=labeling.confidence,
    runner_up=labeling.runner_up,
    coordinates=map_coordinates(model.operator_, random_state=0),
    holdout=measure_holdout(model, model.operator_, few, names, random_state=0),
    suggestions=model.suggest(10).tolist(),
    operator=model.operator_,
)
path = sys.argv[1] if len(sys.argv) > 1 else "digits.html"
write_report(path, report)
print(f"{path}: {report.holdout}")
