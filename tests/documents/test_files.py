"""Files in and out: every format gives back what was put into it."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite
from sklearn.datasets import dump_svmlight_file

from bvdt.documents.files import Documents, read_documents, write_table

TABLES = [".csv", ".tsv", ".jsonl", ".parquet"]
TEXTS = ['naïve, "quoted"', "two\nlines\r\nand\ttabs", "", "日本 <script>", "plain"]
LABELS = ["news", None, "sport", None, "news"]
COUNTS = np.array([[3, 0, 1], [0, 2, 0], [0, 0, 0], [5, 1, 1]])


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def dense(documents: Documents) -> np.ndarray:
    return documents.X.toarray() if sparse.issparse(documents.X) else documents.X


# -- tables --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", TABLES)
def test_text_table_round_trips(tmp_path, suffix):
    path = tmp_path / f"docs{suffix}"
    write_table(path, {"id": list("abcde"), "text": TEXTS, "label": LABELS})
    documents = read_documents(path, labels="label")
    assert (documents.ids, documents.texts, documents.labels) == (list("abcde"), TEXTS, LABELS)
    assert documents.X is None
    assert documents.notes == ()
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", TABLES)
def test_numeric_table_round_trips(tmp_path, suffix):
    path = tmp_path / f"points{suffix}"
    values = np.random.default_rng(0).normal(size=(2500, 2))  # more than one batch
    write_table(path, {"a": values[:, 0], "class": ["1", "", "01", "", ""] * 500, "b": values[:, 1]})
    documents = read_documents(path, labels="class")
    np.testing.assert_array_equal(documents.X, values)
    assert documents.features == ["a", "b"]
    assert documents.labels == ["1", None, "01", None, None] * 500
    assert documents.ids == [str(row) for row in range(1, 2501)]
    assert documents.texts is None
    assert "a, b" in documents.notes[0]


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.filterwarnings("ignore:.*spreadsheet runs")
@pytest.mark.parametrize("suffix", TABLES)
@given(rows=st.lists(st.tuples(text, st.sampled_from(["x", "y z", None])), min_size=1, max_size=6))
def test_any_text_round_trips(tmp_path_factory, suffix, rows):
    path = tmp_path_factory.mktemp("any") / f"docs{suffix}"
    texts, labels = [list(column) for column in zip(*rows, strict=True)]
    texts[0] += "word"  # a table without a letter is refused
    write_table(path, {"label": labels, "text": texts})
    documents = read_documents(path, labels="label")
    assert (documents.texts, documents.labels) == (texts, labels)


@pytest.mark.parametrize("suffix", TABLES)
def test_one_document_and_one_column(tmp_path, suffix):
    path = tmp_path / f"one{suffix}"
    write_table(path, {"text": ["alone"]})
    assert read_documents(path) == Documents(path, ["1"], ["alone"])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_blank_only_cell_is_a_row(tmp_path, suffix):
    path = tmp_path / f"one{suffix}"
    write_table(path, {"text": ["alone", "", "together"]})
    assert read_documents(path).texts == ["alone", "", "together"]


@pytest.mark.parametrize("suffix", TABLES)
def test_long_document(tmp_path, suffix):
    path = tmp_path / f"long{suffix}"
    long = " ".join(f"word{k}" for k in range(100_000))
    write_table(path, {"text": ["short", long]})
    assert read_documents(path).texts == ["short", long]


@pytest.mark.parametrize("suffix", TABLES)
def test_duplicated_ids_are_kept(tmp_path, suffix):
    path = tmp_path / f"docs{suffix}"
    write_table(path, {"id": ["a", "a"], "text": ["one", "two"], "label": ["x", None]})
    documents = read_documents(path, labels="label")
    assert (documents.ids, documents.labels) == (["a", "a"], ["x", None])


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        ("windows.csv", b"id,text\r\n1,one\r\n\r\n2,two\r\n", ["one", "two"]),
        ("mac.csv", b"id,text\r1,one\r2,two\r", ["one", "two"]),
        ("no-newline-at-end.csv", b"id,text\n1,one\n2,two", ["one", "two"]),
        ("empty-lines.csv", b"\n\nid,text\n\n1,one\n\n\n2,two\n\n", ["one", "two"]),
        ("mark.csv", b"\xef\xbb\xbftext,id\none,1\ntwo,2\n", ["one", "two"]),
        ("latin.csv", "id,text\n1,café\n2,Zürich\n".encode("latin-1"), ["café", "Zürich"]),
        ("cp1252.csv", "id,text\n1,“so”\n2,10 €\n".encode("cp1252"), ["“so”", "10 €"]),
        ("utf16.csv", "id,text\n1,café\n2,日本\n".encode("utf-16"), ["café", "日本"]),
        ("bar.csv", b"id|text|by\n1|one, two; three|x\n2|four|y\n", ["one, two; three", "four"]),
        ("semicolon.csv", b"id;text\n1;one, two\n2;three\n", ["one, two", "three"]),
        ("tabs.csv", b"id\ttext\n1\tone, two\n2\tthree\n", ["one, two", "three"]),
        ("header-spaces.csv", b"id, text\n1,one\n2,two\n", ["one", "two"]),
        ("capital.csv", b"ID,Text\n1,one\n2,two\n", ["one", "two"]),
        ("quoted.csv", b'id,text\n1,"a ""b"", c\nd"\n2,two\n', ['a "b", c\nd', "two"]),
        ("lone-quotes.tsv", b'id\ttext\n1\t"never closed\n2\ttwo "x" \n', ['"never closed', 'two "x" ']),
        ("windows.jsonl", b'{"id":1,"text":"one"}\r\n\r\n{"text":"two","id":2}\r\n', ["one", "two"]),
        ("latin.jsonl", '{"id":1,"text":"café"}\n{"id":2,"text":""}\n'.encode("latin-1"), ["café", ""]),
        ("half.jsonl", b'{"id":1,"text":"a\\ud800b"}\n{"id":2,"text":"\\ud83d\\ude00"}', ["a\ufffdb", "😀"]),
        ("packed.csv.gz", gzip.compress(b"id,text\n1,one\n2,two\n", mtime=0), ["one", "two"]),
        ("packed.jsonl.gz", gzip.compress(b'{"id":1,"text":"one"}\n{"id":2}\n', mtime=0), ["one", ""]),
    ],
)
def test_what_programs_write(tmp_path, name, content, texts):
    documents = read_documents(put(tmp_path, name, content))
    assert (documents.ids, documents.texts) == (["1", "2"], texts)


def test_guessed_encoding_is_noted_and_a_forced_one_kept(tmp_path):
    path = put(tmp_path, "docs.csv", "text\nplain\nŁódź\n".encode("iso8859-2"))
    documents = read_documents(path)
    assert "line 3" in documents.notes[0]
    assert "Windows-1252" in documents.notes[0]
    forced = read_documents(path, encoding="iso8859-2")
    assert (forced.texts, forced.notes) == (["plain", "Łódź"], ())


def test_late_byte_decides_the_encoding(tmp_path):
    path = put(tmp_path, "docs.csv", b"text\n" + b"plain words\n" * 200_000 + b"caf\xe9\n")
    documents = read_documents(path)
    assert documents.texts[-1] == "café"
    assert "line 200002" in documents.notes[0]


def test_longest_strings_are_the_text(tmp_path):
    path = put(tmp_path, "docs.csv", "key,title,body,n\nk1,short,a much longer body,1\nk2,x,another body,2\n")
    documents = read_documents(path, id="key")
    assert (documents.ids, documents.texts) == (["k1", "k2"], ["a much longer body", "another body"])
    note = f'{path}: the text is column "body"'
    assert documents.notes == (f"{note}; columns of numbers beside it have no part in this: n",)
    assert read_documents(path, text="title").texts == ["short", "x"]
    assert read_documents(path, labels="body").texts == ["short", "x"]


def test_index_without_a_name_is_the_id(tmp_path):
    documents = read_documents(put(tmp_path, "frame.csv", ",x,y\n7,1.5,2\n9,3,4\n"))
    assert (documents.ids, documents.features) == (["7", "9"], ["x", "y"])


@pytest.mark.parametrize("content", ["1,2.5\n3,4\n", "1\n2\n"])
def test_numbers_without_a_header(tmp_path, content):
    documents = read_documents(put(tmp_path, "matrix.csv", content))
    np.testing.assert_array_equal(documents.X, np.loadtxt(content.splitlines(), delimiter=",", ndmin=2))
    assert "no header" in documents.notes[0]


def test_jsonl_column_that_comes_late(tmp_path):
    lines = [json.dumps({"text": f"document {k}"}) for k in range(1500)]
    path = put(tmp_path, "docs.jsonl", "\n".join([*lines, '{"text": "last", "topic": 1.50}']))
    documents = read_documents(path, labels="topic")
    assert documents.labels == [None] * 1500 + ["1.50"]


def test_jsonl_kinds(tmp_path):
    path = put(tmp_path, "p.jsonl", '{"a": 1, "on": true, "y": false}\n{"a": 2e0, "on": false, "y": null}\n')
    documents = read_documents(path, labels="y")
    np.testing.assert_array_equal(documents.X, [[1, 1], [2, 0]])
    assert documents.labels == ["false", None]


def test_jsonl_nan_is_blank(tmp_path):
    path = put(tmp_path, "p.jsonl", '{"text": "a", "y": NaN}\n{"text": NaN, "y": "x"}\n')
    documents = read_documents(path, labels="y")
    assert (documents.texts, documents.labels) == (["a", ""], [None, "x"])


def test_columns_of_numbers_by_name(tmp_path):
    path = put(tmp_path, "p.csv", "b,topic,a\n1,long words,2\n3,,4\n")
    documents = read_documents(path, numbers=["a", "b", "absent"])
    np.testing.assert_array_equal(documents.X, [[1, 2], [3, 4]])
    assert (documents.features, documents.texts) == (["b", "a"], None)
    assert read_documents(path, numbers=["absent"]).texts == ["long words", ""]


def test_parquet_integer_labels_with_nulls(tmp_path):
    write_table(tmp_path / "p.parquet", {"id": [5, 6], "a": [0.5, 1.5], "y": [3, None]})
    documents = read_documents(tmp_path / "p.parquet", labels="y")
    assert (documents.ids, documents.labels) == (["5", "6"], ["3", None])


def test_missing_names_another_blank(tmp_path):
    path = put(tmp_path, "docs.csv", "text,y\none,-1\ntwo,0\nthree, \nfour,1\n")
    assert read_documents(path, labels="y", missing="-1").labels == [None, "0", None, "1"]
    plain = read_documents(path, labels="y")
    assert plain.labels == ["-1", "0", None, "1"]
    assert '"-1"' in plain.notes[-1]


# -- folders -------------------------------------------------------------------------------------------------


def test_folder_with_labels(tmp_path):
    put(tmp_path, "sport/b.txt", "ball")
    put(tmp_path, "sport/a.txt", "café".encode("latin-1"))
    put(tmp_path, "art/old/z", "paint\r\nbrush")
    put(tmp_path, "unlabeled/1.txt", "what")
    put(tmp_path, "loose.txt", "\ufeffhm")
    put(tmp_path, ".hidden/x.txt", "no")
    put(tmp_path, "art/.DS_Store", "no")
    put(tmp_path, "art/photo.jpg", b"\xff\xd8\0\0")
    documents = read_documents(tmp_path)
    assert documents.ids == ["art/old/z", "loose.txt", "sport/a.txt", "sport/b.txt", "unlabeled/1.txt"]
    assert documents.texts == ["paint\r\nbrush", "hm", "café", "ball", "what"]
    assert documents.labels == ["art", None, "sport", "sport", None]
    assert "a.txt" in documents.notes[0]
    assert "art/photo.jpg" in documents.notes[1]
    assert read_documents(tmp_path, labels="folder", missing="art").labels[0] is None


def test_folder_with_a_file_of_labels(tmp_path):
    put(tmp_path, "in/1.txt", "one")
    put(tmp_path, "in/2.txt", "two")
    given = put(tmp_path, "labels.csv", "id,label\n2.txt,x\n")
    assert read_documents(tmp_path / "in").labels is None
    assert read_documents(tmp_path / "in", labels=str(given)).labels == [None, "x"]


# -- matrices ------------------------------------------------------------------------------------------------


def save_svmlight(path: Path) -> None:
    dump_svmlight_file(COUNTS, [1, 0, 2, 1], str(path), zero_based=True)


def save_arrays(path: Path) -> None:
    X = sparse.csr_array(COUNTS.astype(np.uint8))
    labels, names = np.array([1, -1, 0, 1], np.int8), np.array(["neg", "pos"])
    parts = {"data": X.data, "indices": X.indices.astype(np.uint16), "indptr": X.indptr, "shape": X.shape}
    np.savez_compressed(
        path, **parts, labels=labels, class_names=names, key=np.array([b"a", b"b", b"c", b"d"])
    )


MATRICES = {
    "m.mtx": lambda path: mmwrite(path, sparse.coo_array(COUNTS)),
    "dense.mtx": lambda path: mmwrite(path, COUNTS.astype(float)),
    "m.mtx.gz": lambda path: path.write_bytes(
        gzip.compress(b"%%MatrixMarket matrix coordinate integer general\n4 3 6\n1 1 3\n1 3 1\n2 2 2\n4 1 5\n"
                      b"4 2 1\n4 3 1\n")
    ),
    "m.svm": save_svmlight,
    "m.feat": save_svmlight,
    "m.libsvm": lambda path: path.write_bytes(
        b"# written by hand\r\n1 0:3 2:1\r\n\r\n0 1:2 # second\r\n+2\r\n1 0:5 1:1 2:1\r\n"
    ),
    "m.dat.gz": lambda path: path.write_bytes(
        gzip.compress(b"1 0:3 2:1\n0 1:2\n0\n1 0:5 1:1 2:1\n", mtime=0)
    ),
    "csr.npz": lambda path: sparse.save_npz(path, sparse.csr_array(COUNTS)),
    "csc.npz": lambda path: sparse.save_npz(path, sparse.csc_matrix(COUNTS)),
    "coo.npz": lambda path: sparse.save_npz(path, sparse.coo_matrix(COUNTS)),
    "arrays.npz": save_arrays,
    "dense.npz": lambda path: np.savez(path, anything=COUNTS),
    "m.npy": lambda path: np.save(path, COUNTS),
    "single.npy": lambda path: np.save(path, COUNTS.astype(np.float32)),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(COUNTS)),
}  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_round_trips(tmp_path, name):
    path = tmp_path / name
    MATRICES[name](path)
    documents = read_documents(path)
    np.testing.assert_array_equal(dense(documents), COUNTS)
    assert documents.X.dtype in (np.float64, np.float32)
    assert documents.ids == ["1", "2", "3", "4"]
    assert documents.labels is documents.texts is documents.features is None


def test_svmlight_indices_are_columns(tmp_path):
    """Also of a file in which the first feature does not occur, and of one that counts from 1."""
    path = put(tmp_path, "m.svm", "1 1:3 3:1\n0 2:2\n")
    np.testing.assert_array_equal(dense(read_documents(path)), [[0, 3, 0, 1], [0, 0, 2, 0]])


def test_one_row_matrix(tmp_path):
    np.save(tmp_path / "one.npy", COUNTS[:1])
    assert read_documents(tmp_path / "one.npy").X.shape == (1, 3)


def test_labels_inside_a_matrix_file(tmp_path):
    save_arrays(tmp_path / "m.npz")
    documents = read_documents(tmp_path / "m.npz", labels="labels", id="key")
    assert (documents.labels, documents.ids) == (["pos", None, "neg", "pos"], list("abcd"))
    MATRICES["m.libsvm"](tmp_path / "m.libsvm")
    assert read_documents(tmp_path / "m.libsvm", labels="target").labels == ["1", "0", "+2", "1"]
    assert read_documents(tmp_path / "m.libsvm", labels="target", missing="0").labels == [
        "1",
        None,
        "+2",
        "1",
    ]


def test_labeled_counts(data_folder):
    documents = read_documents(data_folder / "bbcsport.npz", labels="labels")
    assert documents.X.shape == (737, 4613)
    assert len(set(documents.labels)) == 5


# -- files of labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.csv", "id,label\nb,x\nd,07\n"),
        ("order.csv", "label,id\n07,d\nx,b\n,a\nx,b\n"),
        ("mine.csv", "id,by,label,when\nb,me,x,1\nd,you,07,2\n"),
        ("other-names.csv", "document,topic\nb,x\nd,07\n"),
        ("same-name.csv", "key,color\nb,x\nd,07\n"),
        ("no-header.csv", "b,x\nd,07\n"),
        ("l.tsv", "id\tlabel\r\nb\tx\r\nd\t07\r\n"),
        ("l.jsonl", '{"id": "b", "label": "x"}\n{"id": "d", "label": "07"}\n{"id": "a", "label": null}\n'),
        ("l.txt", "\nx\n\n07\n"),
        ("l.labels", "\r\nx\r\n\r\n07\r\n\r\n\r\n"),
        ("one.csv", 'label\n\nx\n""\n07\n'),
        ("one.jsonl", '{"y": null}\n{"y": "x"}\n{"y": ""}\n{"y": "07"}\n'),
        ("l.csv.gz", gzip.compress(b"id,label\nb,x\nd,07\n", mtime=0)),
    ],
)
def test_file_of_labels(tmp_path, name, content):
    path = put(tmp_path, "docs.csv", "key,text\na,one\nb,two\nc,three\nd,four\n")
    given = put(tmp_path, name, content)
    assert read_documents(path, id="key", labels=str(given)).labels == [None, "x", None, "07"]


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ("x\ny\nx\ny\n\n", ["x", "y", "x", "y"]),  # no header, an empty line at the end
        ("x\ny\nx\n\n\n\n", ["x", "y", "x", None]),
        ("color\nx\ny\nx\n\n", ["x", "y", "x", None]),  # a header, the last is not labeled
        ("label\nx\nlabel\nx\n\n", ["x", "label", "x", None]),
        ("color\nx\ny\nx\ny\n\n", ["x", "y", "x", "y"]),
        ('"x"\ny\nx\n""\n\n', ["x", "y", "x", None]),
    ],
)
def test_first_line_of_one_column_of_labels(tmp_path, content, labels):
    path = put(tmp_path, "docs.csv", "text\none\ntwo\nthree\nfour\n")
    assert read_documents(path, labels=str(put(tmp_path, "l.csv", content))).labels == labels


@pytest.mark.parametrize("labels", [["", "x", "", "y"], [np.nan, 1.0, np.nan, 2.0]])
def test_npy_of_labels(tmp_path, labels):
    np.save(tmp_path / "m.npy", COUNTS)
    np.save(tmp_path / "y.npy", np.array(labels))
    found = read_documents(tmp_path / "m.npy", labels=str(tmp_path / "y.npy")).labels
    assert found == [None, str(labels[1]), None, str(labels[3])]


def test_labels_of_a_matrix_by_row_number(tmp_path):
    np.save(tmp_path / "m.npy", COUNTS)
    write_table(tmp_path / "y.parquet", {"id": [4, 2], "label": ["x", "y"]})
    assert read_documents(tmp_path / "m.npy", labels=str(tmp_path / "y.parquet")).labels == [
        None,
        "y",
        None,
        "x",
    ]
    numbers = put(tmp_path, "y.csv", "4,0\n2,1\n")
    assert read_documents(tmp_path / "m.npy", labels=str(numbers)).labels == [None, "1", None, "0"]


def test_a_column_comes_before_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = put(tmp_path, "docs.csv", "text,label\none,x\ntwo,\n")
    put(tmp_path, "label", "wrong\nwrong\n")
    assert read_documents(path, labels="label").labels == ["x", None]


def test_a_category_beside_numbers_is_no_text(tmp_path):
    path = tmp_path / "iris.csv"
    rows = "".join(f"{i}.5,{i % 3},{'setosa' if i < 4 else ''}\n" for i in range(30))
    path.write_text("a,b,species\n" + rows, encoding="utf-8")
    documents = read_documents(path)
    assert documents.features == ["a", "b"]
    assert "left out: species" in documents.notes[0]
    assert read_documents(path, text="species").texts[0] == "setosa"
    prose = tmp_path / "prose.csv"
    prose.write_text("stars,review\n" + "".join(f"{i},good film {i}\n" for i in range(9)), encoding="utf-8")
    assert read_documents(prose).texts[3] == "good film 3"


@pytest.mark.parametrize("word", ["-1", "-1.0", "NA", "nan", "?"])
def test_labels_that_look_like_none_are_told(tmp_path, word):
    path = tmp_path / "docs.csv"
    rows = "".join(f"some words {i},{i % 2 if i < 6 else word}\n" for i in range(12))
    path.write_text("text,y\n" + rows, encoding="utf-8")
    (note,) = read_documents(path, labels="y").notes
    assert f'add --unlabeled "{word}"' in note
    missing = "-1" if word == "-1.0" else word
    assert read_documents(path, labels="y", missing=missing).labels == [*"010101", *[None] * 6]
    (note,) = read_documents(path, labels="y", missing="7").notes
    assert word in note


def test_a_word_for_missing_that_no_label_has(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text("text,y\none two,a\nthree four,b\n", encoding="utf-8")
    assert read_documents(path, labels="y", missing="c").notes == (
        'no label is "c", the one for "not labeled" (--unlabeled)',
    )


def test_class_names_that_look_alike_are_told(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text(
        "text,y\na,LIBS\nb,libs \nc,sci-fi\nd,Sci Fi\ne,C++\nf,C\ng,1.0\nh,1-0\n", encoding="utf-8"
    )
    assert read_documents(path, labels="y").notes == (
        "'LIBS' and 'libs' are different classes; if they are meant as one, write them alike",
        "'Sci Fi' and 'sci-fi' are different classes; if they are meant as one, write them alike",
    )


def test_ids_that_come_again_are_told(tmp_path):
    path = tmp_path / "docs.csv"
    path.write_text("id,text\na,one\nb,two\na,three\na,four\n", encoding="utf-8")
    (note,) = read_documents(path).notes
    assert note.startswith(f'{path}: the id "a" comes 3 times; results are in the input\'s order')
    path.write_text("id,text\na,one\nb,two\na,three\nb,four\n", encoding="utf-8")
    (note,) = read_documents(path).notes
    assert '2 ids come more than once, "a" 2 times' in note
    assert note.endswith("make the ids unique, or name another column (--id)")


@pytest.mark.parametrize("text", [None, "text"])
def test_numbers_beside_a_text_are_told(tmp_path, text):
    path = tmp_path / "docs.csv"
    path.write_text(
        "id,text,stars,topic,price,by\n1,a word,5,x,,me\n2,more words,4,,1.5,you\n", encoding="utf-8"
    )
    (note,) = read_documents(path, text=text, labels="topic").notes
    assert (
        note == f'{path}: the text is column "text"; columns of numbers beside it have no part in this: '
        "stars, price"
    )


def test_numbers_beside_a_text_in_parquet_are_told(tmp_path):
    path = tmp_path / "docs.parquet"
    write_table(path, {"text": ["one word", "two words"], "stars": [5, 4]})
    assert read_documents(path).notes[0].endswith("have no part in this: stars")


# -- columns that are kept -----------------------------------------------------------------------------------


def test_columns_are_kept_as_they_are(tmp_path):
    rows = ['{"id": 1, "text": "one", "n": 7, "x": 0.5, "tags": ["a", 2], "ok": true, "more": {"k": 1e3}}']
    (tmp_path / "d.jsonl").write_text(rows[0] + '\n{"id": 2, "text": "two"}\n', encoding="utf-8")
    kept = read_documents(tmp_path / "d.jsonl", keep=True).columns
    assert kept == {
        "text": ["one", "two"],
        "n": [7, None],
        "x": [0.5, None],
        "tags": [["a", 2], None],
        "ok": [True, None],
        "more": [{"k": 1000.0}, None],
    }
    write_table(tmp_path / "o.jsonl", {"id": ["1", "2"]} | kept)
    back = read_documents(tmp_path / "o.jsonl", keep=True)
    assert back.columns == kept
    write_table(tmp_path / "o.csv", kept)
    assert (tmp_path / "o.csv").read_text().splitlines() == [
        "text,n,x,tags,ok,more",
        'one,7,0.5,"[""a"", 2]",True,"{""k"": 1000.0}"',
        "two,,,,,",
    ]
    (tmp_path / "d.csv").write_text("key,text,n\na,one,007\nb,two,\n", encoding="utf-8")
    assert read_documents(tmp_path / "d.csv", id="key", keep=True).columns == {
        "text": ["one", "two"],
        "n": ["007", ""],
    }
    assert read_documents(tmp_path / "d.csv", id="key").columns is None


def test_numbers_too_long_for_an_integer_are_kept(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"text": "one", "n": ' + "9" * 5000 + "}\n", encoding="utf-8")
    assert read_documents(tmp_path / "d.jsonl", keep=True).columns["n"] == [float("inf")]


def test_a_matrix_has_no_columns_to_keep(tmp_path):
    np.save(tmp_path / "m.npy", np.ones((5, 3)))
    for path in (tmp_path, tmp_path / "m.npy"):
        with pytest.raises(ValueError, match=r"has no columns to keep; leave out keep \(--keep-columns\)"):
            read_documents(path, keep=True)
