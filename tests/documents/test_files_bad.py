"""Bad files: one sentence that names the file, the place and the way out; nothing is left behind."""

from __future__ import annotations

import errno
import gzip
import io
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from bvdt.documents.files import atomic, check_table, check_writable, read_documents, write_table

DOCS = "id,text,label\na,one,x\nb,two,\n"
GARBAGE = np.random.default_rng(0).integers(1, 256, 4000).astype(np.uint8).tobytes()


def saved(save, *args, **kwargs) -> bytes:
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


NPY = saved(np.save, np.ones((3, 2)))
HUGE = NPY.replace(b"(3, 2), }" + b" " * 20, b"(%d, 2), }" % 10**20)  # more rows than an integer of C counts
NPZ = saved(sparse.save_npz, sparse.csr_array(np.eye(4)))
NAN = sparse.csr_array(np.array([[0, 1.0], [0, np.nan]]))
OUTSIDE = {"data": [1.0], "indices": [7], "indptr": [0, 1], "shape": [1, 2]}

# name of the file, its bytes, arguments of read_documents, what the message says beside the file's name
TABLES = [
    ("no.csv", None, {}, "there is no such file"),
    ("docs.txt", "one\ntwo\n", {}, "needs to be a folder of text files or to end in one of .csv"),
    ("docs", "one\ntwo\n", {}, "needs to be a folder"),
    ("docs.xlsx", b"PK\3\4", {}, "rename it"),
    ("empty.csv", "", {}, "is empty"),
    ("blank.csv", "\n\n\n", {}, "is empty"),
    ("header.csv", "id,text\n", {}, "has no rows"),
    ("wrong.csv", DOCS, {"text": "txt"}, 'has no column "txt"; did you mean "text"?'),
    ("wrong.csv", DOCS, {"text": "words"}, "its columns are id, text, label"),
    ("wrong.csv", DOCS, {"id": "key"}, 'has no column "key"'),
    (
        "wrong.csv",
        DOCS,
        {"labels": "lable"},
        'no column "lable" and there is no file .* did you mean "label"',
    ),
    ("twice.csv", "id,text,text\n1,a,b\n", {}, 'two columns named "text"'),
    ("ragged.csv", "id,text\n1,one\n2,two, three\n", {}, "line 3 has 3 cells, the header has 2"),
    ("short.csv", "id,text\n1,one\n2\n", {}, "line 3 has 1 cells"),
    ("quote.csv", 'id,text\n1,one\n2,"two\n3,three\n', {}, "line 3 is not a row .* close each quote"),
    ("after.csv", 'id,text\n1,"one" more\n', {}, "line 2 is not a row"),
    ("no-id.csv", "id,text\n1,one\n,two\n", {}, 'line 3, column "id" needs an id .* it is blank'),
    ("blanks.csv", "id,text\n1,\n2, \n", {}, 'column "text" is blank in every row'),
    ("only.csv", "id,label\n1,x\n", {"labels": "label"}, "no column of text or numbers"),
    ("nul.csv", b"id,text\n1,one\n2,t\0wo\n", {}, "line 3 holds a NUL byte"),
    ("garbage.csv", GARBAGE, {}, "is not text"),
    ("utf8.csv", "text\nok\ncaf\xe9\n".encode("latin-1"), {"encoding": "utf-8"}, "line 3 is not utf-8"),
    ("code.csv", DOCS, {"encoding": "klingon"}, "'klingon' is not the name of an encoding"),
    ("code.csv", DOCS, {"encoding": "base64"}, "is not the name of an encoding"),
    ("nan.csv", "a,b\n1,2\n3,nan\n", {}, "line 3, column \"b\" needs a finite number .* it holds 'nan'"),
    ("inf.csv", "a,b\n1,2\n-inf,2\n", {}, 'line 3, column "a" needs a finite number'),
    ("hole.csv", "a,b\n1,2\n3,\n", {}, 'line 3, column "b" needs a finite number .* it is blank'),
    ("na.csv", "a,b\n1,2\n\n3,n/a\n5,6\n", {}, "line 4, column \"b\" .* it holds 'n/a'"),
    ("comma.csv", "a;b\n1;2\n3;4,5\n5;6\n", {}, "it holds '4,5'"),
    ("late.csv", "a\n" + "1\n" * 3000 + "x\n", {}, 'line 3002, column "a"'),
    ("bad.csv.gz", b"not packed", {}, "is not a gzip file"),
    (
        "cut.csv.gz",
        gzip.compress(DOCS.encode() * 99, mtime=0)[:60],
        {},
        "is not a gzip file, or is truncated",
    ),
    ("empty.jsonl", "\n", {}, "is empty"),
    ("cut.jsonl", '{"text": "one"}\n{"text": "tw', {}, r"line 2 is not JSON \(Unterminated string"),
    ("list.jsonl", '[{"text": "one"}]\n', {}, "line 1 needs an object, {…}; it holds a list"),
    ("deep.jsonl", "[" * 100_000 + "\n", {}, "line 1 is not JSON"),
    ("kind.jsonl", '{"text": "one"}\n{"text": ["two"]}\n', {}, 'line 2, column "text" needs a string'),
    ("label.jsonl", '{"text": "a", "y": ["b"]}\n', {"labels": "y"}, 'line 1, column "y" needs one label'),
    ("null.jsonl", '{"a": 1}\n{"a": null}\n', {}, 'line 2, column "a" .* it is blank'),
    ("vector.jsonl", '{"a": [1, 2]}\n', {}, 'line 1, column "a" needs a finite number'),
    ("constant.jsonl", '{"a": 1}\n{"a": NaN}\n', {}, 'line 2, column "a"'),
    ("bad.parquet", GARBAGE, {}, "is not a Parquet file, or is damaged or truncated"),
    ("empty.parquet", b"", {}, "is not a Parquet file"),
]
MATRICES = [
    ("m.mtx", "", {}, "is not a Matrix Market file"),
    ("m.mtx", GARBAGE, {}, "is not a Matrix Market file"),
    ("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", {}, "truncated"),
    ("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", {}, "Matrix Market"),
    (
        "m.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 nan\n",
        {},
        "row 2, column 1 needs a",
    ),
    ("m.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 1 1 1\n", {}, "needs real numbers"),
    ("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\0 1\n", {}, "no number"),
    ("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1" + "a" * 70_000, {}, "truncated"),
    ("m.npy", HUGE, {}, "is not an array in NumPy's format"),
    ("m.mtx.gz", b"not packed", {}, "is not a Matrix Market file"),
    ("m.svm", GARBAGE, {}, "line 1 is not svmlight"),
    ("m.svm", "", {}, "needs a row for each document"),
    ("m.svm", "sport 1:2\n", {}, "line 1 is not svmlight: 'sport 1:2'; a line is: label index:value"),
    ("m.svm", "1 1:2\n# two\n0 2=3\n", {}, "line 3 is not svmlight: '0 2=3'"),
    ("m.svm", "1 2:2 1:2\n", {}, "its indices need to rise"),
    ("m.svm", "1 0:2\n0 0:nan\n", {}, "row 2, column 1 needs a finite number"),
    ("m.svm", "1 1:2\n0 2:3\n", {"labels": "label"}, "beside the matrix it holds target"),
    ("m.svm", "1 1:2\n0 2:3\n", {"text": "body"}, 'no column of text; leave "body" out'),
    ("m.svm", "1 1:2\n0 2:3\n", {"id": "key"}, 'no array "key"'),
    ("m.svm.gz", b"not packed", {}, "is not an svmlight file"),
    ("m.npy", b"", {}, "is not an array in NumPy's format"),
    ("m.npy", GARBAGE, {}, "is not an array in NumPy's format"),
    ("m.npy", NPY[:-5], {}, "damaged or truncated"),
    ("m.npy", NPZ, {}, "ends in .npz"),
    ("m.npy", saved(np.save, np.ones(3)), {}, r"needs 2 dimensions, .* its shape is \(3,\)"),
    ("m.npy", saved(np.save, np.ones((0, 3))), {}, r"its shape is \(0, 3\)"),
    ("m.npy", saved(np.save, np.array([["a"]])), {}, "needs real numbers"),
    ("m.npy", saved(np.save, np.array([[{}]]), allow_pickle=True), {}, "Python objects"),
    ("m.npy", saved(np.save, np.array([[0, 1], [np.inf, 1]])), {}, "row 2, column 1 .* it holds inf"),
    ("m.npz", GARBAGE, {}, "is not a matrix in SciPy's or NumPy's format"),
    ("m.npz", NPZ[:-30], {}, "damaged or truncated"),
    ("m.npz", NPZ[:40] + b"\xff" * 40 + NPZ[80:], {}, "damaged or truncated"),
    ("m.npz", saved(np.savez), {}, "it holds nothing, not data"),
    ("m.npz", saved(np.savez, a=np.ones(3), b=np.ones(2)), {}, "it holds a, b, not data"),
    ("m.npz", saved(np.savez, **OUTSIDE), {}, "is not a matrix"),
    ("m.npz", saved(sparse.save_npz, NAN), {}, "row 2, column 2 needs a finite number"),
    ("m.npz", NPZ, {"labels": "labels"}, "beside the matrix it holds nothing"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), TABLES + MATRICES)
