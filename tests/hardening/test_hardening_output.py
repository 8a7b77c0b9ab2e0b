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


@pytest.mark.slow
def test_packed_files_are_bounded_by_the_memory_left(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 5e6)
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("text\n")
        for _ in range(1000):
            file.write("word " * 2000 + "\n")
    with pytest.raises(ValueError, match=r"t\.csv\.gz unpacks to more than 0\.0 GiB"):
        read_documents(path)
    lines = {
        "t.svm.gz": b"1 3:1 9:2\n" * 600_000,
        "t.mtx.gz": b"%%MatrixMarket matrix coordinate real general\n9 9 600000\n" + b"1 1 1.0\n" * 900_000,
        "t.jsonl.gz": b'{"text": "some words"}\n' * 400_000,
    }
    for name, content in lines.items():
        (tmp_path / name).write_bytes(gzip.compress(content, 1))
        with pytest.raises(ValueError, match=rf"{name} unpacks to more than 0\.0 GiB of memory left$"):
            read_documents(tmp_path / name)
    big = tmp_path / "m.npz"
    with zipfile.ZipFile(big, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as member:
        np.lib.format.write_array(member, np.zeros((1000, 1000)))
    with pytest.raises(MemoryError, match=r"m\.npz .*GiB"):
        read_documents(big)


# -- 8: memory -----------------------------------------------------------------------------------------------


def _spread_out(X, width, rng):
    """The same matrix with its columns at random places of so many, and those places."""
    places = np.sort(rng.choice(width, X.shape[1], replace=False))
    return sparse.csr_array((X.data, places[X.indices], X.indptr), shape=(X.shape[0], width)), places


@pytest.mark.parametrize("divergence", ["squared_euclidean", "gid"])
@pytest.mark.parametrize("options", [{}, {"n_neighbors": 3}, {"tree": "anchor"}], ids=str)
def test_unused_columns_cost_nothing(divergence, options, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 0.1 * memory.GIB)
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.04, (80, 30)).astype(float)
    counts[:, 0] += 1
    counts[0] += 1  # every column is used
    few = sparse.csr_array(counts)
    many, places = _spread_out(few, 2**31 - 1, rng)
    op = bvdt.transition_matrix(few, divergence, random_state=0, **options)
    wide = bvdt.transition_matrix(many, divergence, random_state=0, **options)
    np.testing.assert_array_equal(wide.toarray(), op.toarray())
    wide.save(tmp_path / "wide.bvdt")
    assert (tmp_path / "wide.bvdt").stat().st_size < 10**6
    loaded = bvdt.load(tmp_path / "wide.bvdt")
    new = few[:6].toarray()
    new[2:4, 5] += 1
    new = sparse.csr_array(new)
    new_wide = sparse.csr_array((new.data, places[new.indices], new.indptr), shape=(6, 2**31 - 1))
    for other in (wide, loaded):
        np.testing.assert_array_equal(other.extend(new_wide).toarray(), op.extend(new).toarray())
    # An entry where no fitted point has one leaves the neighbors, moves the point away, and is no twin.
    free = np.setdiff1d(np.arange(100), places)[:2]
    extra = sparse.csr_array(([2.0, 3.0], ([0, 0], free)), shape=new_wide.shape)
    divergences, divergences_wide = op.nearest(new, 5)[1], loaded.nearest(new_wide + extra, 5)[1]
    assert divergences[0, 0] == 0 < divergences_wide[0, 0]
    np.testing.assert_array_equal(divergences_wide[1:], divergences[1:])
    away = divergences_wide[0] - divergences[0]
    np.testing.assert_allclose(away, away[0])
    if divergence == "squared_euclidean":
        np.testing.assert_allclose(away[0], (2.0**2 + 3.0**2) / 2)
    np.testing.assert_allclose(loaded.extend(new_wide + extra).toarray().sum(axis=1), 1)


def test_wrong_entries_among_many_columns_are_named():
    X = sparse.csr_array(([1.0, -2.0], ([0, 1], [3, 2**31 - 7])), shape=(3, 2**31 - 1))
    with pytest.raises(ValueError, match=r"gid needs .*X\[1, 2147483641\] = -2"):
        bvdt.transition_matrix(X, "gid")
    X.data[1] = np.inf
    with pytest.raises(ValueError, match=r"X\[1, 2147483641\] = inf"):
        bvdt.transition_matrix(X, "gid")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits here")
def test_one_large_index_in_a_file_is_an_error_in_words(tmp_path):
    (tmp_path / "x.svm").write_text(
        "".join(f"{i % 2} {i % 7}:1 9:{i}\n" for i in range(40)) + "1 99999999:2\n"
    )
    program = f"""
        import resource, sys
        import bvdt.cli
        limit = int(open("/proc/self/statm").read().split()[0]) * 4096 + 600 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        files = {str(tmp_path / "x.svm")!r}, {str(tmp_path / "o.csv")!r}
        sys.argv = ["bvdt", "propagate", files[0], "-l", "target", "-o", files[1]]
        bvdt.cli.main()
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("bvdt: ") == 1
    assert "GiB" in done.stderr or "MiB" in done.stderr


def test_a_failed_allocation_in_a_kernel_names_the_gib():
    lifted = bvdt.lifting.lift(np.random.default_rng(0).random((4, 2)), "squared_euclidean")
    pattern = (np.array([0, 0]), np.zeros(0, np.int32), np.zeros(0))
    pair, out = np.zeros(1, np.int32), np.zeros(1)
    with pytest.raises(MemoryError, match=r"a kernel of bvdt needs more memory than the [\d.]+ GiB"):
        bvdt._core.pair_dots_sparse(*pattern, *pattern, 2**60, pair, pair, out, 1)
    assert lifted.n_points == 4


def test_a_blank_memory_error_is_told_with_the_gib():
    with (
        pytest.raises(MemoryError, match=r"this needs more memory than the [\d.]+ GiB that are available"),
        memory.explain_memory_error("this"),
    ):
        raise MemoryError
    with pytest.raises(MemoryError, match="Unable to allocate 16"), memory.explain_memory_error("this"):
        raise MemoryError("Unable to allocate 16.0 GiB for an array")


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
                bvdt.transition_matrix(X, "squared_euclidean", n_neighbors=5, n_jobs=2)
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
