"""Data sets: documents drawn from Eq. (25)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bvdt.datasets import draw_mixture, make_documents

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
