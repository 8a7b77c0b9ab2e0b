"""Bad input files for the commands, and what they say to each; with the makers of such files."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

import bvdt
import bvdt.documents.predictions
from bvdt.operators import storage
from helpers.cli_cases import (
    corpus,
    counts,
    docs_csv,
    docs_folder,
    docs_matrix,
    docs_parquet,
    few,
    labels_csv,
    points,
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


FILES: dict[str, Case] = {
    # the input
    "no such file": (lambda f: ["propagate", f / "no.csv", "-l", "topic"], r"no\.csv: there is no such file"),
    "unknown ending": simple("docs.xyz", "a,b\n1,2\n", r"docs\.xyz needs .* end in one of"),
    "no ending": simple("docs", "a,b\n1,2\n", r"docs needs .* end in one of"),
    "empty file": simple("e.csv", "", r"e\.csv"),
    "only a head": simple("h.csv", "id,text,topic\n", r"h\.csv"),
    "labels that are ids": (
        lambda f: [
            "propagate",
            put(f, "i.csv", "text,topic\n" + "".join(f"word number {i},t{i}\n" for i in range(150))),
            "-l",
            "topic",
        ],
        "gives 150 different labels to 150 documents",
    ),
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
}
