"""Several matrices of the same points in one walk: their divergences add (theory: Views).

    d(x, y) = Σ_v d_v(x_v, y_v)·c_v,      c_v = weight_v / (mean divergence of view v between random points)

so that by default every view has the same say. The lifted vectors of the views stand side by side, dense ones
apart from sparse ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._support.arrays import Float
from .._support.mixed import blocks_of, side_by_side
from .._support.sparse import Points, PointsLike, is_sparse
from ..divergences import BregmanDivergence, Cosine, get
from ..divergences.product import Product
from .lifted import Lifted, Lifting, lift, shifted, whole
from .pairs import pair_divergences
from .points import as_points

_PAIRS = 4000  # of random points, whose divergence a view's scale is
_KEPT, _FAR = 0.98, 10.0  # none counts more than ten times what 98 % of them are below


class Views:
    """Matrices of the same points, by name: words and vectors, numbers and categories.

    Each is a matrix, or a matrix and its divergence. It is taken wherever X is; rows are chosen by indexing.

    Parameters
    ----------
    weights : numbers > 0 by name, by which views count more or less than the others; 1 for those not named.
    views : matrix of shape (n_points, n_features), dense, sparse or a DataFrame of numbers; or a tuple of one
        and a divergence, a name of ``bvdt.divergences.get`` or an instance. Without it a view has that of the
        estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import bvdt
    >>> lengths, angles = [[1.0], [1.1], [9.0], [9.1]], [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]]
    >>> views = bvdt.Views(lengths=lengths, angles=(angles, "cosine"))
    >>> views.shape, views[:2].shape
    ((4, 3), (2, 3))
    >>> bvdt.LabelPropagation(n_neighbors=1, random_state=0).fit(views, [0, -1, -1, 1]).transduction_
    array([0, 0, 1, 1])
    """

    ndim = 2

    def __init__(self, *, weights: Mapping[str, float] | None = None, **views: Any) -> None:
        if not views:
            raise ValueError("Views needs at least one matrix, as in Views(words=T, vectors=(E, 'cosine'))")
        self.blocks: dict[str, Points] = {}
        self.divergences: dict[str, BregmanDivergence | None] = {}
        for name, view in views.items():
            X, divergence = view if isinstance(view, tuple) and len(view) == 2 else (view, None)
            try:
                self.blocks[name] = as_points(X, minimum=0)
                self.divergences[name] = None if divergence is None else get(divergence)
            except (ValueError, TypeError) as error:
                raise type(error)(f"view {name!r}: {error}") from None
        lengths = {name: int(X.shape[0]) for name, X in self.blocks.items()}
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {n}" for name, n in lengths.items())
            raise ValueError(f"Views needs matrices of the same points; their rows are: {shown}")
        self.weights = _checked_weights(weights, list(views))

    @classmethod
    def of(cls, views: Mapping[str, Any]) -> Views:
        """From a mapping of names to what the views are."""
        return cls(**dict(views))

    @property
    def names(self) -> list[str]:
        """Of the views, in their order."""
        return list(self.blocks)

    @property
    def shape(self) -> tuple[int, int]:
        """Points, and the features of all views."""
        return len(self), sum(int(X.shape[1]) for X in self.blocks.values())

    def __len__(self) -> int:
        return int(next(iter(self.blocks.values())).shape[0])

    def __getitem__(self, rows: Any) -> Views:
        if isinstance(rows, int | np.integer):
            rows = [int(rows)]
        chosen = Views.__new__(Views)
        chosen.blocks = {name: X[rows] for name, X in self.blocks.items()}
        chosen.divergences, chosen.weights = self.divergences, self.weights
        return chosen

    def matrix(self) -> Points:  # (n, Σ d_v)
        """All features side by side in one matrix, sparse where one is."""
        blocks = list(self.blocks.values())
        if any(is_sparse(X) for X in blocks):
            return sparse.csr_array(sparse.hstack(blocks, format="csr"))
        return np.hstack(blocks)

    def __repr__(self) -> str:
        parts = [
            f"{name}: {X.shape[1]} {'sparse' if is_sparse(X) else 'dense'}"
            + ("" if self.divergences[name] is None else f", {self.divergences[name]!r}")
            for name, X in self.blocks.items()
        ]
        return f"Views({len(self)} points; {'; '.join(parts)})"


@dataclass(frozen=True, eq=False)
class ViewsLifting(Lifting):
    """The maps of the views, and what each one's divergence is multiplied by."""

    names: tuple[str, ...] = ()  # none: blocks of consecutive columns of one matrix
    parts: tuple[Lifting, ...] = ()
    factors: tuple[float, ...] = ()

    @property
    def n_features(self) -> int:
        return sum(part.n_features for part in self.parts)

    def transform(self, X: Any) -> Lifted:
        return self._combined([part.transform(x) for part, x in self._views(X)])

    def observe(self, X: Any) -> Lifted:
        return self._combined([part.observe(part.divergence.prepare(x)[1]) for part, x in self._views(X)])

    def admitting(self, X: Any) -> ViewsLifting:
        return self

    @property
    def off_plane(self) -> float:
        return sum(factor * part.off_plane for part, factor in zip(self.parts, self.factors, strict=True))

    def observed(self, lifted: Lifted) -> Lifted:
        """The points' rows as they were observed; see ``Lifted.observations``."""
        parts = []
        for part, view in zip(self.parts, self.split(lifted), strict=True):
            scale = np.broadcast_to(part.scale, part.smoothing.shape)
            if is_sparse(view.X):
                X = type(view.X)(
                    (view.X.data / scale[view.X.indices], view.X.indices, view.X.indptr), shape=view.X.shape
                )
                X = X if part.offset is None else shifted(X, -part.offset)
            else:
                X = (view.X - part.smoothing) / scale if part.offset is None else view.X + part.offset
            parts.append(part._lift(whole(X), X, True).observations())
        return self._combined(parts)

    def split(self, lifted: Lifted) -> list[Lifted]:
        """The points of each view, as its own map made them; u and w are left out."""
        none, found, at = np.zeros(lifted.n_points), [], {False: 0, True: 0}
        blocks = {is_sparse(block): block for block in blocks_of(lifted.X)}
        for part, factor in zip(self.parts, self.factors, strict=True):
            first = at[part.sparse]
            at[part.sparse] += len(part.smoothing)
            root = np.sqrt(factor) if part.divergence.self_dual else 1.0
            X = _times(blocks[part.sparse][:, first : at[part.sparse]], 1.0 / root)
            found.append(Lifted(none, none, X, X, part.smoothing if part.sparse else None, part))
        return found

    def described(self) -> dict[str, dict[str, Any]]:
        """Of each view its divergence, number of features, and what its divergence is multiplied by."""
        return {
            name: {"divergence": part.divergence, "n_features": part.n_features, "factor": factor}
            for name, part, factor in zip(self.names, self.parts, self.factors, strict=True)
        }

    def _views(self, X: Any) -> Iterator[tuple[Lifting, Points]]:
        if not self.names:
            ends = np.cumsum([part.n_features for part in self.parts])
            X = as_points(X, minimum=1)
            if X.shape[1] != ends[-1]:
                raise ValueError(f"X needs {ends[-1]} features, as the lifted data; it has {X.shape[1]}")
            yield from zip(self.parts, _split(X, [part.n_features for part in self.parts]), strict=True)
            return
        if not isinstance(X, Views) or set(X.names) != set(self.names):
            given = ", ".join(X.names) if isinstance(X, Views) else type(X).__name__
            raise ValueError(
                f"new points need bvdt.Views of {', '.join(self.names)}, as the fit; got {given}"
            )
        for name, part in zip(self.names, self.parts, strict=True):
            x = X.blocks[name]
            if x.shape[1] != part.n_features:
                raise ValueError(
                    f"view {name!r} needs {part.n_features} features, as in the fit; it has {x.shape[1]}"
                )
            yield part, x

    def _combined(self, lifted: list[Lifted]) -> Lifted:
        return combined(lifted, self.factors, self)


