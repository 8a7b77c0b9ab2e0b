"""The npz files of the paper's data sets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bvdt.datasets import Corpus
from reproduction.data import CORPORA, load_corpus, save_corpus


@pytest.mark.parametrize("name", ["bbcsport", "bbc", "20news", "nsf"])
def test_the_papers_data(name, data_folder):
    corpus, info = load_corpus(name, data_folder), CORPORA[name]
    assert corpus.counts.shape == info.shape
    assert corpus.counts.dtype == float
    assert sorted(set(corpus.labels)) == list(range(info.n_classes))
    assert len(corpus.class_names) == info.n_classes
    assert (corpus.counts.data >= 1).all()
    assert info.is_surrogate == (name == "nsf")
    assert ("surrogate" in corpus.title) == info.is_surrogate


def small_corpus() -> Corpus:
    counts = sparse.csr_array(np.array([[0.0, 300, 1], [2, 0, 0], [0, 0, 0]]))
    return Corpus("bbcsport", "t", counts, np.array([1, 0, 1]), ["athletics", "cricket"])


def test_saved_counts_come_back_in_small_types(tmp_path):
    corpus = small_corpus()
    path = tmp_path / "new" / CORPORA["bbcsport"].file
    save_corpus(path, corpus, rating=np.array([9, 1, 10]), half=np.array([0.5, 1, 2]))
    again = load_corpus("bbcsport", path.parent)
    assert (again.counts != corpus.counts).nnz == 0
    assert again.labels.tolist() == [1, 0, 1]
    assert again.class_names == ["athletics", "cricket"]
    assert again.title == "BBC-Sport News Articles"
    with np.load(path) as stored:
        assert stored["data"].dtype == np.uint16
        assert stored["indices"].dtype == np.uint8
        assert stored["rating"].tolist() == [9, 1, 10]
        assert stored["half"].dtype == float
        assert stored["shape"].dtype == np.int64  # products of it must not wrap around
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / CORPORA["bbcsport"].file
    save_corpus(path, small_corpus())
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="no space"):
        save_corpus(path, small_corpus())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_missing_file_says_how_to_get_it(tmp_path):
    way = "python -m reproduction.data fetch bbc"
    with pytest.raises(FileNotFoundError, match=rf"no file bbc.npz in .*`{way}`") as error:
        load_corpus("bbc", tmp_path)
    assert str(tmp_path) in str(error.value)
    with pytest.raises(FileNotFoundError, match=r"nsf_surrogate.npz .* cannot be fetched"):
        load_corpus("nsf", tmp_path)
    with pytest.raises(
        ValueError, match=r"unknown data set 'reuters'; there are bbcsport, bbc, 20news, nsf, imdb"
    ):
        load_corpus("reuters", tmp_path)


def damage(path, **changes):
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays |= changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": None}, "has no array 'labels'"),
        ({"labels": np.array([0, 1])}, "one label per document; it has 2 for 3"),
        ({"labels": np.array([0, 1, 2])}, "has the label 2, but 2 class names"),
        ({"indices": np.array([1, 2, 9])}, "damaged matrix"),
    ],
)
def test_damaged_files_are_refused(tmp_path, changes, message):
    path = tmp_path / CORPORA["bbcsport"].file
    save_corpus(path, small_corpus())
    damage(path, **changes)
    with pytest.raises(ValueError, match=message):
        load_corpus("bbcsport", tmp_path)


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / CORPORA["bbcsport"].file
    for content in (b"", b"PK\x03\x04 nothing more", b"plain text"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a file of counts"):
            load_corpus("bbcsport", tmp_path)
