"""The labeled count data of the benchmarks, from the folder named by BVDT_DATA or ../shared/data."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np
from scipy import sparse

FOLDER = Path(os.environ.get("BVDT_DATA", Path(__file__).parents[2] / "shared" / "data"))


TEXTS = ("agnews", "clinc150")


def texts(name: str) -> tuple[list[str], np.ndarray]:
    """Documents and their classes of a corpus of ``TEXTS``."""
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.unique([row["label"] for row in rows], return_inverse=True)[1]


def counts(name: str) -> sparse.csr_array:
    """Term counts of a corpus, e.g. ``counts("bbc")``."""
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = file["data"].astype(float), file["indices"].astype(np.int32), file["indptr"]
        return sparse.csr_array(arrays, shape=tuple(file["shape"]))


def classes(name: str) -> np.ndarray:
    """The documents' classes, as integers from 0."""
    with np.load(FOLDER / f"{name}.npz") as file:
        return np.unique(file["labels"], return_inverse=True)[1]
