"""embed, cluster and inspect as a user runs them; every command's help."""

import csv
import json

import numpy as np
import pytest

import bvdt.documents.files.write
from bvdt.documents.cluster_terms import by_size
from helpers.cli_cases import (
    WORDS,
    N,
    corpus,
    counts,
    docs_csv,
    propagate,
    read_csv,
    run,
)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".html", ".svg", ".pdf"])
def test_embed(tmp_path, suffix):
    plot = tmp_path / f"p{suffix}"
    result = run(
        "embed", docs_csv(tmp_path), "-o", tmp_path / "x.csv", "-k", 3, "--plot", plot, "-l", "topic"
    )
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "x.csv")
    assert list(rows[0]) == ["id", "x1", "x2", "x3"]
    assert len(rows) == N
    X = np.array([[float(row[f"x{k}"]) for k in (1, 2)] for row in rows])
    truth = np.array(corpus()[2])
    within = np.mean([X[truth == name].std(axis=0) for name in WORDS])
    assert within < 0.5 * X.std(axis=0).mean()
    start = {".png": b"\x89PNG", ".html": b"<!doctype html>", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert plot.read_bytes().startswith(start)


def test_embed_one_component(tmp_path):
    result = run(
        "embed", docs_csv(tmp_path), "-o", tmp_path / "x.csv", "-k", 1, "--plot", tmp_path / "p.html"
    )
    assert result.exit_code == 0, result.output
    assert list(read_csv(tmp_path / "x.csv")[0]) == ["id", "x1"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_cluster(tmp_path, suffix):
    path = docs_csv(tmp_path)
    plot = tmp_path / f"p{suffix}"
    result = run("cluster", path, "-k", 3, "-o", tmp_path / "c.csv", "--plot", plot, "--json")
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "c.csv")
    assert {row["cluster"] for row in rows} == {"1", "2", "3"}
    pairs = {(row["cluster"], name) for row, name in zip(rows, corpus()[2], strict=True)}
    assert len(pairs) == 3
    for item in json.loads(result.stdout)["clusters"]:
        (name,) = {name for number, name in pairs if int(number) == item["cluster"]}
        assert set(item["terms"]) <= set(WORDS[name])
    assert plot.stat().st_size > 1000


def test_clusters_of_an_unknown_number_and_nested(tmp_path):
    path, out, tree = docs_csv(tmp_path), tmp_path / "c.csv", tmp_path / "h.json"
    result = run("cluster", path, "-k", "auto", "-o", out, "--hierarchy", tree, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    chosen = max(found["selection"], key=lambda one: one["eigengap"] * max(one["stability"] or 0.0, 0.0))
    assert len(found["clusters"]) == chosen["clusters"]
    top = json.loads(tree.read_text())
    assert top == found["hierarchy"]
    assert top["documents"] == 60
    table, picture = tmp_path / "h.csv", tmp_path / "h.png"
    run("cluster", path, "-k", 3, "-o", out, "--hierarchy", table, "--dendrogram", picture)
    nodes = list(csv.DictReader(table.read_text().splitlines()))
    assert [int(row["node"]) for row in nodes] == [1, 2, 3, 4, 5]
    leaves = [row["node"] for row in csv.DictReader(out.read_text().splitlines())]
    for row in nodes:
        if row["node"] not in {other["parent"] for other in nodes}:
            assert leaves.count(row["node"]) == int(row["documents"])
    assert picture.stat().st_size > 2000
    said = run("cluster", path, "-k", "auto", "-o", out).stdout
    assert "eigengap" in said


def test_clusters_are_numbered_by_size():
    assert by_size([7, 3, 3, 5, 5, 3]).tolist() == [3, 1, 1, 2, 2, 1]


def test_inspect(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--save", tmp_path / "m.bvdt")
    result = run("inspect", tmp_path / "m.bvdt", "--rows", 20)
    assert result.exit_code == 0, result.output
    for piece in ("points", "bandwidth", "depth", "blocks", "lower bound", "docs.csv", "Quality", "cars"):
        assert piece in result.stdout
    found = json.loads(run("inspect", tmp_path / "m.bvdt", "--json", "--rows", 20).stdout)
    assert (found["kind"], found["points"], found["features"], found["trees"]) == ("model", N, 30, 2)
    assert found["quality"]["n_rows"] == 20
    assert found["n_blocks"] == 2 * 2 * (N - 1)


def test_inspect_an_operator(tmp_path):
    bvdt.transition_matrix(counts(), "gid", random_state=0).save(tmp_path / "op")
    found = json.loads(run("inspect", tmp_path / "op", "--json", "--rows", 0).stdout)
    assert found["kind"] == "operator"
    assert found["divergence"] == "gid"
    assert "quality" not in found


# -- help and version --------------------------------------------------------------------------------------


COMMANDS = [
    "",
    "propagate",
    "label",
    "embed",
    "cluster",
    "inspect",
    "demo",
    "neighbors",
    "neighbors audit",
]


@pytest.mark.parametrize("command", [name.split() for name in COMMANDS], ids=COMMANDS)
def test_help_fits_a_screen(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = run(*command, "-h")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    every = run(*command, "--help").stdout.splitlines()
    assert max(map(len, every)) <= 80
    left_out = [line for line in every if line not in lines]
    assert not left_out or lines[-1] == f"  {len(left_out)} more options: --help."
    assert any(line.strip().startswith("Example") for line in lines)
    assert any(line.startswith(f"    {' '.join(['bvdt', *command])}") for line in lines)


@pytest.mark.slow
def test_help_examples_run(tmp_path, monkeypatch):
    """The lines under "Example" in every help text, as they stand."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    docs_csv(tmp_path)
    docs_csv(tmp_path, "new.csv", seed=3)
    examples = [
        line.split()[1:]
        for command in ([], ["propagate"], ["embed"], ["cluster"], ["inspect"])
        for line in run(*command, "--help").stdout.splitlines()
        if line.startswith("    bvdt ")
    ]
    assert len(examples) >= 6
    for example in examples:
        result = run(*example)
        assert result.exit_code == 0, (example, result.output)


def test_version():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"{bvdt.__version__}\n")
