"""What to label next (theory: What to label next): where a walk goes on longest before it meets a label.

A walk over the points stops at a labeled one, and at every step with the chance 1 − α. From point i it takes
h_i steps in the mean; a label at j would take d_j·h_j²/g_jj off Σ_i d_i·h_i, where d are the degrees of the
symmetrised walk and g_jj how often a walk from j is at j before it stops. So a point counts that many others
lead to (d_j), far from all labels (h_j), and not alone with a few copies of itself (g_jj). Each choice
absorbs the walk in turn, which keeps a batch apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .._support.arrays import Float, Numbers
from .._support.columns import column_dots
from .._support.running import generator
from ..solvers import ArraySystem
from .class_scores import suggestion_scores
from .inputs import as_square, operator_of, symmetrized
from .solving import solve_spread

STRATEGIES = ("auto", "margin", "entropy", "random")
ALPHA = 0.98  # mean walk of 50 steps; 0.9 to 0.995 differ little, 0.98 was best on six of eight data sets
# Times the median degree: a point of higher degree is a hub, whose label says little of others.
DEGREE_CAP = 2.0
PROBES = 64
ONE_BY_ONE = 50  # choices after which two are made per solve, after twice as many three, and so on
TOL = 1e-2  # of the length of the right-hand side; only an order is read off


def suggest_points(
    op: Any,
    labeled: NDArray[np.bool_],  # (N,)
    n: int,
    *,
    P: Float | None = None,  # (N, k)
    strategy: str = "auto",
    alpha: float = 0.9,
    random_state: Any = None,
) -> NDArray[np.intp]:  # (≤ n,)
    """Up to n unlabeled points, the one whose label would tell most first.

    Parameters
    ----------
    op : the points' walk: any square operator, sparse matrix or array with entries ≥ 0.
    labeled : which points have a label; there may be none.
    P : the classes' probabilities; None, or one class, leaves uncertainty out.
    strategy : "auto": far from the labels, typical, uncertain, and apart from each other. "margin": the least
        difference of the two largest probabilities. "entropy": entropy times the mass that a label reaches
        (``suggestion_scores``). "random".
    alpha : of the propagation; for "entropy".
    random_state : for "random", and for ties of "margin".
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy needs one of {', '.join(STRATEGIES)}; got {strategy!r}")
    labeled = np.array(labeled, bool)
    n = min(n, int((~labeled).sum()))
    if strategy == "auto":
        return _spread_out(op, labeled, n, _uncertainty(P, len(labeled)))
    scores = generator(random_state).random(len(labeled))
    if strategy == "margin":
        scores = 1e-9 * scores + _uncertainty(P, len(labeled))
    elif strategy == "entropy" and P is not None:
        scores = suggestion_scores(op, P, alpha)
    unlabeled = np.flatnonzero(~labeled)
    return np.asarray(unlabeled[np.argsort(-scores[unlabeled], kind="stable")[:n]])


def _uncertainty(P: Float | None, n_points: int) -> Float:  # (N,)
    """One less the margin between the two most probable classes; 1 where there are not two."""
    if P is None or P.shape[1] < 2:
        return np.ones(n_points)
    two = np.partition(P, -2, axis=1)[:, -2:]
    return np.asarray(1.0 - (two[:, 1] - two[:, 0]))