def test_is_refused_with_the_reason(tmp_path, name, content, options, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises((ValueError, OSError)) as caught:
        read_documents(path, **options)
    said = " ".join(str(part) for part in caught.value.args)
    assert re.search(message, said), said
    assert "\n" not in said
    assert len(said) < 400
    assert name in str(caught.value) or "encoding" in options


@pytest.mark.parametrize("keep", [4, 100, 0.5, 0.9, -1])
def test_truncated_parquet(tmp_path, keep):
    path = tmp_path / "docs.parquet"
    write_table(path, {"text": [f"document number {k}" for k in range(5000)]})
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))] if isinstance(keep, float) else data[:keep])
    with pytest.raises(ValueError, match=r"docs.parquet is not a Parquet file, or is damaged or truncated"):
        read_documents(path)


def test_parquet_with_a_damaged_page(tmp_path):
    path = tmp_path / "docs.parquet"
    write_table(path, {"text": [f"document number {k}" for k in range(5000)]})
    data = bytearray(path.read_bytes())
    data[10:2000] = b"\xff" * 1990
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"docs.parquet"):
        read_documents(path)


# -- folders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ({}, {}, "needs text files, .* it holds no files"),
        ({".hidden": b"a"}, {}, "it holds no files"),
        ({"a.jpg": b"\xff\0", "b/c.bin": b"\0\0"}, {}, "it holds 2 files, none of them text"),
        ({"a.txt": b"a"}, {"labels": "folder"}, "has no subfolders to take labels from"),
        ({"a.txt": b"a"}, {"labels": "topic"}, 'no column "topic" .* write "folder"'),
        ({"a.txt": b"a"}, {"text": "body"}, "is a folder: its files are the texts"),
        ({"a.txt": b"a\ncaf\xe9"}, {"encoding": "utf-8"}, "a.txt, line 2 is not utf-8"),
    ],
)
def test_folder_is_refused(tmp_path, files, options, message):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_documents(tmp_path, **options)


