"""What the page of a run says: from the measured rows to its sections."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from bvdt._support import memory

from .accuracy import Curves, Mean
from .claims import Claim
from .config import PANELS, TITLES, Config
from .data import CORPORA
from .growth import MODEL, Exponent, Times
from .methods import METHODS
from .page import Page
from .units import Row

__all__ = ["Measured", "compose"]

SHARES = (0.01, 0.1, 0.5)  # on the page
SURROGATE = (
    "The NSF abstracts are a surrogate: real abstracts with the same N, d and C, not the paper's corpus, "
    "which could not be had."
)


@dataclass
class Measured:
    """All numbers of a run."""

    sizes: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)  # N, d, C, documents used
    curves: Curves = field(default_factory=dict)
    gaps: dict[str, dict[float, Mean]] = field(default_factory=dict)  # BVDT − VDT, trial by trial
    sensitivity: list[Row] = field(default_factory=list)
    times: Times = field(default_factory=dict)
    fitted: dict[tuple[str, str], Exponent] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def compose(measured: Measured, config: Config, parts: Iterable[str], seed: int) -> Page:
    """The page with the sections of those parts."""
    parts = set(parts)
    page = Page("The paper's experiments, repeated")
    page.text(
        f"Run on {date.today().isoformat()} with {os.cpu_count()} cores, {_gib():.0f} GiB of memory, Python "
        f"{platform.python_version()}, seed {seed}. {SURROGATE}"
    )
    _claims(page, measured)
    _table2(page, measured)
    page.heading("How it was run")
    page.items(choices(config))
    if "figure1" in parts:
        page.heading("Figure 1: a block partition")
        page.picture("figure1.png", "A block partition and its tree")
    if measured.curves:
        _accuracy(page, measured.curves)
    if measured.times:
        _growth(page, measured, config)
    if measured.sensitivity:
        _sensitivity(page, measured.sensitivity, config)
    if measured.skipped:
        page.heading("Left out")
        page.items(measured.skipped)
    return page


def choices(config: Config) -> list[str]:
    """What the paper fixes and what it leaves open, one sentence each."""
    sampled = ""
    if config.max_documents is not None:
        sampled = f" Sets of more than {config.max_documents:,} documents are random samples, BBC is whole."
    return [
        f"As in the paper: α = {config.alpha:g}, {config.iterations} iterations of Eq. (29), one-vs-all, "
        f"{config.trials} trials, the anchor tree, the coarsest partition of 2(N − 1) blocks, counts without "
        f"weights.{sampled}",
        "A trial draws labeled documents, at least one of each class and the same for "
        "all methods, and a tree. "
        "Intervals are Student's t over the trials.",
        f"Open in the paper: zero counts (x + {config.smoothing:g} for GID), GID's bandwidth "
        f"({config.gid_bandwidth}), σ of the Euclidean methods "
        f'("{config.euclidean_bandwidth}", the maximum of '
        "the bound of Eq. (4)).",
        f"Exact methods: sets of up to {config.exact_documents:,} documents, since P has N² numbers. A "
        "document that no label reaches gets the most frequent class.",
        "Beyond the paper: one Ward tree, GID, automatic smoothing and bandwidth; the forest of "
        f"bvdt.text_pipeline without a blend (label spreading on tf-idf); label spreading on the exact "
        f"{config.neighbors}-NN graph of tf-idf, α = {config.spreading_alpha:g}; "
        f"scikit-learn's LabelSpreading "
        f"likewise, on sets of up to {config.spreading_documents:,} documents.",
    ]


def _claims(page: Page, measured: Measured) -> None:
    page.heading("The claims of section 4.3")
    page.table(
        ["the paper", "holds here if", "verdict", "measured"],
        [[c.quote, c.test, c.verdict, " ".join(c.numbers)] for c in measured.claims],
    )


def _table2(page: Page, measured: Measured) -> None:
    page.heading("Table 2: the data sets")
    page.table(["data set", "N", "d", "C", "used", "N, d, C in the paper"], table2_cells(measured.sizes))


def table2_cells(sizes: dict[str, tuple[int, int, int, int]]) -> list[list[str]]:
    """Measured sizes beside the paper's."""
    rows = []
    for name, (n, d, c, used) in sizes.items():
        # Table 2 has d = 9636 for BBC; the published files have 9635.
        paper = f"{CORPORA[name].shape[0]}, {9636 if name == 'bbc' else CORPORA[name].shape[1]}"
        note = f"{paper}, {CORPORA[name].n_classes}" + (" (another corpus)" if name == "nsf" else "")
        rows.append([TITLES[name], str(n), str(d), str(c), "all" if used == n else f"{used} at random", note])
    return rows


