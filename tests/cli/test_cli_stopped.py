"""A command that is stopped or fails half-way leaves whole files or none."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bvdt.documents.files.write
from helpers.cli_cases import (
    N,
    docs_csv,
    read_csv,
    run,
)


def stop_in_the_middle(monkeypatch, error):
    def broken(file, columns, delimiter):
        file.write("id,label\nd0,fo")
        raise error

    monkeypatch.setattr(bvdt.documents.files.write, "_write_delimited", broken)


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "No space left"), 2)])
def test_a_good_file_is_never_replaced_by_half_a_one(tmp_path, monkeypatch, error, code):
    path = docs_csv(tmp_path)
    (tmp_path / "out.csv").write_text("the old one")
    stop_in_the_middle(monkeypatch, error)
    result = run("propagate", path, "-l", "topic", "-o", tmp_path / "out.csv")
    assert result.exit_code == code
    assert (tmp_path / "out.csv").read_text() == "the old one"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["docs.csv", "out.csv"]
    assert "Traceback" not in result.output


def test_a_failed_report_says_that_the_predictions_are_there(tmp_path):
    (tmp_path / "r.html").symlink_to("/dev/full")
    result = run(
        "propagate",
        docs_csv(tmp_path),
        "-l",
        "topic",
        "-o",
        tmp_path / "out.csv",
        "--report",
        tmp_path / "r.html",
    )
    assert result.exit_code == 2
    assert "No space left" in result.stderr
    assert f"{tmp_path / 'out.csv'} is written and complete" in result.stderr
    assert len(read_csv(tmp_path / "out.csv")) == N


def test_a_failed_map_says_that_the_clusters_are_there(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise MemoryError("the map needs 900 GiB")

    monkeypatch.setattr("bvdt.report.map_coordinates", broken)
    out = tmp_path / "c.csv"
    result = run("cluster", docs_csv(tmp_path), "-k", 3, "-o", out, "--plot", tmp_path / "p.html")
    assert result.exit_code == 2
    assert result.stderr == f"bvdt: the map needs 900 GiB\n      {out} is written and complete\n"
    assert len(read_csv(out)) == N


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "bvdt: interrupted; no file is left half-written\n"),
        (signal.SIGTERM, 143, ""),
    ],
)
def test_a_signal_to_a_real_process(tmp_path, number, code, said):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", rng.normal(size=(60_000, 20)))
    (tmp_path / "labels.txt").write_text("\n".join(["a", "b"] * 20 + [""] * 59_960) + "\n")
    command = [sys.executable, "-m", "bvdt", "propagate", "points.npy", "-l", "labels.txt", "-o", "out.csv"]
    command += ["--save", "m.bvdt", "--report", "r.html", "--jobs", "1"]
    before = sorted(p.name for p in tmp_path.iterdir())
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Read points.npy")
    time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code
    assert err == said
    assert "Wrote" not in out
    assert sorted(p.name for p in tmp_path.iterdir()) == before


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs Linux's list of what is loaded")
@pytest.mark.parametrize("loaded", ["_multiarray_umath", "_sparsetools", "bvdt/_core", "_ccallback_c"])
@pytest.mark.parametrize(("number", "code", "said"), [(2, 130, "bvdt: interrupted"), (15, 143, "")])
def test_a_signal_while_the_command_starts(tmp_path, loaded, number, code, said):
    """Sent once that module is being imported, which is all within the first half second."""
    program = "import sys; from bvdt_command import main; sys.argv = ['bvdt', 'demo']; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    maps = f"/proc/{process.pid}/maps"
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        with open(maps) as file:
            if loaded in file.read():
                break
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert out == ""
    assert err.count("\n") == (1 if said else 0)
    assert err.startswith(said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_waits_for_an_import_to_end(tmp_path, number, code):
    (tmp_path / "slow.py").write_text(
        f"import signal, time\nsignal.raise_signal(signal.{number})\ntime.sleep(0.1)\nprint('imported')\n"
    )
    program = """
import sys, time
from bvdt.cli import interrupts
interrupts.handle()
try:
    import slow
    time.sleep(60)
except KeyboardInterrupt:
    sys.exit(130)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, "imported\n", "")
