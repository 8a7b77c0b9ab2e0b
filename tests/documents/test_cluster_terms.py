"""What is said of clusters: terms that separate them, a typical document, purity."""

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from bvdt.documents.cluster_terms import contrastive_terms, summarise

SUBJECTS = (
    "walrus seal ice arctic",
    "violin sonata tempo orchestra",
    "kernel driver module device",
    "flour oven dough yeast",
    "goal keeper league striker",
)
FILLERS = ["the", "of", "and", "a", "is", "in", "this", "with", "for", "that"]


def corpus(seed=0):
    """Five subjects of 40 documents; fillers everywhere, and one cluster that repeats a phrase of fillers."""
    rng = np.random.default_rng(seed)
    texts, number = [], []
    for k, words in enumerate(SUBJECTS):
        for _ in range(40):
            subject = rng.choice(words.split(), 3).tolist()
            fillers = rng.choice(FILLERS, 4).tolist()
            phrase = ["see", "more"] if k == 0 or rng.random() < 0.1 else []
            texts.append(" ".join(rng.permutation(subject + fillers + phrase)))
            number.append(k + 1)
    return texts, np.array(number)


def test_terms_are_the_subjects_and_no_stop_words():
    texts, number = corpus()
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    X = vectorizer.fit_transform(texts)
    found = contrastive_terms(X, number, vectorizer.get_feature_names_out().tolist())
    for terms, words in zip(found, SUBJECTS, strict=True):
        assert set(words.split()) <= set(terms)
        assert not set(terms) & ENGLISH_STOP_WORDS


def test_summaries():
    X = sparse.csr_array([[1.0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    number, ids = np.array([1, 1, 1, 2, 2]), list("abcde")
    labels = ["x", "x", "y", None, None]
    texts = ["one  two", "one two", "one", "three\nfour " * 100, "three four"]
    one, two = summarise(X, number, ids, ["one", "two", "three", "four"], texts, labels)
    assert (one.documents, one.representative, one.label) == (3, "a", "x")
    assert one.purity == 2 / 3
    assert one.terms == ["one", "two"]
    assert two.purity is None
    assert two.contents()["terms"] == ["four", "three"] or two.contents()["terms"] == ["three", "four"]
    assert "purity" not in two.contents()
    assert two.excerpt.startswith("three four three")
    assert len(two.excerpt) == 200
    dense = summarise(X.toarray(), number, ids)
    assert dense[0].terms == []
    assert dense[1].representative == "d"
