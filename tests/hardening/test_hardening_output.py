"""What is written harms no one who opens it, and leaves nothing behind; what is read is bounded."""

import csv
import gzip
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import numpy as np
import pytest
from scipy import sparse

import bvdt
from bvdt._support import memory
from bvdt._support.atomic import atomic
from bvdt.cli.session import escaped
from bvdt.documents.files import read_documents, write_table

FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "plain", "-5", "+1e3", ""]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_formulas_are_named_or_escaped(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    with pytest.warns(UserWarning, match=r"column 'id' holds '=1\+1' in row 1.*--escape-formulas"):
        write_table(path, {"id": FORMULAS, "value": [-1.5] * len(FORMULAS)})
    write_table(path, {"id": FORMULAS, "value": [-1.5] * len(FORMULAS)}, escape_formulas=True)
    with open(path, newline="") as file:
        rows = list(csv.reader(file, delimiter="," if suffix == ".csv" else "\t"))[1:]
    assert [row[0] for row in rows] == ["'" + text for text in FORMULAS[:5]] + FORMULAS[5:]
    assert {row[1] for row in rows} == {"-1.5"}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("escape", [False, True])
def test_the_command_names_formulas_or_escapes_them(tmp_path, escape):
    from typer.testing import CliRunner

    from bvdt.cli import app

    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    rows = [f"={i},{i % 2}.{i},{'xy'[i % 2] if i < 20 else ''}" for i in range(40)]
    table.write_text("\n".join(["id,value,label", *rows]) + "\n")
    flags = ["--escape-formulas"] if escape else []
    result = CliRunner().invoke(app, ["propagate", str(table), "--labels", "label", "-o", str(out), *flags])
    assert result.exit_code == 0, result.output
    assert ("--escape-formulas" in result.output) != escape
    ids = [line.split(",")[0] for line in out.read_text().splitlines()[1:]]
    assert ids == [f"{chr(39) * escape}={i}" for i in range(40)]


def test_json_holds_no_control_characters():
    text = escaped('{"id": "a\x9b2Jb\x7f\x85é"}')
    assert text == '{"id": "a\\u009b2Jb\\u007f\\u0085é"}'


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL, no flock")
@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    program = f"""
        import time
        from bvdt._support.atomic import atomic
        with atomic({str(tmp_path / "out.csv")!r}) as file:
            file.write("half")
            file.flush()
            print("writing", flush=True)
            time.sleep(60)
        """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        [left] = tmp_path.glob(".out.csv.*.tmp")
        long_ago = time.time() - 100
        os.utime(left, (long_ago, long_ago))
        with atomic(tmp_path / "out.csv") as file:  # the other is still at it
            file.write("whole")
        assert left.exists()
        process.send_signal(signal.SIGKILL)
    other = tmp_path / ".out.csv.notes.tmp"
    other.write_text("a user's own")
    os.utime(other, (long_ago, long_ago))
    with atomic(tmp_path / "out.csv") as file:
        file.write("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.csv.notes.tmp", "out.csv"]


def test_packed_files_are_bounded_by_the_memory_left(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 5e6)
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("text\n")
        for _ in range(1000):
            file.write("word " * 2000 + "\n")
    with pytest.raises(ValueError, match=r"t\.csv\.gz unpacks to more than 0\.0 GiB"):
        read_documents(path)
    big = tmp_path / "m.npz"
    with zipfile.ZipFile(big, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        np.lib.format.write_array(member, np.zeros((1000, 1000)))
    with pytest.raises(MemoryError, match=r"m\.npz .*GiB"):
        read_documents(big)


# -- 8: memory -----------------------------------------------------------------------------------------------


def test_two_thousand_million_features_are_refused_with_the_gib(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 8.0 * memory.GIB)
    d = 2**31 - 1
    X = sparse.csr_array((np.ones(20), np.arange(20) * 1000, np.arange(21)), shape=(20, d))
    with pytest.raises(MemoryError, match=r"2147483647 features.*GiB"):
        bvdt.transition_matrix(X, "squared_euclidean")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no limits here")
@pytest.mark.slow
def test_little_memory_is_an_error_not_an_abort():
    program = """
        import resource, numpy as np, bvdt
        from scipy import sparse
        X = np.random.default_rng(0).normal(size=(4000, 1500))
        L = int(open("/proc/self/statm").read().split()[0]) * 4096
        for more in (60, 100, 150, 250, 400):
            resource.setrlimit(resource.RLIMIT_AS, (L + more * 2**20, resource.RLIM_INFINITY))
            try:
                bvdt.transition_matrix(X, "squared_euclidean", near=5, n_jobs=2)
            except MemoryError as error:
                print("refused", str(error)[:60])
            else:
                print("done")
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert len(done.stdout.splitlines()) == 5
