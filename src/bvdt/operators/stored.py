"""What a bvdt file must hold: every header entry and array is checked by name before anything uses it."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ..tree import BUILDERS

_LARGEST = 1e140  # divergence over bandwidth: its square stays finite
_KNOWN = re.compile(
    r"header|u|w|X|H|indptr|indices|base|smoothing|scale|offset|columns|precision|weights"
    r"|dense_[XH]|view\d{1,4}_(smoothing|scale|offset|columns|precision)"
    r"|near_(indices|divergences|share)|(tree(?P<tree>\d{1,9})_)?(size|order|mean_divergence|rows|cols)"
    r"|model_\w+"
)


def wanted(names: list[str], header: dict[str, Any]) -> list[str]:
    """The arrays that a file of this header has a use for; others are not read."""
    n_trees = header["forest"]["n_trees"] if "forest" in header else 0
    found = [(name, _KNOWN.fullmatch(name)) for name in names]
    return [name for name, hit in found if hit and int(hit["tree"] or -1) < n_trees]


def require(holds: Any, field: str, need: str, value: Any) -> None:
    """ValueError that names the field, what it needs and what it has."""
    if not holds:
        raise ValueError(f"{field} needs {need}; it is {_short(value)}")


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def is_count(value: Any, least: int) -> bool:
    """Whether it is an int, no bool, of at least that."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_header(header: dict[str, Any], names: list[str]) -> None:
    """Every entry that a loaded operator uses."""
    shape: Any = header.get("shape")
    bandwidth: Any = header.get("bandwidth")
    require(
        isinstance(shape, list) and len(shape) == 2 and is_count(shape[0], 2) and is_count(shape[1], 1),
        "shape",
        "the numbers of points and features",
        shape,
    )
    is_number = isinstance(bandwidth, int | float) and not isinstance(bandwidth, bool)
    require(is_number and 0 < bandwidth < math.inf, "bandwidth", "a finite number > 0", bandwidth)
    dtype = header.get("dtype")
    require(dtype in ("float32", "float64"), "dtype", '"float32" or "float64"', dtype)
    require(isinstance(header.get("sparse"), bool), "sparse", "true or false", header.get("sparse"))
    if "forest" in header:
        _check_forest(header["forest"], sum(name.endswith("_mean_divergence") for name in names))
    if header.get("divergence") is not None:
        _check_divergence(header["divergence"])
    if "views" in header:
        _check_views(header["views"])


def _check_forest(forest: Any, most: int) -> None:
    require(isinstance(forest, dict), "forest", "entries", forest)
    n_trees, seed, kind, weighting = (forest.get(name) for name in ("n_trees", "seed", "kind", "weighting"))
    require(is_count(n_trees, 1) and n_trees <= most, "n_trees", f"1 to {most}, the trees", n_trees)
    require(is_count(seed, 0), "seed", "an integer ≥ 0", seed)
    require(isinstance(kind, str) and kind in BUILDERS, "kind", f"one of {', '.join(BUILDERS)}", kind)
    known = weighting is None or weighting in ("uniform", "bound")
    require(known, "weighting", '"uniform", "bound" or null', weighting)


def _check_views(views: Any) -> None:
    parts = views.get("parts") if isinstance(views, dict) else None
    names = views.get("names") if isinstance(views, dict) else None
    require(isinstance(parts, list) and len(parts) > 0, "views", "parts", views)
    assert isinstance(parts, list)
    named = (
        isinstance(names, list) and len(names) in (0, len(parts)) and all(isinstance(n, str) for n in names)
    )
    require(named, "names", "a name of each view", names)
    for part in parts:
        require(isinstance(part, dict), "view", "entries", part)
        factor, width = part.get("factor"), part.get("width")
        is_number = isinstance(factor, int | float) and not isinstance(factor, bool)
        require(is_number and 0 < factor < math.inf, "factor", "a finite number > 0", factor)
        require(is_count(part.get("n_features"), 1), "n_features", "an integer ≥ 1", part.get("n_features"))
        require(isinstance(part.get("sparse"), bool), "sparse", "true or false", part.get("sparse"))
        require(width is None or is_count(width, 1), "width", "an integer ≥ 1, or null", width)
        _check_divergence(part.get("divergence"))


def _check_divergence(divergence: Any) -> None:
    is_named = isinstance(divergence, dict) and isinstance(divergence.get("name"), str)
    is_known = is_named and isinstance(divergence.get("custom"), bool)
    require(is_known, "divergence", "a name and whether it is custom", divergence)
    if not divergence["custom"]:
        options = divergence.get("options")
        require(isinstance(options, dict), "options", "a divergence's options", options)


def floats(arrays: dict[str, Any], field: str, shape: tuple[int, ...], least: float = -math.inf) -> Any:
    """The array of that name, if it is float64 of that shape with finite values from ``least`` on."""
    array = arrays[field]
    require(array.dtype == np.float64 and array.shape == shape, field, f"float64 of shape {shape}", array)
    good = np.isfinite(array) & (array >= least)
    if not good.all():
        place = tuple(int(k) for k in np.argwhere(~good)[0])
        bound = "" if least == -math.inf else f" ≥ {least:g}"
        require(False, f"{field}{list(place)}", f"a finite value{bound}", float(array[place]))
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def integers(arrays: dict[str, Any], field: str, ndim: int = 1) -> Any:
    """The array of that name, if it is of int32 or int64 and so many dimensions."""
    array = arrays[field]
    require(array.dtype in (np.int32, np.int64) and array.ndim == ndim, field, f"integers, {ndim}-d", array)
    return array


def near_field(arrays: dict[str, Any], n_points: int, bandwidth: float) -> tuple[Any, Any, float]:
    """Indices, divergences and share of a near field over that many points."""
    indices, divergences = integers(arrays, "near_indices", 2), arrays["near_divergences"]
    most = (n_points, min(indices.shape[1], n_points - 1))
    require(indices.shape == most and most[1] > 0, "near_indices", f"{n_points} rows, k below", indices)
    require(
        divergences.dtype == np.float64 and divergences.shape == indices.shape,
        "near_divergences",
        f"float64 of shape {indices.shape}",
        divergences,
    )
    found = indices >= 0
    inside = (indices >= -1) & (indices < n_points) & (indices != np.arange(n_points)[:, None])
    if not inside.all():
        i, s = (int(k) for k in np.argwhere(~inside)[0])
        require(False, f"near_indices[{i}, {s}]", "another point, or −1", int(indices[i, s]))
    in_range = (divergences >= 0) & (divergences <= _LARGEST * min(bandwidth, 1.0))
    good = np.where(found, in_range, divergences == np.inf)
    if not good.all():
        i, s = (int(k) for k in np.argwhere(~good)[0])
        require(False, f"near_divergences[{i}, {s}]", "a finite value ≥ 0", float(divergences[i, s]))
    ranked = np.sort(indices, axis=1)
    twice = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] >= 0)
    require(
        not twice.any(), "near_indices", f"no point twice in row {int(twice.any(axis=1).argmax())}", indices
    )
    require(np.all(found[:, 1:] <= found[:, :-1]), "near_indices", "−1 at the ends of rows only", indices)
    share = arrays["near_share"]
    require(share.shape == () and share.dtype == np.float64, "near_share", "one float64", share)
    require(0 <= float(share) <= 1, "near_share", "a value from 0 to 1", float(share))
    return indices.astype(np.int32, copy=False), divergences, float(share)
