"""Bad input: one or two lines that name the file and the fault, exit code 2, nothing written."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import bvdt
import bvdt.labelling
from bvdt import storage
from cli_cases import (
    corpus,
    counts,
    docs_csv,
    docs_folder,
    docs_matrix,
    docs_parquet,
    few,
    labels_csv,
    points,
    points_csv,
    read_csv,
    run,
    write_csv,
)

Case = tuple[Callable[[Path], list[object]], str]
GARBAGE = bytes(range(256)) * 8


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cut(path: Path, share: float = 0.6) -> Path:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    return path


def npy(folder: Path, array: np.ndarray, **options) -> Path:
    np.save(folder / "x.npy", array, **options)
    return folder / "x.npy"


def npz(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "x.npz", **arrays)
    return folder / "x.npz"


def with_value(value: float) -> np.ndarray:
    X = points()
    X[4, 2] = value
    return X


def table(folder: Path, **columns: list) -> Path:
    ids, texts, truth = corpus()
    return write_csv(folder / "d.csv", {"id": ids, "text": texts, "topic": few(truth)} | columns)


def numbers(folder: Path, value: str) -> Path:
    X = points()
    columns = {f"x{j}": X[:, j].tolist() for j in range(4)}
    columns["x1"][3] = value
    return write_csv(folder / "n.csv", columns | {"topic": few(corpus()[2])})


def model(folder: Path, source: Callable[[Path], Path] = docs_csv) -> Path:
    path = source(folder)
    made = run(
        "propagate", path, "-l", "topic", "-o", folder / "o.csv", "--save", folder / "m.bvdt", "--holdout", 0
    )
    assert made.exit_code == 0, made.output
    (folder / "o.csv").unlink()
    return folder / "m.bvdt"


def changed_model(folder: Path, version: int) -> Path:
    path = model(folder)
    header, arrays = storage.read(path)
    arrays.pop("header")
    storage.write(path, header | {"version": version}, arrays)
    return path


def operator(folder: Path) -> Path:
    bvdt.transition_matrix(counts(), random_state=0).save(folder / "op.bvdt")
    return folder / "op.bvdt"


def label_file(folder: Path, rows: str) -> Path:
    return put(folder, "labels.csv", rows)


def simple(name: str, content: str | bytes, match: str) -> Case:
    """An input file of that content."""
    return lambda f: ["propagate", put(f, name, content), "-l", "topic"], match


def on_docs(match: str, *options: object) -> Case:
    """Wrong options on a good file."""
    return lambda f: ["propagate", docs_csv(f), "-l", "topic", *options], match


def joined(rows: str | bytes, match: str) -> Case:
    """A file of labels of that content for a good matrix."""
    return lambda f: ["propagate", docs_matrix(f, ".npz"), "-l", put(f, "labels.csv", rows)], match


def matrix(make: Callable[[Path], Path], match: str) -> Case:
    """A matrix with good labels."""
    return lambda f: ["propagate", make(f), "-l", labels_csv(f)], match


def of_model(make: Callable[[Path], Path], match: str, *options: object) -> Case:
    """A good file with that model."""
    return lambda f: ["propagate", docs_csv(f, "new.csv"), "--model", make(f), *options], match


CASES: dict[str, Case] = {
    # the input
    "no such file": (lambda f: ["propagate", f / "no.csv", "-l", "topic"], r"no\.csv: there is no such file"),
    "unknown ending": simple("docs.xyz", "a,b\n1,2\n", r"docs\.xyz needs .* end in one of"),
    "no ending": simple("docs", "a,b\n1,2\n", r"docs needs .* end in one of"),
    "empty file": simple("e.csv", "", r"e\.csv"),
    "only a head": simple("h.csv", "id,text,topic\n", r"h\.csv"),
    "one document": simple("o.csv", "id,text,topic\n1,hello world,a\n", "at least 2 documents; it has 1"),
    "binary garbage": simple("g.csv", GARBAGE, r"g\.csv"),
    "ragged table": simple("r.csv", "id,text,topic\n1,x,a\n2,y,b,c,d\n", r"r\.csv, line 3"),
    "column twice": simple("c.csv", "id,text,text,topic\n1,x,y,a\n2,z,w,b\n", "text"),
    "quote that never ends": simple("q.csv", 'id,text,topic\n1,"x,a\n2,y,b\n', r"q\.csv"),
    "no text column": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "--text", "body"],
        r'docs\.csv.*"body"',
    ),
    "no id column": (lambda f: ["propagate", docs_csv(f), "-l", "topic", "--id", "key"], r'docs\.csv.*"key"'),
    "no label column": (
        lambda f: ["propagate", docs_csv(f), "-l", "tpic"],
        r'docs\.csv has no column "tpic" and there is no file of labels',
    ),
    "blank id": (lambda f: ["propagate", table(f, id=["a", " "] + ["b"] * 58), "-l", "topic"], r"d\.csv.*id"),
    "texts are blank": (
        lambda f: ["propagate", table(f, text=[" "] * 60), "-l", "topic"],
        "blank in every row",
    ),
    "texts without words": (
        lambda f: ["propagate", table(f, text=["? ! a"] * 60), "-l", "topic"],
        r"d\.csv: no words are left to compare",
    ),
    "no labels at all": (
        lambda f: ["propagate", table(f, topic=[""] * 60), "-l", "topic"],
        "label a few of each",
    ),
    "labels not asked for": (lambda f: ["propagate", docs_csv(f)], "--labels is missing: name the column"),
    "text in a number": (lambda f: ["propagate", numbers(f, "7,5"), "-l", "topic"], r"n\.csv"),
    "NaN in a column": (lambda f: ["propagate", numbers(f, "nan"), "-l", "topic"], r'n\.csv.*"x1".*finite'),
    "infinity in a column": (
        lambda f: ["propagate", numbers(f, "inf"), "-l", "topic"],
        r'n\.csv.*"x1".*finite',
    ),
    "blank number": (lambda f: ["propagate", numbers(f, ""), "-l", "topic"], r'n\.csv.*"x1".*finite'),
    "truncated Parquet": (lambda f: ["propagate", cut(docs_parquet(f)), "-l", "topic"], r"docs\.parquet"),
    "garbage Parquet": simple("g.parquet", GARBAGE, r"g\.parquet"),
    "broken JSON line": simple("b.jsonl", '{"text": "a", "topic": "b"}\n{"text": \n', r"b\.jsonl, line 2"),
    "JSON that is no object": simple("l.jsonl", "[1, 2]\n[3]\n", r"l\.jsonl, line 1"),
    "truncated gzip": (
        lambda f: [
            "propagate",
            cut(put(f, "d.csv.gz", gzip.compress(docs_csv(f).read_bytes()))),
            "-l",
            "topic",
        ],
        r"d\.csv\.gz",
    ),
    "unknown encoding": on_docs(r"klingon", "--encoding", "klingon"),
    "wrong encoding": (
        lambda f: [
            "propagate",
            put(f, "l.csv", "id,text,topic\n1,Größe,a\n2,x y,b\n".encode("latin-1")),
            "-l",
            "topic",
            "--encoding",
            "utf-8",
        ],
        r"l\.csv",
    ),
    # folders
    "no such folder": (
        lambda f: ["propagate", f / "none", "-l", "folder"],
        "there is no such file or folder",
    ),
    "empty folder": (lambda f: ["propagate", (f / "e").mkdir() or f / "e"], "needs text files"),
    "folder without text": (
        lambda f: ["propagate", ((f / "b").mkdir(), put(f, "b/x.bin", GARBAGE))[1].parent],
        "none of them text",
    ),
    "folder without subfolders": (
        lambda f: [
            "propagate",
            ((f / "p").mkdir(), put(f, "p/a.txt", "hi"), put(f, "p/b.txt", "ho"))[1].parent,
            "-l",
            "folder",
        ],
        "no subfolders to take labels from",
    ),
    "folder without labels": (
        lambda f: [
            "propagate",
            ((f / "p").mkdir(), put(f, "p/a.txt", "hi"), put(f, "p/b.txt", "ho"))[1].parent,
        ],
        "has no labels in its subfolders",
    ),
    "columns of a folder": (lambda f: ["propagate", docs_folder(f), "--text", "body"], "is a folder"),
    # matrices
    "NaN in an array": matrix(lambda f: npy(f, with_value(np.nan)), r"x\.npy, row 5, column 3.*finite"),
    "infinity in an array": matrix(lambda f: npy(f, with_value(np.inf)), r"x\.npy, row 5, column 3.*finite"),
    "NaN in a sparse matrix": matrix(
        lambda f: (sparse.save_npz(f / "x.npz", sparse.csr_array(with_value(np.nan))), f / "x.npz")[1],
        r"x\.npz, row 5, column 3.*finite",
    ),
    "array of one dimension": matrix(lambda f: npy(f, np.ones(60)), "needs 2 dimensions"),
    "array of strings": matrix(lambda f: npy(f, np.array([["a"]] * 60)), "needs real numbers"),
    "array of objects": matrix(
        lambda f: npy(f, np.array([[None]] * 60, dtype=object), allow_pickle=True), r"x\.npy is not an array"
    ),
    "truncated array": matrix(lambda f: cut(npy(f, points())), "truncated"),
    "garbage npz": matrix(lambda f: put(f, "x.npz", GARBAGE), r"x\.npz is not a matrix"),
    "npz without a matrix": matrix(lambda f: npz(f, a=np.ones(3), b=np.ones(4)), r"x\.npz is not a matrix"),
    "garbage Matrix Market": matrix(lambda f: put(f, "x.mtx", "hello\n"), r"x\.mtx is not a Matrix Market"),
    "truncated Matrix Market": matrix(lambda f: cut(docs_matrix(f, ".mtx")), r"docs\.mtx"),
    "garbage svmlight": matrix(lambda f: put(f, "x.svm", "1 a:b c\n"), r"x\.svm, line 1 is not svmlight"),
    "text of a matrix": (
        lambda f: ["propagate", docs_matrix(f, ".npz"), "-l", labels_csv(f), "--text", "body"],
        "is a matrix and has no column of text",
    ),
    "matrix without labels": (lambda f: ["propagate", docs_matrix(f, ".npz")], "--labels is missing"),
    # a file of labels
    "no such label file": (
        lambda f: ["propagate", docs_matrix(f, ".npz"), "-l", f / "no.csv"],
        "there is no file of labels with that name",
    ),
    "labels of unknown ids": joined("id,label\n1,a\n2,b\n999,a\n", r'labels\.csv.*"999"'),
    "labels that disagree": joined("id,label\n1,a\n2,b\n1,b\n", r'gives "1" the label "b"'),
    "labels of fewer rows": joined("a\nb\na\n", r"labels\.csv has \d labels for the 60 documents"),
    "empty label file": joined("", r"labels\.csv"),
    "garbage label file": joined(GARBAGE, r"labels\.csv"),
    "labels of a doubled id": (
        lambda f: ["propagate", table(f, id=["a"] * 60), "-l", put(f, "l.csv", "id,label\na,x\n")],
        r'has the id "a" twice',
    ),
    # the outputs
    "output in no folder": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", f / "no" / "o.csv"],
        r"o\.csv: there is no folder",
    ),
    "output below a file": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", f / "docs.csv" / "o.csv"],
        r"o\.csv",
    ),
    "output is a folder": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", (f / "d.csv").mkdir() or f / "d.csv"],
        "is a folder",
    ),
    "output of no format": on_docs(r"o\.doc needs a name that ends in \.csv", "-o", "o.doc"),
    "output is the input": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", f / "docs.csv"],
        "it is the input as well",
    ),
    "output is the label file": (
        lambda f: ["propagate", docs_matrix(f, ".npz"), "-l", labels_csv(f), "-o", f / "labels.csv"],
        "it is the labels as well",
    ),
    "no output named": (lambda f: ["propagate", docs_csv(f), "-l", "topic"], "Missing option"),
    "report in no folder": on_docs(r"r\.html: there is no folder", "--report", "no/r.html"),
    "model in no folder": on_docs(r"m\.bvdt: there is no folder", "--save", "no/m.bvdt"),
    "report is the model": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "--report", f / "a", "--save", f / "a"],
        "it is another output as well",
    ),
    "disk full": (
        lambda f: [
            "propagate",
            docs_csv(f),
            "-l",
            "topic",
            "-o",
            (f / "o.csv").symlink_to("/dev/full") or f / "o.csv",
        ],
        r"o\.csv: cannot be written: No space left",
    ),
    # models
    "no such model": of_model(lambda f: f / "no.bvdt", r"no\.bvdt"),
    "garbage model": of_model(lambda f: put(f, "m.bvdt", GARBAGE), r"m\.bvdt is not a bvdt file"),
    "empty model": of_model(lambda f: put(f, "m.bvdt", ""), r"m\.bvdt is not a bvdt file"),
    "text as model": of_model(docs_csv, r"docs\.csv is not a bvdt file"),
    "another npz as model": of_model(lambda f: docs_matrix(f, ".npz"), r"docs\.npz is not a bvdt file"),
    "truncated model": of_model(lambda f: cut(model(f)), r"m\.bvdt is not a bvdt file, or is truncated"),
    "newer model": of_model(lambda f: changed_model(f, storage.VERSION + 1), "update bvdt to load it"),
    "operator as model": of_model(operator, "holds an operator without labels"),
    "folder as model": of_model(lambda f: f, "is a folder, not a bvdt file"),
    "model and labels": of_model(model, "--model brings its own .* leave out --labels", "-l", "topic"),
    "model and settings": of_model(model, "leave out --near", "--near", 3),
    "model of texts on a matrix": (
        lambda f: ["propagate", docs_matrix(f, ".npz"), "--model", model(f)],
        r"docs\.npz needs a text column",
    ),
    "model of columns on texts": of_model(
        lambda f: model(f, points_csv), r"new\.csv holds texts; the model was made from numeric columns"
    ),
    "model of other columns": (
        lambda f: [
            "propagate",
            write_csv(f / "x.csv", {"x0": [1, 2], "x9": [1, 2]}),
            "--model",
            model(f, points_csv),
        ],
        r"x\.csv needs the columns.*'x1', 'x2', 'x3' are missing",
    ),
    # settings
    "unknown divergence": on_docs("needs one of squared_euclidean.*'cosine'", "--divergence", "cosine"),
    "gid of negative numbers": (
        lambda f: ["propagate", points_csv(f), "-l", "topic", "--divergence", "gid"],
        r"points\.csv: gid needs",
    ),
    "bandwidth 0": on_docs("needs auto, learn or a number above 0; got '0'", "--bandwidth", "0"),
    "bandwidth in words": on_docs("needs auto, learn or a number", "--bandwidth", "wide"),
    "near below 0": on_docs("needs an integer ≥ 0; got '-1'", "--near", "-1"),
    "no tree": on_docs("needs an integer ≥ 1; got '0'", "--trees", "0"),
    "half a tree": on_docs("needs an integer ≥ 1; got '1.5'", "--trees", "1.5"),
    "alpha above 1": on_docs("needs a number from 0 to 1; got '2'", "--alpha", "2"),
    "unknown scale": on_docs("needs one of auto, tfidf", "--scale", "log"),
    "standardised texts": on_docs("cannot be standardised", "--scale", "standard"),
    "n-grams backwards": on_docs("needs a length such as 1", "--ngrams", "3-1"),
    "min-df 0": on_docs("needs an integer ≥ 1", "--min-df", "0"),
    "min-df above N": on_docs("min_df needs 1 to 60", "--min-df", "61"),
    "no stop words": on_docs('needs "english" or a file of words', "--stop-words", "klingon"),
    "garbage stop words": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "--stop-words", put(f, "s.txt", GARBAGE)],
        r"s\.txt needs words in UTF-8",
    ),
    "stop words of characters": on_docs("--stop-words .* --chars", "--stop-words", "english", "--chars"),
    "hold-out of all": on_docs(r"share from 0\.05 to 0\.5, or 0; got '0\.9'", "--holdout", "0.9"),
    "hold-out in words": on_docs("share from .* got 'some'", "--holdout", "some"),
    "suggest below 0": on_docs("needs an integer ≥ 0", "--suggest", "-5"),
    "no threads": on_docs("needs a number of threads; got '0'", "--jobs", "0"),
    "seed below 0": on_docs("needs an integer ≥ 0", "--seed", "-1"),
    "unknown option": on_docs("No such option", "--frobnicate"),
    "unknown command": (lambda f: ["frobnicate"], "No such command"),
    # the other commands
    "one cluster": (lambda f: ["cluster", docs_csv(f), "-k", "1"], "needs an integer ≥ 2"),
    "more clusters than documents": (
        lambda f: ["cluster", docs_csv(f), "-k", "61"],
        "at least 61 documents for 61 clusters; it has 60",
    ),
    "as many coordinates as documents": (
        lambda f: ["embed", docs_csv(f), "-k", "60"],
        "at least 61 documents for 60 coordinates",
    ),
    "plot of no format": (
        lambda f: ["embed", docs_csv(f), "--plot", f / "p.gif"],
        r"p\.gif needs a name that ends in",
    ),
    "plot in no folder": (
        lambda f: ["embed", docs_csv(f), "--plot", f / "no" / "p.png"],
        r"p\.png: there is no folder",
    ),
    "plot is the output": (
        lambda f: ["cluster", docs_csv(f), "--plot", f / "out.csv"],
        "another output|ends in",
    ),
    "cluster a missing file": (lambda f: ["cluster", f / "no.csv"], r"no\.csv: there is no such file"),
    "inspect a missing file": (lambda f: ["inspect", f / "no.bvdt"], r"no\.bvdt"),
    "inspect garbage": (lambda f: ["inspect", put(f, "m.bvdt", GARBAGE)], r"m\.bvdt is not a bvdt file"),
    "inspect a truncated model": (lambda f: ["inspect", cut(model(f))], "truncated"),
    "inspect a folder": (lambda f: ["inspect", f], "is a folder"),
}


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

    monkeypatch.setattr(bvdt.labelling.Labelling, "of", broken)
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
