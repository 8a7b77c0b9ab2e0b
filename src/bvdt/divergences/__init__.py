"""Bregman divergences: those of Table 1, your own φ, or an exponential family's."""

from __future__ import annotations

from .base import BregmanDivergence, from_exponential_family
from .compare import compare
from .domain import Interval
from .family import Family
from .negative_binomial import NegativeBinomial
from .product import Product
from .table1 import (
    Cosine,
    GeneralizedI,
    ItakuraSaito,
    KullbackLeibler,
    Logistic,
    Mahalanobis,
    Multinomial,
    SquaredEuclidean,
)

__all__ = [
    "BregmanDivergence",
    "Cosine",
    "Family",
    "GeneralizedI",
    "Interval",
    "ItakuraSaito",
    "KullbackLeibler",
    "Logistic",
    "Mahalanobis",
    "Multinomial",
    "NegativeBinomial",
    "Product",
    "SquaredEuclidean",
    "compare",
    "from_exponential_family",
    "get",
]

NAMES: dict[str, type[BregmanDivergence]] = {
    "squared_euclidean": SquaredEuclidean,
    "cosine": Cosine,
    "mahalanobis": Mahalanobis,
    "gid": GeneralizedI,
    "poisson": GeneralizedI,
    "relative_entropy": GeneralizedI,
    "kl": KullbackLeibler,
    "multinomial": Multinomial,
    "negative_binomial": NegativeBinomial,
    "itakura_saito": ItakuraSaito,
    "logistic": Logistic,
}


def get(divergence: str | BregmanDivergence) -> BregmanDivergence:
    """The divergence of that name; an instance is returned as it is.

    Examples
    --------
    >>> from bvdt.divergences import get
    >>> get("gid")
    GeneralizedI()
    """
    if isinstance(divergence, BregmanDivergence):
        return divergence
    if not isinstance(divergence, str):
        raise TypeError(f"divergence needs a name or a BregmanDivergence; got {divergence!r}")
    if divergence not in NAMES:
        raise ValueError(f"divergence needs one of {', '.join(NAMES)}; got {divergence!r}")
    return NAMES[divergence]()  # type: ignore[call-arg]  # every named class has defaults
