"""The divergences of Table 1, each as φ, ∇φ, (∇φ)⁻¹, φ* and its exponential family."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse, special

from .._support.arrays import Float, Mask
from .._support.robust import ordinary
from .._support.sparse import Points, is_sparse
from .base import BregmanDivergence
from .domain import Interval
from .family import BINARY, COUNTS, GAMMA, GAUSSIAN, POSITIVE, Family

_POSITIVE = Interval(0.0, np.inf)
_LOG_2PI = float(np.log(2 * np.pi))
_SUM_TOLERANCE = 1e-6  # relative, of rows of one sum

# SciPy has no types; here are those of what is used.
_xlogy: Callable[[Float, Float], Float] = special.xlogy
_xlog1py: Callable[[Float, Float], Float] = special.xlog1py
_logit: Callable[[Float], Float] = special.logit
_expit: Callable[[Float], Float] = special.expit


class _Known(BregmanDivergence):
    """A divergence whose functions are its methods: nothing to check, nothing to store."""

    def __init__(self) -> None:
        pass

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class SquaredEuclidean(_Known):
    """φ = ½‖x‖², d = ½‖x − y‖²; the Gaussian with unit covariance. The bandwidth is Table 1's σ².

    Examples
    --------
    >>> from bvdt.divergences import SquaredEuclidean
    >>> float(SquaredEuclidean().div([3.0, 4.0], [0.0, 0.0]))
    12.5
    """

    name = "squared_euclidean"
    translation_invariant = True
    self_dual = True
    _family = Family(
        "Gaussian",
        log_partition=lambda theta: 0.5 * np.sum(theta**2, axis=-1),
        log_base_measure=lambda x: -0.5 * np.sum(x**2 + _LOG_2PI, axis=-1),
        dispersion=GAUSSIAN,
    )

    def phi(self, X: Float) -> Float:
        return 0.5 * np.square(X)

    def grad(self, X: Float) -> Float:
        return X

    def grad_inverse(self, T: Float) -> Float:
        return T

    def conjugate(self, T: Float) -> Float:
        return 0.5 * np.square(T)


class Cosine(SquaredEuclidean):
    """½‖x − y‖² of rows divided by their lengths, 1 − cos(x, y); a row of zeros is at 1 from all others.

    exp(−d/bandwidth) is the von Mises–Fisher kernel with κ = 1/bandwidth: for embeddings,
    of which only the direction counts. Not of Table 1.

    Parameters
    ----------
    empty : whether rows of zeros, such as texts without a known word, have a coordinate of their own, which
        is 1 for them; None adds it where the data have such rows.

    Examples
    --------
    >>> import bvdt
    >>> op = bvdt.transition_matrix([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0]], "cosine", bandwidth=0.1)
    >>> (op @ [1.0, 1.0, 0.0, 0.0]).round(3)
    array([1., 1., 0., 0.])
    """

    name = "cosine"

    def __init__(self, empty: bool | None = None) -> None:
        self.empty = empty

    @property
    def family(self) -> Family | None:
        """None: a Gaussian's density is not one on the sphere."""
        return None

    @property
    def n_added(self) -> int:
        return int(bool(self.empty))

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        empty = _rows_of_zeros(X)
        learned = self if self.empty is not None else Cosine(bool(empty.any()))
        unit = unit_rows(X)
        if not learned.empty:
            return learned, unit
        own = np.where(empty, 1.0, 0.0)[:, None]
        if is_sparse(X):
            return learned, sparse.csr_array(sparse.hstack([unit, sparse.csr_array(own)], format="csr"))
        return learned, np.column_stack([unit, own])

    def admitting(self, X: Points) -> BregmanDivergence:
        return self if self.empty or not _rows_of_zeros(X).any() else Cosine(True)

    def over_parts(self) -> BregmanDivergence:
        return Cosine(True) if self.empty is None else self

    def apart(self, X: Points) -> Float | None:
        return None if self.empty else np.where(_rows_of_zeros(X), 0.5, 0.0)