def _accuracy(page: Page, curves: Curves) -> None:
    page.heading("Figure 2, A to E: accuracy")
    page.text(
        "Means of the trials; the figures show the 95 % intervals, and the CSV files "
        "every trial. The methods after "
        "the exact ones are beyond the paper."
    )
    found = {name: title for name, title in TITLES.items() if any((title, key) in curves for key in METHODS)}
    for name, title in found.items():
        page.picture(f"figure2{PANELS[name]}.png", f"Accuracy against labels, {title}")
    header = ["labeled", *(method.title for method in METHODS.values())]
    page.table(header, [row for title in found.values() for row in accuracy_cells(curves, title)])


def accuracy_cells(curves: Curves, title: str) -> list[list[str]]:
    """One row per share of the page; one column per method."""
    shares = list(next(curves[title, key] for key in METHODS if (title, key) in curves))
    return [
        [
            f"{title}, {share:.0%}",
            *(f"{curves[title, key][share].mean:.3f}" if (title, key) in curves else "–" for key in METHODS),
        ]
        for share in ([share for share in SHARES if share in shares] or shares)
    ]


def _growth(page: Page, measured: Measured, config: Config) -> None:
    page.heading("Figure 2F: time")
    page.text(
        "Processor seconds on one thread: lifting, tree, blocks, optimum (σ learned for VDT) and propagation "
        "of 10 % labels; for the exact methods the dense P and the same propagation. "
        "Real documents are random "
        f"samples; those of Eq. (25) have 10 classes, {config.model_terms:,} terms and a mean length of "
        f"{config.model_length:g}. Exponents by least squares from N = {config.fit_from:,} on."
    )
    page.picture("figure2f.png", "Seconds against documents")
    page.table(["documents", *(METHODS[key].title for key in METHODS if not METHODS[key].beyond)],
               growth_cells(measured, config.fit_from))  # fmt: skip


def growth_cells(measured: Measured, least: int) -> list[list[str]]:
    """Seconds by size from ``least`` on, and the fitted exponents in a last row of each kind of documents."""
    keys = [key for key in METHODS if not METHODS[key].beyond]
    rows = []
    for data in (*TITLES.values(), MODEL):
        curves = [measured.times.get((data, key), {}) for key in keys]
        for n in sorted(n for n in set().union(*curves) if n >= least):
            cells = [f"{curve[n]:.2f}" if n in curve else "–" for curve in curves]
            rows.append([f"{data}, {n:,}", *cells])
        if any(curves):
            fits = [measured.fitted.get((data, key)) for key in keys]
            rows.append([f"{data}, exponent", *("–" if fit is None else f"{fit.value:.2f}" for fit in fits)])
    return rows


def _sensitivity(page: Page, rows: list[Row], config: Config) -> None:
    page.heading("Sensitivity to the open choices")
    page.text(
        f"Mean accuracy of {config.sensitivity_trials} trials at "
        f"{config.sensitivity_share:.0%} labels, sets of up "
        f"to {config.sensitivity_documents:,} documents (intervals: sensitivity.csv). Under preprocessing, "
        "smoothing is automatic and both bandwidths are learned."
    )
    for choice in dict.fromkeys(row["choice"] for row in rows):
        for header, cells in sensitivity_cells([row for row in rows if row["choice"] == choice]):
            page.table([choice, *header], cells)


def sensitivity_cells(rows: list[Row]) -> list[tuple[list[str], list[list[str]]]]:
    """Tables of methods tried at the same values: values as columns, a row per method and data."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: row["method"], reverse=True):
        found.setdefault((row["method"], row["data"]), {})[str(row["value"])] = f"{row['accuracy'].mean:.3f}"
    alike: dict[tuple[str, ...], list[list[str]]] = {}
    for (method, data), by_value in found.items():
        alike.setdefault(tuple(by_value), []).append([f"{method}, {data}", *by_value.values()])
    return [(list(values), cells) for values, cells in alike.items()]


def _gib() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / memory.GIB
    except (AttributeError, OSError, ValueError):
        return float("nan")
