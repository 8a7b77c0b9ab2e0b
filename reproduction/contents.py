"""What the page of a run says: from the measured rows to its sections."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import numpy as np

from .accuracy import Curves, Mean
from .clustering import CLUSTERINGS
from .config import PANELS, TITLES, Config
from .data import CORPORA
from .departures import as_in_the_paper, beyond, departures, left_open
from .growth import MODEL
from .measured import Measured
from .methods import METHODS, PAPER
from .page import Page
from .reading import reading
from .regularization import Refined
from .tree_claims import WORDS
from .units import Row

__all__ = ["compose", "table2_cells"]

SHARES = (0.1, 0.5)  # on the page
FILED = ("preprocessing", "merge")  # choices whose numbers are in sensitivity.csv alone
HOW = (
    "In a clone, `make reproduce DATA=FOLDER` writes this page, all numbers as CSV and the figures to "
    "`results/`; [data sets](datasets.md#the-papers-data-sets) says what the folder holds, `python -m "
    "reproduction --help` more. Numbers are kept as long as code, libraries, settings and data are the same."
)


def compose(measured: Measured, config: Config, parts: Iterable[str], seed: int, machine: str) -> Page:
    """The page with the sections of those parts."""
    parts = set(parts)
    page = Page("The paper's experiments, repeated")
    page.text(HOW)
    page.text(f"{_when(measured.days)}, seed {seed}, {machine}.")
    page.heading("The claims")
    page.table(
        ["the paper", "holds here if", "verdict", "measured"],
        [[c.quote, c.test, c.verdict, " ".join(c.numbers)] for c in measured.claims],
    )
    page.heading("Departures from the paper")
    page.text(as_in_the_paper(config))
    page.items(departures(config))
    page.text("Left open by the paper:")
    page.items(left_open(config))
    page.heading("Table 2: the data sets")
    header, cells = ["data set", "N", "d", "C", "used", "in the paper"], table2_cells(measured.sizes)
    shown = [k for k in range(len(header)) if k != 4 or any(row[4] != "all" for row in cells)]
    page.table([header[k] for k in shown], [[row[k] for k in shown] for row in cells])
    if "figure1" in parts:
        page.heading("Figure 1: a block partition")
        page.picture("figure1.png", "A block partition and its tree")
    if measured.curves:
        _accuracy(page, measured, config)
    if measured.refined:
        _regularization(page, measured)
    if measured.times:
        _growth(page, measured, config, machine)
    _beyond(page, measured, config)
    if measured.sensitivity:
        _sensitivity(page, measured.sensitivity, config)
    if sentences := reading(measured, config):
        page.heading("Reading the results")
        page.items(sentences)
    if measured.skipped:
        page.heading("Left out")
        page.items(measured.skipped)
    return page


def _when(days: set[date]) -> str:
    """When the numbers were worked out or, where that is not known, put together."""
    if not days:
        return f"Composed on {date.today().isoformat()}"
    first, last = min(days).isoformat(), max(days).isoformat()
    return f"Run on {first}" if first == last else f"Run from {first} to {last}"


def table2_cells(sizes: dict[str, tuple[int, int, int, int]]) -> list[list[str]]:
    """Measured sizes beside the paper's."""
    rows = []
    for name, (n, d, c, used) in sizes.items():
        shape = (*CORPORA[name].shape, CORPORA[name].n_classes)
        paper = (shape[0], 9636, shape[2]) if name == "bbc" else shape  # the published files have 9635 terms
        note = "same" if paper == (n, d, c) else ", ".join(map(str, paper))
        note = f"{note}, another corpus" if name == "nsf" else note
        rows.append([TITLES[name], str(n), str(d), str(c), "all" if used == n else f"{used} at random", note])
    return rows


