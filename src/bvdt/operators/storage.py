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

from .._support import memory
from .._support.arrays import UNREADABLE
from .._support.atomic import atomic
from .._support.mixed import Mixed
from ..blocks import BlockPartition
from ..divergences import NAMES, BregmanDivergence, Cosine, get
from ..lifting import Columns, Lifted, Lifting, ViewsLifting, views_lifting
from ..tree import Tree
from . import stored
from .forest import ForestOperator
from .near_field import NearField
from .single_tree import TransitionOperator
from .walk import WalkOperator

# 2: forests; 3: a model (``bvdt.documents.model``) beside the operator; 4: columns in use of many more;
# 5: views. The least that can tell a file is written.
FORMAT, VERSION = "bvdt", 5
_LONGEST_HEADER = 1 << 26  # bytes
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
)  # of zipfile


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
    views = lifting if isinstance(lifting, ViewsLifting) else None
    arrays: dict[str, Any] = {}
    if isinstance(op, ForestOperator):
        weighting = op.weighting if isinstance(op.weighting, str) else None
        forest = {"n_trees": op.n_trees, "seed": op.seed, "kind": op.kind, "weighting": weighting}
        header |= {"version": 2, "forest": forest}
        arrays |= {"weights": op.weights} | _near_arrays(op.near_field)
        for number, member in enumerate(op.members):
            arrays |= _tree_arrays(member, f"tree{number}_")
    else:
        header["coarsest"] = op.members[0].partition.is_coarsest
        arrays |= _tree_arrays(op.members[0], "")
    arrays |= _lifted_arrays(op.lifted)
    if views is not None:
        header |= {"version": 5, "divergence": None, "mixed": op.lifted.is_mixed} | _views_header(views)
        for number, part in enumerate(views.parts):
            arrays |= {f"view{number}_{name}": array for name, array in _lifting_arrays(part).items()}
    elif lifting is not None:
        arrays |= _lifting_arrays(lifting)
        if lifting.columns is not None:
            header |= {"version": 4, "width": lifting.columns.width}
    return header, arrays


def _views_header(lifting: ViewsLifting) -> dict[str, Any]:
    parts = [
        {
            "factor": factor,
            "sparse": part.sparse,
            "n_features": len(part.smoothing),
            "divergence": _divergence_header(part.divergence),
            "width": None if part.columns is None else part.columns.width,
        }
        for part, factor in zip(lifting.parts, lifting.factors, strict=True)
    ]
    return {"views": {"names": list(lifting.names), "parts": parts}}


