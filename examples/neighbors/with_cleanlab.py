"""cleanlab's outliers and near duplicates on bvdt's graph: `python examples/neighbors/with_cleanlab.py`.

Needs cleanlab with its Datalab: the extra "libraries".
"""

from __future__ import annotations

import json

import numpy as np
from cleanlab import Datalab
from data import digits

from bvdt import NearestNeighbors


def issues(X: np.ndarray, **found_by: object) -> dict[str, set[int]]:
    lab = Datalab(data={"row": list(range(len(X)))}, verbosity=0)
    lab.find_issues(issue_types={"outlier": {}, "near_duplicate": {}}, **found_by)
    return {
        name: set(np.flatnonzero(lab.get_issues(name)[f"is_{name}_issue"]).tolist())
        for name in ("outlier", "near_duplicate")
    }


def compare(n: int = 800) -> dict[str, tuple[set[int], set[int]]]:
    """(cleanlab's default, the same on bvdt's graph): rows found, ten of them noise and ten copied."""
    rng = np.random.default_rng(0)
    X = digits()[0][:n]
    X = np.vstack([X, rng.uniform(0, 16, size=(10, X.shape[1])), X[:10]])
    graph = NearestNeighbors(10, metric="cosine", random_state=0).fit(X).kneighbors_graph(mode="distance")
    default, ours = issues(X, features=X), issues(X, knn_graph=graph)
    return {name: (default[name], ours[name]) for name in default}


if __name__ == "__main__":
    found = {name: [sorted(rows) for rows in both] for name, both in compare().items()}
    print(json.dumps(found))
