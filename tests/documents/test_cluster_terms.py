"""What is said of clusters: terms that separate them, a typical document, purity."""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from bvdt.documents.cluster_terms import contrastive_terms, summarise
from helpers.subjects import SUBJECTS, corpus


def test_terms_are_the_subjects_and_no_stop_words():
    texts, number = corpus()
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    X = vectorizer.fit_transform(texts)
    found = contrastive_terms(X, number, vectorizer.get_feature_names_out().tolist())
    for terms, words in zip(found, SUBJECTS, strict=True):
        assert set(words.split()) <= set(terms)
        assert not set(terms) & ENGLISH_STOP_WORDS


def test_fillers_of_another_language_are_told_by_their_spread():
    """Words in a third of all documents, but in every one of the last subject's."""
    texts, number = corpus()
    rng = np.random.default_rng(1)
    texts = [
        f"{text} og som" if k == 5 or rng.random() < 0.3 else text
        for text, k in zip(texts, number, strict=True)
    ]
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    X = vectorizer.fit_transform(texts)
    names = vectorizer.get_feature_names_out().tolist()
    assert not {"og", "som"} & set(contrastive_terms(X, number, names)[4])
    two = np.where(number == 5, 1, 2)  # with two clusters, by the pieces that they are cut into
    assert {"og", "som"} <= set(contrastive_terms(X, two, names)[0])
    assert not {"og", "som"} & set(contrastive_terms(X, two, names, parts=number)[0])


def test_summaries():
    X = sparse.csr_array([[1.0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    number, ids = np.array([1, 1, 1, 2, 2]), list("abcde")
    labels = ["x", "x", "y", None, None]
    texts = ["seal  ice", "seal ice", "seal", "violin\ntempo " * 100, "violin tempo"]
    one, two = summarise(X, number, ids, ["seal", "ice", "violin", "tempo"], texts, labels)
    assert (one.documents, one.representative, one.label) == (3, "a", "x")
    assert one.purity == 2 / 3
    assert one.terms == ["seal", "ice"]
    assert two.purity is None
    assert set(two.contents()["terms"]) == {"violin", "tempo"}
    assert "purity" not in two.contents()
    assert two.excerpt.startswith("violin tempo violin")
    assert len(two.excerpt) == 200
    dense = summarise(X.toarray(), number, ids)
    assert dense[0].terms == []
    assert dense[1].representative == "d"
