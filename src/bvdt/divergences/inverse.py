"""(∇φ)⁻¹ when no formula is given: Newton steps kept inside a shrinking bracket, for all elements at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Float
from .domain import Interval

Function = Callable[[Float], Float]

_MAX_STEPS = 200
_LARGEST = 1e100  # a limit beyond this is taken for infinity, below its inverse for zero


def invert_increasing(grad: Function, targets: ArrayLike, domain: Interval) -> Float:  # any shape, kept
    """x in the domain with grad(x) = t, elementwise, for a strictly increasing grad."""
    t = np.asarray(targets, dtype=float)
    if t.size == 0:
        return t.copy()
    with np.errstate(all="ignore"):
        s = _solve(lambda s, t: grad(domain.from_line(s)) - t, t.ravel(), grad, domain)
        return domain.from_line(s).reshape(t.shape)


def _solve(excess: Callable[[Float, Float], Float], t: Float, grad: Function, domain: Interval) -> Float:
    low, high = _bracket(excess, t, grad, domain)
    s = (low + high) / 2
    active = np.arange(len(t))
    for _ in range(_MAX_STEPS):
        at, here = s[active], excess(s[active], t[active])
        above = here > 0
        high[active] = np.where(above, at, high[active])
        low[active] = np.where(above, low[active], at)
        step = _newton_step(excess, at, here, t[active])
        inside = (at + step > low[active]) & (at + step < high[active])
        s[active] = np.where(inside, at + step, (low[active] + high[active]) / 2)
        tiny = 4e-16 * np.maximum(np.abs(at), 1.0)
        done = (here == 0) | (np.abs(s[active] - at) <= tiny) | (high[active] - low[active] <= tiny)
        s[active] = np.where(here == 0, at, s[active])
        active = active[~done]
        if len(active) == 0:
            break
    return s


def _newton_step(excess: Callable[[Float, Float], Float], at: Float, here: Float, t: Float) -> Float:
    """−f/f' with a central difference for f'; NaN, hence a bisection, where that fails."""
    width = 1e-5 * np.maximum(np.abs(at), 1.0)
    slope = (excess(at + width, t) - excess(at - width, t)) / (2 * width)
    return -here / slope


def _bracket(
    excess: Callable[[Float, Float], Float], t: Float, grad: Function, domain: Interval
) -> tuple[Float, Float]:
    """Points of the line on either side of each root, by doubling."""
    low, high = np.full(len(t), -1.0), np.full(len(t), 1.0)
    for end in (low, high):
        side = np.sign(end)
        for _ in range(10):
            short = ~(side * excess(end, t) >= 0)
            if not short.any():
                break
            end[short] *= 2
        else:
            reached = ~(side * excess(end, t) >= 0)
            if reached.any():
                value, ends = t[np.argmax(reached)], grad(domain.ends())
                raise ValueError(
                    f"grad_inverse needs a value that grad takes, {ends[0]:g} to {ends[1]:g}; got {value:g}"
                )
    return low, high


def invert_gradient(phi: Function, grad: Function, targets: ArrayLike, domain: Interval) -> Float:
    """Rows x with ∇φ(x) = t for a φ of whole rows: damped Newton on the convex φ(x) − ⟨x, t⟩."""
    t = np.asarray(targets, dtype=float)  # (n, d)
    x = np.full(t.shape, domain.from_line(np.zeros(1))[0])

    def objective(x: Float) -> Float:
        value = np.asarray(phi(x)) - np.sum(x * t, axis=1)
        return np.where(domain.contains(x).all(axis=1) & np.isfinite(value), value, np.inf)

    with np.errstate(all="ignore"):
        for _ in range(_MAX_STEPS):
            residual = np.asarray(grad(x)) - t
            if np.all(np.abs(residual) <= 1e-12 * np.maximum(np.abs(t), 1.0)):
                break
            step = -np.linalg.solve(_hessian(grad, x), residual[:, :, None])[:, :, 0]
            x = _damped(objective, x, step, np.sum(step * residual, axis=1))
    return x


def _hessian(grad: Function, x: Float) -> Float:  # (n, d, d)
    columns = []
    for j in range(x.shape[1]):
        move = np.zeros_like(x)
        move[:, j] = 1e-6 * np.maximum(np.abs(x[:, j]), 1e-3)
        columns.append((grad(x + move) - grad(x - move)) / (2 * move[:, j : j + 1]))
    return np.stack(columns, axis=2)


def _damped(objective: Function, x: Float, step: Float, slope: Float) -> Float:
    """Each row's step, halved until the objective falls as Armijo asks."""
    start, length = objective(x), np.ones(len(x))
    for _ in range(60):
        enough = objective(x + length[:, None] * step) <= start + 1e-4 * length * slope + 1e-15 * np.abs(
            start
        )
        if enough.all():
            break
        length = np.where(enough, length, length / 2)
    return x + length[:, None] * step


def image(grad: Function, domain: Interval) -> tuple[float, float]:
    """The interval of values that an increasing grad takes on the domain."""
    with np.errstate(all="ignore"):
        low, high = (float(v) for v in grad(domain.ends()))
    return _limit(low), _limit(high)


def _limit(value: float) -> float:
    if abs(value) > _LARGEST:
        return np.inf if value > 0 else -np.inf
    return 0.0 if abs(value) < 1 / _LARGEST else value
