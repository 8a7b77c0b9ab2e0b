"""Files out: tables as they are written, and files that appear whole or not at all."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from bvdt.documents.files import atomic, check_table, check_writable, write_table


def test_numbers_and_blanks_as_they_are_written(tmp_path):
    columns = {"id": ["a", "b"], "n": np.array([0.1, np.nan]), "m": [np.int64(3), None]}
    written = {}
    for suffix in (".csv", ".tsv", ".jsonl"):
        write_table(tmp_path / f"t{suffix}", columns)
        written[suffix] = (tmp_path / f"t{suffix}").read_text()
    assert written[".csv"] == "id,n,m\na,0.1,3\nb,,\n"
    assert written[".tsv"] == "id\tn\tm\na\t0.1\t3\nb\t\t\n"
    assert written[".jsonl"] == '{"id": "a", "n": 0.1, "m": 3}\n{"id": "b", "n": null, "m": null}\n'


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("former", [None, "good"])
def test_interrupted_file_leaves_the_former(tmp_path, stop, former):
    path = tmp_path / "out.csv"
    if former:
        path.write_text(former)

    def work():
        with atomic(path) as file:
            file.write("half" * 10_000)
            raise stop

    with pytest.raises(stop):
        work()
    assert os.listdir(tmp_path) == (["out.csv"] if former else [])
    assert not former or path.read_text() == former


def test_mode_follows_the_umask_and_a_former_file(tmp_path):
    former = os.umask(0o027)
    try:
        with atomic(tmp_path / "a", "wb") as file:
            file.write(b"a")
    finally:
        os.umask(former)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    (tmp_path / "a").chmod(0o600)
    with atomic(tmp_path / "a") as file:
        file.write("b")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "out.csv").write_text("old")
    (tmp_path / "out.csv").symlink_to(tmp_path / "real" / "out.csv")
    write_table(tmp_path / "out.csv", {"a": [1]})
    assert (tmp_path / "out.csv").is_symlink()
    assert (tmp_path / "real" / "out.csv").read_text() == "a\n1\n"


def test_write_protected_file_is_kept(tmp_path, monkeypatch):
    """A rename could replace it; os.access stands in because nothing is protected from root."""
    path = tmp_path / "out.csv"
    path.write_text("good")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="write-protected"):
        check_writable(path)
    with pytest.raises(PermissionError, match="write-protected"):
        write_table(path, {"a": [1]})
    assert path.read_text() == "good"
    write_table(tmp_path / "new.csv", {"a": [1]})
    assert sorted(os.listdir(tmp_path)) == ["new.csv", "out.csv"]


def test_device_is_written_directly():
    with atomic("/dev/null") as file:
        file.write("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_check_leaves_nothing_and_keeps_what_is_there(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("good")
    check_writable(path)
    check_table(path)
    check_table(tmp_path / "new.parquet")
    assert os.listdir(tmp_path) == ["out.csv"]
    assert path.read_text() == "good"
