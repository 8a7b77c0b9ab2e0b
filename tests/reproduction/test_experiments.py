"""The experiments on small generated data sets, through the code of the real run."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from html import escape
from pathlib import Path

import numpy as np
import pytest

import bvdt
import reproduction.units as units_module
from bvdt.datasets import make_documents
from reproduction import FULL, QUICK, Outcome, claims, reproduce, tree_claims
from reproduction.__main__ import main
from reproduction.accuracy import Mean, accuracy_units, half_width, means, paired
from reproduction.clustering import CLUSTERINGS
from reproduction.config import PANELS, TITLES
from reproduction.data import CORPORA, save_corpus
from reproduction.growth import MODEL, Exponent, exponents, fastest
from reproduction.measured import Measured
from reproduction.methods import METHODS, predict
from reproduction.page import PICTURES
from reproduction.propagation import draw_labeled, literal, one_vs_all, settled
from reproduction.reading import reading
from reproduction.regularization import Refined
from reproduction.run import PARTS
from reproduction.sensitivity import CHOICES, prepared

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

TINY = replace(
    FULL,
    shares=(0.1, 0.5),
    trials=2,
    max_documents=100,
    whole=("bbcsport",),
    sensitivity_trials=2,
    smoothings=(1.0, 0.01),
    gid_bandwidths=(1.0, "learn"),
    euclidean_bandwidths=(3.0, "learn"),
    growth_sizes=(60, 120),
    model_sizes=(60, 120),
    fit_from=50,
    repeats=2,
    drawing_points=12,
    many_trials=3,
    n_landmarks=40,
    dense_documents=90,
    regularization_sets=("bbcsport",),
    regularization_shares=(0.5,),
    blocks_per_point=(2, 4),
    cluster_seeds=1,
    cloud_points=300,
    cloud_dimensions=(2, 8),
    cloud_spreads=(0.01,),
)
RESULTS = {
    "data", "method", "share", "trial", "labeled", "accuracy", "unreached", "bandwidth", "kept",
}  # fmt: skip


def save(folder: Path, names: tuple[str, ...], n: int = 120) -> Path:
    """Generated documents under the names of the real data sets."""
    for k, name in enumerate(names):
        corpus = make_documents(n, n_classes=3, n_terms=150, length=40, difficulty=0.4, random_state=k)
        save_corpus(folder / CORPORA[name].file, corpus)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("data"), ("bbcsport", "bbc", "nsf"))


@pytest.fixture(scope="module")
def outcome(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return reproduce(folder, tmp_path_factory.mktemp("results"), config=TINY)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# -- the whole run ----------------------------------------------------------------------------------------


def test_run_writes_every_table_and_figure(outcome: Outcome) -> None:
    out = outcome.page.parent
    for name in ("figure1", "figure2a", "figure2b", "figure2d", "figure2f", "regularization"):
        assert (out / PICTURES / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (out / PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    table2 = {row["data"]: row for row in rows(out / "table2.csv")}
    assert (table2["BBC"]["N"], table2["BBC"]["d"], table2["BBC"]["C"]) == ("120", "150", "3")
    assert table2["BBC"]["used"] == "100 at random"
    assert table2["BBC-Sport"]["used"] == "all"
    trials = rows(out / "figure2a.csv")
    assert set(trials[0]) == RESULTS
    assert len(trials) == len(METHODS) * len(TINY.shares) * TINY.trials
    assert all(0 <= float(row["accuracy"]) <= 1 for row in trials)
    assert len(rows(out / "claims.csv")) == len(outcome.measured.claims) == 16
    assert {row["choice"] for row in rows(out / "sensitivity.csv")} == set(CHOICES)
    assert {row["blocks per point"] for row in rows(out / "regularization.csv")} == {"2", "4", "exact"}
    assert {row["method"] for row in rows(out / "clustering.csv")} == set(CLUSTERINGS.values())
    assert len({row["evaluations"] for row in rows(out / "dimension.csv")}) == 1
    assert all(0 <= float(row["saved"]) < 1 for row in rows(out / "pruning.csv"))
    assert all(float(row["largest difference"]) < 1e-12 for row in rows(out / "special_case.csv"))
    assert all(float(row["seconds"]) > 0 < float(row["early"]) for row in rows(out / "figure2f.csv"))
    assert {row["data"] for row in rows(out / "exponents.csv")} == {"BBC-Sport", MODEL}


def test_page_has_the_claims_with_their_verdicts(outcome: Outcome) -> None:
    for suffix in (".md", ".html"):
        text = outcome.page.with_suffix(suffix).read_text(encoding="utf-8")
        for claim in outcome.measured.claims:
            assert (escape(claim.quote) if suffix == ".html" else claim.quote) in text
            assert claim.verdict in text
    assert "20 Newsgroups: no file 20news_bydate_train.npz" in text  # says what was left out


def test_nsf_is_called_a_surrogate_everywhere(outcome: Outcome) -> None:
    seen = set()
    for path in outcome.page.parent.rglob("*.*"):
        if path.suffix in (".csv", ".svg", ".md", ".html"):
            for line in path.read_text(encoding="utf-8").splitlines():
                for match in re.finditer("NSF", line):
                    assert "surrogate" in line[match.start() : match.start() + 40], (path.name, line)
                    seen.add(path.suffix)
    assert seen == {".csv", ".svg", ".md", ".html"}


def test_numbers_do_not_depend_on_jobs(folder: Path, tmp_path: Path, outcome: Outcome) -> None:
    again = reproduce(folder, tmp_path, config=TINY, jobs=2, only=["figure2a", "sensitivity"])
    for name in ("figure2a.csv", "figure2a_means.csv", "sensitivity.csv"):
        assert (again.page.parent / name).read_bytes() == (outcome.page.parent / name).read_bytes()


def test_an_interrupted_run_goes_on(folder: Path, outcome: Outcome) -> None:
    units = outcome.page.parent / "units"
    before = (outcome.page.parent / "figure2a.csv").read_bytes()
    kept = {path: path.stat().st_mtime_ns for path in units.iterdir()}
    lost = next(path for path in kept if path.name.startswith("accuracy-bbcsport-bvdt"))
    lost.unlink()
    reproduce(folder, outcome.page.parent, config=TINY, only=["figure2a"])
    assert (outcome.page.parent / "figure2a.csv").read_bytes() == before
    worked = {path for path in units.iterdir() if path.stat().st_mtime_ns != kept[path]}
    assert worked == {lost}


def test_the_page_tells_when_the_numbers_were_worked_out(folder: Path, tmp_path: Path) -> None:
    reproduce(folder, tmp_path, config=TINY, only=["figure2a"])
    units = sorted((tmp_path / "units").iterdir())
    for path in units:
        os.utime(path, (1e9, 1e9))
    page = reproduce(folder, tmp_path, config=TINY, only=["figure2a"]).page.with_suffix(".md")
    assert f"Run on {date.fromtimestamp(1e9)}, seed 0" in page.read_text(encoding="utf-8")
    os.utime(units[0], (1e9 + 2e6, 1e9 + 2e6))
    page = reproduce(folder, tmp_path, config=TINY, only=["figure2a"]).page.with_suffix(".md")
    later = date.fromtimestamp(1e9 + 2e6)
    assert f"Run from {date.fromtimestamp(1e9)} to {later}, seed 0" in page.read_text(encoding="utf-8")


def test_other_libraries_are_other_units(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (unit, *_) = accuracy_units({"bbcsport": 120}, folder, TINY, 0, ["vdt"])
    before = unit.file()
    monkeypatch.setattr(units_module, "libraries", lambda: "NumPy 9")
    assert unit.file() != before


def test_other_data_or_seeds_are_worked_out_anew(folder: Path, tmp_path: Path) -> None:
    mine = save(tmp_path / "data", ("bbcsport",))
    first = reproduce(mine, tmp_path / "out", config=TINY, only=["figure2a"]).measured.curves
    assert reproduce(mine, tmp_path / "out", config=TINY, only=["figure2a"], seed=1).measured.curves != first
    save(tmp_path / "data", ("bbcsport",), n=150)
    assert reproduce(mine, tmp_path / "out", config=TINY, only=["figure2a"]).measured.curves != first


def test_quick_keeps_the_two_small_sets_whole() -> None:
    assert QUICK.whole == ("bbcsport", "bbc")
    assert QUICK.shares == FULL.shares
    assert len(FULL.shares) == 10
    assert FULL.shares[0] == 0.01
    assert FULL.shares[-1] == 0.9


# -- the parts --------------------------------------------------------------------------------------------


def test_interval_is_students() -> None:
    assert half_width([1.0, 2.0, 3.0, 4.0]) == pytest.approx(3.182446 * np.sqrt(5 / 3) / 2, rel=1e-6)
    assert half_width([0.7]) == 0.0
    (curve,) = means(
        [{"data": "BBC", "method": "vdt", "share": 0.1, "accuracy": a} for a in (0.4, 0.6)]
    ).values()
    assert curve[0.1].mean == pytest.approx(0.5)
    assert curve[0.1].half == pytest.approx(12.7062 * 0.1, rel=1e-4)


def test_paired_differences_are_taken_within_trials() -> None:
    values = {("bvdt", 1): 0.9, ("bvdt", 2): 0.5, ("vdt", 1): 0.8, ("vdt", 2): 0.4, ("vdt", 3): 0.1}
    table = [
        {"data": "BBC", "method": method, "share": 0.1, "trial": trial, "accuracy": value}
        for (method, trial), value in values.items()
    ]
    gap = paired(table, "bvdt", "vdt")["BBC"][0.1]
    assert gap.mean == pytest.approx(0.1)
    assert gap.half == pytest.approx(0.0, abs=1e-12)  # though the trials differ by 0.4
    found = claims.beyond_intervals(both([0.6] * 4), {"BBC": {0.1: gap, 0.5: Mean(0.1, 0.2)}})
    assert found.numbers[0].startswith("BBC-Sport, 20 Newsgroups")
    assert found.numbers[1] == "BBC 4/4, paired 1."


def test_every_class_has_a_label_and_something_is_left() -> None:
    y = np.array([0] * 195 + [1] * 3 + [2] * 2)
    known = draw_labeled(y, 0.01, np.random.default_rng(0))
    assert set(y[known]) == {0, 1, 2}
    assert known.sum() <= 2 + 2
    assert draw_labeled(y, 1.0, np.random.default_rng(0)).sum() == 199
    with pytest.raises(ValueError, match="leave none to predict"):
        draw_labeled(np.arange(3), 0.3, np.random.default_rng(0))


def test_early_end_gives_what_all_iterations_give() -> None:
    X = make_documents(80, n_classes=3, n_terms=60, length=30, random_state=0).counts
    P = bvdt.exact_transition_matrix(X, "gid", smoothing=0.01, bandwidth=1.0)
    Y0 = np.eye(3)[np.arange(80) % 3] * (np.arange(80) < 9)[:, None]
    Y = Y0
    for _ in range(300):
        Y = 0.01 * (P @ Y) + 0.99 * Y0
    np.testing.assert_allclose(settled(P, Y0, 0.01, 300), Y, rtol=1e-12, atol=0)
    np.testing.assert_allclose(literal(P, Y0, 0.01, 300), Y, rtol=1e-14, atol=0)


def test_one_vs_all_takes_the_largest_and_the_most_frequent_where_nothing_reaches() -> None:
    M = np.array([[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0.0]])
    y = np.array([1, 1, 0, 0, 1])
    known = np.array([True, True, True, False, False])
    (found,) = one_vs_all(lambda Y0: settled(M, Y0, 0.5, 300), y, [known])
    assert found.classes.tolist() == [1, 1, 0, 1, 1]
    assert found.reached.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_labels_easy_documents(method: str) -> None:
    corpus = make_documents(150, n_classes=2, n_terms=100, length=80, difficulty=0.2, random_state=0)
    known = draw_labeled(corpus.labels, 0.5, np.random.default_rng(0))
    (found,) = predict(method, corpus.counts, corpus.labels, [known], FULL, [0]).labelings
    assert (found.classes == corpus.labels)[~known].mean() > 0.7


def test_preprocessing() -> None:
    counts = make_documents(40, n_terms=50, length=20, random_state=0).counts
    one_length = prepared(counts, "one length").sum(axis=1)
    np.testing.assert_allclose(one_length, counts.sum(axis=1).mean())
    np.testing.assert_allclose(prepared(counts, "log(1 + count)").toarray(), np.log1p(counts.toarray()))
    np.testing.assert_allclose((prepared(counts, "tf-idf").toarray() ** 2).sum(axis=1), 1.0)


def test_exponents_of_the_fitted_range() -> None:
    times = {("x", "vdt"): {100: 9.0, 1000: 2.0, 2000: 2.0 * 2**1.5, 4000: 2.0 * 4**1.5}}
    fit = exponents(times, 1000)["x", "vdt"]
    assert fit.value == pytest.approx(1.5)
    assert fit[1:] == (1000, 4000)
    table = [{"data": "x", "method": "vdt", "documents": 5, "seconds": s} for s in (0.3, 0.2, 0.4)]
    assert fastest(table) == {("x", "vdt"): {5: 0.2}}


# -- the verdicts -----------------------------------------------------------------------------------------


def curve(means: list[float], half: float = 0.01) -> dict[float, Mean]:
    return {share: Mean(mean, half) for share, mean in zip((0.01, 0.1, 0.5, 0.9), means, strict=True)}


def both(bvdt_means: list[float], half: float = 0.01) -> dict[tuple[str, str], dict[float, Mean]]:
    """VDT at 0.5 everywhere against BVDT, on all data sets."""
    return {
        (title, method): curve(values, half)
        for title in TITLES.values()
        for method, values in (("vdt", [0.5] * 4), ("bvdt", bvdt_means))
    }


def test_claim_of_better_means() -> None:
    assert claims.better_means(both([0.6, 0.7, 0.8, 0.9])).verdict == claims.HOLDS
    part = claims.better_means(both([0.4, 0.7, 0.8, 0.9]))
    assert part.verdict == claims.PART
    assert part.numbers[0] == "BBC-Sport 3/4, -0.100…+0.400."
    assert claims.better_means(both([0.6, 0.7, 0.8, 0.9])).numbers[0] == "BBC-Sport +0.100…+0.400."
    assert claims.better_means(both([0.4, 0.4, 0.4, 0.9])).verdict == claims.NOT
    assert claims.better_means({}).verdict == claims.UNKNOWN


def test_claim_of_significance_asks_for_every_data_set() -> None:
    curves = both([0.6, 0.7, 0.8, 0.9])
    assert claims.beyond_intervals(curves, {}).verdict == claims.HOLDS
    curves["BBC-Sport", "bvdt"] = curve([0.51, 0.51, 0.9, 0.9])
    found = claims.beyond_intervals(curves, {})
    assert found.verdict == claims.PART
    assert found.numbers[0] == "BBC-Sport 2/4, paired 0."
    curves["BBC", "bvdt"] = curve([0.51, 0.51, 0.51, 0.9])
    assert claims.beyond_intervals(curves, {}).verdict == claims.NOT
    assert claims.beyond_intervals({}, {}).verdict == claims.UNKNOWN
    assert claims.beyond_intervals(both([0.6] * 4, half=0.1), {}).verdict == claims.NOT


def test_claims_of_the_exact_methods() -> None:
    curves = {
        ("BBC", "vdt"): curve([0.5, 0.5, 0.5, 0.5]),
        ("BBC", "bvdt"): curve([0.7, 0.6, 0.6, 0.6]),
        ("BBC", "exact_euclidean"): curve([0.6, 0.6, 0.4, 0.4]),
        ("BBC", "exact_gid"): curve([0.65, 0.8, 0.8, 0.8]),
    }
    best = claims.exact_gid_best(curves)
    assert best.verdict == claims.HOLDS  # 1 % is below the 10 % from which it is asked
    assert best.numbers == ("BBC 3/4.",)
    assert claims.better_divergence(curves).verdict == claims.HOLDS
    curves["BBC", "exact_euclidean"] = curve([0.9] * 4)
    assert claims.exact_gid_best(curves).verdict == claims.NOT
    assert claims.better_divergence(curves).verdict == claims.NOT


def test_claim_of_the_exact_euclidean_asks_for_paired_intervals_below_0() -> None:
    found = claims.exact_euclidean_worse({"BBC": curve([0.1, 0.1, -0.1, -0.1])})
    assert (found.verdict, found.numbers) == (claims.HOLDS, ("BBC 2/4, -0.100…+0.100.",))
    unclear = {"BBC": curve([0.1, -0.005, -0.005, -0.1])}
    assert claims.exact_euclidean_worse(unclear, "log").verdict == claims.PART
    assert claims.exact_euclidean_worse({"BBC": curve([-0.1] * 4, half=0.2)}).verdict == claims.NOT
    once = claims.exact_euclidean_worse({"BBC": curve([-0.1] * 4, half=0.0)}, "stored")
    assert (once.verdict, once.numbers) == (claims.UNKNOWN, ("BBC, 1 trial, -0.100.",))


def test_claims_of_time() -> None:
    def fits(*values: float) -> dict[tuple[str, str], Exponent]:
        names = ("vdt", "bvdt", "exact_euclidean", "exact_gid")
        return {(MODEL, name): Exponent((v, 10, 99)) for name, v in zip(names, values, strict=True)}

    assert claims.same_order(fits(1.2, 1.3, 2, 2), {}).verdict == claims.HOLDS
    assert claims.same_order(fits(1.2, 1.4, 2, 2), {}).verdict == claims.NOT
    assert claims.lower_order(fits(1.2, 1.6, 2, 1.95), {}).verdict == claims.HOLDS
    assert claims.lower_order(fits(1.2, 1.8, 2, 2), {}).verdict == claims.NOT
    times = {(MODEL, name): {10: 1.0, 20: 1.0} for name in ("vdt", "bvdt")}
    times |= {(MODEL, name): {10: 500.0} for name in ("exact_euclidean", "exact_gid")}
    assert claims.much_faster(times, {}).verdict == claims.HOLDS
    assert claims.much_faster(times | {(MODEL, "exact_gid"): {10: 50.0}}, {}).verdict == claims.PART
    assert claims.same_order(fits(1, 1, 2, 2), times).numbers[0].endswith("; last two sizes 0.00, 0.00.")
    assert claims.lower_order(fits(1, 1, 2, 2), times).numbers[0].endswith("2.00 and 2.00 (1 sizes).")
    early = {key: {10: 2.0} if "exact" in key[1] else {10: 1.0} for key in times}
    (number,) = claims.much_faster(times, {}, early).numbers
    assert number.endswith("with the early end 2.0 and 2.0.")
    near = claims.much_faster(times | {(MODEL, "exact_gid"): {10: 25.0}}, fits(1, 1, 2, 2))
    assert near.numbers[-1] == "GID's ratio grows as N^1.00, extrapolated to 100 near N = 40."
    slow = {(MODEL, name): {10: 0.5} for name in ("exact_euclidean", "exact_gid")}
    assert claims.much_faster(times | slow, {}).verdict == claims.NOT
    one = times | {(MODEL, "exact_gid"): {10: 0.5}}
    assert claims.much_faster(one, {}).verdict == claims.NOT
    assert claims.much_faster({}, {}).verdict == claims.UNKNOWN


def test_claim_of_more_trials() -> None:
    found = claims.beyond_intervals_of_many(both([0.51, 0.7, 0.8, 0.9]), 30)
    assert found.verdict == claims.PART
    assert found.numbers[1] == "BBC 3/4."
    assert claims.beyond_intervals_of_many({}, 30).verdict == claims.UNKNOWN


def test_claims_of_the_trees() -> None:
    def change(*euclidean: float) -> Refined:
        ends = dict(zip(("vdt", "vdt_stored"), euclidean, strict=True)) | {"bvdt": 0.6}
        return {
            ("BBC", method, 0.1): {"2": Mean(0.5, 0), "64": Mean(end, 0), "exact": Mean(0.55, 0)}
            for method, end in ends.items()
        }

    found = tree_claims.conjecture(change(0.4, 0.4))
    assert found.verdict == claims.HOLDS
    assert found.numbers[0] == "Euclidean: 2/2 fall; to the exact P 0."
    assert found.numbers[1] == "GID: 1/1 rise; to the exact P 1."
    assert tree_claims.conjecture(change(0.4, 0.6)).verdict == claims.PART
    assert tree_claims.conjecture(change(0.6, 0.6)).verdict == claims.NOT
    assert tree_claims.conjecture({}).verdict == claims.UNKNOWN
    case = {"data": "BBC", "largest difference": 1e-16, "common nodes": 5, "inner nodes": 5}
    assert tree_claims.special_case([case]).verdict == claims.HOLDS
    assert tree_claims.special_case([case | {"common nodes": 4}]).verdict == claims.PART
    assert tree_claims.special_case([]).verdict == claims.UNKNOWN
    saved = [{"data": "BBC", "saved": 0.05}, {"data": "clusters, spread 0.01", "saved": 0.8}]
    assert tree_claims.pruning_saves(saved).verdict == claims.PART
    assert tree_claims.pruning_saves(saved[:1]).verdict == claims.NOT
    evaluations = [{"d": 2, "evaluations": 1000}, {"d": 8, "evaluations": 1000}]
    assert tree_claims.no_dimension(evaluations).numbers == ("1,000 for d = 2, 8.",)
    assert tree_claims.no_dimension([*evaluations, {"d": 9, "evaluations": 7}]).verdict == claims.NOT


def test_the_headline_of_label_spreading_follows_its_counts() -> None:
    values = {"exact_gid": [0.5] * 4, "forest": [0.6] * 4, "nystrom": [0.6, 0.4, 0.4, 0.4]}
    common = {("BBC", method): curve(of) for method, of in values.items()}
    (both_ways,) = reading(Measured(common=common), FULL)
    assert "is mostly above all of the paper's methods that ran: Text forest" in both_ways
    assert "; not so Nyström label spreading at 1 of 4 places" in both_ways
    del common["BBC", "forest"]
    (seldom,) = reading(Measured(common=common), FULL)
    assert "is not mostly above all of the paper's methods that ran: Nyström" in seldom


# -- the command ------------------------------------------------------------------------------------------


def test_command_names_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "o")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("reproduction: ")
    assert "python -m reproduction.data fetch bbcsport" in last


def test_command_refuses_an_unknown_part(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--data", str(folder), "--out", str(tmp_path)]
    assert main([*command, "--only", "figure9"]) == 2
    said = capsys.readouterr().err
    assert "'figure9'" in said
    assert PARTS[0] in said
    with pytest.raises(SystemExit) as ended:
        main([*command, "figure2a"])
    assert ended.value.code == 2


@pytest.mark.parametrize("wrong", [["--seed", "-1"], ["--jobs", "0"], ["--trials", "0"]])
def test_command_refuses_wrong_numbers(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: list[str]
) -> None:
    assert main(["--data", str(folder), "--out", str(tmp_path), "--only", "table2", *wrong]) == 2
    assert wrong[1] in capsys.readouterr().err


def test_command_in_json_with_several_parts(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--data", str(folder), "--out", str(tmp_path), "--json", "--quick", "--jobs", "1"]
    assert main([*command, "--only", "table2", "figure1"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {claim["verdict"] for claim in answer["claims"]} == {claims.UNKNOWN}
    assert Path(answer["page"]).exists()
    assert (tmp_path / PICTURES / "figure1.svg").exists()
    assert not (tmp_path / PICTURES / "figure2a.png").exists()


def test_command_of_its_own_process_says_what_it_wrote(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "reproduction", "--data", folder, "-o", tmp_path, "--only", "table2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "reproduction.html: claims, tables and figures" in done.stdout
    assert "left out: 20 Newsgroups: no file" in done.stderr


def test_gid_beats_euclidean_trees_on_bbcsport(data_folder: Path, tmp_path: Path) -> None:
    config = replace(FULL, shares=(0.2,), trials=2)
    only = [f"figure2{PANELS['bbcsport']}"]
    curves = reproduce(data_folder, tmp_path, config=config, only=only).measured.curves
    assert curves["BBC-Sport", "bvdt"][0.2].mean > curves["BBC-Sport", "vdt"][0.2].mean
    assert curves["BBC-Sport", "exact_gid"][0.2].mean > curves["BBC-Sport", "bvdt"][0.2].mean
