"""``bvdt propagate --dask``: a Parquet table of numbers that is read, walked and labeled in pieces."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from .._support.arrays import Float, LabelArray
from .._support.atomic import atomic, check_writable
from ..documents.features import EUCLIDEAN, standard_scale
from ..documents.files.columns import as_string, is_blank
from ..documents.files.labels import suspicious
from ..documents.files.parquet import need_pyarrow
from ..documents.files.table import given
from ..estimators._labels import NO_CLASSES
from .session import Session

if TYPE_CHECKING:
    from distributed import Client
    from pyarrow import RecordBatch

    from ..dask import LabelPropagation
    from ..dask.inputs import DaskArray

LOCAL = "local"
UNMEASURED = "not measured on Dask; bvdt propagate on some of the rows, without --dask, measures it"
_SAMPLE = 1 << 16  # rows at least, as far as there are, from which columns are standardised


def label_on_dask(
    session: Session,
    path: Path,
    output: Path,
    labels: str | None,
    missing: str | None,
    id_column: str | None,
    address: str,
    seed: int,
    chosen: dict[str, Any],
) -> None:
    """Labels for all rows, written in their order, one row group at a time."""
    need_pyarrow(path)
    _check(path, output, labels)
    need_dask()
    from ..dask import LabelPropagation
    from ..dask.executor import workers_of

    options: dict[str, Any] = {"divergence": "squared_euclidean", "random_state": seed}
    options |= {name: value for name, value in chosen.items() if value is not None}
    table = _Table(path, str(labels), missing, id_column)
    standard = options["divergence"] in EUCLIDEAN
    how = ", standardised" if standard else ""
    session.say(f"Read {path}: {table.n_rows:,} rows, {len(table.numbers)} columns of numbers{how}")
    session.result |= {"command": "propagate", "dask": address, "documents": table.n_rows}
    for note in _checked_labels(table, missing):
        session.note(note)
    with _client(address) as client:
        with session.bars("walk") as progress, _told_plainly():
            model = LabelPropagation(client=client, progress=progress, **options)
            warnings.filterwarnings("ignore", "y: ")  # reported by _checked_labels in the shell's words
            model.fit(table.X(standard), table.y())
        op = model.operator_
        session.say(f"{op.n_shards} shards on {len(workers_of(client))} workers")
        session.say(f"Accuracy: {UNMEASURED}")
        session.result |= {"classes": model.classes_.tolist(), "shards": op.n_shards, "holdout": None}
        with session.stage("write"):
            counts = _write(output, table, model)
    session.say()
    rows = [[name, f"{counts[name]:,}"] for name in model.classes_.tolist()]
    session.table(["label", "predicted"], rows)
    session.result |= {"predicted": counts, "output": str(output)}
    session.say(f"\nWrote {output} in {session.seconds:.1f} s")


def _check(path: Path, output: Path, labels: str | None) -> None:
    if path.suffix.lower() != ".parquet" or output.suffix.lower() != ".parquet":
        raise ValueError(f"--dask needs .parquet in and out; got {path.name} and {output.name}")
    if labels is None:
        raise ValueError("--labels is missing: name the column of labels, null where there is none")
    if path.resolve() == output.resolve():
        raise ValueError(f"{output} needs another name: it is the input as well")
    check_writable(output)


@contextmanager
def _told_plainly() -> Iterator[None]:
    """What a cluster lacks is the user's to mend, not a fault of the program."""
    try:
        yield
    except RuntimeError as error:
        raise ValueError(str(error)) from error


@contextmanager
def _client(address: str) -> Iterator[Client]:
    """A client of the cluster at an address, or of workers started on this machine."""
    from distributed import Client, LocalCluster
    from distributed.comm import resolve_address

    if address != LOCAL:
        try:
            resolve_address(address)  # a Client of what is none stays Dask's default, hangs when collected
            client = Client(address, timeout=20)
        except (OSError, ValueError, TimeoutError) as error:
            raise ValueError(
                f"--dask needs a scheduler's address, tcp://host:port, or {LOCAL}; {address}: {error}"
            ) from None
        with client:
            yield client
        return
    with LocalCluster(threads_per_worker=1, dashboard_address=":0") as made, Client(made) as client:
        yield client


