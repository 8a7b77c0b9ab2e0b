"""Parquet in, batch by batch; pyarrow is imported only here and where Parquet is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from .table import Batch, Table

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetFile

BATCH = 4096


def need_pyarrow(path: str | Path) -> ModuleType:
    """The module, or one sentence on how to get it."""
    try:
        import pyarrow

        module: ModuleType = pyarrow
    except ImportError:
        raise ImportError(
            f'{path} needs pyarrow to be read or written: pip install "bvdt[parquet]"'
        ) from None
    return module


def read_parquet(path: Path) -> Table:
    """Table of a Parquet file; its places are row numbers from 1."""
    need_pyarrow(path)
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(path)
        names = list(file.schema_arrow.names)
    except (ValueError, OSError) as error:
        raise _damaged(path) from error
    return Table(path, names, _batches(path, file), unit="row")


def _damaged(path: Path) -> ValueError:
    return ValueError(f"{path} is not a Parquet file, or is damaged or truncated; write it again")


def _batches(path: Path, file: ParquetFile) -> Iterator[Batch]:
    row = 1
    batches = file.iter_batches(batch_size=BATCH)
    while True:
        try:
            batch = next(batches, None)
        except (ValueError, OSError) as error:
            raise _damaged(path) from error
        if batch is None:
            return
        yield Batch(range(row, row + batch.num_rows), _columns_of(batch))
        row += batch.num_rows


def _columns_of(batch: RecordBatch) -> Callable[[int], Sequence[object]]:
    @cache
    def column(index: int) -> Sequence[object]:
        values = batch.column(index)
        kind = values.type
        import pyarrow

        is_number = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
        if is_number and not values.null_count:
            array: Sequence[object] = values.to_numpy(zero_copy_only=False)
            return array
        cells: list[object] = values.to_pylist()
        return cells

    return column
