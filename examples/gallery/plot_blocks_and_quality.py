"""
The dial of blocks against quality
==================================

With 2(N − 1) blocks the matrix is coarse; each block that is split brings it nearer to the exact one. The
bound grows with every split, and the distance to the exact rows falls.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import bvdt

X, _ = load_digits(return_X_y=True)
op = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
exact = bvdt.exact_transition_matrix(X, "squared_euclidean", bandwidth=op.bandwidth)

blocks, distance = [], []
for times in (2, 4, 8, 16, 32, 64):
    finer = op.refine(times * len(X))
    blocks.append(finer.n_blocks / len(X))
    distance.append(np.abs(finer.toarray() - exact).sum(axis=1).mean() / 2)

plt.figure(figsize=(6, 3.5))
plt.plot(blocks, distance, "o-")
plt.xscale("log", base=2)
plt.xlabel("blocks per point")
plt.ylabel("total variation from the exact rows")
plt.grid(alpha=0.3)
plt.tight_layout()
