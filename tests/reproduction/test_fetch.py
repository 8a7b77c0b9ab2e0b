"""``python -m reproduction.data``: from an archive on a server to a file that ``load_corpus`` reads."""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse

from bvdt.datasets import Corpus, make_documents
from helpers.file_server import FileServer
from helpers.original_files import bbc_files, imdb_files, newsgroups_files, tarred, zipped
from reproduction.data import CORPORA, corpus_info, load_corpus
from reproduction.data.__main__ import main
from reproduction.data.fetch import SOURCES, fetch_corpus
from reproduction.data.originals import parse_newsgroups


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with FileServer() as running:
        yield running


@dataclass(frozen=True)
class Said:
    exit_code: int
    output: str


def data(*arguments):
    """The command's exit code, and all that it said."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = main([str(argument) for argument in arguments])
    return Said(code, out.getvalue())


def expect(monkeypatch, name, corpus, **known):
    """Let the data set of that name have this corpus's size."""
    info = replace(CORPORA[name], shape=corpus.counts.shape, n_classes=len(corpus.class_names))
    monkeypatch.setitem(CORPORA, name, info)
    monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], n_entries=corpus.counts.nnz, **known))


def assert_same(found: Corpus, wanted: Corpus) -> None:
    assert found.counts.shape == wanted.counts.shape
    assert (found.counts != wanted.counts).nnz == 0
    assert found.labels.tolist() == wanted.labels.tolist()
    assert found.class_names == wanted.class_names


SMALL = make_documents(40, n_classes=3, n_terms=30, length=20, random_state=0)


