"""Seconds of each stage by number of threads, for a machine with many cores: a table on stdout.

    python benchmarks/threads.py [number of points, default 1000000] [tree: that stage alone]

Blobs in 20 dimensions; the best of three runs per stage, and its efficiency, T(1) / (p·T(p)).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import bvdt
from bvdt.lifting import lift
from bvdt.neighbors import neighbor_graph
from bvdt.tree import ward_tree


def best(run: Callable[[], Any], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def stages(X: Any, threads: int, tree_alone: bool) -> dict[str, float]:
    lifted = lift(X, "squared_euclidean")
    rng = np.random.default_rng
    trees = {"tree": best(lambda: ward_tree(lifted, random_state=0, n_jobs=threads))}
    if tree_alone:
        return trees
    op = bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=15, random_state=0, n_jobs=threads)
    tree = op.members[0]
    V = rng(0).random((len(X), 20))
    labels = np.full(len(X), -1)
    labels[::100] = np.arange(len(labels[::100])) % 10
    spread = bvdt.LabelPropagation("squared_euclidean", blend=None, n_jobs=threads)
    return trees | {
        "search": best(lambda: neighbor_graph(lifted, 15, rng(0), threads), 1),
        "product of the tree": best(lambda: tree @ V),
        "product with the near field": best(lambda: op @ V),
        "symmetrised product": best(lambda: op.mean_with_transpose(V)),
        "propagation": best(lambda: spread.fit(None, labels, operator=op), 1),
    }


def main(n_points: int, tree_alone: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 20))[rng.integers(50, size=n_points)] + rng.normal(size=(n_points, 20))
    counts = [count for count in (1, 2, 4, 8, 16) if count <= len(os.sched_getaffinity(0))]
    measured = {count: stages(X, count, tree_alone) for count in counts}
    told = [count for count in counts if count >= 8] or counts[-1:]
    titles = [f"{count}: s" for count in counts] + [f"efficiency at {count}" for count in told]
    print(f"| stage | {' | '.join(titles)} |")
    print("|---" * (len(titles) + 1) + "|")
    for stage in measured[1]:
        seconds = [measured[count][stage] for count in counts]
        cells = [f"{value:.3f}" for value in seconds]
        cells += [f"{seconds[0] / (count * measured[count][stage]):.2f}" for count in told]
        print(f"| {stage} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, "tree" in sys.argv[2:])
