"""One run of the experiments: from the data folder to tables, figures and the page of claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from bvdt.documents.files import write_table

from .accuracy import accuracy_units, mean_rows, means, paired
from .claims import WAYS, all_claims, claim_rows
from .clustering import CLUSTERINGS, cluster_means, clustering_units
from .config import FULL, PANELS, TITLES, Config
from .contents import compose, table2_cells
from .data import CORPORA, load_corpus
from .drawing import partition_figure
from .figures import accuracy_figure, growth_figure, regularization_figure
from .growth import exponents, fastest, growth_units
from .machine import machine
from .measured import Measured
from .methods import METHODS
from .page import PICTURES
from .regularization import refined, regularization_units
from .sensitivity import sensitivity_units, summary
from .style import pyplot
from .trees import dimension, pruning, pruning_units, special_case
from .units import Row, Unit, columns_of, days_of, run_units

__all__ = ["PARTS", "Outcome", "reproduce"]

PARTS = (
    "table2", "figure1", *(f"figure2{letter}" for letter in PANELS.values()), "regularization", "figure2f",
    "pruning", "clustering", "sensitivity",
)  # fmt: skip

Told = Callable[[int, int, str], None]  # units done, of how many, the last one's name


@dataclass(frozen=True)
class Outcome:
    """The numbers of a run, and the page that shows them."""

    measured: Measured
    page: Path


@dataclass(frozen=True)
class _Run:
    """What every part of a run needs."""

    data: Path
    out: Path
    config: Config
    seed: int
    jobs: int
    fresh: bool
    parts: tuple[str, ...]
    measured: Measured
    say: Callable[[str], None]
    told: Told

    @property
    def pictures(self) -> Path:
        return self.out / PICTURES

    def rows(self, units: list[Unit], jobs: int) -> list[Row]:
        """Rows of the units, telling of each."""
        count = 0

        def done(unit: Unit, reason: str) -> None:
            nonlocal count
            count += 1
            if reason:
                self.leave_out(f"{unit.name}: {reason}")
            self.told(count, len(units), unit.name)

        rows = run_units(units, self.out / "units", jobs, done, fresh=self.fresh)
        self.measured.days |= days_of(units, self.out / "units")
        return rows

    def leave_out(self, line: str) -> None:
        self.measured.skipped.append(line)
        self.say(f"left out: {line}")

    def table(self, name: str, rows: list[Row]) -> None:
        if rows:
            write_table(self.out / f"{name}.csv", columns_of(rows))


def reproduce(
    data: str | Path,
    out: str | Path,
    *,
    config: Config = FULL,
    seed: int = 0,
    jobs: int = 1,
    only: Iterable[str] = (),
    fresh: bool = False,
    say: Callable[[str], None] = lambda line: None,
    told: Told = lambda done, total, name: None,
) -> Outcome:
    """The experiments of section 4 on the data sets of a folder; tables, figures and a page in ``out``.

    ``only``: names out of PARTS, all when empty. ``jobs``: units of work at a time; the numbers do not depend
    on it. Finished units are kept in ``out``/units and not worked out again, unless ``fresh``.
    """
    parts = _parts(only)
    pyplot()  # before the work, not after it
    run = _Run(Path(data), Path(out), config, seed, jobs, fresh, parts, Measured(), say, told)
    run.pictures.mkdir(parents=True, exist_ok=True)
    _sizes(run)
    used = {name: size[3] for name, size in run.measured.sizes.items()}
    _figure1(run, used)
    _accuracy(run, {name: n for name, n in used.items() if f"figure2{PANELS[name]}" in parts})
    if "regularization" in parts:
        _regularization(run, used)
    if "pruning" in parts:
        _pruning(run, used)
    if "clustering" in parts:
        rows = run.rows(clustering_units(run.measured.sizes, run.data, config, seed), jobs)
        run.table("clustering", [row | {"method": CLUSTERINGS[row["method"]]} for row in rows])
        run.measured.clusters = cluster_means(rows)
    if "sensitivity" in parts:
        units = sensitivity_units(used, run.data, config, seed)
        rows = run.rows(units, jobs)
        run.table("sensitivity", [row | {"method": METHODS[row["method"]].title} for row in rows])
        run.measured.sensitivity = summary(rows)
    if "figure2f" in parts:
        _growth(run)
    return _finish(run)


def _parts(only: Iterable[str]) -> tuple[str, ...]:
    wanted = tuple(only)
    for name in wanted:
        if name not in PARTS:
            raise ValueError(f"only needs names out of {', '.join(PARTS)}; got {name!r}")
    return wanted or PARTS


def _sizes(run: _Run) -> None:
    """N, d and C of the data sets that are there."""
    limit = run.config.max_documents
    for name in TITLES:
        if not (run.data / CORPORA[name].file).is_file():
            run.leave_out(f"{TITLES[name]}: no file {CORPORA[name].file} in {run.data}")
            continue
        corpus = load_corpus(name, run.data)
        n, d = corpus.counts.shape
        used = n if limit is None or name in run.config.whole else min(n, limit)
        run.measured.sizes[name] = (n, d, len(corpus.class_names), used)
    if not run.measured.sizes:
        raise ValueError(
            f"the folder {run.data} holds none of the data sets; get one with `python -m reproduction.data "
            f"fetch bbcsport --out {run.data}`, or name the folder that holds them with --data"
        )
    header = ("data", "N", "d", "C", "used", "in the paper")
    run.table("table2", [dict(zip(header, row, strict=True)) for row in table2_cells(run.measured.sizes)])


def _figure1(run: _Run, used: dict[str, int]) -> None:
    if "figure1" in run.parts:
        partition_figure(run.pictures, next(iter(used)), run.data, run.config, run.seed)


def _accuracy(run: _Run, used: dict[str, int]) -> None:
    every = run.rows(accuracy_units(used, run.data, run.config, run.seed), run.jobs) if used else []
    every.sort(key=lambda row: (list(METHODS).index(row["method"]), row["share"], row["trial"]))
    rows = [row for row in every if row["trial"] <= run.config.trials]
    measured, whole = run.measured, {TITLES[name] for name in run.config.whole}
    measured.curves, measured.gaps, measured.walks = means(rows), paired(rows, "bvdt", "vdt"), rows
    measured.exact_gaps = {way: paired(rows, *names) for way, names in WAYS.items()}
    measured.common = means(common_trials(rows))
    more = [row for row in every if row["data"] in whole and row["method"] in ("vdt", "bvdt")]
    measured.many = means(more)
    run.table("more_trials", mean_rows(measured.many))
    for name in used:
        mine = [row for row in rows if row["data"] == TITLES[name]]
        trials = [row | {"method": METHODS[row["method"]].title} for row in mine]
        run.table(f"figure2{PANELS[name]}", trials)
        run.table(f"figure2{PANELS[name]}_means", mean_rows(means(mine)))
        accuracy_figure(run.pictures, name, measured.curves)


def common_trials(rows: list[Row]) -> list[Row]:
    """Of each data set the trials that every method has, so that differences are of the same labels."""
    found: dict[str, dict[str, set[int]]] = {}
    for row in rows:
        found.setdefault(row["data"], {}).setdefault(row["method"], set()).add(row["trial"])
    shared = {data: set.intersection(*of.values()) for data, of in found.items()}
    return [row for row in rows if row["trial"] in shared[row["data"]]]


def _regularization(run: _Run, used: dict[str, int]) -> None:
    rows = run.rows(regularization_units(used, run.data, run.config, run.seed), run.jobs)
    run.table("regularization", [row | {"method": METHODS[row["method"]].title} for row in rows])
    run.measured.refined = refined(rows)
    if rows:
        regularization_figure(run.pictures, run.measured.refined)


def _pruning(run: _Run, used: dict[str, int]) -> None:
    units = pruning_units(used, run.data, run.config, run.seed)
    found = {
        work: run.rows([unit for unit in units if unit.work is work], run.jobs)
        for work in (pruning, dimension, special_case)
    }
    for work, rows in found.items():
        run.table(work.__name__, rows)
    measured = run.measured
    measured.pruning, measured.dimensions, measured.special = found.values()


def _growth(run: _Run) -> None:
    whole = {name: size[0] for name, size in run.measured.sizes.items()}
    units = growth_units(whole, run.data, run.config, run.seed)
    rows = run.rows(units, max(1, run.jobs // 4))  # few at a time: they share the memory's speed
    measured = run.measured
    measured.times, measured.early = fastest(rows), fastest(rows, "early")
    measured.machines = {row["data"]: row["machine"] for row in rows}
    measured.fitted = exponents(measured.times, run.config.fit_from)
    run.table("figure2f", [row | {"method": METHODS[row["method"]].title} for row in rows])
    header = ("exponent", "from", "to")
    run.table(
        "exponents",
        [
            {"data": data, "method": METHODS[method].title} | dict(zip(header, fit, strict=True))
            for (data, method), fit in measured.fitted.items()
        ],
    )
    growth_figure(run.pictures, measured.times, measured.early, measured.fitted)


def _finish(run: _Run) -> Outcome:
    """Claims and the page."""
    measured = run.measured
    measured.claims = all_claims(measured, run.config.many_trials)
    run.table("claims", list(claim_rows(measured.claims)))
    page = compose(measured, run.config, run.parts, run.seed, machine(run.out))
    return Outcome(measured, page.write(run.out, "reproduction")[1])
