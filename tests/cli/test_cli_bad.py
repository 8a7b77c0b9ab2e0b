"""Bad input: one or two lines that name the file and the fault, exit code 2, nothing written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bvdt
import bvdt.documents.predictions
from bvdt.labeling import Shown, Store
from helpers.bad_files import FILES
from helpers.bad_options import OPTIONS
from helpers.cli_cases import (
    docs_csv,
    read_csv,
    run,
)

CASES = FILES | OPTIONS


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def arguments_of(folder: Path, name: str) -> list[str]:
    arguments = [str(argument) for argument in CASES[name][0](folder)]
    if (
        arguments[0] in ("propagate", "cluster", "embed")
        and "-o" not in arguments
        and "output named" not in name
    ):
        arguments += ["-o", str(folder / "out.csv")]
    return arguments


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_bad_input(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    arguments = arguments_of(tmp_path, name)
    before = snapshot(tmp_path)
    result = run(*arguments)
    print(result.output)
    assert result.exit_code == 2
    assert re.search(CASES[name][1], result.stderr, re.DOTALL)
    assert "Traceback" not in result.output
    told = [line for line in result.stderr.splitlines() if not line.startswith("note: ")]
    is_usage = told[0].startswith("Usage")
    assert is_usage or (len(told) <= 2 and told[0].startswith("bvdt: "))
    assert snapshot(tmp_path) == before


def test_there_are_enough():
    assert len(CASES) >= 100


SOME = [
    "no such file",
    "binary garbage",
    "truncated Parquet",
    "output below a file",
    "garbage model",
    "disk full",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_bad_input_in_a_real_process(tmp_path, name):
    arguments = arguments_of(tmp_path, name)
    before = snapshot(tmp_path)
    command = [sys.executable, "-m", "bvdt", *arguments]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2
    assert result.stderr.startswith("bvdt: ")
    assert result.stderr.count("\n") <= 2
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["matplotlib", "pyarrow"])
def test_a_missing_extra_says_what_to_install(tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    path = docs_csv(tmp_path)
    more = ["--plot", tmp_path / "p.png"] if name == "matplotlib" else []
    suffix = "csv" if more else "parquet"
    result = run("embed", path, "-o", tmp_path / f"o.{suffix}", *more)
    assert result.exit_code == 2
    assert f"needs {name}" in result.stderr
    assert "pip install" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["docs.csv"]


def test_disk_full_for_the_model_keeps_the_predictions(tmp_path):
    (tmp_path / "m.bvdt").symlink_to("/dev/full")
    result = run(
        "propagate",
        docs_csv(tmp_path),
        "-l",
        "topic",
        "-o",
        tmp_path / "o.csv",
        "--save",
        tmp_path / "m.bvdt",
    )
    assert result.exit_code == 2
    assert "No space left" in result.stderr
    assert "o.csv is written and complete" in result.stderr
    assert len(read_csv(tmp_path / "o.csv")) == 60


def test_our_own_fault_is_exit_code_1(tmp_path, monkeypatch):
    def broken(*_):
        raise KeyError("oops")

    monkeypatch.setattr(bvdt.documents.predictions.Labeling, "of", broken)
    path = docs_csv(tmp_path)
    result = run("propagate", path, "-l", "topic", "-o", tmp_path / "o.csv")
    assert result.exit_code == 1
    assert result.stderr == "bvdt: unexpected KeyError: 'oops' (run again with --debug to see where)\n"
    with pytest.raises(KeyError):
        run("propagate", path, "-l", "topic", "-o", tmp_path / "o.csv", "--debug")


def test_no_memory_is_told(tmp_path, monkeypatch):
    def broken(*_):
        raise MemoryError("the walk needs 900 GiB")

    monkeypatch.setattr("bvdt.cli.reading.build_walk", broken)
    result = run("propagate", docs_csv(tmp_path), "-l", "topic", "-o", tmp_path / "o.csv")
    assert result.exit_code == 2
    assert result.stderr == "bvdt: the walk needs 900 GiB\n"


def test_json_stays_empty_on_an_error(tmp_path):
    result = run("propagate", tmp_path / "no.csv", "-l", "topic", "-o", tmp_path / "o.csv", "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    with pytest.raises(json.JSONDecodeError):
        json.loads(result.stdout)


def test_a_session_of_other_documents_is_refused(tmp_path, monkeypatch):
    """Without a column of ids they are row numbers: a label of one file must not land on another's row."""
    monkeypatch.chdir(tmp_path)
    texts = [f"{a} {b} report" for a in ("gold", "tax", "rain", "goal") for b in ("price", "rate", "fall")]
    (tmp_path / "b.csv").write_text("text\n" + "\n".join(texts) + "\n")
    store = Store("b.labels.sqlite")
    for row, label in ((0, "money"), (5, "weather")):
        shown = [Shown(str(row + 1), texts[row] if row else "quite another text")]
        store.decide(f"r{row}", "label", shown, who="me", label=label)
    store.close()
    message = (
        r'of other documents: its number 1 is "quite another text", that of b.csv is "gold price report"'
    )
    for command in (["propagate", "-l", "b.labels.sqlite", "-o"], ["label", "--export"]):
        result = run(command[0], "b.csv", *command[1:], "x.csv")
        assert result.exit_code == 2
        assert re.search(message, " ".join(result.output.split())), result.output
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on POSIX only")
@pytest.mark.parametrize("name", ["docs.csv", "docs.tsv", "docs.jsonl"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    result = run("cluster", tmp_path / name, "-k", 2, "-o", tmp_path / "x.csv")
    assert result.exit_code == 2
    assert "needs to be a file, as it is read more than once" in " ".join(result.output.split())


@pytest.mark.skipif(os.name != "posix", reason="closes descriptors by the shell")
def test_a_closed_stderr_is_no_reason_to_fail(tmp_path):
    out = tmp_path / "x.csv"
    line = f'"{sys.executable}" -m bvdt propagate "{docs_csv(tmp_path)}" -l topic -o "{out}" 2>&-'
    assert subprocess.run(line, shell=True, stdout=subprocess.DEVNULL, timeout=120).returncode == 0
    assert out.exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes of the shell")
def test_a_reader_that_goes_away_costs_no_file(tmp_path):
    """As in `bvdt propagate ... | head -1`."""
    written = [tmp_path / name for name in ("x.csv", "r.html", "m.bvdt")]
    out, report, model = written
    line = (
        f'"{sys.executable}" -m bvdt propagate "{docs_csv(tmp_path)}" -l topic -o "{out}" '
        f'--report "{report}" --save "{model}" --suggest 5'
    )
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {line} | true"], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert all(path.exists() for path in written)


def test_files_are_written_before_the_tables_are_printed(tmp_path, monkeypatch):
    seen = []

    def table(*_):
        seen.append({path.name for path in tmp_path.iterdir()})

    monkeypatch.setattr("bvdt.cli.session.Session.table", table)
    files = ["-o", tmp_path / "x.csv", "--report", tmp_path / "r.html"]
    save = ["--save", tmp_path / "m.bvdt", "--suggest", 5]
    assert run("propagate", docs_csv(tmp_path), "-l", "topic", *files, *save).exit_code == 0
    names = {"docs.csv", "x.csv", "r.html", "m.bvdt"}
    assert seen == [names, names]  # the classes, and what to label next
    files = ["-o", tmp_path / "y.csv", "--report", tmp_path / "s.html"]
    assert run("propagate", docs_csv(tmp_path), "--model", tmp_path / "m.bvdt", *files).exit_code == 0
    assert seen[2:] == [names | {"y.csv", "s.html"}]
    files = ["-o", tmp_path / "c.csv", "--plot", tmp_path / "c.html"]
    assert run("cluster", docs_csv(tmp_path), "-k", 3, *files).exit_code == 0
    assert seen[3] >= {"c.csv", "c.html"}
