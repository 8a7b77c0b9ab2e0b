"""The pipeline for texts."""

import doctest
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import bvdt
import bvdt.estimators.text


def test_the_example():
    assert doctest.testmod(bvdt.estimators.text).failed == 0


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_counts(storage):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.poisson(np.where(np.arange(20) % 2 == y[:, None], 1.5, 0.2))
    few = np.where(np.arange(60) % 10 == 0, y, -1)
    model = clone(bvdt.text_pipeline(n_neighbors=5, random_state=0)).fit(storage(X), few)
    assert (model[-1].transduction_ == y).mean() > 0.9
    assert (model.predict(storage(X)) == y).mean() > 0.85
    assert model[-1].operator_.n_trees == 2
    model.set_params(labels__n_neighbors=3)
    assert model[-1].n_neighbors == 3


def test_wrong_arguments():
    with pytest.raises(ValueError, match='input needs "counts" or "text"'):
        bvdt.text_pipeline("words")
    with pytest.raises(TypeError, match="nearest"):
        bvdt.text_pipeline(nearest=3)


TEXTS = ["red apple pie", "apple tart", "fast red car", "car engine"]
FRAME = pd.DataFrame({"stars": [1, 2, 3, 4], "review": TEXTS})


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([*TEXTS[:3], float("nan")], r'X\[3\] = nan: write "" for a document without text'),
        (pd.Series([*TEXTS[:3], None], dtype=object), r'X\[3\] = None: write ""'),
        ([TEXTS[0], 7, *TEXTS[2:]], r"needs a string for each document; X\[1\] = 7"),
        (FRAME[["review"]], r"it is a table with the columns review: .* such as X\['review'\]"),
        (np.array(TEXTS)[:, None], r"its shape is \(4, 1\): give one dimension of strings"),
        (sparse.csr_array(np.eye(4)), r'its shape is \(4, 4\): .* or counts to text_pipeline\("counts"\)'),
        (TEXTS[0], r"texts, one per document; it is the one text 'red apple pie'"),
    ],
)
def test_what_is_no_text_is_told(documents, message):
    model = bvdt.text_pipeline("text", n_neighbors=1, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit(documents, ["food", "", "", "cars"])
    model.fit(TEXTS, ["food", "", "", "cars"])
    with pytest.raises(ValueError, match=message):
        model.predict(documents)


@pytest.mark.parametrize(
    ("points", "where"),
    [
        (TEXTS, ""),
        (pd.Series(TEXTS), ""),
        (np.array(TEXTS, dtype=object)[:, None], ""),
        (FRAME, " in column 'review'"),
    ],
)
@pytest.mark.parametrize(
    ("model", "instead"),
    [
        (bvdt.text_pipeline("counts"), r"text_pipeline\(\"text\"\) takes texts"),
        (bvdt.LabelPropagation(n_neighbors=1), r"bvdt.text_pipeline\(\"text\"\) labels texts"),
        (bvdt.SpectralEmbedding(n_neighbors=1), "TfidfVectorizer turns them into numbers"),
        (bvdt.NearestNeighbors(), "TfidfVectorizer turns them into numbers"),
    ],
    ids=["pipeline", "labels", "embedding", "neighbors"],
)
def test_texts_where_numbers_are_needed_are_told(points, where, model, instead):
    message = rf"^X needs numbers, points × features; it holds the text 'red apple pie'{where}: .*{instead}"
    with pytest.raises(ValueError, match=message):
        model.fit(points, ["food", "", "", "cars"])


def test_a_pipeline_whose_words_a_user_finds_takes_what_they_take():
    model = bvdt.text_pipeline("text", n_neighbors=1, random_state=0).set_params(
        tfidf__analyzer=lambda words: words
    )
    words = [text.split() for text in TEXTS]
    assert model.fit(words, ["food", "", "", "cars"])[-1].transduction_[1] == "food"


def test_a_pipeline_can_be_pickled():
    model = bvdt.text_pipeline("text", n_neighbors=1, random_state=0).fit(TEXTS, ["food", "", "", "cars"])
    back = pickle.loads(pickle.dumps(model))
    assert back.predict(["apple"]) == model.predict(["apple"]) == ["food"]
