"""Every input becomes Documents: ids, texts or points, labels where there are any, in the input's order."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..._support import memory
from ..._support.arrays import Float
from ..._support.sparse import Points
from .columns import Roles, take
from .encoding import refuse_streams
from .folder import folder_labels, read_folder
from .formats import MATRICES, open_table, refuse, suffix_of, table_suffixes
from .labels import Keyed, read_labels, suspicious
from .matrices import read_matrix
from .table import Table, given


@dataclass(frozen=True)
class Documents:
    """What was read: N ids and either N texts or N rows of numbers.

    ids : of the id column, a folder's relative paths, else the rows' numbers from 1.
    X : ndarray or csr_array (N, d), None where there are texts.
    features : names of the numeric columns of a table.
    labels : None where none were asked for; an entry None is a document without a label.
    notes : sentences on what was guessed: columns, encoding, files left out.
    columns : of a table all but the ids', cell by cell, where they were to be kept.
    vectors : (N, d) an encoder's, beside what was read.
    """

    path: Path
    ids: list[str]
    texts: list[str] | None = None
    X: Points | None = None
    features: list[str] | None = None
    labels: list[str | None] | None = None
    notes: tuple[str, ...] = ()
    columns: dict[str, list[object]] | None = None
    vectors: Float | None = None


@memory.explain_memory_error("reading the documents")
def read_documents(
    path: str | Path,
    *,
    text: str | None = None,
    id: str | None = None,
    labels: str | None = None,
    encoding: str | None = None,
    missing: str | None = None,
    numbers: Collection[str] = (),
    keep: bool = False,
) -> Documents:
    """Read a table, a folder of text files or a matrix.

    Parameters
    ----------
    path : .csv .tsv .jsonl .parquet; a folder; .mtx, svmlight (.svm .svmlight .libsvm .feat .dat), .npz .npy;
        text formats may be packed, .gz.
    text : column of the texts; default: one named text, else the longest strings; with none, all columns
        beside the id and the label are numbers.
    id : column of the ids; default: one named id, else the row numbers from 1.
    labels : a column of the input ("target" in svmlight, an array of an .npz, "folder" for the subfolders of
        a folder, which is also its default), else a file with the columns id and label, or a label per line.
    encoding : of the text; default: UTF-8, else Windows-1252 with a note.
    missing : a label that means "not labeled", beside blanks; for formats that know no blank.
    numbers : columns of a table to read as numbers, as far as they are there; the others are left out then.
    keep : whether to keep all columns of a table, as ``columns``.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such file or folder", str(path))
    refuse_streams(path)
    suffix = suffix_of(path)
    if keep and (path.is_dir() or suffix not in table_suffixes()):
        what = "a folder" if path.is_dir() else "no table"
        raise ValueError(f"{path} is {what} and has no columns to keep; leave out keep (--keep-columns)")
    if path.is_dir():
        documents, known = _from_folder(path, text, id, labels, encoding, missing)
    elif suffix in table_suffixes():
        documents, known = _from_table(path, text, id, labels, encoding, missing, numbers, keep)
    elif suffix in MATRICES:
        documents, known = _from_matrix(path, suffix, text, id, labels, missing)
    else:
        raise refuse(path)
    if known is not None and labels is not None:
        found, notes = read_labels(Path(labels), known, missing, encoding)
        documents = replace(documents, labels=found, notes=(*documents.notes, *notes))
    more = suspicious(documents.labels, missing) if documents.labels else []
    return replace(documents, notes=(*documents.notes, *more))


# Each of these returns the documents and, where the labels are in a second file, what to join them to.


def _from_table(
    path: Path,
    text: str | None,
    id: str | None,
    labels: str | None,
    encoding: str | None,
    missing: str | None,
    numbers: Collection[str],
    keep: bool,
) -> tuple[Documents, Keyed | None]:
    column = None if labels is None or Path(labels).is_file() else labels
    wanted = [name for name in (text, id, column, *numbers) if name is not None]
    table = open_table(path, encoding, wanted)
    from_file = labels is not None and labels not in table.columns
    if from_file:
        _need_file(path, labels, table.known(labels or ""))
    try:
        roles, taken = take(table, text, id, None if from_file else labels, missing, numbers, keep)
    except UnicodeDecodeError as error:  # Parquet's strings are read when they are asked for
        raise ValueError(f"{path} holds strings that are no text ({error})") from error
    X = np.concatenate(taken.numbers) if taken.numbers else None
    ids = taken.ids or [str(row) for row in range(1, 1 + (len(taken.texts) if X is None else len(X)))]
    documents = Documents(
        path,
        ids,
        taken.texts if X is None else None,
        X,
        None if X is None else [table.columns[index] for index in roles.numbers],
        None if roles.label is None else taken.labels,
        (*table.notes, *([] if numbers else _choices(table, roles, text)), *_repeated(path, taken.ids)),
        taken.kept if keep else None,
    )
    if X is None and not any(map(str.strip, taken.texts)):
        raise ValueError(
            f'{path} has no text: column "{table.columns[roles.text or 0]}" is blank in every row'
        )
    id_name = None if roles.id is None else table.columns[roles.id]
    return documents, Keyed(path, ids, id_name, texts=documents.texts) if from_file else None


