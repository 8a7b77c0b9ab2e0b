"""From documents to the matrix that is walked on: words to weights, columns to one scale; learnt once, kept.

| documents | kind | scale "auto" |
|---|---|---|
| texts | text | "tfidf": counts of words, then sublinear tf-idf of length 1 |
| sparse matrix of counts (integers ≥ 0) | counts | "tfidf" |
| numeric columns of a table | columns | "standard": every column to mean 0 and deviation 1 |
| any other matrix | matrix | "none": as it is |

A divergence that needs values ≥ 0, such as gid, takes counts and columns as they are: "auto" is "none" then.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._support.arrays import ArraysByName, Float, Mask
from .._support.json import JsonObject
from .._support.robust import ordinary
from .._support.sparse import CSR, Points, is_sparse
from ..lifting import Views

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    from .files import Documents


SCALES = ("auto", "tfidf", "standard", "none")
VIEW_NAMES = {"text": "words", "counts": "words"}  # of the view beside vectors, by kind
_GAP = 3.0  # between a code and the other values, in their range
EUCLIDEAN = (None, "squared_euclidean", "mahalanobis", "cosine")


@dataclass(frozen=True)
class TextSettings:
    """How a text becomes terms: options of scikit-learn's CountVectorizer."""

    analyzer: str = "word"  # or "char", for languages without spaces between words
    ngrams: tuple[int, int] = (1, 1)
    min_df: int = 1
    stop_words: tuple[str, ...] = ()  # ("english",) is scikit-learn's list

    def vectorizer(self, vocabulary: list[str] | None = None) -> CountVectorizer:
        """A CountVectorizer; with a vocabulary it needs no fit."""
        from sklearn.feature_extraction.text import CountVectorizer

        words: str | list[str] | None = (
            "english" if self.stop_words == ("english",) else list(self.stop_words) or None
        )
        return CountVectorizer(
            analyzer="char_wb" if self.analyzer == "char" else "word",
            ngram_range=self.ngrams,
            min_df=self.min_df,
            stop_words=words if self.analyzer == "word" else None,
            vocabulary=vocabulary,
            dtype=np.float64,
        )