def lift_views(
    views: Views,
    divergence: str | BregmanDivergence,
    smoothing: float | str | ArrayLike = "auto",
    factors: tuple[float, ...] | None = None,
    named: bool = True,
) -> Lifted:
    """Lifted form of the views' sum; ``factors`` None: of equal mean divergence, times the weights."""
    parts = []
    for name, X in views.blocks.items():
        own = views.divergences[name] or get(divergence)
        own = Cosine(True) if type(own) is Cosine and own.empty is None and is_sparse(X) else own
        try:
            parts.append(lift(X, own, smoothing))
        except (ValueError, TypeError) as error:
            raise type(error)(f"view {name!r}: {error}" if named else str(error)) from None
    if factors is None:
        factors = tuple(
            views.weights[name] / _usual(part) for name, part in zip(views.names, parts, strict=True)
        )
    lifting = views_lifting([_lifting(part) for part in parts], factors, views.names if named else [])
    return combined(parts, factors, lifting)


def views_lifting(parts: Sequence[Lifting], factors: Sequence[float], names: Sequence[str]) -> ViewsLifting:
    """Of the views' own maps."""
    widths = [len(part.smoothing) for part in parts]
    product = Product([part.divergence for part in parts], widths, [1.0 / factor for factor in factors])
    smoothing = np.concatenate([part.smoothing for part in parts])
    kept = (tuple(names), tuple(parts), tuple(factors))
    return ViewsLifting(product, smoothing, 1.0, None, all(part.sparse for part in parts), None, *kept)