class Mahalanobis(_Known):
    """φ = ½xᵀΣ⁻¹x, d = ½(x − y)ᵀΣ⁻¹(x − y); the Gaussian with covariance Σ.

    Give ``precision`` Σ⁻¹ or ``covariance`` Σ; with neither, Σ is the data's own.
    Differs from Table 1: a ½, as in its Euclidean row, so that Eq. (15) is the Gaussian density.

    Examples
    --------
    >>> from bvdt.divergences import Mahalanobis
    >>> float(Mahalanobis(covariance=[[4.0, 0.0], [0.0, 1.0]]).div([2.0, 0.0], [0.0, 0.0]))
    0.5
    """

    name = "mahalanobis"
    separable = False
    translation_invariant = True

    def __init__(self, precision: ArrayLike | None = None, covariance: ArrayLike | None = None) -> None:
        if precision is not None and covariance is not None:
            raise ValueError("mahalanobis needs precision or covariance; got both")
        self.precision = self.covariance = None
        if precision is not None:
            self.precision = _positive_definite(precision, "precision")
            self.covariance = _symmetric(np.linalg.inv(self.precision))
        elif covariance is not None:
            self.covariance = _positive_definite(covariance, "covariance")
            self.precision = _symmetric(np.linalg.inv(self.covariance))

    def phi(self, X: Float) -> Float:
        inner: Float = np.sum(self.grad(X) * X, axis=-1)
        return 0.5 * inner

    def grad(self, X: Float) -> Float:
        return X @ self._known(self.precision)

    def grad_inverse(self, T: Float) -> Float:
        return T @ self._known(self.covariance)

    def conjugate(self, T: Float) -> Float:
        inner: Float = np.sum(self.grad_inverse(T) * T, axis=-1)
        return 0.5 * inner

    @property
    def family(self) -> Family:
        covariance = self._known(self.covariance)
        log_volume = np.linalg.slogdet(covariance)[1] + len(covariance) * _LOG_2PI
        return Family(
            "multivariate Gaussian",
            self.conjugate,
            lambda x: -self.phi(x) - 0.5 * log_volume,
            dispersion=GAUSSIAN,
        )

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        if self.precision is None:
            X = X if isinstance(X, np.ndarray) else X.toarray()
            return Mahalanobis(covariance=_covariance(X)), X
        if len(self.precision) != X.shape[1]:
            raise ValueError(f"mahalanobis needs {len(self.precision)} features; X has {X.shape[1]}")
        return self, X

    @staticmethod
    def _known(matrix: Float | None) -> Float:
        if matrix is None:
            raise ValueError("mahalanobis needs precision= or covariance= before it meets data")
        return matrix


def _covariance(X: Float) -> Float:  # (N, d) -> (d, d)
    """Of the rows that are not far from all others, each column measured in its usual deviation."""
    away = np.abs(X - np.median(X, axis=0))
    usual = np.quantile(away, 0.9, axis=0)
    distance = np.where(usual > 0, away / np.where(usual > 0, usual, 1.0), 0.0).max(axis=1)
    return np.atleast_2d(np.cov(X[ordinary(distance)], rowvar=False))


class GeneralizedI(_Known):
    """φ = Σ x log x − x, d = Σ x log(x/y) − x + y, Eq. (27)–(28); Poisson counts, Eq. (25)–(26).

    Examples
    --------
    >>> from bvdt.divergences import GeneralizedI
    >>> round(float(GeneralizedI().div([2.0, 1.0], [1.0, 1.0])), 4)
    0.3863
    """

    name = "gid"
    domain = _POSITIVE
    auto_smoothing = "background"
    dense_smoothing = 1.0  # measured: docs/choices.md
    _family = Family(
        "Poisson",
        log_partition=lambda theta: np.sum(np.exp(theta), axis=-1),
        log_base_measure=lambda x: -np.sum(special.gammaln(x + 1), axis=-1),
        support=COUNTS,
    )

    def phi(self, X: Float) -> Float:
        return _xlogy(X, X) - X

    def grad(self, X: Float) -> Float:
        return np.log(X)

    def grad_inverse(self, T: Float) -> Float:
        return np.exp(T)

    def conjugate(self, T: Float) -> Float:
        return np.exp(T)


