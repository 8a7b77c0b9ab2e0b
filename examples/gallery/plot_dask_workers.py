"""
Dask in two processes
=====================

The same walk on two worker processes. Each builds the trees of its own shards; a product needs one number per
shard and column from the others. The result does not depend on the number of workers. Worker processes read
this file anew, so what starts them stands under ``if __name__ == "__main__"``.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import bvdt.dask

rng = np.random.default_rng(0)
truth = rng.integers(0, 5, 40_000)
angle = 2 * np.pi * truth / 5
X = 4.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1) + rng.normal(size=(40_000, 2))
y = np.where(np.arange(40_000) < 25, truth, -1)

if __name__ == "__main__":
    processes = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with processes as cluster, Client(cluster) as client:
        points = da.from_array(X, chunks=(10_000, 2))
        model = bvdt.dask.LabelPropagation("squared_euclidean", random_state=0, client=client)
        found = model.fit(points, y).transduction_.compute()
        sizes = model.operator_.shard_sizes

    fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    left.scatter(*X[::10].T, c=found[::10], cmap="tab10", s=3)
    left.scatter(*X[:25].T, facecolors="none", edgecolors="black", s=30)
    left.set_title(f"classes from 25 labels: {(found == truth)[25:].mean():.3f} right")
    right.bar(range(len(sizes)), sizes)
    right.set_xlabel("shard")
    right.set_ylabel("points")
    right.set_title("points of the shards")