def load(
    path: str | Path, *, divergence: BregmanDivergence | None = None, n_jobs: int | None = None
) -> WalkOperator:
    """Read an operator that ``op.save`` wrote, or that of a model of ``bvdt.documents.model.save_model``.

    A divergence of your own φ is code and is not in the file: give it again as ``divergence`` if new points
    are to be lifted (``op.extend``); everything else works without. The neighbor index is not in the file: it
    is built when new points first need it, in about the time of a tree.

    Examples
    --------
    >>> import bvdt
    >>> X = [[0.0], [1.0], [3.0], [4.5]]
    >>> op = bvdt.transition_matrix(X, "squared_euclidean", bandwidth=1.0, random_state=0)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     op.save(f"{folder}/walk.bvdt")
    ...     again = bvdt.load(f"{folder}/walk.bvdt")
    >>> bool((again.toarray() == op.toarray()).all())
    True
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
            near_field=_near_from(arrays, lifted.n_points, float(header["bandwidth"])),
            seed=forest["seed"],
            kind=forest["kind"],
        )
    except (KeyError, TypeError, IndexError, ValueError, OverflowError) as error:
        shown = error if isinstance(error, ValueError) else repr(error)
        raise ValueError(f"{path} is a damaged bvdt file: {shown}") from error


# -- trees and the near field --------------------------------------------------------------------------------


def _tree_arrays(op: TransitionOperator, prefix: str) -> dict[str, Any]:
    arrays = {"size": op.tree.size, "order": op.tree.order, "mean_divergence": op.mean_divergence}
    if not op.partition.is_coarsest:
        arrays |= {"rows": op.partition.rows, "cols": op.partition.cols}
    return {prefix + name: array for name, array in arrays.items()}


def _tree_from(
    header: dict[str, Any], arrays: dict[str, Any], prefix: str, lifted: Lifted, n_jobs: int | None
) -> TransitionOperator:
    size, order = (stored.integers(arrays, prefix + name) for name in ("size", "order"))
    n_nodes = 2 * lifted.n_points - 1
    stored.require(size.shape == (n_nodes,), prefix + "size", f"{n_nodes} nodes", size)
    stored.require(order.shape == (lifted.n_points,), prefix + "order", f"{lifted.n_points} points", order)
    stored.require((size >= 1).all() and (size[-1:] == 1).all(), prefix + "size", "values ≥ 1", size)
    tree = Tree.from_sizes(size, order).validate()
    partition = BlockPartition.coarsest(tree)
    if prefix + "rows" in arrays:
        rows, cols = (stored.integers(arrays, prefix + name) for name in ("rows", "cols"))
        partition = BlockPartition(rows.astype(np.int32), cols.astype(np.int32), tree.n_nodes)
    return TransitionOperator(
        lifted,
        tree,
        partition=partition,
        mean_divergence=stored.floats(arrays, prefix + "mean_divergence", (partition.n_blocks,), 0.0),
        bandwidth=float(header["bandwidth"]),
        dtype=header["dtype"],
        n_jobs=n_jobs,
    )


def _near_arrays(near_field: NearField | None) -> dict[str, Any]:
    if near_field is None:
        return {}
    names = ("indices", "divergences", "share")
    return {f"near_{name}": np.asarray(getattr(near_field, name)) for name in names}


def _near_from(arrays: dict[str, Any], n_points: int, bandwidth: float) -> NearField | None:
    if "near_indices" not in arrays:
        return None
    return NearField(*stored.near_field(arrays, n_points, bandwidth))


# -- the file ------------------------------------------------------------------------------------------------


def write(path: str | Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """One file of arrays behind a JSON header; it appears whole or not at all."""
    arrays = {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)} | arrays
    with atomic(path, "wb") as file:
        np.savez(file, **arrays)


@memory.explain_memory_error("loading the file")
def read(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of a file that ``write`` wrote; a ValueError says what is wrong with any other."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a bvdt file")
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
        if "header.npy" not in sizes:
            raise ValueError(f"{path} is not a bvdt file: it has no header")
        with np.load(path, allow_pickle=False) as members:
            header = _read_header(path, sizes["header.npy"], members)
            chosen = stored.wanted(members.files, header)
            memory.require(sum(sizes[f"{name}.npy"] for name in chosen), f"loading {path}")
            return header, {name: members[name] for name in chosen}
    except (*_DAMAGE, OSError, UnicodeDecodeError, JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not a bvdt file, or is truncated ({error})") from error
    except (ValueError, *UNREADABLE) as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path} is a damaged bvdt file: {error}") from error


def _read_header(path: Path, size: int, members: Any) -> dict[str, Any]:
    if size > _LONGEST_HEADER:
        raise ValueError(f"{path} is a damaged bvdt file: its header takes {size} bytes")
    header = json.loads(members["header"].tobytes())
    _check_header(header, path)
    try:
        stored.check_header(header, members.files)
    except ValueError as error:
        raise ValueError(f"{path} is a damaged bvdt file: {error}") from None
    return dict(header)


def _check_header(header: Any, path: Path) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is not a bvdt file: its header is another format's")
    if not stored.is_count(header.get("version"), 1) or header["version"] > VERSION:
        raise ValueError(
            f"{path} has format version {header.get('version')}; this bvdt reads up to {VERSION}: "
            "update bvdt to load it"
        )


# -- lifted data ---------------------------------------------------------------------------------------------


def _lifted_arrays(lifted: Lifted) -> dict[str, Any]:
    arrays: dict[str, Any] = {"u": lifted.u, "w": lifted.w}
    if lifted.is_mixed:
        dense, stored_part = lifted.blocks
        inside = {f"dense_{name}": array for name, array in _lifted_arrays(dense).items() if name in "XH"}
        outside = {name: array for name, array in _lifted_arrays(stored_part).items() if name not in "uw"}
        return arrays | inside | outside
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
    if lifting.columns is not None:
        arrays["columns"] = lifting.columns.used
    precision = getattr(lifting.divergence, "precision", None)
    return arrays | ({} if precision is None else {"precision": precision})


def _lifted_from(header: dict[str, Any], arrays: dict[str, Any], custom: BregmanDivergence | None) -> Lifted:
    n_points, n_features = header["shape"]
    u, w = stored.floats(arrays, "u", (n_points,)), stored.floats(arrays, "w", (n_points,))
    base = stored.floats(arrays, "base", (n_features,)) if header["sparse"] and "base" in arrays else None
    if header.get("mixed"):
        n_dense = arrays["dense_X"].shape[-1]
        dense = _matrices(arrays, "dense_", (n_points, n_dense), False)
        kept = _matrices(arrays, "", (n_points, n_features - n_dense), True)
        own = dense[2] + kept[2]
        X = Mixed(dense[0], kept[0])
        same = dense[1] is dense[0] and kept[1] is kept[0]
        H = X if same else Mixed(dense[1], kept[1])
    else:
        X, H, own = _matrices(arrays, "", (n_points, n_features), header["sparse"])
    _check_own(u, w, own)
    if "views" in header:
        return Lifted(u, w, X, H, base, _views_from(header, arrays))
    stored.require(base is not None or not header["sparse"], "base", "a value per feature", None)
    return Lifted(u, w, X, H, base, _lifting_from(header, arrays, custom))


def _matrices(
    arrays: dict[str, Any], prefix: str, shape: tuple[int, int], is_sparse: bool
) -> tuple[Any, Any, Any]:
    """X, H and the inner products of their rows."""
    values = arrays["indices"].shape if is_sparse else shape
    X = stored.floats(arrays, prefix + "X", values)
    H = stored.floats(arrays, prefix + "H", values) if prefix + "H" in arrays else X
    with np.errstate(over="ignore"):
        own = X * H
    if is_sparse:
        pattern = stored.integers(arrays, "indices"), stored.integers(arrays, "indptr")
        X = sparse.csr_array((X, *pattern), shape=shape)
        X.check_format(full_check=True)  # the kernels trust the indices
        stored.require(X.has_canonical_format, "indices", "ascending columns in each row", pattern[0])
        own = sparse.csr_array((own, *pattern), shape=X.shape)
        H = sparse.csr_array((H, *pattern), shape=X.shape) if prefix + "H" in arrays else X
    return X, H, np.asarray(own.sum(axis=1)).ravel()


def _views_from(header: dict[str, Any], arrays: dict[str, Any]) -> ViewsLifting | None:
    names, entries = header["views"]["names"], header["views"]["parts"]
    widths = [entry["n_features"] for entry in entries]
    stored.require(sum(widths) == header["shape"][1], "views", f"{header['shape'][1]} features", widths)
    parts = []
    for number, entry in enumerate(entries):
        prefix = f"view{number}_"
        own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
        one = {"shape": [header["shape"][0], entry["n_features"]]} | {
            name: entry[name] for name in ("sparse", "divergence")
        }
        part = _lifting_from(one | ({} if entry["width"] is None else {"width": entry["width"]}), own, None)
        if part is None:
            return None
        parts.append(part)
    return views_lifting(parts, [entry["factor"] for entry in entries], names)


def _check_own(u: Any, w: Any, inner: Any) -> None:
    """d_ii = u_i + w_i − ⟨x_i, h_i⟩ = 0, to rounding."""
    with np.errstate(over="ignore", invalid="ignore"):
        same = np.abs(u + w - inner) <= 1e-6 * (np.abs(u) + np.abs(w) + np.abs(inner))
        same &= np.isfinite(u + w) & np.isfinite(inner)
    if not same.all():
        i = int(np.argmin(same))
        stored.require(False, f"u[{i}] + w[{i}]", f"{inner[i]:g}, as X and H say", float(u[i] + w[i]))


def _lifting_from(
    header: dict[str, Any], arrays: dict[str, Any], custom: BregmanDivergence | None
) -> Lifting | None:
    if header["divergence"] is None:
        return None
    divergence = custom if custom is not None else _divergence_from(header["divergence"], arrays)
    if divergence is None:
        return None
    shape = (header["shape"][1],)
    scale = stored.floats(arrays, "scale", () if arrays["scale"].ndim == 0 else shape, 0.0)
    stored.require((scale > 0).all(), "scale", "values > 0", scale)
    return Lifting(
        divergence,
        stored.floats(arrays, "smoothing", shape, 0.0),
        float(scale) if arrays["scale"].ndim == 0 else scale,
        stored.floats(arrays, "offset", shape) if "offset" in arrays else None,
        header["sparse"],
        _columns_from(header, arrays),
    )


def _columns_from(header: dict[str, Any], arrays: dict[str, Any]) -> Columns | None:
    if "width" not in header:
        return None
    width, n_features = header["width"], header["shape"][1]
    stored.require(
        stored.is_count(width, n_features) and width < 2**63, "width", "the number of features", width
    )
    stored.require(header["sparse"], "width", "sparse data", width)
    used = stored.integers(arrays, "columns")
    most = n_features - 1
    stored.require(used.shape in ((most,), (most - 1,)), "columns", f"at most {most} features", used)
    ascending = (np.diff(used) > 0).all() and (used >= 0).all() and (used < width).all()
    stored.require(ascending, "columns", f"ascending features below {width}", used)
    return Columns(used.astype(np.intp), width)


_OPTIONS = ("normalize", "length", "empty", "r")


def _divergence_header(divergence: BregmanDivergence) -> dict[str, Any]:
    if type(divergence) is not NAMES.get(divergence.name):
        return {"name": divergence.name, "custom": True}
    options = {key: getattr(divergence, key) for key in _OPTIONS if key in vars(divergence)}
    return {"name": divergence.name, "custom": False, "options": options}


def _divergence_from(entry: dict[str, Any], arrays: dict[str, Any]) -> BregmanDivergence | None:
    if entry["custom"]:
        return None
    kind: Any = NAMES.get(entry["name"])
    if kind is None:
        return get(entry["name"])  # raises, naming those there are
    options = dict(entry["options"])
    if kind is Cosine:
        options.setdefault("empty", False)  # files of before rows of zeros had a coordinate
    if "precision" in arrays:
        n_features = len(arrays["smoothing"])
        options["precision"] = stored.floats(arrays, "precision", (n_features, n_features))
    built: BregmanDivergence = kind(**options)
    return built