class _CommonLength(_Known):
    """φ = Σ x log(x/L) for rows that all sum to L, where d = Σ x log(x/y).

    Off that plane d has the terms −x + y of the generalised I-divergence, so the functions below are those of
    the whole positive orthant: separable, as the lifted form needs, and equal on the plane.
    """

    domain = _POSITIVE
    auto_smoothing = "background"
    background_share = 0.3
    length: float | None = None

    @property
    def _scale(self) -> float:
        return 1.0 if self.length is None else self.length  # L adds a linear term to φ, nothing to d

    def phi(self, X: Float) -> Float:
        return _xlogy(X, X / self._scale)

    def grad(self, X: Float) -> Float:
        return np.log(X / self._scale) + 1

    def grad_inverse(self, T: Float) -> Float:
        return self._scale * np.exp(T - 1)

    def conjugate(self, T: Float) -> Float:
        return self._scale * np.exp(T - 1)

    def threshold(self, gap: Float, smoothing: Float) -> Float:
        """−s·log(Σ√(ab)/s): rows y sum to s as a and b do, which is more than the orthant's s − Σ√(ab)."""
        total = self._scale + float(smoothing.sum())
        least, most = (1 - _SUM_TOLERANCE) * total, (1 + _SUM_TOLERANCE) * total
        return np.maximum(gap, least * np.log(least / np.minimum(most - gap, least)))

    def off_plane(self, added: float) -> float:
        """Smoothed centers y sum to S = L + Σe; the multinomial's own divergence is Σ x·log(x·S/(y·L))."""
        return added - self._scale * float(np.log1p(added / self._scale))

    def _check_length(self, sums: Float, length: float, hint: str) -> None:
        wrong = ~(np.abs(sums - length) <= _SUM_TOLERANCE * length)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(
                f"{self.name} needs rows that sum to {length:g}; row {i} sums to {sums[i]:g} ({hint})"
            )


class KullbackLeibler(_CommonLength):
    """φ = Σ x log x on the simplex, d = Σ x log(x/y); ``normalize`` divides each row by its sum first.

    Examples
    --------
    >>> from bvdt.divergences import KullbackLeibler
    >>> round(float(KullbackLeibler().div([0.5, 0.5], [0.25, 0.75])), 4)
    0.1438
    """

    name = "kl"
    length = 1.0

    def __init__(self, normalize: bool = False) -> None:
        self.normalize = normalize

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        sums = row_sums(X)
        if not self.normalize:
            self._check_length(sums, 1.0, "KullbackLeibler(normalize=True) divides")
            return self, X
        if not (sums > 0).all():
            raise ValueError(f"kl needs rows with a positive sum; row {int(np.argmin(sums > 0))} sums to 0")
        return self, _divided(X, sums)

    def __repr__(self) -> str:
        return f"KullbackLeibler(normalize={self.normalize})"


class Multinomial(_CommonLength):
    """φ = Σ x log(x/L), d = Σ x log(x/y) for counts of common length L; L is the data's unless given.

    Examples
    --------
    >>> from bvdt.divergences import Multinomial
    >>> round(float(Multinomial(4).div([2.0, 2.0], [1.0, 3.0])), 4)
    0.5754
    """

    name = "multinomial"

    def __init__(self, length: float | None = None) -> None:
        if length is not None and not 0 < length < np.inf:
            raise ValueError(f"multinomial needs length > 0; got {length}")
        self.length = None if length is None else float(length)

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        sums = row_sums(X)
        known = self if self.length is not None else Multinomial(_positive_length(sums[0]))
        known._check_length(sums, known._scale, "gid takes rows of any length")
        return known, X

    @property
    def family(self) -> Family:
        if self.length is None:
            raise ValueError("multinomial's family needs its length; give Multinomial(length=)")
        length = self.length
        return Family(
            "multinomial",
            log_partition=lambda theta: length * special.logsumexp(theta, axis=-1),
            log_base_measure=lambda x: special.gammaln(length + 1) - np.sum(special.gammaln(x + 1), axis=-1),
            support=COUNTS,
        )

    def __repr__(self) -> str:
        return f"Multinomial(length={self.length})"


