"""What a report holds: plain data, every part that may be missing None or empty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ..documents.holdout import Holdout
    from ..operators import WalkOperator


@dataclass(frozen=True)
class ResultTable:
    """An extra table: the first column names the row, the others are shown as they are."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True, eq=False)
class Report:
    """What ``render_report`` shows; a section whose data are None or empty is left out."""

    title: str
    summary: Sequence[str]  # sentences
    facts: Sequence[tuple[str, str]] = ()
    ids: Sequence[str] = ()  # (N,)
    labels: Sequence[str] | None = None  # (N,) of every point, given or predicted
    given: NDArray[np.bool_] | None = None  # (N,) which labels were given
    confidence: NDArray[np.float64] | None = None  # (N,) 0 to 1
    runner_up: Sequence[str] | None = None  # (N,) second choice, "" for none
    texts: Sequence[str] | None = None  # (N,)
    because: Sequence[str] | None = None  # (N,) which given labels led to the label, "" for none
    coordinates: NDArray[np.float64] | None = None  # (N, 2), of the map
    holdout: Holdout | None = None
    suggestions: Sequence[int] = ()  # points to label next, the most useful first
    suggestions_title: str = "What to label next"
    suggestions_note: str = (
        "These labels would tell most: the points are uncertain and many others follow them. "
        "The most useful first."
    )
    operator: WalkOperator | None = None  # whose block partition is drawn
    timings: Sequence[tuple[str, float]] = ()  # seconds
    tables: Sequence[ResultTable] = field(default_factory=tuple)
    calibrated: bool = False  # whether the confidence is the chance to be right

    def __post_init__(self) -> None:
        for name in ("labels", "given", "confidence", "runner_up", "texts", "because", "coordinates"):
            value = getattr(self, name)
            if value is not None and len(value) != len(self.ids):
                raise ValueError(f"Report.{name} needs {len(self.ids)} entries, as ids; it has {len(value)}")
        if self.coordinates is not None and not np.isfinite(self.coordinates).all():
            raise ValueError("Report.coordinates needs finite numbers; it has others")

    @property
    def n_points(self) -> int:
        return len(self.ids)

    def is_given(self) -> NDArray[np.bool_]:  # (N,)
        """Which labels were given; none where it is not known."""
        return np.zeros(self.n_points, bool) if self.given is None else np.asarray(self.given, bool)
