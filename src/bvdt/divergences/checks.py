"""Is a user's φ strictly convex, and is the gradient φ's? Decided on sample points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._support.arrays import Float
from .domain import Interval

Function = Callable[[Float], Float]

_SLOPE_TOLERANCE = 1e-4  # far above the error of a central difference, far below a wrong formula


def check_phi(phi: Function, grad: Function, domain: Interval, n_features: int) -> bool:
    """Whether φ is separable; ValueError with the reason when it is no Bregman generator."""
    points = _sample_rows(domain, n_features)
    with np.errstate(all="ignore"):
        value, slope = _evaluate(phi, points, "phi"), _evaluate(grad, points, "grad")
        separable = value.shape == points.shape
        if not separable and value.shape != points.shape[:1]:
            raise ValueError(
                f"phi needs to map {points.shape} to {points.shape} or {points.shape[:1]}; got {value.shape}"
            )
        if slope.shape != points.shape:
            raise ValueError(f"grad needs to map {points.shape} to {points.shape}; got {slope.shape}")
        if separable:
            _check_elementwise(phi, points, value)
            _check_slopes_of_line(phi, grad, domain)
        else:
            _check_slopes_of_rows(phi, points, value, slope)
    return separable


def _sample_rows(domain: Interval, n_features: int) -> Float:  # (12, n_features)
    line = domain.sample(12)
    return np.stack([np.roll(line, 5 * j)[np.arange(12)] for j in range(n_features)], axis=1)


def _evaluate(function: Function, points: Float, name: str) -> Float:
    try:
        return np.asarray(function(points), dtype=float)
    except Exception as error:
        raise ValueError(
            f"{name} failed on sample points of shape {points.shape}: {error} "
            "(give domain= where it is defined, n_features= when it accepts only one)"
        ) from error


def _check_elementwise(phi: Function, points: Float, value: Float) -> None:
    try:
        alike = np.array_equal(np.asarray(phi(points.ravel())), value.ravel(), equal_nan=True)
    except Exception:
        alike = False  # it looks at the shape: not a function of single elements
    if not alike:
        raise ValueError("phi needs to treat every coordinate alike, or to return one number per row")


def _check_slopes_of_line(phi: Function, grad: Function, domain: Interval) -> None:
    x = domain.sample(41)
    value, slope = np.asarray(phi(x), float), np.asarray(grad(x), float)
    finite = np.isfinite(value) & np.isfinite(slope)
    if finite.sum() < 5:
        raise ValueError(f"phi needs finite values inside its domain; phi({x[~finite][0]:g}) is not")
    x, value, slope = x[finite], value[finite], slope[finite]
    step = 1e-5 * np.minimum(np.maximum(np.abs(x), 1e-3), np.minimum(x - domain.low, domain.high - x))
    numeric = (phi(x + step) - phi(x - step)) / ((x + step) - (x - step))
    _compare_slopes(x, slope, numeric, value, step)
    flat = np.flatnonzero(np.diff(slope) <= 0)
    if len(flat):
        a, b = x[flat[0]], x[flat[0] + 1]
        raise ValueError(
            f"phi needs to be strictly convex; its gradient does not rise from x = {a:g} to x = {b:g}"
        )


def _check_slopes_of_rows(phi: Function, points: Float, value: Float, slope: Float) -> None:
    step = 1e-5 * np.maximum(np.abs(points), 1e-3)
    for j in range(points.shape[1]):
        move = np.zeros_like(points)
        move[:, j] = step[:, j]
        numeric = (np.asarray(phi(points + move)) - np.asarray(phi(points - move))) / (2 * step[:, j])
        _compare_slopes(points[:, j], slope[:, j], numeric, value, step[:, j])
    terms = (points[:, None] - points[None]) * slope[None]
    divergence = value[:, None] - value[None] - terms.sum(axis=2)  # Eq. (11), every pair
    size = np.abs(value[:, None]) + np.abs(value[None]) + np.abs(terms).sum(axis=2)
    flat = ~np.eye(len(points), dtype=bool) & ~(divergence > 1e-12 * size)
    if flat.any():
        i, j = np.argwhere(flat)[0]
        raise ValueError(
            f"phi needs to be strictly convex; d(x, y) = {divergence[i, j]:g} "
            f"for x = {points[i].tolist()}, y = {points[j].tolist()}"
        )


def _compare_slopes(x: Float, slope: Float, numeric: Float, value: Float, step: Float) -> None:
    rounding = 1e-15 * np.abs(value) / step
    wrong = np.abs(slope - numeric) > _SLOPE_TOLERANCE * np.maximum(np.abs(slope), 1e-3) + 8 * rounding
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ValueError(
            f"grad needs to be phi's gradient; at x = {x[k]:g} it is {slope[k]:g} "
            f"and phi's slope is {numeric[k]:g}"
        )
