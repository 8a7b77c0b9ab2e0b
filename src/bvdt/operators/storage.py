"""One file for an operator: NumPy's zip of arrays, no pickle, with a JSON header and a version."""

from __future__ import annotations

import json
import zipfile
import zlib
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .._support.atomic import atomic
from ..blocks import BlockPartition
from ..divergences import NAMES, BregmanDivergence, get
from ..lifting import Lifted, Lifting
from ..tree import Tree
from .forest import ForestOperator
from .near_field import NearField
from .single_tree import TransitionOperator
from .walk import WalkOperator

# 2: forests; 3: a model (``bvdt.documents.model``) beside the operator. What needs neither is written as 1.
FORMAT, VERSION = "bvdt", 3
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)  # as zipfile tells it


def save(op: WalkOperator, path: str | Path) -> None:
    """Write the operator, its trees and its lifted data; the file appears whole or not at all."""
    write(path, *operator_contents(op))


def operator_contents(op: WalkOperator) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of an operator, as ``write`` takes them."""
    lifting = op.lifted.lifting
    header = {
        "format": FORMAT,
        "version": 1,
        "bandwidth": op.bandwidth,
        "dtype": op.dtype.name,
        "shape": [op.lifted.n_points, op.lifted.n_features],
        "sparse": op.lifted.is_sparse,
        "divergence": None if lifting is None else _divergence_header(lifting.divergence),
    }
    arrays: dict[str, Any] = {}
    if isinstance(op, ForestOperator):
        weighting = op.weighting if isinstance(op.weighting, str) else None
        forest = {"n_trees": op.n_trees, "seed": op.seed, "kind": op.kind, "weighting": weighting}
        header |= {"version": 2, "forest": forest}
        arrays |= {"weights": op.weights} | _near_arrays(op.near)
        for number, member in enumerate(op.members):
            arrays |= _tree_arrays(member, f"tree{number}_")
    else:
        header["coarsest"] = op.members[0].partition.is_coarsest
        arrays |= _tree_arrays(op.members[0], "")
    arrays |= _lifted_arrays(op.lifted)
    if lifting is not None:
        arrays |= _lifting_arrays(lifting)
    return header, arrays


def load(
    path: str | Path, *, divergence: BregmanDivergence | None = None, n_jobs: int | None = None
) -> WalkOperator:
    """Read an operator that ``op.save`` wrote, or that of a model of ``bvdt.documents.model.save_model``.

    A divergence of your own φ is code and is not in the file: give it again as ``divergence`` if new points
    are to be lifted (``op.extend``); everything else works without.
    """
    return operator_from(path, *read(path), divergence=divergence, n_jobs=n_jobs)


def operator_from(
    path: str | Path,
    header: dict[str, Any],
    arrays: dict[str, Any],
    *,
    divergence: BregmanDivergence | None = None,
    n_jobs: int | None = None,
) -> WalkOperator:
    """The operator of a file's header and arrays; ``path`` is for the error."""
    try:
        lifted = _lifted_from(header, arrays, divergence)
        if "forest" not in header:
            return _tree_from(header, arrays, "", lifted, n_jobs)
        forest = header["forest"]
        prefixes = [f"tree{number}_" for number in range(forest["n_trees"])]
        return ForestOperator(
            [_tree_from(header, arrays, prefix, lifted, n_jobs) for prefix in prefixes],
            weights=arrays["weights"] if forest["weighting"] is None else forest["weighting"],
            near=_near_from(arrays, lifted.n_points),
            seed=forest["seed"],
            kind=forest["kind"],
        )
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(f"{path} is a damaged bvdt file: {error!r}") from error


# -- trees and the near field --------------------------------------------------------------------------------


def _tree_arrays(op: TransitionOperator, prefix: str) -> dict[str, Any]:
    arrays = {"size": op.tree.size, "order": op.tree.order, "mean_divergence": op.mean_divergence}
    if not op.partition.is_coarsest:
        arrays |= {"rows": op.partition.rows, "cols": op.partition.cols}
    return {prefix + name: array for name, array in arrays.items()}


def _tree_from(
    header: dict[str, Any], arrays: dict[str, Any], prefix: str, lifted: Lifted, n_jobs: int | None
) -> TransitionOperator:
    tree = Tree.from_sizes(arrays[prefix + "size"], arrays[prefix + "order"]).validate()
    partition = BlockPartition.coarsest(tree)
    if prefix + "rows" in arrays:
        rows, cols = arrays[prefix + "rows"], arrays[prefix + "cols"]
        partition = BlockPartition(rows, cols, tree.n_nodes).validate(tree)
    return TransitionOperator(
        lifted,
        tree,
        partition=partition,
        mean_divergence=arrays[prefix + "mean_divergence"],
        bandwidth=float(header["bandwidth"]),
        dtype=header["dtype"],
        n_jobs=n_jobs,
    )


def _near_arrays(near: NearField | None) -> dict[str, Any]:
    if near is None:
        return {}
    names = ("indices", "divergences", "share")
    return {f"near_{name}": np.asarray(getattr(near, name)) for name in names}


