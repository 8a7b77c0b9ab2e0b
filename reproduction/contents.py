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
    page = Page("The paper's experiments, run again")
    page.text(
        f"Run on {date.today().isoformat()} with {os.cpu_count()} cores, {_gib():.0f} GiB of memory, Python "
        f"{platform.python_version()}, seed {seed}. The NSF abstracts are a surrogate: real abstracts "
        "with the "
        "same N, d and C, not the paper's corpus, which could not be had."
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
        f"The paper's: α = {config.alpha:g}, {config.iterations} iterations of Eq. (29), one-vs-all, "
        f"{config.trials} trials, the anchor tree, the coarsest partition of 2(N − 1) blocks. The iteration "
        "ends early only where further steps could change no score by a share of 1e-12.",
        "A trial is a draw of labeled documents and, for tree methods, a tree of its own. Documents are "
        "drawn uniformly, the share rounded; a class that got none gets one. All methods see the same "
        "labels. The interval is Student's t over the trials.",
        "Preprocessing: none. The counts as published, no weighting, no further stop words." + sampled,
        f"Zero counts: x + {config.smoothing:g} for GID. Its bandwidth is {config.gid_bandwidth}: Eq. (28) "
        "has none.",
        f'σ of the Euclidean methods: "{config.euclidean_bandwidth}", the maximum of the bound of Eq. (4) '
        "over σ²; the exact method has the σ of the first trial's tree.",
        f"Exact methods: sets of up to {config.exact_documents:,} documents, since P has N² numbers. A "
        "document that no label reaches (all scores below 1e-300) gets the most frequent class of the "
        "labeled ones.",
        "Beyond the paper: one Ward tree with bvdt's defaults (GID, automatic smoothing and bandwidth) in "
        "the same Eq. (29); bvdt.text_pipeline's forest (tf-idf, two trees, the 15 nearest kept, label "
        f"spreading, α = 0.875); label spreading on the exact {config.neighbors}-NN graph by cosine of "
        f"tf-idf, α = {config.spreading_alpha:g}; scikit-learn's LabelSpreading with its knn kernel, "
        f"{config.neighbors} neighbors and the same α, on sets of up to {config.spreading_documents:,} "
        "documents.",
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
    for name, title in TITLES.items():
        methods = [key for key in METHODS if (title, key) in curves]
        if not methods:
            continue
        page.picture(f"figure2{PANELS[name]}.png", f"Accuracy against labels, {title}")
        page.table([f"{title}: labeled", *map(_column, methods)], accuracy_cells(curves, title, methods))


def accuracy_cells(curves: Curves, title: str, methods: list[str]) -> list[list[str]]:
    """One row per share, one column per method."""
    shares = curves[title, methods[0]]
    return [[f"{share:.0%}", *(str(curves[title, key][share]) for key in methods)] for share in shares]


def _column(key: str) -> str:
    return METHODS[key].title + (" (beyond the paper)" if METHODS[key].beyond else "")


def _growth(page: Page, measured: Measured, config: Config) -> None:
    page.heading("Figure 2F: time")
    page.text(
        "Processor seconds on one thread: lifting, tree, blocks, optimum (σ learnt for VDT) and propagation "
        "of 10 % labels; the exact methods' dense P and the same propagation. Real documents are random "
        f"samples; those of Eq. (25) have 10 classes, {config.model_terms:,} terms and a mean length of "
        f"{config.model_length:g}. The least time of {config.repeats} runs up to {config.repeat_up_to:,} "
        f"documents, of one beyond; exponents by least squares from N = {config.fit_from:,} on."
    )
    page.picture("figure2f.png", "Seconds against documents")
    page.table(["documents", *(METHODS[key].title for key in METHODS if not METHODS[key].beyond)],
               growth_cells(measured))  # fmt: skip


def growth_cells(measured: Measured) -> list[list[str]]:
    """Seconds by size, and the fitted exponents in a last row of each kind of documents."""
    keys = [key for key in METHODS if not METHODS[key].beyond]
    rows = []
    for data in (*TITLES.values(), MODEL):
        curves = [measured.times.get((data, key), {}) for key in keys]
        for n in sorted(set().union(*curves)):
            cells = [f"{curve[n]:.2f}" if n in curve else "–" for curve in curves]
            rows.append([f"{data}, {n:,}", *cells])
        if any(curves):
            fits = [measured.fitted.get((data, key)) for key in keys]
            rows.append([f"{data}, exponent", *("–" if fit is None else str(fit) for fit in fits)])
    return rows


def _sensitivity(page: Page, rows: list[Row], config: Config) -> None:
    page.heading("What the open choices matter")
    page.text(
        f"Accuracy at {config.sensitivity_share:.0%} labels, sets of up to {config.sensitivity_documents:,} "
        f"documents, mean of {config.sensitivity_trials} trials and 95 % interval; everything else as above. "
        "Under preprocessing, GID is smoothed by a hundredth of each term's mean and both bandwidths are "
        "learnt, since weights change the scale."
    )
    for choice in dict.fromkeys(row["choice"] for row in rows):
        header, cells = sensitivity_cells([row for row in rows if row["choice"] == choice])
        page.table([f"{choice}, method", *header], cells)


def sensitivity_cells(rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Data sets as columns; a row for each method and value."""
    data = list(dict.fromkeys(row["data"] for row in rows))
    found: dict[tuple[str, object], dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: row["method"], reverse=True):
        found.setdefault((row["method"], row["value"]), {})[row["data"]] = str(row["accuracy"])
    cells = [
        [f"{method}, {value}", *(by_data.get(name, "–") for name in data)]
        for (method, value), by_data in found.items()
    ]
    return data, cells


def _gib() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / memory.GIB
    except (AttributeError, OSError, ValueError):
        return float("nan")
