"""Sums of divergences over blocks of features: independent families multiply (section 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Float, checked_integer
from .._support.sparse import Points
from .base import BregmanDivergence
from .domain import Interval
from .family import GAUSSIAN, Family


class Product(BregmanDivergence):
    """d(x, y) = Σ_v d_v(x_v, y_v)/s_v over consecutive blocks of features, each with its scale.

    It is the divergence of φ(x) = Σ_v φ_v(x_v)/s_v. Where the parts have exponential families, their product
    is its own, each part at the bandwidth s_v. ``bvdt.Views`` makes one of matrices that are side by side.

    Parameters
    ----------
    parts : names of ``bvdt.divergences.get`` or instances.
    n_features : features of each block.
    scales : s_v > 0 of each part; None for 1.

    Examples
    --------
    >>> from bvdt.divergences import Product
    >>> both = Product(["gid", "squared_euclidean"], [1, 2], scales=[1.0, 2.0])
    >>> round(float(both.div([2.0, 0.0, 2.0], [1.0, 0.0, 0.0])), 4)
    1.3863
    """

    name = "product"
    separable = False
    domain = Interval()  # each part has its own

    def __init__(
        self,
        parts: Sequence[str | BregmanDivergence],
        n_features: Sequence[int],
        scales: Sequence[float] | None = None,
    ) -> None:
        from . import get

        self.parts = tuple(get(part) for part in parts)
        self.n_features = tuple(checked_integer(n, "n_features", 1) for n in n_features)
        self.scales = (1.0,) * len(self.parts) if scales is None else tuple(float(s) for s in scales)
        if not self.parts or not len(self.parts) == len(self.n_features) == len(self.scales):
            raise ValueError(
                f"product needs as many parts as n_features and scales, at least one; there are "
                f"{len(self.parts)}, {len(self.n_features)} and {len(self.scales)}"
            )
        if not all(0 < s < np.inf for s in self.scales):
            raise ValueError(f"product needs scales > 0; got {list(self.scales)}")

    @property
    def columns(self) -> list[slice]:
        """The features of each part."""
        ends = np.cumsum(self.n_features).tolist()
        return [slice(end - n, end) for end, n in zip(ends, self.n_features, strict=True)]

    @property
    def translation_invariant(self) -> bool:  # type: ignore[override]
        return all(part.translation_invariant for part in self.parts)

    def phi(self, X: Float) -> Float:
        return np.asarray(sum(part.phi_sum(x) / s for part, x, s in self._blocks(X)))

    def grad(self, X: Float) -> Float:
        return np.concatenate([part.grad(x) / s for part, x, s in self._blocks(X)], axis=-1)

    def grad_inverse(self, T: Float) -> Float:
        return np.concatenate([part.grad_inverse(s * t) for part, t, s in self._blocks(T)], axis=-1)

    def conjugate(self, T: Float) -> Float:
        return np.asarray(sum(part.conjugate_sum(s * t) / s for part, t, s in self._blocks(T)))

    def div(self, x: ArrayLike, y: ArrayLike) -> Float:
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        both = zip(self._blocks(x), self._blocks(y), strict=True)
        return np.asarray(sum(part.div(a, b) / s for (part, a, s), (_, b, _) in both))

    @property
    def family(self) -> Family | None:
        """The product of the parts' families, each at the bandwidth s_v; None where one has no density."""
        try:
            for part, s in zip(self.parts, self.scales, strict=True):
                part.log_scale(s)
        except ValueError:
            return None
        families = [part.family for part in self.parts if part.family is not None]
        gaussian = all(family.dispersion is GAUSSIAN for family in families)
        return Family(
            " × ".join(family.name for family in families),
            log_partition=self.conjugate,
            log_base_measure=lambda x: self.log_base(x) - self.phi(np.asarray(x, float)),
            dispersion=GAUSSIAN if gaussian else None,  # of others β is not one number per coordinate
        )

    def log_base(self, x: ArrayLike, bandwidth: float = 1.0) -> Float:
        return np.asarray(
            sum(part.log_base(b, s * bandwidth) for part, b, s in self._blocks(np.asarray(x, float)))
        )

    def log_scale(self, bandwidth: float) -> float:
        """The mean over the features of the parts'; refuses where one has no density."""
        parts = zip(self.parts, self.n_features, self.scales, strict=True)
        total = sum(n * part.log_scale(s * bandwidth) for part, n, s in parts)
        return float(total / sum(self.n_features))

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        if X.shape[1] != sum(self.n_features):
            raise ValueError(
                f"product needs {sum(self.n_features)} features, as its parts; X has {X.shape[1]}"
            )
        return self, X

    def _blocks(self, X: Float) -> Iterator[tuple[BregmanDivergence, Float, float]]:
        if X.shape[-1] != sum(self.n_features):
            raise ValueError(f"product needs {sum(self.n_features)} features; it got {X.shape[-1]}")
        for part, columns, s in zip(self.parts, self.columns, self.scales, strict=True):
            yield part, X[..., columns], s

    def __repr__(self) -> str:
        parts = ", ".join(f"{part!r}/{s:.4g}" for part, s in zip(self.parts, self.scales, strict=True))
        return f"Product({parts})"
