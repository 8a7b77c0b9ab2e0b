"""``bvdt propagate --dask``: a Parquet table through a real cluster, and what is refused before."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("distributed", reason="Dask is in the extra dask")
pytest.importorskip("pyarrow", reason="pyarrow is in the extra parquet")

import pyarrow
import pyarrow.parquet as parquet

from bvdt.cli import app


def table(path, n=600, **more):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    columns = {f"x{j}": 8.0 * y + rng.normal(size=n) for j in range(3)}
    topic = [("n_neighbors", "far")[k] if i % 20 == 0 else None for i, k in enumerate(y)]
    parquet.write_table(pyarrow.table({**columns, "topic": topic, **more}), path, row_group_size=200)
    return y


def run(*arguments):
    return CliRunner().invoke(app, ["propagate", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_table_is_labeled_by_local_workers(tmp_path):
    y = table(tmp_path / "in.parquet", id=[f"r{i}" for i in range(600)])
    done = run(tmp_path / "in.parquet", "-l", "topic", "-o", tmp_path / "out.parquet", "--dask", "local")
    assert done.exit_code == 0, done.output
    assert "Accuracy: not measured on Dask; bvdt propagate on some of the rows" in done.output
    out = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert out["id"][:3] == ["r0", "r1", "r2"]
    assert np.mean(np.array(out["label"]) == np.array(["n_neighbors", "far"])[y]) > 0.99
    assert out["given"][:21] == [True] + [False] * 19 + [True]
    assert min(out["confidence"]) >= 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_columns_are_standardised_as_in_memory(tmp_path):
    """A column of salaries would drown all others."""
    salary = np.random.default_rng(1).normal(5e4, 2e4, 600)
    y = table(tmp_path / "in.parquet", salary=salary)
    truth, right = np.array(["n_neighbors", "far"])[y], []
    for name, more in (("memory", ["--blend", "walk"]), ("dask", ["--dask", "local"])):
        out = tmp_path / f"{name}.parquet"
        done = run(tmp_path / "in.parquet", "-l", "topic", "-o", out, *more)
        assert done.exit_code == 0, done.output
        assert "standardised" in done.output
        right.append(np.mean(np.array(parquet.read_table(out).to_pydict()["label"]) == truth))
    assert min(right) > 0.99
    assert abs(right[0] - right[1]) <= 0.005


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_labels_are_taken_and_told_as_in_memory(tmp_path):
    y = table(tmp_path / "in.parquet")
    few = [-1 if i % 20 else int(k) for i, k in enumerate(y)]
    names = [
        [" far", "Far"][i % 40 == 0] if k == 1 else "n_neighbors" if k == 0 else None
        for i, k in enumerate(few)
    ]
    table(tmp_path / "in.parquet", few=few, names=names, topic2=few)
    columns = parquet.read_table(tmp_path / "in.parquet").drop_columns(["topic", "topic2"])
    parquet.write_table(columns.drop_columns("names"), tmp_path / "ints.parquet", row_group_size=200)
    parquet.write_table(columns.drop_columns("few"), tmp_path / "names.parquet", row_group_size=200)
    ints = [tmp_path / "ints.parquet", "-l", "few", "--dask", "local", "-o", tmp_path / "out.parquet"]
    done = run(*ints)
    assert done.exit_code == 2
    assert 'the label "-1" looks like "not labeled": add --unlabeled "-1"' in done.output
    assert run(*ints, "--unlabeled", "-1").exit_code == 0
    labels = parquet.read_table(tmp_path / "out.parquet").column("label").to_pylist()
    assert np.mean(np.array(labels).astype(int) == y) > 0.99
    done = run(tmp_path / "names.parquet", "-l", "names", "--dask", "local", "-o", tmp_path / "out.parquet")
    assert done.exit_code == 0, done.output
    assert "'Far' and 'far' are different classes" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.csv", "-l", "topic", "-o", "out.parquet"], "needs .parquet in and out"),
        (["in.parquet", "-o", "out.parquet"], "--labels is missing"),
        (["in.parquet", "-l", "topic", "-o", "in.parquet"], "needs another name"),
        (["in.parquet", "-l", "nobody", "-o", "out.parquet"], "needs the column 'nobody'"),
        (["text.parquet", "-l", "topic", "-o", "out.parquet"], "needs columns of numbers; 'words'"),
        (["in.parquet", "-l", "topic", "-o", "out.parquet", "--report", "r.html"], "leave out --report"),
        (
            ["in.parquet", "-l", "topic", "-o", "out.parquet", "--dask", "nowhere"],
            "needs a scheduler's address",
        ),
    ],
)
def test_refused(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "in.parquet")
    table(tmp_path / "text.parquet", words=["a"] * 600)
    given = arguments if "--dask" in arguments else [*arguments, "--dask", "local"]
    done = run(*given)
    assert done.exit_code != 0
    assert message in f"{done.output} {done.exception}"


@pytest.mark.parametrize("address", ["nowhere", "tcp://localhost:port", "unknown://localhost:8786"])
def test_what_is_no_address_makes_no_client(address, tmp_path, monkeypatch):
    """One that fails in its constructor would remain Dask's default, and hang when it is collected."""
    table(tmp_path / "in.parquet")
    monkeypatch.setattr("distributed.Client", lambda *_, **__: pytest.fail("a client was made"))
    done = run(tmp_path / "in.parquet", "-l", "topic", "-o", tmp_path / "out.parquet", "--dask", address)
    assert "needs a scheduler's address" in f"{done.output} {done.exception}"
