"""Texts where numbers are needed, and what is no text where texts are: one sentence on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from .._support.sparse import PointsLike, Sparse
from ..lifting import Views


class CountWeights(TfidfTransformer):  # type: ignore[misc]  # scikit-learn has no types
    """tf-idf of counts; texts are refused by name."""

    def fit(self, X: PointsLike, y: ArrayLike | None = None) -> CountWeights:
        """Learn the terms' weights."""
        with explain_text_error(X, 'text_pipeline("text") takes texts'):
            super().fit(X)
        return self

    def transform(self, X: PointsLike, copy: bool = True) -> Sparse:
        """Weigh counts."""
        with explain_text_error(X, 'text_pipeline("text") takes texts'):
            return super().transform(X, copy=copy)


class TextWeights(TfidfVectorizer):  # type: ignore[misc]
    """tf-idf of texts; what is no text is refused by name."""

    def fit(self, raw_documents: Iterable[str], y: ArrayLike | None = None) -> TextWeights:
        """Learn the vocabulary and the terms' weights."""
        super().fit(self._checked(raw_documents))
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: ArrayLike | None = None) -> Sparse:
        """Both at once."""
        return super().fit_transform(self._checked(raw_documents))

    def transform(self, raw_documents: Iterable[str]) -> Sparse:
        """Weigh the terms of texts."""
        return super().transform(self._checked(raw_documents))

    def _checked(self, documents: Iterable[str]) -> Iterable[str]:
        own = callable(self.analyzer) or self.preprocessor is not None  # takes whatever its user says
        return documents if own or self.input != "content" else as_texts(documents)


class TextViews(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Texts as two views: tf-idf of their words, and the vectors of an encoder.

    Parameters
    ----------
    encoder : an object with ``encode``, which makes an array (n, d) of a list of strings, as those of
        sentence-transformers and model2vec; or that array, of the texts of the fit.
    """

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def fit(self, X: Iterable[str], y: ArrayLike | None = None) -> TextViews:
        """Learn the vocabulary."""
        self.words_ = TextWeights(sublinear_tf=True).fit(X)
        return self

    def fit_transform(self, X: Iterable[str], y: ArrayLike | None = None) -> Views:
        """Learn the vocabulary; the views of the texts."""
        texts = as_texts(X)
        self.fit(texts)
        encode = self._encode()
        return self._views(texts, self.encoder if encode is None else encode(texts))

    def transform(self, X: Iterable[str]) -> Views:
        """The views of texts."""
        texts = as_texts(X)
        encode = self._encode()
        if encode is None:
            raise ValueError(
                "new texts need an encoder with encode; this pipeline was made with an array of vectors "
                "(bvdt.Views of words and vectors takes new ones of both)"
            )
        return self._views(texts, encode(texts))

    def _encode(self) -> Callable[[list[str]], ArrayLike] | None:
        """What makes vectors of texts; None where the vectors are there."""
        if isinstance(self.encoder, str | bytes | type):
            raise ValueError(
                f"encoder needs an object with encode, a function or an array; got {self.encoder!r}: "
                "load the model first, as in SentenceTransformer(name)"
            )
        if hasattr(self.encoder, "encode"):
            return self.encoder.encode  # type: ignore[no-any-return]
        return self.encoder if callable(self.encoder) else None

    def get_feature_names_out(self, names: ArrayLike | None = None) -> NDArray[np.object_]:
        """The words."""
        return np.asarray(self.words_.get_feature_names_out())

    def _views(self, texts: list[str], vectors: Any) -> Views:
        vectors = vectors if sparse.issparse(vectors) else np.asarray(vectors)
        if vectors.ndim != 2 or vectors.shape[0] != len(texts):
            raise ValueError(
                f"encoder needs a vector for each of {len(texts)} texts; its array has shape {vectors.shape}"
            )
        return Views(words=(self.words_.transform(texts), "cosine"), vectors=(vectors, "cosine"))


def as_texts(documents: Iterable[str]) -> list[str]:
    """A list of strings, one per document."""
    if hasattr(documents, "columns"):
        names = ", ".join(map(str, documents.columns[:6]))
        raise ValueError(
            f"X needs to be texts, one per document; it is a table with the columns {names}: give the one of "
            f"texts, such as X[{documents.columns[0]!r}]"
        )
    if len(shape := getattr(documents, "shape", ())) > 1:
        raise ValueError(
            f"X needs to be texts, one per document; its shape is {tuple(shape)}: give one dimension of "
            'strings, or counts to text_pipeline("counts")'
        )
    if isinstance(documents, str):
        raise ValueError(f"X needs to be texts, one per document; it is the one text {beginning(documents)}")
    texts = list(documents)
    for place, text in enumerate(texts):
        if not isinstance(text, str | bytes):
            raise ValueError(
                f'X needs a string for each document; X[{place}] = {text!r}: write "" for a document without '
                'text (X.fillna("") in pandas), or leave it out'
            )
    return texts


@contextmanager
def explain_text_error(X: PointsLike, instead: str) -> Iterator[None]:
    """An error in here is raised as one of texts, if X holds any where numbers are needed."""
    try:
        yield
    except ValueError:
        found = _first_text(X)
        if found is None:
            raise
        text, column = found
        where = "" if column is None else f" in column {column!r}"
        raise ValueError(
            f"X needs numbers, points × features; it holds the text {beginning(text)}{where}: {instead}"
        ) from None


def _first_text(X: PointsLike) -> tuple[str, object] | None:
    """A text that is no number, and the name of its column in a table."""
    if sparse.issparse(X):
        return None
    cells = np.asarray(X, dtype=object)
    for place, cell in np.ndenumerate(cells):
        if isinstance(cell, str) and not _is_number(cell):
            columns = getattr(X, "columns", None)
            return cell, None if columns is None else columns[place[1]]
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def beginning(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
