"""KL(Q‖P) per row on BBC News as blocks are added: generalised I-divergence, smoothing 0.01, bandwidth 1."""

from __future__ import annotations

import sys
import time

import bvdt
from corpora import counts


def run(tree: str = "ward") -> None:
    """Prints the table; each operator refines the one before."""
    X = counts("bbc")
    n_points = X.shape[0]
    op = bvdt.transition_matrix(X, "gid", smoothing=0.01, bandwidth=1.0, tree=tree, random_state=0)
    print(f"BBC News, {n_points} documents, tree {tree!r}")
    print("blocks/N     blocks   bound/row   KL/row   of 2N   seconds")
    first = None
    for multiple in (2, 4, 8, 16, 64):
        start = time.perf_counter()
        op = op if multiple == 2 else op.refine(multiple * n_points)
        seconds = time.perf_counter() - start
        kl = op.quality(n_rows=n_points)["kl"]
        first = kl if first is None else first
        bound = op.lower_bound / n_points
        print(f"{multiple:8d} {op.n_blocks:10,} {bound:11.2f} {kl:8.2f} {kl / first:7.3f} {seconds:9.2f}")


if __name__ == "__main__":
    run(*sys.argv[1:2])