def _choices(table: Table, roles: Roles, text: str | None) -> list[str]:
    if roles.text is None:
        names = [table.columns[index] for index in roles.numbers]
        used = {roles.id, roles.label, *roles.numbers}
        left = [name for index, name in enumerate(table.columns) if index not in used]
        without = f"; left out: {_first_few(left)} (name a text with --text)" if left else ""
        return [
            f"{table.path}: no column holds text; the points are its {len(names)} columns of numbers: "
            f"{_first_few(names)}{without}"
        ]
    name = table.columns[roles.text]
    notes = [f'{table.path}: the text is column "{name}"']
    if roles.unused:
        unused = _first_few([table.columns[index] for index in roles.unused])
        return [f"{notes[0]}; columns of numbers beside it have no part in this: {unused}"]
    return [] if text is not None or name.lower() == "text" else notes


def _first_few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")


def _repeated(path: Path, ids: list[str]) -> list[str]:
    """A note on ids that come more than once: rows keep their places, but have no unique id."""
    counts = Counter(ids)
    if len(counts) == len(ids):
        return []
    name, n = counts.most_common(1)[0]
    n_repeated = sum(count > 1 for count in counts.values())
    which = f'the id "{name}" comes {n} times'
    if n_repeated > 1:
        which = f'{n_repeated:,} ids come more than once, "{name}" {n} times'
    return [
        f"{path}: {which}; results are in the input's order, but cannot be joined to it by id: "
        "make the ids unique, or name another column (--id)"
    ]


def _need_file(path: Path, labels: str | None, known: str) -> None:
    if not Path(labels or "").is_file():
        raise ValueError(
            f'{path} has no column "{labels}" and there is no file of labels with that name; {known}'
        )


def _from_folder(
    path: Path,
    text: str | None,
    id: str | None,
    labels: str | None,
    encoding: str | None,
    missing: str | None,
) -> tuple[Documents, Keyed | None]:
    if text is not None or id is not None:
        raise ValueError(f"{path} is a folder: its files are the texts, their names the ids; name no columns")
    from_file = labels not in (None, "folder")
    if from_file:
        _need_file(path, labels, 'write "folder" to take the subfolders\' names')
    ids, texts, notes = read_folder(path, encoding)
    found = None if from_file else folder_labels(ids, missing)
    if labels == "folder" and found is None:
        raise ValueError(
            f"{path} has no subfolders to take labels from; give a file of labels with the columns id, label"
        )
    documents = Documents(path, ids, texts, labels=found, notes=tuple(notes))
    return documents, Keyed(path, ids, None) if from_file else None


def _from_matrix(
    path: Path, suffix: str, text: str | None, id: str | None, labels: str | None, missing: str | None
) -> tuple[Documents, Keyed | None]:
    if text is not None:
        raise ValueError(f'{path} is a matrix and has no column of text; leave "{text}" out')
    matrix = read_matrix(path, suffix)
    n, width = matrix.X.shape
    if id is not None and id not in matrix.fields:
        raise ValueError(f'{path} has no array "{id}" with an id for each of its {n} rows; leave it out')
    ids = matrix.fields[id] if id is not None else [str(row) for row in range(1, n + 1)]
    from_file = labels is not None and labels not in matrix.fields
    if from_file:
        inside = ", ".join(matrix.fields) or "nothing"
        _need_file(path, labels, f"beside the matrix it holds {inside}")
    own = None if labels is None or from_file else matrix.fields[labels]
    found = None if own is None else [given(label, missing) for label in own]
    return Documents(path, ids, X=matrix.X, labels=found), Keyed(path, ids, id, width) if from_file else None
