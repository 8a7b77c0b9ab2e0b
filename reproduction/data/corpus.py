"""The paper's data sets as labeled counts, and the npz files they are kept in.

A file holds a CSR matrix (``data``, ``indices``, ``indptr``, ``shape``), ``labels``, ``class_names`` and
whatever a data set has besides; counts, terms and labels in the smallest unsigned type that holds them. No
pickle.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bvdt._support.arrays import UNREADABLE, ArraysByName, Integers
from bvdt._support.atomic import atomic
from bvdt.datasets import Corpus

__all__ = ["CORPORA", "CorpusInfo", "corpus_info", "load_corpus", "save_corpus"]

KEYS = ("data", "indices", "indptr", "shape", "labels", "class_names")


@dataclass(frozen=True)
class CorpusInfo:
    """What is known of a data set of Table 2: its file, its title and its size."""

    name: str
    title: str
    file: str
    shape: tuple[int, int]  # N documents, d terms
    n_classes: int
    is_surrogate: bool = False


CORPORA = {
    info.name: info
    for info in (
        CorpusInfo("bbcsport", "BBC-Sport News Articles", "bbcsport.npz", (737, 4613), 5),
        # Differs from Table 2, which has d = 9636: the published matrix has 9635 rows.
        CorpusInfo("bbc", "BBC News Articles", "bbc.npz", (2225, 9635), 5),
        CorpusInfo("20news", "20 Newsgroup", "20news_bydate_train.npz", (11269, 61188), 20),
        CorpusInfo("nsf", "NSF abstracts (surrogate)", "nsf_surrogate.npz", (16405, 18674), 10, True),
        CorpusInfo("imdb", "Large Movie Reviews", "imdb.npz", (50000, 89527), 2),
    )
}


def corpus_info(name: str) -> CorpusInfo:
    """What is known of the data set of that name."""
    if name not in CORPORA:
        raise ValueError(f"unknown data set {name!r}; there are {', '.join(CORPORA)}")
    return CORPORA[name]


def load_corpus(name: str, folder: str | Path) -> Corpus:
    """The data set of that name (a key of CORPORA) from its npz file in the folder."""
    info = corpus_info(name)
    path = Path(folder) / info.file
    if not path.is_file():
        raise FileNotFoundError(f"no file {info.file} in the folder {folder}: {_how_to_get(info)}")
    counts, labels, class_names = _checked(path, _read(path))
    return Corpus(name, info.title, counts, labels, class_names)


def save_corpus(path: str | Path, corpus: Corpus, **extra: NDArray[np.generic]) -> None:
    """Write the npz file of a corpus whole or not at all; ``extra`` arrays have one entry per document."""
    path, counts = Path(path), corpus.counts
    arrays = {"data": counts.data, "indices": counts.indices, "labels": corpus.labels, **extra}
    arrays = {name: _smallest(array) for name, array in arrays.items()}
    arrays |= {"indptr": counts.indptr, "shape": np.asarray(counts.shape, dtype=np.int64)}
    arrays["class_names"] = np.asarray(corpus.class_names, dtype=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def _how_to_get(info: CorpusInfo) -> str:
    if info.is_surrogate:
        return (
            "it cannot be fetched, having no published home; name the folder that holds it, or leave it out"
        )
    return f"get it with `python -m reproduction.data fetch {info.name}`, or name the folder that holds it"


def _smallest(array: Integers) -> Integers:
    """The array in the smallest unsigned type, if its values are whole numbers ≥ 0."""
    if array.dtype.kind not in "uif" or array.size == 0:
        return array
    if array.dtype.kind == "f" and not (np.isfinite(array).all() and np.array_equal(array, np.rint(array))):
        return array
    return array if array.min() < 0 else array.astype(np.min_scalar_type(int(array.max())))


def _read(path: Path) -> ArraysByName:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not a file of counts (npz), or is truncated")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            missing = [key for key in KEYS if key not in stored.files]
            arrays = {} if missing else {key: stored[key] for key in KEYS}
    except (zipfile.BadZipFile, EOFError, ValueError, zlib.error, *UNREADABLE) as error:
        raise ValueError(f"{path} is a damaged file of counts: {error}") from error
    if missing:
        raise ValueError(f"{path} is not a file of counts: it has no array {missing[0]!r}")
    return arrays


def _checked(path: Path, arrays: ArraysByName) -> tuple[sparse.csr_array, NDArray[np.intp], list[str]]:
    try:
        class_names = [str(name) for name in arrays["class_names"]]
        labels = arrays["labels"].astype(np.intp)
        shape = tuple(int(n) for n in arrays["shape"])
        parts = (
            arrays["data"].astype(float),
            arrays["indices"].astype(np.int32),
            arrays["indptr"].astype(np.int32),
        )
        counts = sparse.csr_array(parts, shape=shape)
        counts.check_format(full_check=True)
        if not np.isfinite(counts.data).all():
            raise ValueError("its counts are not all finite")
    except (ValueError, TypeError, SystemError, OverflowError) as error:
        raise ValueError(f"{path} holds a damaged matrix: {error}") from error
    if labels.ndim != 1:
        raise ValueError(f"{path} needs one label per document; its labels have shape {labels.shape}")
    if len(labels) != shape[0]:
        raise ValueError(
            f"{path} needs one label per document; it has {len(labels)} for {shape[0]} documents"
        )
    if len(labels) and not 0 <= labels.min() <= labels.max() < len(class_names):
        wrong = labels[(labels < 0) | (labels >= len(class_names))][0]
        raise ValueError(f"{path} has the label {wrong}, but {len(class_names)} class names")
    return counts, labels, class_names