# -- files of labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "l.csv",
            "id,label\na,x\nc,y\n",
            'l.csv, line 3, column "id" names the id "c", .* its ids are like "a"',
        ),
        ("l.jsonl", '{"id":"a","label":"x"}\n{"label":"x"}\n', 'l.jsonl, line 2, .* names the id ""'),
        (
            "l.csv",
            "id,label\na,x\nb,y\na,z\n",
            'line 4 gives "a" the label "z", line 2 gave it "x"; keep one',
        ),
        ("l.csv", "id,by,topic1\na,me,x\n", "needs a column id and a column label; its columns are id, by"),
        ("l.csv", "name,by,label\na,me,x\n", "needs a column id and a column label"),
        ("l.csv", "", "is empty"),
        ("l.csv", GARBAGE, "is not text"),
        ("l.parquet", GARBAGE, "is not a Parquet file"),
        ("l.txt", "x\ny\nz\n", "l.txt has 3 labels for the 2 documents of .*docs.csv; one label per line"),
        ("l.txt", "x\n", "has 1 labels for the 2 documents"),
        ("l.txt", b"x\n\0", "line 2 holds a NUL byte"),
        ("l.npy", GARBAGE, "is not an array of labels"),
        ("l.npy", NPY, r"needs one dimension, .* its shape is \(3, 2\)"),
    ],
)
def test_file_of_labels_is_refused(tmp_path, name, content, message):
    (tmp_path / "docs.csv").write_text(DOCS)
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=message):
        read_documents(tmp_path / "docs.csv", labels=str(tmp_path / name))


