"""Bregman divergences: φ, its gradient and the gradient's inverse; everything else follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Float
from .._support.sparse import Points
from . import checks, inverse
from .domain import Interval
from .family import COUNTS, REALS, Family

Function = Callable[[Float], Float]


class BregmanDivergence:
    """d_φ(x, y) = φ(x) − φ(y) − ⟨x − y, ∇φ(y)⟩, Eq. (11).

    A separable φ is a sum of one function over the coordinates: ``phi``, ``grad``, ``grad_inverse`` and
    ``conjugate`` then act on every element and keep the shape. Otherwise ``phi`` and ``conjugate`` reduce the
    last axis, and ``grad`` and ``grad_inverse`` map rows to rows. ``phi_sum`` and ``conjugate_sum`` reduce
    the last axis for both kinds.

    Your own, from NumPy functions of an (n, d) array; φ may return (n, d) or (n,), which is how the two kinds
    are distinguished. A φ that is not strictly convex, or a gradient that is not φ's, is refused::

        BregmanDivergence(phi=lambda x: x * np.log(x) - x, grad=np.log, domain=(0, np.inf))

    Parameters
    ----------
    phi, grad : φ and ∇φ.
    grad_inverse, conjugate : (∇φ)⁻¹ and φ*; found numerically when not given.
    domain : open interval (low, high) for every coordinate.
    n_features : d of the points on which a non-separable φ is checked, when it accepts only one d.

    Examples
    --------
    >>> from bvdt.divergences import BregmanDivergence
    >>> quartic = BregmanDivergence(phi=lambda x: x**4 / 4 + x**2 / 2, grad=lambda x: x**3 + x)
    >>> float(quartic.div([1.0, 2.0], [0.0, 1.0]))
    4.0
    """

    name: str = "custom"
    separable: bool = True
    translation_invariant: bool = False  # d(x + c, y + c) = d(x, y)
    self_dual: bool = False  # ∇φ(x) = x
    domain: Interval = Interval()
    auto_smoothing: str | float | None = None  # what smoothing="auto" does with data on the domain's edge
    background_share: float = 0.01  # smoothing="background": this share of every feature's mean
    dense_smoothing: float | None = None  # "auto" where zeros are few: this share of the mean of all values
    _family: Family | None = None

    def __init__(
        self,
        phi: Function,
        grad: Function,
        grad_inverse: Function | None = None,
        *,
        conjugate: Function | None = None,
        domain: Interval | tuple[float, float] = (-np.inf, np.inf),
        name: str = "custom",
        family: Family | None = None,
        n_features: int = 3,
    ) -> None:
        self.name = name
        self.domain = domain if isinstance(domain, Interval) else Interval(*map(float, domain))
        self._phi, self._grad = phi, grad
        self._grad_inverse, self._conjugate = grad_inverse, conjugate
        self._family = family
        self.separable = checks.check_phi(phi, grad, self.domain, n_features)

    # -- what a divergence states --------------------------------------------------------------------------

    def phi(self, X: Float) -> Float:
        """φ(x)."""
        return self._phi(X)

    def grad(self, X: Float) -> Float:
        """∇φ(x)."""
        return self._grad(X)

    def grad_inverse(self, T: Float) -> Float:
        """(∇φ)⁻¹(t), by a safeguarded Newton iteration unless it was given."""
        if self._grad_inverse is not None:
            return self._grad_inverse(T)
        if self.separable:
            return inverse.invert_increasing(self.grad, T, self.domain)
        return inverse.invert_gradient(self.phi, self.grad, T, self.domain)

    def conjugate(self, T: Float) -> Float:
        """φ*(t) = ⟨t, x⟩ − φ(x) at x = (∇φ)⁻¹(t)."""
        if self._conjugate is not None:
            return self._conjugate(T)
        x = self.grad_inverse(T)
        return T * x - self.phi(x) if self.separable else np.sum(T * x, axis=-1) - self.phi(x)

    @property
    def family(self) -> Family | None:
        """The exponential family of this divergence, Eq. (14)–(16), or None."""
        return self._family

    def prepare(self, X: Points) -> tuple[BregmanDivergence, Points]:
        """The divergence with what it learns from validated data, and the data as it wants them."""
        return self, X

    @property
    def n_added(self) -> int:
        """Features that ``prepare`` adds to the data's."""
        return 0

    def apart(self, X: Points) -> Float | None:  # (N, d) -> (N,)
        """What is added to the divergences of new points from all centers, or None."""
        return None

    def admitting(self, X: Points) -> BregmanDivergence:
        """The divergence under which new data are points like those of the fit; most need no other."""
        return self

    def over_parts(self) -> BregmanDivergence:
        """The divergence for data that are prepared part by part, without what a part would tell."""
        return self

    def smoothing_scale(self, baseline: Float) -> Float | float:  # (d,) -> (d,) or scalar
        """Factor s of x' = s·x + e: 1 unless x + e would leave the domain."""
        return 1.0

    # -- what follows --------------------------------------------------------------------------------------

    def phi_sum(self, X: ArrayLike) -> Float:  # (..., d) -> (...)
        """φ of whole points."""
        return self._reduce(self.phi, X)

    def conjugate_sum(self, T: ArrayLike) -> Float:  # (..., d) -> (...)
        """φ* of whole points."""
        return self._reduce(self.conjugate, T)

    def div(self, x: ArrayLike, y: ArrayLike) -> Float:  # (..., d) ×2 -> (...)
        """d_φ(x, y) by its definition, Eq. (11)."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        if self.separable:
            terms = self.phi(x) - self.phi(y) - (x - y) * self.grad(y)
            return np.asarray(np.maximum(terms, 0.0).sum(axis=-1))
        slope = self.grad(y.reshape(-1, y.shape[-1])).reshape(y.shape)
        value = self.phi_sum(x) - self.phi_sum(y) - np.sum((x - y) * slope, axis=-1)
        return np.asarray(np.maximum(value, 0.0))

    def pairwise(self, X: ArrayLike, Y: ArrayLike) -> Float:  # (n, d), (m, d) -> (n, m)
        """All d_φ(x_i, y_j) by Eq. (11), row by row: the reference implementation of the lifted form."""
        Y = np.asarray(Y, float)
        return np.stack([self.div(x, Y) for x in np.asarray(X, float)])

    def representative(self, X: ArrayLike, weights: Float | None = None) -> Float:  # (n, d) -> (d,)
        """The point with the least mean divergence from X: the mean whatever φ, Eq. (13)."""
        return np.asarray(np.average(np.asarray(X, float), axis=0, weights=weights))

    def information(self, X: ArrayLike, weights: Float | None = None) -> float:
        """Bregman information I_φ: the mean divergence from the representative, Eq. (12)."""
        return float(np.average(self.div(X, self.representative(X, weights)), weights=weights))

    def log_density(self, x: ArrayLike, mean: ArrayLike, bandwidth: float = 1.0) -> Float:
        """log p(x) = −d_φ(x, μ)/β + log b(x, β) of the exponential family with mean μ, Eq. (15).

        x, mean : (..., d); the result is (...).
        """
        return np.asarray(-self.div(x, mean) / bandwidth + self.log_base(x, bandwidth))

    def log_base(self, x: ArrayLike, bandwidth: float = 1.0) -> Float:  # (..., d) -> (...)
        """log b(x, β), what the density has beside the divergence: φ(x) + log p_0(x) where β = 1."""
        x = np.asarray(x, float)
        log_scale = self.log_scale(bandwidth)
        assert self.family is not None
        return np.asarray(self.phi_sum(x) + self.family.log_base_measure(x) + x.shape[-1] * log_scale)

    def log_scale(self, bandwidth: float) -> float:
        """What a bandwidth adds to ``log_base`` per coordinate; ValueError where no density is known."""
        if self.family is None:
            raise ValueError(f"a density needs an exponential family; {self.name} has none")
        if abs(bandwidth - 1.0) < 1e-12:
            return 0.0
        if self.family.dispersion is None:
            raise ValueError(
                f"a density under {self.name} ({self.family.name}) needs bandwidth=1; got {bandwidth:.10g}: "
                "for others its normalizer is not known"
            )
        return self.family.dispersion.log_scale(bandwidth)

    def threshold(self, gap: Float, smoothing: Float) -> Float:  # (m,), (d,) -> (m,)
        """½·min_y [d(y, a) + d(y, b)] over all points y there can be, Eq. (23), from its value over all y."""
        return gap

    def off_plane(self, added: float) -> float:
        """By how much d from centers that smoothing makes so much longer is too large for a density."""
        return 0.0

    def background(self, means: Float, share: float | None = None) -> Float:  # (d,) -> (d,)
        """A share of each feature's mean: a Gamma prior on Poisson rates, which acts like idf.

        A feature that never occurs gets what the rarest one has; with no feature at all, the share itself.
        """
        if (means < 0).any():
            raise ValueError(
                f'smoothing="background" needs features with a mean >= 0; '
                f"feature {int(np.argmin(means))} has {means.min():g}"
            )
        rarest = means[means > 0].min(initial=np.inf)
        share = self.background_share if share is None else share
        baseline = share * np.where(means > 0, means, rarest if np.isfinite(rarest) else 1.0)
        return np.minimum(baseline, 0.25 * self.domain.high)

    def _reduce(self, function: Function, X: ArrayLike) -> Float:
        X = np.asarray(X, float)
        if self.separable:
            return np.asarray(function(X).sum(axis=-1))
        return np.asarray(function(X.reshape(-1, X.shape[-1])).reshape(X.shape[:-1]))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"


def from_exponential_family(
    log_partition: Function,
    grad: Function,
    *,
    grad_inverse: Function | None = None,
    log_base_measure: Function | None = None,
    domain: tuple[float, float] = (-np.inf, np.inf),
    mean_domain: tuple[float, float] | None = None,
    name: str = "custom",
    n_features: int = 3,
    discrete: bool = False,
) -> BregmanDivergence:
    """The divergence of an exponential family (section 4.1): φ is the conjugate of the log-partition ψ.

    Parameters
    ----------
    log_partition, grad : ψ(θ) and ∇ψ(θ), as ``phi`` and ``grad`` of a BregmanDivergence.
    grad_inverse : θ of a mean μ; found numerically when not given.
    log_base_measure : log p_0(x), (..., d) -> (...); with it the result has a ``family``.
    domain, mean_domain : intervals of θ and of μ = ∇ψ(θ); the second is found when not given.
    discrete : whether x are whole numbers ≥ 0, so that p is a probability and no density.

    Examples
    --------
    >>> import numpy as np
    >>> from bvdt.divergences import from_exponential_family
    >>> poisson = from_exponential_family(log_partition=np.exp, grad=np.exp)
    >>> round(float(poisson.div([1.0, 2.0], [3.0, 1.0])), 4)
    1.2877
    """
    psi = BregmanDivergence(log_partition, grad, grad_inverse, domain=domain, n_features=n_features)
    if mean_domain is None:
        mean_domain = inverse.image(grad, psi.domain) if psi.separable else (-np.inf, np.inf)
    support = COUNTS if discrete else REALS
    family = None
    if log_base_measure is not None:
        family = Family(name, psi.phi_sum, log_base_measure, support=support)
    return BregmanDivergence(
        phi=psi.conjugate,
        grad=psi.grad_inverse,  # θ = ∇φ(μ), Eq. (16)
        grad_inverse=psi.grad,  # μ = ∇ψ(θ), Eq. (16)
        conjugate=psi.phi,
        domain=mean_domain,
        name=name,
        family=family,
        n_features=n_features,
    )
