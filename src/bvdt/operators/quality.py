"""How good an approximation is: rows of Q against exact rows of P."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, stdtrit

from .._support.arrays import Float, checked_integer
from .._support.running import generator
from ..lifting import Lifted

if TYPE_CHECKING:
    from .walk import WalkOperator

TOP = 10
_BATCH = 1 << 22  # entries computed at once

MEANING = {
    "n_rows": "rows sampled",
    "n_points": "rows in all",
    "kl": "mean KL(q_i ‖ p_i), nats per row",
    "kl_low": "  95 % interval, from",
    "kl_high": "  to",
    "total_variation": "mean total variation ½Σ_j |q_ij − p_ij|",
    "top_kept": f"share of the {TOP} largest p_ij's mass kept",
    "bound_per_row": "lower bound, nats per row",
    "lower_bound": "lower bound, Eq. (18) without its constant",
}


class Quality(dict[str, Any]):
    """The figures of a quality report: a dict that prints as a table.

    ``kl`` is the mean over rows of KL(q_i ‖ p_i), by which the bound falls short of the log-likelihood, Eq.
    (2); ``total_variation`` the mean of ½Σ_j |q_ij − p_ij|; ``top_kept`` the mean of Σ min(q_ij, p_ij) / Σ
    p_ij over the ten largest p_ij of the row.
    """

    def __str__(self) -> str:
        shown = {
            MEANING.get(key, key): f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
            for key, value in self.items()
        }
        name, figure = (max(map(len, column)) for column in (shown.keys(), shown.values()))
        lines = [f"  {key:<{name}}  {value:>{figure}}" for key, value in shown.items()]
        return "\n".join(["Quality of Q against the exact P", *lines])


def quality(op: WalkOperator, n_rows: int = 256, random_state: Any = None) -> Quality:
    """Figures on ``n_rows`` sampled rows; with n_rows ≥ N on all rows, exactly.

    Rows are drawn one from each of ``n_rows`` groups of neighbors in the order of their own share of the
    bound, which is known for all rows, while the interval is that of a simple random sample (Student's t,
    corrected for the finite number of rows): it holds the true mean in at least 95 % of cases.
    """
    n_rows = checked_integer(n_rows, "n_rows", 1)
    n_points = op.shape[0]
    rows = _sample(op, min(n_rows, n_points), random_state)
    step = max(1, _BATCH // n_points)
    parts = [_row_figures(op, rows[i : i + step]) for i in range(0, len(rows), step)]
    kl, variation, kept = (np.concatenate(figure) for figure in zip(*parts, strict=True))
    half = _half_width(kl, n_points)
    return Quality(
        n_rows=len(rows),
        n_points=n_points,
        kl=float(kl.mean()),
        kl_low=max(float(kl.mean()) - half, 0.0),
        kl_high=float(kl.mean()) + half,
        total_variation=float(variation.mean()),
        top_kept=float(kept.mean()),
        bound_per_row=op.lower_bound / n_points,
        lower_bound=op.lower_bound,
    )


def log_exact_rows(lifted: Lifted, rows: NDArray[np.intp], bandwidth: float) -> Float:  # (n_rows, N)
    """log p_ij of chosen rows, −∞ on the diagonal; finite where p_ij itself would underflow."""
    logits = -lifted.divergences(rows, slice(None)) / bandwidth
    logits[np.arange(len(rows)), rows] = -np.inf
    return np.asarray(logits - logsumexp(logits, axis=1, keepdims=True))


def _sample(op: WalkOperator, n_rows: int, random_state: Any) -> NDArray[np.intp]:
    edges = np.linspace(0, op.shape[0], n_rows + 1)
    offset = generator(random_state).uniform(size=n_rows)
    ranks = (edges[:-1] + offset * np.diff(edges)).astype(np.intp)
    by_value = np.argsort(op.row_values(), kind="stable")
    return np.asarray(by_value[np.minimum(ranks, op.shape[0] - 1)])


def _row_figures(op: WalkOperator, rows: NDArray[np.intp]) -> tuple[Float, Float, Float]:
    """KL(q_i ‖ p_i), total variation and the kept share of the largest entries, each (n_rows,)."""
    log_p = log_exact_rows(op.lifted, rows, op.bandwidth)
    p, q = np.exp(log_p), np.stack([op.row(int(i)) for i in rows])
    log_ratio = np.zeros_like(q)
    positive = q > 0
    log_ratio[positive] = np.log(q[positive]) - log_p[positive]
    kl = np.maximum(np.einsum("ij,ij->i", q, log_ratio), 0.0)
    top = np.argpartition(-p, min(TOP, p.shape[1] - 1) - 1, axis=1)[:, :TOP]
    p_top, q_top = np.take_along_axis(p, top, axis=1), np.take_along_axis(q, top, axis=1)
    kept = np.minimum(p_top, q_top).sum(axis=1) / p_top.sum(axis=1)
    return kl, np.abs(q - p).sum(axis=1) / 2, kept


def _half_width(values: Float, n_points: int) -> float:
    """Half the 95 % interval of the mean of a sample drawn without replacement from ``n_points`` values."""
    n = len(values)
    if n == n_points:
        return 0.0
    if n == 1:
        return float("inf")
    error = values.std(ddof=1) / np.sqrt(n) * np.sqrt(1 - n / n_points)
    return float(stdtrit(n - 1, 0.975) * error)