@pytest.mark.slow
def test_bbc(server, tmp_path, monkeypatch):
    expect(monkeypatch, "bbc", SMALL)
    server.habits.files["/bbc.zip"] = content = zipped(bbc_files(SMALL, "bbc"))
    server.habits.break_after = [len(content) // 2]
    monkeypatch.setattr("reproduction.data.download.time.sleep", lambda _: None)
    result = data("fetch", "bbc", "--url", f"{server.url}/bbc.zip", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "BBC News Articles, 40 documents, 30 terms, 3 classes" in result.output
    assert hashlib.sha256(content).hexdigest() in result.output
    assert "non-commercial" in result.output
    assert_same(load_corpus("bbc", tmp_path), SMALL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bbc.npz", "originals"]
    assert sorted(path.name for path in (tmp_path / "originals").iterdir()) == ["bbc.zip", "bbc.zip.sha256"]
    assert [status for status, _, _ in server.habits.log] == [200, 206]


def test_newsgroups(server, tmp_path, monkeypatch):
    corpus = replace(SMALL, class_names=["sci.space", "alt.atheism", "rec.autos"])
    expect(monkeypatch, "20news", corpus, parse=lambda files: parse_newsgroups(files, 30))
    server.habits.files["/20news.tgz"] = tarred(newsgroups_files(corpus))
    fetch_corpus("20news", tmp_path, url=f"{server.url}/20news.tgz")
    assert_same(load_corpus("20news", tmp_path), corpus)


def reviews(n=30):
    counts = make_documents(n, n_classes=2, n_terms=30, length=20, random_state=1).counts
    rating = np.resize([9, 1, 7, 4, 10], n)
    is_test = np.arange(n) >= n // 2
    return Corpus("imdb", "", counts, (rating >= 7).astype(int), ["neg", "pos"]), rating, is_test


def test_imdb(server, tmp_path, monkeypatch):
    corpus, rating, is_test = reviews()
    content = tarred(imdb_files(corpus.counts, rating, is_test))
    digest = hashlib.sha256(content).hexdigest()
    expect(monkeypatch, "imdb", corpus)
    server.habits.files["/aclImdb_v1.tar.gz"] = content
    address = f"{server.url}/aclImdb_v1.tar.gz"
    result = data("fetch", "imdb", "--url", address, "--out", tmp_path)
    assert result.exit_code == 2
    assert f"{digest}, but {SOURCES['imdb'].sha256} is required" in result.output
    assert list(tmp_path.glob("**/*.npz")) == []
    result = data("fetch", "imdb", "--url", address, "--out", tmp_path, "--sha256", digest, "--json")
    assert json.loads(result.output)["sha256"] == digest
    assert_same(load_corpus("imdb", tmp_path), corpus)
    with np.load(tmp_path / "imdb.npz") as stored:
        assert stored["rating"].tolist() == rating.tolist()
        assert stored["is_test"].tolist() == is_test.tolist()


def test_an_archive_put_there_by_hand_needs_no_network(tmp_path, monkeypatch):
    expect(monkeypatch, "bbc", SMALL)
    (tmp_path / "originals").mkdir()
    (tmp_path / "originals" / "bbc.zip").write_bytes(zipped(bbc_files(SMALL, "bbc")))
    assert_same(fetch_corpus("bbc", tmp_path).corpus, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bbcsport", "bbc"])
def test_the_real_counts_written_back_and_fetched_again(server, tmp_path, data_folder, name):
    """The known sizes are those of the real data, which come through whole."""
    real = load_corpus(name, data_folder)
    server.habits.files["/a"] = zipped(bbc_files(real, name))
    result = data("fetch", name, "--url", f"{server.url}/a", "--out", tmp_path, "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert_same(load_corpus(name, tmp_path), real)
    with np.load(tmp_path / CORPORA[name].file) as ours, np.load(data_folder / CORPORA[name].file) as theirs:
        assert ours["data"].dtype == theirs["data"].dtype
        assert ours["indices"].dtype == theirs["indices"].dtype


# -- refusals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(bbc_files(SMALL, "bbc")), "it has 40 documents, but bbc has 2225"),
        (b"<html>Moved</html>", "neither a zip nor a tar.gz archive"),
        (zipped({"other.txt": b""}), "no member 'bbc.mtx'"),
        (zipped({"../bbc.mtx": b""}), "climbs out of its folder"),
        (zipped(bbc_files(SMALL, "bbc"))[:500], "damaged or truncated"),
        (zipped(bbc_files(SMALL, "bbc") | {"bbc.mtx": b"1 2 3"}), "bbc.mtx needs the header"),
    ],
    ids=["size", "page", "other", "climbing", "truncated", "format"],
)
def test_what_is_not_the_data_set_is_refused_and_forgotten(server, tmp_path, content, message):
    server.habits.files["/bbc.zip"] = content
    result = data("fetch", "bbc", "--url", f"{server.url}/bbc.zip", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.output.startswith("reproduction: bbc.zip is not bbc as it was published: ")
    assert message in result.output
    assert result.output.count("\n") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_one_count_too_few_is_noticed(server, tmp_path, monkeypatch):
    expect(monkeypatch, "bbc", SMALL)
    counts = sparse.csr_array(SMALL.counts, copy=True)
    counts.data[3] = 0
    counts.eliminate_zeros()
    server.habits.files["/bbc.zip"] = zipped(bbc_files(replace(SMALL, counts=counts), "bbc"))
    with pytest.raises(
        ValueError, match=rf"has {counts.nnz} counts that are not 0, but bbc has {SMALL.counts.nnz}"
    ):
        fetch_corpus("bbc", tmp_path, url=f"{server.url}/bbc.zip")


def test_the_surrogate_cannot_be_fetched(tmp_path):
    result = data("fetch", "nsf", "--out", tmp_path)
    assert result.exit_code == 2
    assert "nsf, NSF abstracts (surrogate), cannot be fetched" in result.output
    result = data("fetch", "reuters", "--out", tmp_path)
    assert result.exit_code == 2
    assert "unknown data set 'reuters'; there are bbcsport" in result.output


def test_no_network_and_wrong_addresses(server, tmp_path):
    with FileServer() as gone:
        url = gone.url
    result = data("fetch", "bbc", "--url", f"{url}/bbc.zip", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.output.startswith("reproduction: 127.0.0.1 cannot be reached (Connection refused)")
    result = data("fetch", "bbc", "--url", f"{server.url}/", "--out", tmp_path)
    assert "needs to end with the name of a file" in result.output
    result = data("fetch", "bbc", "--url", f"{server.url}/bbc.zip", "--out", tmp_path)
    assert "the server answered 404 Not Found" in result.output


def test_list(tmp_path):
    (tmp_path / "bbc.npz").write_bytes(b"")
    lines = data("list", "--data", tmp_path).output.splitlines()
    assert [line.split()[0] for line in lines] == ["name", *CORPORA]
    assert [" yes " in line for line in lines] == [False, False, True, False, False, False]
    assert "737" in lines[1]
    assert "mlg.ucd.ie" in lines[1]
    assert "NSF abstracts (surrogate)" in lines[4]
    assert "cannot be fetched" in lines[4]
    rows = json.loads(data("list", "--data", tmp_path, "--json").output)["datasets"]
    assert [(row["documents"], row["terms"]) for row in rows] == [
        corpus_info(row["name"]).shape for row in rows
    ]
    assert [row["here"] for row in rows] == [False, True, False, False, False]
    assert [row["from"] for row in rows] == [SOURCES[n].url if n in SOURCES else None for n in CORPORA]


@pytest.mark.parametrize("wrong", [["--tries", "0"], ["--tries", "two"], ["--timeout", "-1"]])
def test_numbers_are_above_0(tmp_path, capsys, wrong):
    with pytest.raises(SystemExit) as ended:
        main(["fetch", "bbc", "--out", str(tmp_path), *wrong])
    assert ended.value.code == 2
    assert f"{wrong[0]}: needs a number above 0; got '{wrong[1]}'" in capsys.readouterr().err


@pytest.mark.parametrize("shown", [True, False])
def test_the_bar_takes_what_a_download_reports(shown):
    from reproduction.data.__main__ import _bar

    with _bar("bbc", shown=shown) as progress:
        assert (progress is not None) == shown
        if progress:
            progress(1, None)
            progress(5, 10)
