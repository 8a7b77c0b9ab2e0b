"""
Single cells
============

Counts of 400 genes in 2 000 simulated cells of six types, whose depths differ by more than their types do.
Thirty labeled cells name the others. None of the thirty is of the sixth type: its cells get a wrong name,
and the map shows that the name is unsure.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from bvdt import LabelPropagation, Map

rng = np.random.default_rng(0)
marker = np.exp(1.2 * rng.normal(size=(6, 400)) * (rng.random((6, 400)) < 0.15))
profile = normalize(rng.gamma(0.5, 1, 400) * marker, norm="l1")
truth = rng.integers(0, 6, 2000)
depth = 1500 * np.exp(0.6 * rng.normal(size=(2000, 1)))
counts = rng.poisson(profile[truth] * depth)

# Depth taken out, logarithms, principal components: what the usual pipelines compare.
logs = np.log1p(1e4 * normalize(counts.astype(float), norm="l1"))
scores = PCA(20, random_state=0).fit_transform(logs)

few = np.where(np.arange(2000) < 30, truth, -1)
model = LabelPropagation("squared_euclidean", n_neighbors=15, random_state=0).fit(scores, few)
place = Map("squared_euclidean", random_state=0).fit_transform(scores)
sure = model.label_distributions_.max(axis=1)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.scatter(*place.T, c=model.transduction_, cmap="tab10", s=3)
left.scatter(*place[:30].T, facecolors="none", edgecolors="black", s=30)
known = np.isin(truth, truth[:30])
left.set_title(f"of types with labels {(model.transduction_ == truth)[known].mean():.3f} right")
points = right.scatter(*place.T, c=sure, s=3)
right.set_title("how sure")
fig.colorbar(points, ax=right)
for axes in (left, right):
    axes.set_xticks([])
    axes.set_yticks([])