def test_labels_cannot_be_joined_by_an_id_that_comes_twice(tmp_path):
    (tmp_path / "docs.csv").write_text("id,text\na,one\nb,two\na,three\n")
    (tmp_path / "l.csv").write_text("id,label\nb,x\n")
    with pytest.raises(ValueError, match=r'docs.csv has the id "a" twice \(documents 1 and 3\)'):
        read_documents(tmp_path / "docs.csv", labels=str(tmp_path / "l.csv"))


def test_matrix_on_its_side_is_recognised(tmp_path):
    np.save(tmp_path / "m.npy", np.ones((5, 3)))
    (tmp_path / "l.txt").write_text("x\ny\nz\n")
    with pytest.raises(ValueError, match=r"m.npy has 3 columns: transpose it, rows are documents"):
        read_documents(tmp_path / "m.npy", labels=str(tmp_path / "l.txt"))


# -- out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [check_table, lambda path: write_table(path, {"a": ["x"]})])
@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "out.xlsx",
            ValueError,
            "needs a name that ends in .csv, .tsv, .jsonl, .parquet; it ends in '.xlsx'",
        ),
        ("out", ValueError, "it ends in ''"),
        ("no/such/out.csv", FileNotFoundError, "there is no folder .*no/such; create it first"),
        ("folder.csv", IsADirectoryError, "is a folder; give the name of a file"),
        ("file/out.csv", FileNotFoundError, "there is no folder"),
        ("n" * 300 + ".csv", OSError, "File name too long"),
    ],
)
def test_output_is_refused(tmp_path, check, name, kind, message):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(kind, match=message) as caught:
        check(tmp_path / name)
    assert name in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.csv"]


@pytest.mark.parametrize("check", [check_writable, lambda path: write_table(path, {"a": ["x"]})])
def test_folder_of_another_user(check):
    with tempfile.TemporaryDirectory() as name:
        folder, root = Path(name), os.geteuid() == 0
        folder.chmod(0o755 if root else 0o555)
        try:
            if root:
                os.seteuid(65534)
            with pytest.raises(PermissionError, match=r"cannot be written: Permission denied.*out.csv"):
                check(folder / "out.csv")
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o755)
        assert os.listdir(folder) == []


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_file_that_cannot_grow(tmp_path, suffix):
    """The system stops the file at 4 kB, as a full disk would; the former file stays."""
    path = tmp_path / f"out{suffix}"
    path.write_text("good")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    words = np.random.default_rng(0).integers(1e9, size=20_000).astype(str).tolist()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        with pytest.raises(OSError, match=r"cannot be written: .*too large") as caught:
            write_table(path, {"a": words})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "good"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_full_device_is_named():
    with pytest.raises(OSError, match="No space left on device") as caught, atomic("/dev/full") as file:
        file.write("x" * 100_000)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


def test_columns_of_two_lengths(tmp_path):
    with pytest.raises(ValueError, match=r"out.csv needs columns of one length; theirs are {'a': 1, 'b': 2}"):
        write_table(tmp_path / "out.csv", {"a": ["x"], "b": ["x", "y"]})
    with pytest.raises(ValueError, match=r"out.parquet needs columns of one type each"):
        write_table(tmp_path / "out.parquet", {"a": ["x", 1]})
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_parquet_without_pyarrow(tmp_path):
    (tmp_path / "docs.parquet").write_bytes(b"PAR1")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from bvdt.documents.files import read_documents, check_table\n"
        "for do in (read_documents, check_table):\n"
        "    try: do(sys.argv[1])\n"
        "    except ImportError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "docs.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        run.stdout.count('docs.parquet needs pyarrow to be read or written: pip install "bvdt[parquet]"') == 2
    )


def test_a_decimal_comma_is_no_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{k},5;{k},{k}\n" for k in range(1, 30)))
    with pytest.raises(ValueError, match=r"decimal comma in column .*write them with a point"):
        read_documents(path)
