"""The engine: from the points to the operator, and products with it."""

from __future__ import annotations

import numpy as np

import bvdt

N, D = 50_000, 20


def points() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(10, D))[rng.integers(0, 10, N)] * 3 + rng.normal(size=(N, D))


class Dense:
    """Blobs, 50 000 × 20."""

    def setup(self) -> None:
        self.X = points()

    def time_one_tree(self) -> None:
        bvdt.transition_matrix(self.X, "squared_euclidean", random_state=0)

    def time_near_field(self) -> None:
        bvdt.transition_matrix(self.X, "squared_euclidean", n_neighbors=10, random_state=0)

    def peakmem_one_tree(self) -> None:
        bvdt.transition_matrix(self.X, "squared_euclidean", random_state=0)


class Products:
    """Ten columns at 50 000 points."""

    params = ([0, 10],)
    param_names = ("n_neighbors",)

    def setup(self, near: int) -> None:
        self.op = bvdt.transition_matrix(points(), "squared_euclidean", n_neighbors=near, random_state=0)
        self.V = np.random.default_rng(1).random((N, 10))

    def time_product(self, near: int) -> None:
        self.op @ self.V

    def time_transposed(self, near: int) -> None:
        self.op.T @ self.V

    def time_labels(self, near: int) -> None:
        bvdt.propagate_labels(self.op, self.V * (np.arange(N) % 100 == 0)[:, None])


class Sparse:
    """Generated documents, 5 000, counts by the generalised I-divergence."""

    def setup(self) -> None:
        self.counts = bvdt.datasets.make_documents(5000, n_classes=5, random_state=0).counts

    def time_one_tree(self) -> None:
        bvdt.transition_matrix(self.counts, "gid", random_state=0)

    def time_refined(self) -> None:
        bvdt.transition_matrix(self.counts, "gid", random_state=0).refine(50_000)
