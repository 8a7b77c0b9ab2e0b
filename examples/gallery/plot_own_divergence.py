"""
A divergence of one's own
=========================

Any convex function gives a Bregman divergence. Here d(x, y) counts relative differences near zero like
squared Euclidean ones, and large values by their ratio: φ(x) = x·asinh(x) − √(1 + x²). The package checks
that the gradient belongs to the function.
"""

import matplotlib.pyplot as plt
import numpy as np

import bvdt
from bvdt.divergences import BregmanDivergence

soft = BregmanDivergence(phi=lambda x: x * np.arcsinh(x) - np.sqrt(1 + x**2), grad=np.arcsinh)

rng = np.random.default_rng(0)
X = np.sinh(rng.normal(size=(400, 1)) + np.repeat([-4, 0, 4], [130, 140, 130])[:, None])
fig, axes = plt.subplots(1, 2, figsize=(8, 4))
for axis, divergence in zip(axes, [soft, "squared_euclidean"], strict=True):
    op = bvdt.transition_matrix(X, divergence, random_state=0)
    order = X[:, 0].argsort()
    axis.imshow(np.log10(op.toarray()[np.ix_(order, order)] + 1e-6), cmap="viridis")
    axis.set_title(divergence if isinstance(divergence, str) else "our own")
    axis.set_xticks([])
    axis.set_yticks([])
fig.suptitle("log₁₀ of the steps' probabilities, points sorted by value")
fig.tight_layout()
