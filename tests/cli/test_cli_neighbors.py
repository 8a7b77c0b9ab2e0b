"""``bvdt neighbors audit``: lists in, their recall out; bad files end in one line."""

import json
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors
from typer.testing import CliRunner

from bvdt.cli import app
from bvdt.neighbors import audit

N = 300


def run(*arguments):
    return CliRunner().invoke(app, ["neighbors", "audit", *map(str, arguments)])


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(N, 4))


@pytest.fixture(scope="module")
def files(points, tmp_path_factory):
    """Points, dense and sparse, and their lists in every form, a tenth of the rows spoilt."""
    folder = tmp_path_factory.mktemp("lists")
    distances, indices = NearestNeighbors(n_neighbors=5).fit(points).kneighbors()
    indices[:30] = -1
    np.save(folder / "points.npy", points)
    sparse.save_npz(folder / "points.npz", sparse.csr_array(points))
    np.save(folder / "lists.npy", indices)
    np.savez(folder / "lists.npz", indices=indices, distances=distances)
    np.savez(folder / "one.npz", indices)
    sparse.save_npz(folder / "graph.npz", KNeighborsTransformer(n_neighbors=5).fit_transform(points))
    return folder


@pytest.mark.parametrize("lists", ["lists.npy", "lists.npz", "one.npz"])
@pytest.mark.parametrize("name", ["points.npy", "points.npz"])
def test_the_recall_of_a_file(files, points, name, lists):
    result = run(files / name, files / lists, "--rows", 100, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    expected = audit(points, np.load(files / "lists.npy"), n_rows=100, random_state=0)
    assert (found["recall"], found["low"], found["high"]) == pytest.approx(
        (expected.estimate, expected.low, expected.high)
    )
    assert (found["command"], found["rows"], found["metric"]) == ("neighbors audit", 100, "euclidean")


def test_the_recall_is_said_with_its_interval(files):
    assert run(files / "points.npy", files / "lists.npy", "--rows", N).stdout == (
        "Recall 0.900 (0.900 to 0.900), on 300 of 300 rows\n"
    )
    assert "Recall 1.000" in run(files / "points.npy", files / "graph.npz").stdout
    assert run(files / "points.npy", files / "lists.npy", "--quiet").stdout == ""


def test_another_metric(files):
    assert "Recall 0" in run(files / "points.npy", files / "graph.npz", "--metric", "cosine").stdout


BAD = {  # the points, the lists, options, what is said
    "no such lists": ("points.npy", "no.npy", r"no.npy: No such file"),
    "garbage": ("points.npy", "bad.npy", r"bad.npy is not neighbor lists"),
    "out of range": ("points.npy", "far.npy", r"far.npy: neighbors needs indices from 0 to 299"),
    "other points": ("few.npy", "lists.npy", r"lists.npy: neighbors needs one list per point, 9"),
    "points as lists": ("points.npy", "points.npy", r"points.npy: neighbors needs integers as indices"),
    "a matrix as graph": ("points.npy", "points.npz", r"points.npz: neighbors needs a square graph"),
    "other arrays": ("points.npy", "other.npz", r'other.npz needs an array "indices"; it holds a, b'),
    "a table": ("points.csv", "lists.npy", r"points.csv needs to end in one of"),
    "outside the domain": ("points.npy", "lists.npy --metric gid", r"points.npy: gid needs X >= 0"),
    "no such metric": ("points.npy", "lists.npy --metric l1", r"needs one of euclidean, .*; got 'l1'"),
    "no rows": ("points.npy", "lists.npy --rows 0", r"needs an integer ≥ 1; got '0'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_ends_in_one_line(name, files, points, tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"no lists")
    (tmp_path / "points.csv").write_text("1,2\n")
    np.save(tmp_path / "far.npy", np.full((N, 2), N))
    np.save(tmp_path / "few.npy", points[:9])
    np.savez(tmp_path / "other.npz", a=points, b=points)
    *named, said = BAD[name]
    first, second, *options = " ".join(named).split()
    paths = [(files if (files / file).exists() else tmp_path) / file for file in (first, second)]
    result = run(*paths, *options)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert re.search(said, result.stderr), result.stderr
    assert "Traceback" not in result.stderr