class ItakuraSaito(_Known):
    """φ = Σ −log x − 1, d = Σ x/y − log(x/y) − 1; the exponential distribution.

    With a bandwidth β it is the gamma distribution of shape 1/β.

    Examples
    --------
    >>> from bvdt.divergences import ItakuraSaito
    >>> round(float(ItakuraSaito().div([2.0, 1.0], [1.0, 1.0])), 4)
    0.3069
    """

    name = "itakura_saito"
    domain = _POSITIVE
    _family = Family(
        "gamma",
        log_partition=lambda theta: -np.sum(np.log(-theta), axis=-1),
        log_base_measure=lambda x: np.zeros(np.shape(x)[:-1]),
        support=POSITIVE,
        dispersion=GAMMA,
    )

    def phi(self, X: Float) -> Float:
        return -np.log(X) - 1

    def grad(self, X: Float) -> Float:
        return -1 / X

    def grad_inverse(self, T: Float) -> Float:
        return -1 / T

    def conjugate(self, T: Float) -> Float:
        return -np.log(-T)


class Logistic(_Known):
    """φ = Σ x log x + (1 − x) log(1 − x); the Bernoulli. Differs from Table 1, whose φ lacks the second term.

    x + e may leave (0, 1), so smoothing is x' = (1 − 2e)·x + e here.

    Examples
    --------
    >>> from bvdt.divergences import Logistic
    >>> round(float(Logistic().div([0.5], [0.25])), 4)
    0.1438
    """

    name = "logistic"
    domain = Interval(0.0, 1.0)
    auto_smoothing = 0.01
    _family = Family(
        "Bernoulli",
        log_partition=lambda theta: np.sum(np.logaddexp(0, theta), axis=-1),
        log_base_measure=lambda x: np.zeros(np.shape(x)[:-1]),
        support=BINARY,
    )

    def phi(self, X: Float) -> Float:
        return _xlogy(X, X) + _xlog1py(1 - X, -X)

    def grad(self, X: Float) -> Float:
        return _logit(X)

    def grad_inverse(self, T: Float) -> Float:
        return _expit(T)

    def conjugate(self, T: Float) -> Float:
        logs: Float = np.logaddexp(0, T)
        return logs

    def smoothing_scale(self, baseline: Float) -> Float | float:
        if not (baseline < 0.5).all():
            raise ValueError(f"logistic needs smoothing < 0.5; got {baseline.max():g}")
        return 1 - 2 * baseline


def row_sums(X: Points) -> Float:  # (N,)
    """Σ_j x_j of each row, dense or sparse."""
    return np.asarray(X.sum(axis=1), dtype=float).ravel()


def _rows_of_zeros(X: Points) -> Mask:  # (N, d), dense or CSR -> (N,)
    return np.asarray(row_sums(abs(X)) == 0) if is_sparse(X) else np.asarray(~X.any(axis=1))


def unit_rows(X: Points) -> Points:  # (N, d), dense or CSR
    """Each row divided by its length; rows of zeros as they are."""
    largest = abs(X).max(axis=1)
    largest = largest.toarray().ravel() if is_sparse(largest) else np.asarray(largest)
    scale = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)  # so that no square overflows
    scaled = _divided(X, scale)
    length = np.sqrt(row_sums(scaled.multiply(scaled) if is_sparse(scaled) else np.square(scaled)))
    return _divided(scaled, np.where(length > 0, length, 1.0))


def _divided(X: Points, by: Float) -> Points:  # (N, d), (N,)
    if isinstance(X, np.ndarray):
        return X / by[:, None]
    return type(X)((X.data / np.repeat(by, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def _positive_length(length: float) -> float:
    if not length > 0:
        raise ValueError("multinomial needs rows with a positive sum; row 0 sums to 0")
    return float(length)


def _symmetric(matrix: NDArray[np.floating]) -> Float:
    return np.asarray((matrix + matrix.T) / 2)


def _positive_definite(matrix: ArrayLike, name: str) -> Float:
    matrix = np.array(matrix, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"mahalanobis needs a square {name}; its shape is {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"mahalanobis needs a finite {name}; it has NaN or infinite entries")
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * np.abs(matrix).max()):
        raise ValueError(f"mahalanobis needs a symmetric {name}")
    matrix = _symmetric(matrix)
    smallest, largest = np.linalg.eigvalsh(matrix)[[0, -1]]
    if not smallest > 1e-14 * largest:
        raise ValueError(
            f"mahalanobis needs a positive definite {name}; "
            f"its eigenvalues reach from {smallest:.3g} to {largest:.3g}"
        )
    return matrix