def _accuracy(page: Page, measured: Measured, config: Config) -> None:
    page.heading("Figure 2, A to E: accuracy")
    page.text(f"Means at {' and '.join(f'{share:.0%}' for share in SHARES)} labels; figures: 95 % intervals.")
    for name, title in _found(measured.curves).items():
        page.picture(f"figure2{PANELS[name]}.png", f"Accuracy, {title}")
    _curves(page, measured.curves, ("paper", "sigma"))
    page.text(
        f"In logarithms: without underflow (exact: up to {config.small_documents:,} documents). Both σ², and "
        "what share of documents no label reaches in double precision with the first, at 10 % labels:"
    )
    header = ["data set", "σ²", "σ², stored values", "unreached, VDT", "unreached, exact"]
    page.table(header, sigma_cells(measured))


def _found(curves: Curves) -> dict[str, str]:
    return {name: title for name, title in TITLES.items() if any(data == title for data, _ in curves)}


def _curves(page: Page, curves: Curves, groups: tuple[str, ...]) -> None:
    """A table of the methods of those groups."""
    keys = [key for key, method in METHODS.items() if method.group in groups]
    rows = [accuracy_cells(curves, title, keys) for title in _found(curves).values()]
    page.table(["data set", *(METHODS[key].title for key in keys)], rows)


def accuracy_cells(curves: Curves, title: str, keys: list[str]) -> list[str]:
    """The means of every method at the shares of the page, or at all where these were not run."""

    def cell(curve: dict[float, Mean]) -> str:
        shown = [curve[share] for share in SHARES if share in curve] or list(curve.values())
        return " ".join(f"{mean.mean:.3f}" for mean in shown) or "–"

    return [title, *(cell(curves.get((title, key), {})) for key in keys)]


def sigma_cells(measured: Measured) -> list[list[str]]:
    """Both σ² of every data set, and what no label reaches with that of Eq. (5), at 10 % labels."""
    rows = []
    for title in _found(measured.curves).values():
        of = {key: _walks(measured, title, key) for key in ("vdt", "vdt_stored", "exact_euclidean")}
        sigma = [_mean(of[key], "bandwidth", ".3g") for key in ("vdt", "vdt_stored")]
        rows.append(
            [title, *sigma, *(_mean(of[key], "unreached", ".1%") for key in ("vdt", "exact_euclidean"))]
        )
    return rows


def _mean(rows: list[Row], column: str, form: str) -> str:
    return f"{np.mean([float(row[column]) for row in rows]):{form}}" if rows else "–"


def _walks(measured: Measured, title: str, method: str) -> list[Row]:
    shares = sorted({row["share"] for row in measured.walks})
    share = 0.1 if 0.1 in shares else shares[0]
    wanted = (title, method, share)
    return [row for row in measured.walks if (row["data"], row["method"], row["share"]) == wanted]


def _regularization(page: Page, measured: Measured) -> None:
    page.heading("Block regularization")
    page.text("Accuracy as the blocks are refined for the bound at the coarsest partition's bandwidth.")
    page.picture("regularization.png", "Accuracy against blocks per point")
    header, cells = regularization_cells(measured.refined)
    page.table(header, cells)


def regularization_cells(refined: Refined) -> tuple[list[str], list[list[str]]]:
    """Coarsest, finest refinement and exact, a column for each share; one row a data set and tree."""
    shares = list(dict.fromkeys(share for _, _, share in refined))
    every = list(next(iter(refined.values())))
    blocks = list(dict.fromkeys([every[0], every[-2], every[-1]]))
    rows = [
        [
            f"{data}, {WORDS[method]}",
            *(" ".join(f"{refined[data, method, share][b].mean:.3f}" for share in shares) for b in blocks),
        ]
        for data, method in dict.fromkeys((data, method) for data, method, _ in refined)
    ]
    return [f"blocks per point ({', '.join(f'{share:.0%}' for share in shares)} labels)", *blocks], rows


