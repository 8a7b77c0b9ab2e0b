"""Does ``quality``'s interval hold the exact mean KL? BBC News, 100 seeds."""

from __future__ import annotations

import sys

import bvdt
from corpora import counts


def run(tree: str = "ward") -> None:
    """Prints how many of 100 intervals hold the value of all rows."""
    op = bvdt.transition_matrix(
        counts("bbc"), "gid", smoothing=0.01, bandwidth=1.0, tree=tree, random_state=0
    )
    truth = op.quality(n_rows=op.shape[0])["kl"]
    reports = [op.quality(random_state=seed) for seed in range(100)]
    held = sum(r["kl_low"] <= truth <= r["kl_high"] for r in reports)
    print(reports[0])
    print(f"exact mean KL {truth:.3f}; held by {held} of 100 intervals (≥ 95)")


if __name__ == "__main__":
    run(*sys.argv[1:2])