def _spread_out(op: Any, labeled: NDArray[np.bool_], n: int, uncertainty: Float) -> NDArray[np.intp]:  # (n,)
    walk = AbsorbedWalk.of(op)
    worth = uncertainty * walk.typical
    absorbed, chosen, h = labeled.copy(), np.empty(0, np.intp), None
    while len(chosen) < n:
        h = walk.steps(absorbed, start=h)
        scores = np.where(absorbed, -np.inf, worth * h**2)
        at_once = min(n - len(chosen), 1 + len(chosen) // ONE_BY_ONE)
        best = np.argsort(-scores, kind="stable")[:at_once]
        absorbed[best] = True
        chosen = np.concatenate([chosen, best])
    return chosen


class AbsorbedWalk:
    """The symmetrised walk that stops at some points, and elsewhere with the chance 1 − α per step.

    Attributes
    ----------
    S : D^(−1/2)·W·D^(−1/2), of the near field alone where there is one: 95 % of the walk, in a
        tenth of the time.
    root : √d, single precision.
    typical : min(d_j, 2·median)/g_jj, g of the walk that stops at no point.
    """

    def __init__(self, S: Any, degrees: Float, order: NDArray[Any]) -> None:
        self.S = operator_of(S)
        linked = degrees > 0
        self.root = np.sqrt(np.where(linked, degrees, 1.0)).astype(np.float32)
        capped = np.minimum(degrees, DEGREE_CAP * np.median(degrees))
        self.typical = capped / _returns(S, order)

    @classmethod
    def of(cls, op: Any) -> AbsorbedWalk:
        """That of the operator; a WalkOperator keeps it."""

        def make() -> AbsorbedWalk:
            return cls(*_symmetric_walk(op), _leaf_order(op))

        return operator_of(op).cached("absorbed_walk", make)

    def steps(self, absorbed: NDArray[np.bool_], start: Float | None = None) -> Float:  # (N,)
        """h_i, the mean number of steps from i; 0 where it is absorbed. ``start``: an earlier answer."""
        going = (~absorbed).astype(np.float32)[:, None]
        root = self.root[:, None]
        begin = np.full(len(root), 1.0 / (1.0 - ALPHA)) if start is None else start
        first = going * root * begin[:, None].astype(np.float32)

        def among(V: Numbers, out: Numbers, dots: Float) -> Numbers:
            """V − α·S·V among the points where the walk goes on."""
            out = going * self.S.shifted(V, ALPHA, out, dots)
            dots[0], dots[1] = column_dots(V, out), column_dots(out, out)
            return out

        X, _ = ArraySystem(among, going * root, first).solve(TOL, 300)
        return np.asarray(np.maximum(X / root, 0.0)[:, 0], np.float64)


def _symmetric_walk(op: Any) -> tuple[Any, Float]:
    """S of the symmetrised walk, and its degrees."""
    walk = operator_of(op)
    W = None if walk.near_field is None else walk.links
    if W is None:
        S = symmetrized(as_square(op))
        return S, S.degrees
    degrees = np.asarray(W.sum(axis=1)).ravel()
    scale = np.where(degrees > 0, 1.0 / np.sqrt(np.where(degrees > 0, degrees, 1.0)), 0.0)
    root = sparse.diags_array(scale)
    return (root @ W @ root).tocsr().astype(np.float32), degrees


def _leaf_order(op: Any) -> NDArray[Any]:  # (N,)
    tree = operator_of(op).tree
    return np.arange(op.shape[0]) if tree is None else np.asarray(tree.order)


def _returns(S: Any, order: NDArray[Any]) -> Float:  # (N,)
    """g_jj, the diagonal of (I − α·S)⁻¹, estimated by probing (Bekas et al. 2007).

    Points that are near each other in the tree get orthogonal rows of a Hadamard matrix as signs, so that
    their parts in each other's estimate cancel; what every 64th leaf adds has a random sign.
    """
    n_points = S.shape[0]
    place = np.empty(n_points, np.intp)
    place[order] = np.arange(n_points)
    signs = np.random.default_rng(0).choice(np.array([-1, 1], np.float32), size=n_points)
    Z = linalg.hadamard(PROBES, np.float32)[place % PROBES] * signs[:, None]
    X, _ = solve_spread(S, Z, ALPHA, tol=TOL)
    mean = np.einsum("ij,ij->i", Z, X) / (PROBES * (1.0 - ALPHA))
    return np.asarray(np.maximum(mean, 1.0), np.float64)
