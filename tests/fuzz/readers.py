"""Every file that a reader may be given: documents, labels, data sets; refused by name, or read whole."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from bvdt.documents.files import read_documents
from fuzz.damage import ArrayEdit, ByteEdit, array_edits, byte_edits, damaged_arrays, damaged_bytes
from fuzz.engine import Target
from fuzz.walks import may_refuse, require
from helpers import cli_cases as cases
from reproduction.data import CORPORA, load_corpus, save_corpus

TEXTS = {".csv": "topic", ".tsv": "topic", ".jsonl": "topic", ".parquet": "topic", "folder": "folder"}
MATRICES = {".mtx": None, ".svm": "target", ".npy": None, ".npz": None, ".npz arrays": "labels"}
LABELS = ("labels.csv", "labels.txt", "labels.npy", "labels.jsonl")
CORPUS = next(iter(CORPORA))
KINDS = (*TEXTS, *MATRICES, *LABELS, "numbers.csv", "corpus")


@dataclass(frozen=True)
class Damaged:
    """A sound file, what is done to its arrays (of NumPy's formats) and then to its bytes."""

    kind: str
    packed: bool  # .gz, damaged before or after
    arrays: list[ArrayEdit]
    inner: list[ByteEdit]
    outer: list[ByteEdit]
    encoding: str | None


def _arrays() -> dict[str, Any]:
    X = cases.counts()
    labels = np.arange(X.shape[0]) % 3
    shape = np.array(X.shape)
    names = np.array(["food", "cars", "music"])
    own = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return {**own, "shape": shape, "labels": labels, "class_names": names}


@cache
def sound(kind: str) -> bytes:
    """The bytes of a sound file of that kind that is not made of arrays."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        makers = {
            ".csv": lambda: cases.docs_csv(folder),
            ".tsv": lambda: cases.docs_csv(folder, "docs.tsv", "\t"),
            ".jsonl": lambda: cases.docs_jsonl(folder),
            ".parquet": lambda: cases.docs_parquet(folder),
            "numbers.csv": lambda: cases.points_csv(folder),
            "labels.csv": lambda: cases.labels_csv(folder),
        }
        if kind == "labels.txt":
            return "\n".join(cases.corpus()[2]).encode()
        if kind == "labels.jsonl":
            return b"\n".join(b'{"id": "d%d", "label": "food"}' % i for i in range(9))
        if kind == "folder":
            return "Größe und Maß, apple pie".encode("latin-1")
        if kind in makers:
            return makers[kind]().read_bytes()
        return cases.docs_matrix(folder, kind).read_bytes()


def _with_arrays(recipe: Damaged) -> bytes:
    """The bytes of a file of NumPy's, its arrays damaged."""
    out = io.BytesIO()
    if recipe.kind in (".npy", "labels.npy"):
        array = cases.points() if recipe.kind == ".npy" else np.array(cases.corpus()[2])
        np.save(out, next(iter(damaged_arrays({"X": array}, recipe.arrays).values()), array))
    elif recipe.kind == ".npz":
        sparse.save_npz(out, cases.counts())
        with np.load(io.BytesIO(out.getvalue())) as stored:
            arrays = {name: stored[name] for name in stored.files}
        out = io.BytesIO()
        np.savez(out, **damaged_arrays(arrays, recipe.arrays))
    else:
        np.savez(out, **damaged_arrays(_arrays(), recipe.arrays))
    return out.getvalue()


def content(recipe: Damaged) -> bytes:
    """The file's bytes."""
    of_arrays = recipe.kind in (".npy", ".npz", ".npz arrays", "labels.npy", "corpus")
    data = _with_arrays(recipe) if of_arrays else sound(recipe.kind)
    data = damaged_bytes(data, recipe.inner)
    if recipe.packed and not of_arrays:
        data = damaged_bytes(gzip.compress(data, 1, mtime=0), recipe.outer)
    return data


def attempt(recipe: Damaged, folder: Path) -> None:
    if recipe.kind == "corpus":
        _read_corpus(recipe, folder)
        return
    ending = ".gz" if recipe.packed and recipe.kind not in ("folder", ".parquet") else ""
    encoding = recipe.encoding
    if recipe.kind in LABELS:
        labels = _write(folder / f"{recipe.kind}{ending}", content(recipe))
        of = cases.docs_csv(folder)
        with may_refuse():
            documents = read_documents(of, labels=str(labels), encoding=encoding)
    elif recipe.kind == "folder":
        cases.docs_folder(folder)
        _write(folder / "docs" / "food" / "odd.txt", content(recipe))
        with may_refuse(None if encoding == "no such" else folder / "docs"):
            documents = read_documents(folder / "docs", labels="folder", encoding=encoding)
    else:
        suffix = recipe.kind.split(" ")[0].removeprefix("numbers")
        path = _write(folder / f"docs{suffix}{ending}", content(recipe))
        column = {**TEXTS, **MATRICES, "numbers.csv": "topic"}[recipe.kind]
        with may_refuse(None if encoding == "no such" else path):
            documents = read_documents(path, labels=column, encoding=encoding)
    _check(documents)


def _check(documents: Any) -> None:
    n = len(documents.ids)
    if documents.texts is not None:
        require(len(documents.texts) == n, f"{len(documents.texts)} texts for {n} ids")
        require(all(isinstance(text, str) for text in documents.texts), "a text is no string")
    else:
        require(documents.X.shape[0] == n, f"{documents.X.shape[0]} rows for {n} ids")
        values = documents.X.data if sparse.issparse(documents.X) else documents.X
        require(np.isfinite(values).all(), "a number is not finite")
        if sparse.issparse(documents.X):
            documents.X.check_format(full_check=True)
    if documents.labels is not None:
        require(len(documents.labels) == n, f"{len(documents.labels)} labels for {n} ids")


def _read_corpus(recipe: Damaged, folder: Path) -> None:
    path = _write(folder / CORPORA[CORPUS].file, content(recipe))
    with may_refuse(path):
        corpus = load_corpus(CORPUS, folder)
    require(len(corpus.labels) == corpus.counts.shape[0], "labels of another length")
    corpus.counts.check_format(full_check=True)
    with may_refuse():
        save_corpus(folder / "again.npz", corpus)


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


_few = st.lists(byte_edits, max_size=4)
READERS = Target(
    "readers",
    st.builds(
        Damaged,
        st.sampled_from(KINDS),
        st.sampled_from([False, False, False, True]),
        st.lists(array_edits, max_size=2),
        st.one_of(st.just([]), _few, _few),
        st.lists(byte_edits, max_size=2),
        st.sampled_from([None, None, None, "utf-8", "latin-1", "utf-16", "cp1252", "no such"]),
    ),
    attempt,
    reaches_kernels=False,
)