def lift_product(X: PointsLike, product: Product, smoothing: float | str | ArrayLike) -> Lifted:
    """Lifted form of one matrix whose columns are the blocks of a product."""
    points = as_points(X)
    product.prepare(points)
    blocks = _split(points, list(product.n_features))
    parts = enumerate(zip(blocks, product.parts, strict=True))
    views = Views.of({f"part {k}": (x, part) for k, (x, part) in parts})
    factors = tuple(1 / s for s in product.scales)
    return lift_views(views, "squared_euclidean", smoothing, factors, named=False)


def combined(parts: list[Lifted], factors: tuple[float, ...], lifting: ViewsLifting) -> Lifted:
    """The parts' vectors side by side, so that ⟨x, h⟩ is the sum of the parts' times their factors."""
    u = np.asarray(sum(factor * part.u for part, factor in zip(parts, factors, strict=True)))
    w = np.asarray(sum(factor * part.w for part, factor in zip(parts, factors, strict=True)))
    roots = [
        np.sqrt(factor) if part.H is part.X else 1.0 for part, factor in zip(parts, factors, strict=True)
    ]
    X = side_by_side([_times(part.X, root) for part, root in zip(parts, roots, strict=True)])
    if all(part.H is part.X for part in parts):
        return Lifted(u, w, X, X, _base(parts), lifting)
    shares = [factor / root for factor, root in zip(factors, roots, strict=True)]
    H = side_by_side([_times(part.H, share) for part, share in zip(parts, shares, strict=True)])
    return Lifted(u, w, X, H, _base(parts), lifting)


def _base(parts: list[Lifted]) -> Float | None:
    bases = [part.base for part in parts]
    return None if any(base is None for base in bases) else np.concatenate(bases)  # type: ignore[arg-type]


def _times(X: Points, factor: float) -> Points:
    if not is_sparse(X):
        return X * factor
    return type(X)((X.data * factor, X.indices, X.indptr), shape=X.shape)


def _usual(lifted: Lifted) -> float:
    """The mean divergence between random points; a few far ones do not decide it."""
    rng, n = np.random.default_rng(0), lifted.n_points
    i = rng.integers(n, size=_PAIRS)
    j = (i + rng.integers(1, n, size=_PAIRS)) % n
    order = np.argsort(i, kind="stable")
    d = pair_divergences(lifted, lifted, i[order], j[order])
    most = _FAR * float(np.quantile(d, _KEPT))
    mean = float((np.minimum(d, most) if most > 0 else d).mean())
    return mean if mean > 0 else 1.0


def _lifting(lifted: Lifted) -> Lifting:
    assert lifted.lifting is not None
    return lifted.lifting


def _split(X: Points, widths: list[int]) -> list[Points]:
    ends = np.cumsum(widths).tolist()
    return [X[:, end - n : end] for end, n in zip(ends, widths, strict=True)]


def _checked_weights(weights: Mapping[str, float] | None, names: list[str]) -> dict[str, float]:
    if weights is not None and not isinstance(weights, Mapping):
        raise ValueError('weights needs numbers by the names of the views; a view cannot be called "weights"')
    given = dict(weights or {})
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"weights needs names of the views, {', '.join(names)}; got {unknown[0]!r}")
    for name, weight in given.items():
        if (
            isinstance(weight, bool)
            or not isinstance(weight, int | float | np.number)
            or not 0 < weight < np.inf
        ):
            raise ValueError(f"weights needs numbers > 0; got {weight!r} for {name!r}")
    return {name: float(given.get(name, 1.0)) for name in names}
