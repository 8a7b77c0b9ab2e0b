"""All numbers of a run, as the claims and the page take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from .accuracy import Curves, Mean
from .growth import Exponent, Times
from .regularization import Refined
from .units import Row
from .verdicts import Claim

__all__ = ["Measured"]


@dataclass
class Measured:
    """All numbers of a run."""

    sizes: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)  # N, d, C, documents used
    curves: Curves = field(default_factory=dict)
    common: Curves = field(default_factory=dict)  # of the trials that all methods have
    many: Curves = field(default_factory=dict)  # the two trees with more trials
    gaps: dict[str, dict[float, Mean]] = field(default_factory=dict)  # BVDT − VDT, trial by trial
    exact_gaps: dict[str, dict[str, dict[float, Mean]]] = field(default_factory=dict)  # WAYS -> exact − VDT
    walks: list[Row] = field(default_factory=list)  # of every trial: bandwidth, unreached, kept
    refined: Refined = field(default_factory=dict)
    pruning: list[Row] = field(default_factory=list)
    dimensions: list[Row] = field(default_factory=list)
    special: list[Row] = field(default_factory=list)
    clusters: dict[tuple[str, str], tuple[int, float, float]] = field(default_factory=dict)
    sensitivity: list[Row] = field(default_factory=list)
    times: Times = field(default_factory=dict)  # all 300 steps
    machines: dict[str, str] = field(default_factory=dict)  # data -> where they were timed
    early: Times = field(default_factory=dict)
    fitted: dict[tuple[str, str], Exponent] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    days: set[date] = field(default_factory=set)  # on which the numbers were worked out
