"""Data sets: the npz files of counts and documents drawn from Eq. (25)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from bvdt.datasets import CORPORA, Corpus, draw_mixture, load_corpus, make_documents, save_corpus

# -- files of counts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bbcsport", "bbc", "20news", "nsf"])
def test_the_papers_data(name, data_folder):
    corpus, info = load_corpus(name, data_folder), CORPORA[name]
    assert corpus.counts.shape == info.shape
    assert corpus.counts.dtype == float
    assert sorted(set(corpus.labels)) == list(range(info.n_classes))
    assert len(corpus.class_names) == info.n_classes
    assert (corpus.counts.data >= 1).all()
    assert corpus.is_surrogate == (name == "nsf")
    assert ("surrogate" in corpus.title) == corpus.is_surrogate


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
    with pytest.raises(FileNotFoundError, match=r"no file bbc.npz in .*`bvdt datasets fetch bbc`") as error:
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


# -- documents of Eq. (25) -----------------------------------------------------------------------------------

MODEL = {"n_classes": 3, "n_terms": 40, "length": 60.0, "difficulty": 0.5, "random_state": 7}


def test_lengths_are_poisson_with_the_class_mean():
    corpus, model = make_documents(6000, **MODEL), draw_mixture(**MODEL)
    length = corpus.counts.sum(axis=1)
    for k, rate in enumerate(model.lengths):
        mine = length[corpus.labels == k]
        assert abs(mine.mean() - rate) < 4 * np.sqrt(rate / len(mine))
        assert abs(mine.var() / rate - 1) < 4 * np.sqrt(2 / len(mine))  # Poisson: variance = mean
    assert np.isclose(model.lengths.mean(), 60)


def test_terms_are_multinomial_with_the_class_probabilities():
    corpus, model = make_documents(6000, **MODEL), draw_mixture(**MODEL)
    for k, alpha in enumerate(model.probabilities):
        total = corpus.counts[corpus.labels == k].sum(axis=0)
        often = alpha * total.sum() > 5
        expected = np.r_[alpha[often], alpha[~often].sum() + 1e-300] * total.sum()
        observed = np.r_[total[often], total[~often].sum()]
        keep = expected > 1
        assert (
            stats.chisquare(observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum())[1]
            > 1e-4
        )


def test_counts_of_a_document_are_independent_poisson():
    """Eq. (26): with a Poisson length the counts are independent Poisson(λ α_j), term by term."""
    corpus, model = make_documents(6000, **MODEL), draw_mixture(**MODEL)
    mine = corpus.counts[corpus.labels == 0].toarray()
    rate = model.lengths[0] * model.probabilities[0]
    often = rate > 0.5
    z = (mine[:, often].mean(axis=0) - rate[often]) / np.sqrt(rate[often] / len(mine))
    assert np.abs(z).max() < 4.5
    ratio = mine[:, often].var(axis=0) / rate[often]
    assert np.abs(ratio - 1).max() < 4.5 * np.sqrt((2 + 1 / rate[often].min()) / len(mine))
    correlation = np.corrcoef(mine[:, often].T)[np.triu_indices(often.sum(), 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(len(mine))


def test_batches_leave_no_seam(monkeypatch):
    """Drawn in many batches the law is the same, and every document has its own class's length."""
    monkeypatch.setattr("bvdt.datasets.generate.BATCH_TOKENS", 1)
    corpus = make_documents(400, n_classes=2, n_terms=3, length=[5.0, 500.0], random_state=0)
    length = corpus.counts.sum(axis=1)
    assert (length[corpus.labels == 1].min()) > length[corpus.labels == 0].max()
    corpus.counts.check_format(full_check=True)
    assert corpus.counts.has_canonical_format


def test_documents_follow_the_seed():
    one, same, other = (make_documents(50, random_state=seed) for seed in (1, 1, 2))
    assert (one.counts != same.counts).nnz == 0
    assert (one.labels == same.labels).all()
    assert (one.counts != other.counts).nnz > 0
    assert (make_documents(50).counts != make_documents(50).counts).nnz > 0


def test_difficulty_brings_the_classes_together():
    def accuracy(difficulty):
        arguments = {"n_terms": 500, "difficulty": difficulty, "random_state": 3}
        corpus, model = make_documents(1000, **arguments), draw_mixture(**arguments)
        score = corpus.counts @ np.log(model.lengths[:, None] * model.probabilities).T - model.lengths
        return (score.argmax(axis=1) == corpus.labels).mean()

    values = [accuracy(difficulty) for difficulty in (0.8, 0.95, 1.0)]
    assert values[0] > 0.97
    assert values[0] - 0.1 > values[1] > values[2] + 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n >= 1; n = 0"),
        ({"difficulty": 1.5}, "from 0 to 1; it is 1.5"),
        ({"length": [1.0, 2.0]}, "one for each of 10 classes"),
        ({"length": -3.0}, "finite numbers > 0; it is -3.0"),
        ({"n_terms": 0}, "n_classes and n_terms >= 1; they are 10 and 0"),
    ],
)
def test_wrong_arguments_of_make_documents(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_documents(**({"n": 10} | arguments))
