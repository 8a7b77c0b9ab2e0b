"""Character n-grams as products with the words' rows, against rows that are formed."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bvdt
from bvdt.stacking import Labeler
from bvdt.stacking.rows import Table
from bvdt.stacking.subwords import SubwordTable, character_ngrams

STEMS = ["paint", "print", "bake", "boil", "drive", "park"]
WORDS = [stem + end for stem in STEMS for end in ("er", "ers", "ing", "ings", "ed", "able")]


def table(seed=0):
    rng = np.random.default_rng(seed)
    T = sparse.csr_array(
        rng.random((20, len(WORDS))) * (rng.random((20, len(WORDS))) < 0.2), dtype=np.float32
    )
    ngrams = character_ngrams(WORDS)
    return SubwordTable(T, ngrams), Table(sparse.csr_array(sparse.hstack([T, T @ ngrams])))


def test_products_are_those_of_rows_with_their_ngrams():
    rows, formed = table()
    rng = np.random.default_rng(1)
    V, U = rng.normal(size=(rows.shape[1], 3)), rng.normal(size=(20, 2))
    assert rows.shape == formed.shape
    assert_allclose(rows.times(V), formed.times(V), rtol=1e-5, atol=1e-6)
    assert_allclose(rows.transposed(U), formed.transposed(U), rtol=1e-5, atol=1e-6)
    assert_allclose(rows.T @ rows.on_columns(V), formed.times(V), rtol=1e-5, atol=1e-6)


def test_some_rows_with_a_constant_use_their_own_features_only():
    rows, formed = table()
    points = np.array([3, 7, 8])
    part, used = rows.with_constant(points)
    whole = np.hstack([formed.T[points].toarray(), np.ones((3, 1))])
    assert part.shape == (3, len(used))
    assert_allclose(part.times(np.eye(len(used))), whole[:, used], atol=1e-6)
    left = np.setdiff1d(np.arange(whole.shape[1]), used)
    assert not whole[:, left].any()


def test_words_that_share_nothing_have_no_ngrams():
    assert character_ngrams(["ab", "xy"]).shape == (2, 0)


def test_a_word_that_no_labeled_text_holds_is_known_by_its_ngrams():
    """Texts of one word each: the walk has nothing to go by, the words' stems have."""
    y = np.repeat(np.arange(6), 6)
    X = sparse.csr_array(np.eye(36))
    op = np.full((36, 36), 1 / 36)
    few = np.where(np.arange(36) % 6 < 3, y, -1)
    hidden = few < 0
    known = Labeler(op, X, "linear", terms=WORDS).label(few, 6).P.argmax(axis=1)
    without = Labeler(op, X, "linear").label(few, 6).P.argmax(axis=1)
    assert (known == y)[hidden].mean() > 0.9
    assert (without == y)[hidden].mean() < 0.5


def test_the_text_pipeline_gives_its_words_to_the_experts():
    texts = [f"{word} {other}" for word in WORDS for other in ("quick", "slow", "old")]
    topics = np.repeat(["art", "art", "food", "food", "car", "car"], 18)
    few = topics.copy()
    few[np.random.default_rng(0).random(len(few)) < 0.7] = ""
    model = bvdt.text_pipeline("text", n_neighbors=5, random_state=0).fit(texts, few)
    again = bvdt.LabelPropagation(**model[-1].get_params()).fit(
        model[0].transform(texts), few, terms=model[0].get_feature_names_out()
    )
    assert_array_equal(model[-1].label_distributions_, again.label_distributions_)
    new = model.predict_proba(texts)
    assert (model.classes_[new.argmax(axis=1)] == model[-1].transduction_).mean() > 0.95


def test_terms_are_one_for_each_column():
    X = sparse.csr_array(np.eye(12))
    with pytest.raises(ValueError, match="terms needs one word for each of 12 columns of X; it has 2"):
        bvdt.LabelPropagation(blend="auto", n_neighbors=3).fit(X, [0, 1, *[-1] * 8, 0, 1], terms=["a", "b"])


def test_an_update_takes_the_words_ngrams_from_the_fit(monkeypatch):
    texts = [f"{word} {other}" for word in WORDS for other in ("quick", "slow", "old")]
    few = np.repeat(["art", "art", "food", "food", "car", "car"], 18)
    few[::3] = ""
    model = bvdt.text_pipeline("text", n_neighbors=5, random_state=0).fit(texts, few)
    new, anew = model[:-1].transform(["painter old", "driver quick"]), deepcopy(model[-1])
    anew._labeling = None  # as of a model file
    anew.update(new)
    monkeypatch.setattr("bvdt.stacking.subwords.character_ngrams", None)
    labeler = model[-1].update(new)._labeling[0]
    assert_array_equal(labeler.rows.ngrams.toarray(), anew._labeling[0].rows.ngrams.toarray())
