"""Documents drawn from the generative model of Eq. (25): Poisson lengths, multinomial terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Corpus", "Mixture", "draw_mixture", "make_documents"]

TOPIC_SIZE = 50.0  # Dirichlet weight of a topic: with the background's shape, some hundred terms carry it
BATCH_TOKENS = 2_000_000  # drawn at a time: bounds the memory, and a class's share stays in the cache


@dataclass(frozen=True)
class Corpus:
    """Documents as counts of terms, each with the number of its class.

    Examples
    --------
    >>> from bvdt.datasets import make_documents
    >>> corpus = make_documents(200, n_classes=2, random_state=0)
    >>> corpus.counts.shape[0], corpus.labels.shape, corpus.class_names
    (200, (200,), ['class 0', 'class 1'])
    """

    name: str
    title: str
    counts: sparse.csr_array  # (N, d) float64
    labels: NDArray[np.intp]  # (N,) indices into class_names
    class_names: list[str]


@dataclass(frozen=True)
class Mixture:
    """The parameters of Eq. (25): class k has the term probabilities α_k and the mean length λ_k.

    Examples
    --------
    >>> from bvdt.datasets import draw_mixture
    >>> mixture = draw_mixture(n_classes=2, random_state=0)
    >>> mixture.lengths.round(1)
    array([114.7,  85.3])
    """

    probabilities: NDArray[np.float64]  # α, (K, d), rows sum to 1
    lengths: NDArray[np.float64]  # λ, (K,)


def make_documents(
    n: int,
    *,
    n_classes: int = 10,
    n_terms: int = 5000,
    length: float | Sequence[float] = 100.0,
    difficulty: float = 0.8,
    random_state: int | None = None,
) -> Corpus:
    """n documents of Eq. (25): class k uniform, L ~ Poisson(λ_k), counts | L ~ Multinomial(L, α_k).

    α_k = difficulty·b + (1 − difficulty)·t_k, where the background b is Zipf's law, shared by all classes,
    and the topic t_k ~ Dirichlet(50·b) is the class's own. ``length``: the mean of the λ_k, which are drawn
    within a third of it, or λ_k itself for each class. ``difficulty`` in [0, 1]: the share of a document's
    terms that say nothing of its class; at 1 only lengths differ. With the other defaults, the classifier
    that knows α and λ is right for 0.998, 0.93, 0.75 and 0.47 of the documents at 0.8, 0.9, 0.95 and 0.98
    (one draw of 5000). Time and memory are O(tokens).

    Examples
    --------
    >>> from bvdt.datasets import make_documents
    >>> corpus = make_documents(200, n_classes=2, random_state=0)
    >>> len(corpus.labels), sorted(set(corpus.labels.tolist()))
    (200, [0, 1])
    """
    if n < 1:
        raise ValueError(f"make_documents needs n >= 1; n = {n}")
    seeds = np.random.SeedSequence(random_state).spawn(2)
    mixture = _mixture(n_classes, n_terms, length, difficulty, np.random.default_rng(seeds[0]))
    rng = np.random.default_rng(seeds[1])
    labels = rng.integers(n_classes, size=n)
    size = max(1, int(max(BATCH_TOKENS, 8 * n_classes * n_terms) / max(1.0, mixture.lengths.max())))
    batches = [_draw(labels[start : start + size], mixture, rng) for start in range(0, n, size)]
    counts = _stack(batches, n_terms)
    title = f"Documents of Eq. (25), {n_classes} classes, difficulty {difficulty:g}"
    names = [f"class {k}" for k in range(n_classes)]
    return Corpus("documents", title, counts, labels.astype(np.intp), names)


def draw_mixture(
    *,
    n_classes: int = 10,
    n_terms: int = 5000,
    length: float | Sequence[float] = 100.0,
    difficulty: float = 0.8,
    random_state: int | None = None,
) -> Mixture:
    """The parameters that ``make_documents`` draws from with the same arguments.

    Examples
    --------
    >>> from bvdt.datasets import draw_mixture
    >>> mixture = draw_mixture(n_classes=2, random_state=0)
    >>> mixture.lengths.shape
    (2,)
    """
    seed = np.random.SeedSequence(random_state).spawn(2)[0]
    return _mixture(n_classes, n_terms, length, difficulty, np.random.default_rng(seed))


def _mixture(
    n_classes: int,
    n_terms: int,
    length: float | Sequence[float],
    difficulty: float,
    rng: np.random.Generator,
) -> Mixture:
    if n_classes < 1 or n_terms < 1:
        raise ValueError(f"documents need n_classes and n_terms >= 1; they are {n_classes} and {n_terms}")
    if not 0 <= difficulty <= 1:
        raise ValueError(f"difficulty needs a value from 0 to 1; it is {difficulty}")
    lengths = _lengths(length, n_classes, rng)
    background = 1 / np.arange(2.0, n_terms + 2)  # Zipf: a few terms make up most of any text
    background /= background.sum()
    topics = rng.dirichlet(TOPIC_SIZE * background, size=n_classes)
    alpha = difficulty * background + (1 - difficulty) * topics
    return Mixture(alpha / alpha.sum(axis=1, keepdims=True), lengths)


def _lengths(
    length: float | Sequence[float], n_classes: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    given = np.asarray(length, dtype=float)
    if given.ndim > 0 and given.shape != (n_classes,):
        raise ValueError(f"length needs one number, or one for each of {n_classes} classes; {length!r}")
    if not (np.isfinite(given).all() and (given > 0).all()):
        raise ValueError(f"length needs finite numbers > 0; it is {length!r}")
    if given.ndim:
        return given
    spread = rng.uniform(0.75, 1.25, size=n_classes)
    return np.asarray(given * spread / spread.mean())


Batch = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]  # counts, terms, terms per document


def _draw(labels: NDArray[np.int64], mixture: Mixture, rng: np.random.Generator) -> Batch:
    """Counts of one batch of documents.

    The tokens of a class are exchangeable, so its batch is drawn as one multinomial, shuffled and dealt out
    to the documents by their lengths: the same law as one draw a token, without a search a token.
    """
    n_terms = mixture.probabilities.shape[1]
    lengths = rng.poisson(mixture.lengths[labels])
    keys = []
    for k, alpha in enumerate(mixture.probabilities):
        members = np.flatnonzero(labels == k)
        totals = rng.multinomial(lengths[members].sum(), alpha)
        terms = np.repeat(np.arange(n_terms, dtype=np.int32), totals)
        rng.shuffle(terms)
        keys.append(np.repeat(members * n_terms, lengths[members]) + terms)
    key = np.sort(np.concatenate(keys))
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if len(key) else np.empty(0, np.int64)
    counts = np.diff(np.r_[first, len(key)])
    document, term = np.divmod(key[first], n_terms)
    per_document = np.bincount(document, minlength=len(labels))
    return counts.astype(np.int32), term.astype(np.int32), per_document


def _stack(batches: list[Batch], n_terms: int) -> sparse.csr_array:
    per_document = np.concatenate([batch[2] for batch in batches])
    indptr = np.r_[0, np.cumsum(per_document)]
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)  # SciPy keeps both index arrays in one type
    data, indices = np.empty(indptr[-1]), np.empty(indptr[-1], dtype=indptr.dtype)
    start = 0
    for counts, terms, _ in batches:
        data[start : start + len(counts)] = counts
        indices[start : start + len(terms)] = terms
        start += len(counts)
    return sparse.csr_array((data, indices, indptr), shape=(len(per_document), n_terms))
