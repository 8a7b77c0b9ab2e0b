"""Speed and memory of the operator: products against CSR and against copying, the optimum, bytes per point.

Data are random; the tree's leaves are in random order, the worst case for memory. Each time is the best of
several. A 1-column product must move, a point: q 16, children 4, order 4, v 8 bytes read, out 8 written: 40
bytes; the time to compare with is NumPy's for copying an array of as many. (The product also
reads and writes the result once more for the part above the subtrees.) Run: python benchmarks/engine.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from bvdt import Tree
from bvdt.blocks import BlockPartition
from bvdt.blocks.optimum import optimum
from bvdt.operators.tree_product import prepared

SIZES = (50_000, 1_000_000)  # the movie reviews' number of documents; a million
THREADS = 2


def best(run: Callable[[], object], seconds: float = 2.0) -> float:
    """Shortest of repeated runs, in seconds."""
    run()
    times: list[float] = []
    while sum(times) < seconds or len(times) < 5:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def random_tree(n_points: int, rng: np.random.Generator) -> Tree:
    """Splits between 30 % and 70 %, leaves in random order."""
    sizes, stack = [], [n_points]
    while stack:
        size = stack.pop()
        sizes.append(size)
        if size > 1:
            left = min(max(1, round(size * rng.uniform(0.3, 0.7))), size - 1)
            stack += [size - left, left]
    return Tree.from_sizes(sizes, rng.permutation(n_points))


def copy_seconds(n_bytes: int) -> float:
    """Time NumPy needs to copy an array of that many bytes."""
    source, target = np.ones(n_bytes, np.uint8), np.empty(n_bytes, np.uint8)
    return best(lambda: np.copyto(target, source))


def run(n_points: int) -> None:
    """Prints the figures for one N."""
    rng = np.random.default_rng(0)
    tree = random_tree(n_points, rng)
    coarsest = BlockPartition.coarsest(tree)
    dbar = rng.exponential(size=coarsest.n_blocks)
    product = prepared(tree, coarsest, optimum(dbar, tree, coarsest).q)
    seconds = {}
    for k in (1, 20):
        v = rng.random((n_points, k))
        out = np.empty_like(v)
        seconds[k] = best(lambda v=v, out=out: product.apply(v, "forward", out, THREADS))
    neighbors, first = rng.integers(n_points, size=10 * n_points), np.arange(0, 10 * n_points + 1, 10)
    knn = sparse.csr_array((rng.random(10 * n_points), neighbors, first), shape=(n_points, n_points))
    csr = best(lambda: knn @ v)
    n_bytes = 40 * n_points
    copy, half = copy_seconds(n_bytes), copy_seconds(n_bytes // 2)
    solve = best(lambda: optimum(dbar, tree, coarsest, n_jobs=THREADS))
    one, twenty = seconds[1], seconds[20]
    print(f"N = {n_points:,}, {THREADS} threads")
    print(f"  20 columns {1e3 * twenty:.2f} ms, CSR 10-NN {1e3 * csr:.2f} ms: {twenty / csr:.3f} (≤ 0.333)")
    print(f"  1 column {1e3 * one:.2f} ms")
    print(f"    copy of {n_bytes / 1e6:.0f} MB {1e3 * copy:.2f} ms: {one / copy:.2f} (≤ 2.5)")
    print(f"    copy that reads and writes as many together {1e3 * half:.2f} ms: {one / half:.2f}")
    print(f"  optimum {1e3 * solve:.2f} ms: {solve / one:.1f} × the 1-column product (< 12)")
    arrays = {"rows": coarsest.rows, "cols": coarsest.cols, "mean_divergence": dbar, "q": dbar}
    per_point = {name: array.nbytes / n_points for name, array in arrays.items()}
    per_point["product"] = product.prepared.nbytes / n_points
    print(f"  memory {sum(per_point.values()):.1f} bytes a point beyond tree and data (≤ 120): ", end="")
    print(", ".join(f"{name} {value:.1f}" for name, value in per_point.items()))


if __name__ == "__main__":
    for size in [int(a) for a in sys.argv[1:]] or SIZES:
        run(size)