@dataclass(frozen=True, eq=False)
class Features:
    """What was learnt from the documents of a fit, to treat new ones alike."""

    kind: str
    scale: str
    n_features: int
    text: TextSettings = field(default_factory=TextSettings)
    names: list[str] | None = None  # the vocabulary, or a table's columns
    idf: Float | None = None  # (d,)
    mean: Float | None = None  # (d,)
    deviation: Float | None = None  # (d,)
    n_vectors: int = 0  # columns of an encoder's vectors, a view of its own

    @property
    def width(self) -> int:
        """Features in all, vectors among them."""
        return self.n_features + self.n_vectors

    @property
    def row_names(self) -> list[str] | None:
        """Of the columns as experts see them: vectors before words, after other columns."""
        if not self.n_vectors or self.names is None:
            return self.names
        vectors = [f"vector[{k}]" for k in range(self.n_vectors)]
        return vectors + self.names if self.kind == "text" else self.names + vectors

    @property
    def terms(self) -> list[str] | None:
        """The words that the columns stand for, whose character n-grams say more; None for other features."""
        return self.names if self.kind == "text" and self.text.analyzer == "word" else None

    def transform(self, documents: Documents) -> Points | Views:  # (n, d)
        """The matrix of new documents; refuses those of another kind."""
        return self._with_vectors(self._scaled(self._aligned(documents), documents), documents)

    def _with_vectors(self, X: Points, documents: Documents) -> Points | Views:
        """X and the documents' vectors as two views, where there are vectors."""
        vectors = documents.vectors
        if vectors is None and not self.n_vectors:
            return X
        if vectors is None:
            raise ValueError(f"{documents.path} needs --vectors, as the model's documents had")
        if not self.n_vectors:
            raise ValueError("the model was made without vectors; leave out --vectors")
        if vectors.shape[1] != self.n_vectors:
            raise ValueError(
                f"--vectors needs {self.n_vectors} columns, as the model's; it has {vectors.shape[1]}"
            )
        return Views.of({VIEW_NAMES.get(self.kind, self.kind): X, "vectors": (vectors, "cosine")})

    def unknown_share(self, documents: Documents) -> float:
        """Out-of-vocabulary rate: share of the texts' words that the fit did not know; 0 without texts."""
        if self.kind != "text" or self.names is None or documents.texts is None:
            return 0.0
        analyze, known = self.text.vectorizer(self.names).build_analyzer(), frozenset(self.names)
        words = [word in known for text in documents.texts for word in analyze(text)]
        return 1.0 - sum(words) / len(words) if words else 0.0

    def _aligned(self, documents: Documents) -> Points:
        """Its terms or columns, in the order of the fit."""
        if self.kind == "text":
            if documents.texts is None:
                raise ValueError(f"{documents.path} needs a text column: the model was made from texts")
            return sparse.csr_array(self.text.vectorizer(self.names).transform(documents.texts))
        if documents.X is None:
            raise ValueError(f"{documents.path} holds texts; the model was made from {self._words()}")
        X = documents.X
        if self.names is not None:
            X = X[:, self._columns(documents)]
        elif is_sparse(X) and X.shape[1] < self.n_features and _grows(documents):
            X = sparse.csr_array(X)
            X.resize(X.shape[0], self.n_features)
        if X.shape[1] != self.n_features:
            needed = f"{self.n_features} columns, as the model's data"
            raise ValueError(f"{documents.path} needs {needed}; it has {X.shape[1]}")
        return _checked(X, documents, self.names)

    def _columns(self, documents: Documents) -> list[int]:
        assert self.names is not None
        place = {name: j for j, name in enumerate(documents.features or [])}
        missing = [name for name in self.names if name not in place]
        if missing:
            raise ValueError(
                f"{documents.path} needs the columns of the model's data; "
                f"{_some(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            )
        return [place[name] for name in self.names]

    def _words(self) -> str:
        return {"counts": "a matrix of counts", "columns": "numeric columns"}.get(self.kind, "a matrix")

    def _scaled(self, X: Points, documents: Documents) -> Points:
        if self.scale == "tfidf":
            assert self.idf is not None
            return _weighting(self.idf).transform(_counts(X, documents), copy=False)
        if self.scale == "standard":
            assert self.mean is not None
            assert self.deviation is not None
            return (X - self.mean) / self.deviation
        return X

    # -- storage ------------------------------------------------------------------------------------------

    def contents(self) -> tuple[JsonObject, ArraysByName]:
        """Header and arrays for a file."""
        header = {"kind": self.kind, "scale": self.scale, "n_features": self.n_features}
        header |= {"n_vectors": self.n_vectors} if self.n_vectors else {}
        arrays = {name: getattr(self, name) for name in ("idf", "mean", "deviation")}
        arrays = {name: array for name, array in arrays.items() if array is not None}
        if self.names is not None:
            arrays["names"] = np.frombuffer(json.dumps(self.names).encode(), np.uint8)
        return header | {"text": asdict(self.text)}, arrays

    @classmethod
    def from_contents(cls, header: JsonObject, arrays: ArraysByName) -> Features:
        """The object of a header and arrays of ``contents``."""
        known = {f.name for f in fields(TextSettings)}
        text = {key: value for key, value in header["text"].items() if key in known}
        text |= {"ngrams": tuple(text["ngrams"]), "stop_words": tuple(text["stop_words"])}
        names = json.loads(arrays["names"].tobytes()) if "names" in arrays else None
        learnt = {name: arrays.get(name) for name in ("idf", "mean", "deviation")}
        n_features = int(header["n_features"])
        for name, value in {**learnt, "names": names}.items():
            if value is not None and len(value) != n_features:
                raise IndexError(f"{name} of {len(value)} features instead of {n_features}")
        for name, value in learnt.items():
            if value is not None and not _is_learnt(value, positive=name != "mean"):
                raise ValueError(
                    f"{name} needs one finite number{'' if name == 'mean' else ' > 0'} per feature"
                )
        kind, scale = str(header["kind"]), str(header["scale"])
        needed = {"tfidf": ("idf",), "standard": ("mean", "deviation"), "none": ()}[scale]
        if any(learnt[name] is None for name in needed) or (kind == "text" and names is None):
            raise KeyError(f"what {kind} with the scale {scale} needs")
        n_vectors = int(header.get("n_vectors", 0))
        return cls(kind, scale, n_features, TextSettings(**text), names, n_vectors=n_vectors, **learnt)


def _is_learnt(values: NDArray[np.generic], positive: bool) -> bool:
    """Whether a file's array is what ``_learn_scale`` makes."""
    plain = values.ndim == 1 and values.dtype == np.float64 and np.isfinite(values).all()
    return bool(plain and (not positive or (np.asarray(values, float) > 0).all()))


def learn_features(
    documents: Documents,
    *,
    scale: str = "auto",
    divergence: str | None = None,
    text: TextSettings | None = None,
) -> tuple[Features, Points | Views]:
    """What the documents teach, and their matrix; see the module's head for the kinds and scales."""
    if scale not in SCALES:
        raise ValueError(f"scale needs one of {', '.join(SCALES)}; got {scale!r}")
    text = text or TextSettings()
    names = documents.features
    if documents.texts is not None:
        kind, (X, names) = "text", _count(documents, text)
    else:
        kind, X = _kind(documents), _checked(documents.X, documents, names)
    features = Features(kind, _resolved(scale, kind, divergence), X.shape[1], text, names)
    features, X = _learn_scale(features, X, documents)
    if documents.vectors is not None:
        features = replace(features, n_vectors=int(documents.vectors.shape[1]))
    return features, features._with_vectors(X, documents)


def _learn_scale(features: Features, X: Points, documents: Documents) -> tuple[Features, Points]:
    if features.scale == "tfidf":
        from sklearn.feature_extraction.text import TfidfTransformer

        features = replace(features, idf=TfidfTransformer().fit(_counts(X, documents)).idf_)
    elif features.scale == "standard":
        if is_sparse(X):
            what = "makes a sparse matrix" if features.kind == "text" else "is a sparse matrix"
            raise ValueError(f'{documents.path} {what}, which cannot be standardised; use the scale "auto"')
        _warn_of_codes(X, documents, features.names)
        mean, deviation = standard_scale(X)
        features = replace(features, mean=mean, deviation=deviation)
    return features, features._scaled(X, documents)


def _warn_of_codes(X: Float, documents: Documents, names: list[str] | None) -> None:
    """A warning for each column with a number that looks like a code for "missing", far from all others."""
    for column in range(X.shape[1]):
        values = X[:, column]
        for code in {float(values.min()), float(values.max())}:
            rest = values[values != code]
            far = len(rest) and np.abs(rest - code).min() > _GAP * (rest.max() - rest.min())
            if not (far and _looks_like_code(code)):
                continue
            name = f"column {names[column]!r}" if names else f"column {column + 1}"
            count = len(values) - len(rest)
            warnings.warn(
                f"{documents.path}: {name} is {code:g} in {count:,} of {len(values):,} rows, far from all "
                "other values; if that stands for a missing value, leave those rows out or fill them in",
                stacklevel=2,
            )


def _looks_like_code(value: float) -> bool:
    """−999, 99999, 1000000, …: nothing but nines, or a power of ten, from three digits on."""
    size = abs(value)
    digits = str(int(size)) if size < 2**63 and size == int(size) else ""
    return len(digits) >= 3 and (set(digits) == {"9"} or digits == "1" + "0" * (len(digits) - 1))


def standard_scale(X: Float) -> tuple[Float, Float]:  # (N, d) -> (d,) ×2
    """Mean and deviation of every column over its ordinary values."""
    kept = ordinary(X)
    return X.mean(axis=0, where=kept), _deviation(X, kept)


def _deviation(X: Float, kept: Mask) -> Float:  # (d,)
    """Of every column; 1 where all values are equal but for rounding, which would be blown up."""
    deviation = X.std(axis=0, where=kept)
    rounding = 10 * np.finfo(float).eps * np.abs(X).max(axis=0, where=kept, initial=0.0)
    is_constant = (X.max(axis=0) == X.min(axis=0)) | (deviation <= rounding)
    return np.where(is_constant, 1.0, deviation)


def _counts(X: Points, documents: Documents) -> CSR:  # (n, d)
    """A copy without stored zeros, whose logarithm would be −∞."""
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.eliminate_zeros()
    if X.nnz and X.data.min() < 0:
        raise ValueError(f"{documents.path} needs counts ≥ 0 for tf-idf; the least is {X.data.min():g}")
    return X


def _weighting(idf: Float) -> TfidfTransformer:
    """Sublinear tf-idf of length 1, as in ``bvdt.text_pipeline``, with weights that are there already."""
    from sklearn.feature_extraction.text import TfidfTransformer

    weighting = TfidfTransformer(sublinear_tf=True)
    weighting.idf_, weighting.n_features_in_ = idf, len(idf)
    return weighting


def _resolved(scale: str, kind: str, divergence: str | None) -> str:
    if scale != "auto":
        return scale
    if kind in ("text", "counts"):
        return "tfidf" if divergence in EUCLIDEAN else "none"
    return "standard" if kind == "columns" and divergence in EUCLIDEAN else "none"


def _kind(documents: Documents) -> str:
    X = documents.X
    if documents.features is not None:
        return "columns"
    if is_sparse(X) and X.nnz and (X.data >= 0).all() and (X.data == np.rint(X.data)).all():
        return "counts"
    return "matrix"


def _count(documents: Documents, text: TextSettings) -> tuple[CSR, list[str]]:  # (N, d), (d,)
    assert documents.texts is not None
    n_documents = len(documents.texts)
    if not 1 <= text.min_df <= n_documents:
        raise ValueError(f"min_df needs 1 to {n_documents}, the documents; got {text.min_df}")
    vectorizer = text.vectorizer()
    try:
        X = vectorizer.fit_transform(documents.texts)
    except ValueError as error:
        raise ValueError(
            f"{documents.path}: no words are left to compare ({_first_words(error)}); "
            "look at the text column, min_df and the stop words"
        ) from None
    return sparse.csr_array(X), [str(name) for name in vectorizer.get_feature_names_out()]


def _first_words(error: Exception) -> str:
    return str(error).split(";")[0].split(". ")[0].rstrip(".")


def _checked(X: Points, documents: Documents, names: list[str] | None) -> Points:
    """X in float64, entries of one place added up; refused with the first value that is not finite."""
    X = sparse.csr_array(X, dtype=np.float64) if is_sparse(X) else np.asarray(X, np.float64)
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data if is_sparse(X) else X
    finite = np.isfinite(values)
    if finite.all():
        return X
    if is_sparse(X):
        at = int(np.argmin(finite))
        row, column = int(np.searchsorted(X.indptr, at, "right")) - 1, int(X.indices[at])
        value = X.data[at]
    else:
        row, column = (int(k) for k in np.argwhere(~finite)[0])
        value = X[row, column]
    where = f"column {names[column]!r}" if names else f"column {column + 1}"
    raise ValueError(
        f"{documents.path} needs finite numbers; {where} of id {documents.ids[row]!r} is {value}"
    )


def _grows(documents: Documents) -> bool:
    """Whether the format stores no number of columns, so that rare features may be missing at the end."""
    return documents.path.suffix.lower() not in (".npz", ".mtx")


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"
