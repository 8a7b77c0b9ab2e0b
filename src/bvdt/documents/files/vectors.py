"""An encoder's vectors of documents: a NumPy file with a row for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..._support.arrays import UNREADABLE, Float


def read_vectors(path: Path, n_documents: int) -> Float:  # (n_documents, d)
    """The rows of a .npy file, in the documents' order."""
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        vectors = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError, *UNREADABLE) as error:
        raise ValueError(f"{path} is no .npy file of numbers ({error})") from None
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        shape = getattr(vectors, "shape", "several arrays")
        raise ValueError(f"{path} needs one array of numbers, documents × columns; it has {shape}")
    if len(vectors) != n_documents:
        raise ValueError(
            f"{path} needs {n_documents:,} rows, one per document in their order; it has {len(vectors):,}"
        )
    vectors = np.ascontiguousarray(vectors, np.float64)
    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        raise ValueError(f"{path} needs finite numbers; row {int(bad.argmax()) + 1} has others")
    return vectors
