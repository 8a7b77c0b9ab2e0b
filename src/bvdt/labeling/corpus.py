"""The documents to be labeled: what is shown of them, and their walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._support.sparse import Points
from ..lifting import Views

if TYPE_CHECKING:
    from ..documents.features import Features
    from ..documents.files import Documents
    from ..operators import WalkOperator

LONGEST = 100_000  # characters of a text that are sent to the page
VALUES = 40  # numbers that are shown of a document without a text
GLIMPSE = 220  # characters in lists and on the map


@dataclass(frozen=True, eq=False)
class Corpus:
    """N documents with unique ids, their features X, and the walk over them."""

    documents: Documents
    features: Features
    X: Points | Views  # (N, d)
    operator: WalkOperator

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.documents.ids):
            seen: set[str] = set()
            name = next(i for i in self.documents.ids if i in seen or seen.add(i))  # type: ignore[func-returns-value]
            raise ValueError(
                f'{self.documents.path} needs unique ids to be labeled; "{name}" is there twice: '
                "name another column by --id"
            )

    @property
    def ids(self) -> list[str]:
        return self.documents.ids

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each id."""
        return {name: row for row, name in enumerate(self.documents.ids)}

    def text(self, row: int) -> str:
        """What a person reads: the text, or the numbers that are not zero."""
        if self.documents.texts is not None:
            return self.documents.texts[row]
        X = next(iter(self.X.blocks.values())) if isinstance(self.X, Views) else self.X
        return _numbers(X, row, self.documents.features or self.features.names)

    def snippet(self, row: int) -> str:
        """The beginning, on one line."""
        start = " ".join(self.text(row)[: 4 * GLIMPSE].split())
        return start if len(start) <= GLIMPSE else start[:GLIMPSE].rstrip() + "…"


def _numbers(X: Points, row: int, names: Sequence[str] | None) -> str:
    if sparse.issparse(X):
        one = sparse.csr_array(X[[row]])
        columns, values = one.indices, one.data
    else:
        columns, values = np.arange(X.shape[1]), np.asarray(X[row])
    largest = np.argsort(-np.abs(values), kind="stable")[:VALUES]
    known = list(names) if names is not None else None
    return "\n".join(f"{known[columns[i]] if known else columns[i]}: {values[i]:g}" for i in largest)