def _near_from(arrays: dict[str, Any], n_points: int) -> NearField | None:
    if "near_indices" not in arrays:
        return None
    indices, divergences = arrays["near_indices"], arrays["near_divergences"]
    if indices.ndim != 2 or indices.shape != divergences.shape or len(indices) != n_points:
        raise IndexError("near field of another shape")
    if indices.min(initial=0) < -1 or indices.max(initial=-1) >= n_points:
        raise IndexError("near field with points that are not there")
    if indices.dtype.kind != "i" or not (divergences >= 0).all():
        raise IndexError("near field with indices or divergences that are none")
    return NearField(indices, divergences, float(arrays["near_share"]))


# -- the file ------------------------------------------------------------------------------------------------


def write(path: str | Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """One file of arrays behind a JSON header; it appears whole or not at all."""
    arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)} | arrays
    with atomic(path, "wb") as file:
        np.savez(file, **arrays)


def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file that ``write`` wrote; a ValueError says what is wrong with any other."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a bvdt file")
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if "header.npy" not in names:
            raise ValueError(f"{path} is not a bvdt file: it has no header")
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(stored["header"].tobytes())
            _check_header(header, path)
            return header, {name: stored[name] for name in stored.files}
    except (*_DAMAGE, OSError, UnicodeDecodeError, JSONDecodeError) as error:
        raise ValueError(f"{path} is not a bvdt file, or is truncated ({error})") from error


def _check_header(header: Any, path: Path) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is not a bvdt file: its header is another format's")
    if not isinstance(header.get("version"), int) or header["version"] > VERSION:
        raise ValueError(
            f"{path} has format version {header.get('version')}; this bvdt reads up to {VERSION}: "
            "update bvdt to load it"
        )


# -- lifted data ---------------------------------------------------------------------------------------------


def _lifted_arrays(lifted: Lifted) -> dict[str, Any]:
    arrays: dict[str, Any] = {"u": lifted.u, "w": lifted.w}
    if lifted.is_sparse:
        arrays |= {"indptr": lifted.X.indptr, "indices": lifted.X.indices, "X": lifted.X.data}
        arrays |= {} if lifted.H is lifted.X else {"H": lifted.H.data}
    else:
        arrays |= {"X": lifted.X} | ({} if lifted.H is lifted.X else {"H": lifted.H})
    return arrays | ({} if lifted.base is None else {"base": lifted.base})


def _lifting_arrays(lifting: Lifting) -> dict[str, Any]:
    arrays: dict[str, Any] = {"smoothing": lifting.smoothing, "scale": np.asarray(lifting.scale, float)}
    if lifting.offset is not None:
        arrays["offset"] = lifting.offset
    precision = getattr(lifting.divergence, "precision", None)
    return arrays | ({} if precision is None else {"precision": precision})


def _lifted_from(header: dict[str, Any], arrays: dict[str, Any], custom: BregmanDivergence | None) -> Lifted:
    X = arrays["X"]
    H = arrays.get("H", X)
    if header["sparse"]:
        pattern, shape = (arrays["indices"], arrays["indptr"]), tuple(header["shape"])
        X = sparse.csr_array((X, *pattern), shape=shape)
        H = sparse.csr_array((H, *pattern), shape=shape) if "H" in arrays else X
        X.check_format(full_check=True)  # the kernels trust the indices
    base = arrays.get("base")
    if X.shape != H.shape or not X.shape[0] == len(arrays["u"]) == len(arrays["w"]):
        raise IndexError("points of another shape")
    return Lifted(arrays["u"], arrays["w"], X, H, base, _lifting_from(header, arrays, custom))


def _lifting_from(
    header: dict[str, Any], arrays: dict[str, Any], custom: BregmanDivergence | None
) -> Lifting | None:
    if header["divergence"] is None:
        return None
    divergence = custom if custom is not None else _divergence_from(header["divergence"], arrays)
    if divergence is None:
        return None
    scale = arrays["scale"]
    return Lifting(
        divergence,
        arrays["smoothing"],
        float(scale) if scale.ndim == 0 else scale,
        arrays.get("offset"),
        header["sparse"],
    )


def _divergence_header(divergence: BregmanDivergence) -> dict[str, Any]:
    if type(divergence) is not NAMES.get(divergence.name):
        return {"name": divergence.name, "custom": True}
    options = {key: getattr(divergence, key) for key in ("normalize", "length") if key in vars(divergence)}
    return {"name": divergence.name, "custom": False, "options": options}


def _divergence_from(stored: dict[str, Any], arrays: dict[str, Any]) -> BregmanDivergence | None:
    if stored["custom"]:
        return None
    kind: Any = NAMES.get(stored["name"])
    if kind is None:
        return get(stored["name"])  # raises, naming those there are
    options = dict(stored["options"])
    if "precision" in arrays:
        options["precision"] = arrays["precision"]
    built: BregmanDivergence = kind(**options)
    return built
