"""Character n-grams of the words, for the linear experts: "printing" is evidence for "printers".

A document's n-grams are those of its words, so they need no matrix of their own: with row w of G the n-grams
of word w, a document's are T·G, and weights V of n-grams are weights G·V of words (theory: Blending experts).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._support.arrays import Single
from .._support.sparse import CSR, sparse_times
from .rows import Table

LENGTHS = (2, 4)  # of n-grams; a word's ends count as characters, as in scikit-learn's "char_wb"
LEAST_WORDS = 5  # that hold an n-gram; with 2 the experts take a third longer and are no better


def character_ngrams(terms: Sequence[str]) -> CSR:  # (d, m) float32
    """Every word's n-grams, weighed by their rarity among the words; rows of length 1, or 0."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        analyzer="char_wb", ngram_range=LENGTHS, min_df=min(LEAST_WORDS, len(terms)), dtype=np.float32
    )
    try:
        return sparse.csr_array(vectorizer.fit_transform(terms))
    except ValueError:  # no n-gram that two words share
        return sparse.csr_array((len(terms), 0), dtype=np.float32)


class SubwordTable(Table):
    """Rows [T, T·G] of words and of the n-grams in them; the second part is never formed."""

    def __init__(self, T: CSR, ngrams: CSR, n_jobs: int | None = None) -> None:
        super().__init__(T, n_jobs)
        self.ngrams = ngrams  # (d, m)
        self._ngrams_turned = sparse.csr_array(ngrams.T)

    @classmethod
    def of(cls, T: CSR, terms: Sequence[str], n_jobs: int | None = None) -> SubwordTable:
        """With the n-grams of the terms; a column after theirs, as a divergence may add one, has none."""
        return cls(T, character_ngrams([*terms, *[""] * (T.shape[1] - len(terms))]), n_jobs)

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.T.shape
        return int(n), int(d + self.ngrams.shape[1])

    def times(self, V: Single) -> Single:  # (d + m, c) -> (n, c)
        return super().times(self.on_columns(V))

    def transposed(self, V: Single) -> Single:  # (n, c) -> (d + m, c)
        words = super().transposed(V)
        return np.vstack([words, sparse_times(self._ngrams_turned, words, self.n_jobs)])

    def with_constant(self, points: NDArray[np.intp]) -> tuple[Table, NDArray[np.intp]]:
        words, used = Table(self.T, self.n_jobs).with_constant(points)
        ngrams = self.ngrams[used[:-1]]
        held = np.unique(ngrams.indices).astype(np.intp)
        none = sparse.csr_array((1, len(held)), dtype=np.float32)  # n-grams of the constant
        ngrams = sparse.csr_array(sparse.vstack([ngrams[:, held], none]))
        d, whole = self.T.shape[1], self.shape[1]
        return SubwordTable(words.T, ngrams, self.n_jobs), np.concatenate([used[:-1], [whole], d + held])

    def on_columns(self, V: Single) -> Single:  # (d + m, c) -> (d, c)
        d = self.T.shape[1]
        return np.asarray(V[:d] + sparse_times(self.ngrams, V[d:], self.n_jobs))
