"""Linear models of all classes and all folds at once: columns share every product with the rows.

A fold is a column whose hidden rows weigh 0, so that folds, classes and a warm start need no loop.
"""

from __future__ import annotations

import numpy as np

from .._support.arrays import Float
from .folds import Single
from .rows import Table, column_squares

LEAST = 1e-30  # a curvature below means a column that is solved


def squared_hinge(
    rows: Table,  # (n, d)
    signs: Single,  # (n, m) ±1
    weight: Single,  # (n, m) ≥ 0
    cost: float = 1.0,
    start: Single | None = None,  # (d, m)
    *,
    tol: float = 1e-2,
    max_newton: int = 30,
    max_products: int = 15,
) -> Single:  # (d, m)
    """Column m minimises ½‖w‖² + C·Σ_i weight_im·max(0, 1 − sign_im·⟨x_i, w⟩)², the loss of LinearSVC.

    By truncated Newton steps (Keerthi and DeCoste 2005), each solved by conjugate gradients, with a line
    search. A column stops once its gradient is below ``tol`` times the rarer sign's share of that at 0, as
    in liblinear: the gradient at 0 is mostly the constant's, the larger the rarer the class, and without the
    share rare classes stop before they have learnt anything (30 % of 11 322 one-line texts in 34 classes:
    0.56 instead of 0.67). Two starts may differ by some hundredths of the margin.
    """
    W = np.zeros((rows.shape[1], signs.shape[1]), np.float32) if start is None else start.copy()
    S = rows.times(W)
    zero = 2 * cost * rows.transposed(signs * weight)
    stop = tol * _rarer_share(signs, weight) * np.sqrt(column_squares(zero, zero))
    open_ = np.arange(signs.shape[1])
    for _ in range(max_newton):
        t, v = signs[:, open_], weight[:, open_]
        slack = np.maximum(1 - t * S[:, open_], 0) * v
        gradient = W[:, open_] - 2 * cost * rows.transposed(t * slack)
        keep = np.sqrt(column_squares(gradient, gradient)) > stop[open_]
        if not keep.any():
            break
        open_, t, v, slack, gradient = open_[keep], t[:, keep], v[:, keep], slack[:, keep], gradient[:, keep]
        curvature = (2 * cost * v * (slack > 0)).astype(np.float32)
        step, moved = _newton_step(rows, gradient, curvature, max_products)
        scale = _line_search(W[:, open_], S[:, open_], step, moved, t, v, gradient, cost)
        W[:, open_] += scale * step
        S[:, open_] += scale * moved
    return W


def _rarer_share(signs: Single, weight: Single) -> Float:  # (m,)
    """The smaller of the two signs' shares of a column's weight, at least that of one row."""
    total = np.maximum(weight.sum(axis=0, dtype=np.float64), LEAST)
    positive = np.where(signs > 0, weight, 0).sum(axis=0, dtype=np.float64)
    rarer = np.minimum(positive, total - positive) / total
    return np.asarray(np.maximum(rarer, 1.0 / max(len(weight), 1)))


def _newton_step(
    rows: Table, gradient: Single, curvature: Single, max_products: int
) -> tuple[Single, Single]:  # (d, m), (n, m)
    """About −H⁻¹·gradient, H = I + Xᵀ·diag(curvature)·X per column, and the change of the scores."""
    step, moved = np.zeros_like(gradient), np.zeros_like(curvature)
    residual = -gradient
    direction, rho = residual.copy(), column_squares(residual, residual)
    enough = 0.01 * rho  # a tenth of the gradient: more would be lost to the next change of active rows
    for _ in range(max_products):
        product = rows.times(direction)
        bent = direction + rows.transposed(curvature * product)
        length = rho / np.maximum(column_squares(direction, bent), LEAST)
        step += length * direction
        moved += length * product
        residual -= length * bent
        new = column_squares(residual, residual)
        if (new <= enough).all():
            break
        direction *= new / np.maximum(rho, LEAST)
        direction += residual
        rho = new
    return step, moved


def _line_search(
    W: Single,
    S: Single,
    step: Single,
    moved: Single,
    t: Single,
    v: Single,
    gradient: Single,
    cost: float,
) -> Single:  # (m,)
    """Share of the step, 1 or halved until the loss falls by a hundredth of what the gradient promises."""

    def hinge(scores: Single) -> Single:
        slack = np.maximum(1 - t * scores, 0)
        loss: Single = cost * np.einsum("ij,ij,ij->j", v, slack, slack)
        return loss

    ww, ws, ss = column_squares(W, W), column_squares(W, step), column_squares(step, step)
    old, promised = 0.5 * ww + hinge(S), column_squares(gradient, step)
    scale = np.ones(W.shape[1], np.float32)
    for _ in range(10):
        value = 0.5 * (ww + 2 * scale * ws + scale**2 * ss) + hinge(S + scale * moved)
        worse = value > old + 0.01 * scale * promised
        if not worse.any():
            break
        scale[worse] /= 2
    return scale


def ridge_steps(rows: Table, B: Single, ridge: float, steps: int) -> Single:  # (n, m) -> (d, m)
    """Towards the minimiser of ‖B − X·W‖² + ridge·‖W‖² by so many conjugate gradients from 0."""
    residual = rows.transposed(B)
    W = np.zeros_like(residual)
    direction, rho = residual.copy(), column_squares(residual, residual)
    for _ in range(steps):
        bent = np.float32(ridge) * direction + rows.transposed(rows.times(direction))
        length = rho / np.maximum(column_squares(direction, bent), LEAST)
        W += length * direction
        residual -= length * bent
        new = column_squares(residual, residual)
        direction *= new / np.maximum(rho, LEAST)
        direction += residual
        rho = new
    return W