def _growth(page: Page, measured: Measured, config: Config, machine: str) -> None:
    page.heading("Figure 2F: time")
    page.text(
        "Processor seconds on one thread, other work beside, from the counts to the labels after "
        f"{config.iterations} steps (10 % labeled; VDT learns σ, the exact method has it given). One run, up "
        f"to {config.repeat_up_to:,} documents the least of {config.repeats}; in brackets, and pale in the "
        "figure, with the early end. P is dense. Real documents are samples; those of Eq. (25) have "
        f"10 classes, {config.model_terms:,} terms and a mean length of {config.model_length:g}. Exponents: "
        f"least squares from N = {config.fit_from:,} on; rough, for the curves are no power laws."
    )
    others = {data: place for data, place in measured.machines.items() if place != machine}
    if others:
        page.items(f"{data}: {place}." for data, place in others.items())
    page.picture("figure2f.png", "Seconds against documents")
    page.table(["documents", *(METHODS[key].title for key in PAPER)], growth_cells(measured, config.fit_from))


def growth_cells(measured: Measured, least: int) -> list[list[str]]:
    """Seconds at the largest size from ``least`` on that all methods ran, and at the largest of all."""
    rows = []
    for data in (*TITLES.values(), MODEL):
        curves = [measured.times.get((data, key), {}) for key in PAPER]
        early = [measured.early.get((data, key), {}) for key in PAPER]
        common = set(curves[0]).intersection(*curves)
        shown = {max(sizes) for sizes in (common, set().union(*curves)) if sizes}
        for n in sorted(n for n in shown if n >= least):
            cells = [
                f"{curve[n]:.2f} ({pale[n]:.2f})" if n in curve else "–"
                for curve, pale in zip(curves, early, strict=True)
            ]
            rows.append([f"{data}, {n:,}", *cells])
    return rows


def _beyond(page: Page, measured: Measured, config: Config) -> None:
    if not (measured.clusters or any(METHODS[key].beyond for _, key in measured.curves)):
        return
    page.heading("Beyond the paper")
    page.items(beyond(config))
    if measured.curves:
        _curves(page, measured.curves, ("beyond",))
        _curves(page, measured.curves, ("binomial",))
    if measured.clusters:
        page.text(
            f"Spectral clustering, as many clusters as classes: NMI and ARI, means of {config.cluster_seeds} "
            "seeds; bvdt with the text forest's trees and near field."
        )
        page.table(["documents", *CLUSTERINGS.values()], cluster_cells(measured))


def cluster_cells(measured: Measured) -> list[list[str]]:
    """NMI, ARI of every method; one row a data set."""
    rows = []
    for title in TITLES.values():
        found = [measured.clusters.get((title, method)) for method in CLUSTERINGS]
        if any(found):
            n = next(of[0] for of in found if of)
            cells = [f"{of[1]:.3f}, {of[2]:.3f}" if of else "–" for of in found]
            rows.append([f"{title}, {n:,}", *cells])
    return rows


def _sensitivity(page: Page, rows: list[Row], config: Config) -> None:
    page.heading("Sensitivity to the open choices")
    page.text(
        f"Means of the first {config.sensitivity_trials} trials at {config.sensitivity_share:.0%} labels, "
        "exact methods with each trial's σ: not the numbers above. Weights and merges are in sensitivity.csv."
    )
    data = list(dict.fromkeys(row["data"] for row in rows))
    for choice in dict.fromkeys(row["choice"] for row in rows if row["choice"] not in FILED):
        for header, cells in sensitivity_cells([row for row in rows if row["choice"] == choice]):
            page.table([f"{choice} ({', '.join(data)})", *header], cells)


def sensitivity_cells(rows: list[Row]) -> list[tuple[list[str], list[list[str]]]]:
    """Tables of methods tried at the same values: values as columns, a row per method, the sets in a cell."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in sorted(rows, key=lambda row: row["method"], reverse=True):
        cells = found.setdefault(row["method"], {})
        cells.setdefault(str(row["value"]), []).append(f"{row['accuracy'].mean:.3f}")
    alike: dict[tuple[str, ...], list[list[str]]] = {}
    for method, by_value in found.items():
        alike.setdefault(tuple(by_value), []).append([method, *map(" ".join, by_value.values())])
    return [(list(values), cells) for values, cells in alike.items()]
