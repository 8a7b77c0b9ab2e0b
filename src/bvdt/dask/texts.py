"""Words of documents in many places as counts: hashed, since a common vocabulary would need a pass of its
own."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._support.sparse import CSR

if TYPE_CHECKING:
    from dask.bag import Bag

    from ..dask.inputs import DaskArray


def text_features(texts: Bag, n_features: int = 2**16, **options: object) -> DaskArray:
    """Word counts of texts as a Dask array of CSR parts, (n_texts, n_features), for ``divergence="gid"``.

    Parameters
    ----------
    texts : Dask bag or Series of strings.
    n_features : columns that words are hashed into; two words may share one.
    options : of scikit-learn's ``HashingVectorizer``, such as ``stop_words="english"``.

    Examples
    --------
    >>> import dask.bag
    >>> import bvdt.dask
    >>> texts = dask.bag.from_sequence(["a heron by the lake", "rain over the lake"], npartitions=2)
    >>> bvdt.dask.text_features(texts, n_features=1024).shape
    (2, 1024)
    """
    import dask.array as da

    import dask

    if not hasattr(texts, "to_delayed"):
        raise TypeError(f"texts needs a Dask bag or Series of strings; got a {type(texts).__name__}")
    parts = list(texts.to_delayed())
    lengths = dask.compute(*[dask.delayed(_length)(part) for part in parts])
    meta = sparse.csr_array((0, n_features), dtype=np.float64)
    counted = [dask.delayed(word_counts)(part, n_features, options) for part in parts]
    arrays = [
        da.from_delayed(part, (n, n_features), meta=meta) for part, n in zip(counted, lengths, strict=True)
    ]
    return da.concatenate(arrays)


def word_counts(texts: Iterable[str], n_features: int, options: dict[str, object]) -> CSR:
    """Counts of hashed words."""
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(n_features=n_features, alternate_sign=False, norm=None, **options)
    texts = list(texts)
    if not texts:
        return sparse.csr_array((0, n_features), dtype=np.float64)
    return sparse.csr_array(vectorizer.transform(texts))


def _length(part: Iterable[str]) -> int:
    return len(part) if isinstance(part, Sized) else sum(1 for _ in part)