def need_dask() -> None:
    """One sentence on how to get it where it is missing."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ImportError(
            '--dask needs Dask, the extra dask of bvdt: pip install ".[dask]" in a clone of it'
        ) from None


class _Table:
    """A Parquet file by its row groups; workers read them by the file's path."""

    def __init__(self, path: Path, labels: str, missing: str | None, id_column: str | None) -> None:
        import pyarrow.parquet as parquet
        import pyarrow.types as types

        file = parquet.ParquetFile(path)
        schema = file.schema_arrow
        for name in (labels, id_column):
            if name is not None and name not in schema.names:
                raise ValueError(f"{path} needs the column {name!r}; it has {', '.join(schema.names[:10])}")
        self.path, self.labels = str(path.resolve()), (labels, missing)
        self.id = id_column if id_column else "id" if "id" in schema.names else None
        others = [field for field in schema if field.name not in (labels, self.id)]
        wrong = [f for f in others if not (types.is_integer(f.type) or types.is_floating(f.type))]
        if wrong:
            raise ValueError(
                f"--dask needs columns of numbers; {wrong[0].name!r} of {path} is {wrong[0].type}"
            )
        if not others:
            raise ValueError(f"{path} needs a column of numbers besides {labels!r}; it has none")
        self.numbers = [field.name for field in others]
        self.lengths = [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)]
        self.n_rows = sum(self.lengths)

    def X(self, standard: bool) -> DaskArray:
        """The numbers as a Dask array, every column ``standard``ised as ``bvdt propagate`` does in memory."""
        X = self._array(read_numbers, self.numbers, (len(self.numbers),), np.float64)
        if not standard:
            return X
        mean, deviation = standard_scale(self._some_rows())
        return (X - mean) / deviation

    def _some_rows(self) -> Float:  # (n, d)
        """All rows of finite numbers, or of a large file those of eight row groups and more."""
        every = min(max(1, self.n_rows // _SAMPLE), max(1, len(self.lengths) // 8))
        groups = range(0, len(self.lengths), every)
        X = np.concatenate([read_numbers(self.path, g, self.numbers) for g in groups])
        finite: Float = X[np.isfinite(X).all(axis=1)]
        return finite

    def y(self) -> DaskArray:
        """The labels as a Dask array of strings, "" for none."""
        return self._array(read_labels, self.labels, (), object)

    def _array(
        self, read: Callable[..., object], columns: object, more: tuple[int, ...], dtype: DTypeLike
    ) -> DaskArray:
        import dask.array as da

        import dask

        parts = [dask.delayed(read)(self.path, g, columns) for g in range(len(self.lengths))]
        arrays = [
            da.from_delayed(part, (n, *more), dtype) for part, n in zip(parts, self.lengths, strict=True)
        ]
        return da.concatenate(arrays)


def read_numbers(path: str, group: int, columns: list[str]) -> Float:  # (n, d)
    """One row group's numbers; null is NaN, which the walk refuses by its row."""
    table = _read(path, group, columns)
    return np.stack([table.column(name).to_numpy().astype(np.float64) for name in columns], axis=1)


def read_labels(path: str, group: int, column: tuple[str, str | None]) -> LabelArray:  # (n,)
    """One row group's labels as ``bvdt propagate`` has them in memory, "" where there is none.

    ``column`` is its name and the word for none.
    """
    name, missing = column
    values = _read(path, group, [name]).column(name).to_pylist()
    labels = [None if is_blank(value) else given(as_string(value), missing) for value in values]
    return np.array([label or "" for label in labels], dtype=object)


def _checked_labels(table: _Table, missing: str | None) -> list[str]:
    """Notes on the classes; ValueError where there are none, or one that is a word for none."""
    groups = range(len(table.lengths))
    found = {label for g in groups for label in set(read_labels(table.path, g, table.labels))}
    classes = found - {""}
    if not classes:
        raise ValueError(
            f"{table.path} has no labels in {table.labels[0]!r}; label a few of each class first"
        )
    for name in sorted(classes & NO_CLASSES):
        raise ValueError(
            f'{table.path}: the label "{name}" looks like "not labeled": add --unlabeled "{name}", or give '
            "the class another name"
        )
    return suspicious([label or None for label in found], missing)


def _read(path: str, group: int, columns: list[str]) -> RecordBatch:
    import pyarrow.parquet as parquet

    return parquet.ParquetFile(path).read_row_group(group, columns=columns)


def _write(output: Path, table: _Table, model: LabelPropagation) -> dict[str, int]:
    """id, label, confidence and given, a row group at a time; how many rows each class has got."""
    import pyarrow
    import pyarrow.parquet as parquet

    classes = model.classes_.tolist()
    codes = {name: code for code, name in enumerate(classes)}
    total, first, writer = np.zeros(len(classes), np.int64), 0, None
    with atomic(output, "wb") as file:
        for g, n in enumerate(table.lengths):
            P = model.label_distributions_[first : first + n].compute()
            best = P.argmax(axis=1)
            labels = read_labels(table.path, g, table.labels)
            for row in np.flatnonzero(labels != ""):  # what is given stays, and is certain
                best[row] = codes[labels[row]]
                P[row] = np.arange(len(classes)) == best[row]
            ids = (
                range(first + 1, first + n + 1)
                if table.id is None
                else _read(table.path, g, [table.id]).column(0)
            )
            part = pyarrow.table(
                {
                    "id": pyarrow.array(ids) if table.id is None else ids,
                    "label": pyarrow.array([classes[k] for k in best]),
                    "confidence": P[np.arange(n), best],
                    "given": labels != "",
                }
            )
            writer = writer or parquet.ParquetWriter(file, part.schema)
            writer.write_table(part)
            total += np.bincount(best, minlength=len(classes))
            first += n
        if writer is not None:
            writer.close()
    return {name: int(count) for name, count in zip(classes, total, strict=True)}
