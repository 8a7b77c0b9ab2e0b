"""What an index is made of and a search may spend: with the same parameters lists are the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

STRATEGIES = ("auto", "exact", "ivf", "postings")


@dataclass(frozen=True)
class IndexParams:
    """How points are prepared.

    Parameters
    ----------
    strategy : "exact" compares all pairs; "ivf", inverted lists, for dense points and a sketch of mixed ones;
        "postings", an inverted index over the features, for sparse ones. "auto": by the number and kind of
        the points.
    n_directions : principal directions in which dense points are compared before they are re-ranked in all
        coordinates; 0 for none.
    list_size : points of an inverted list at most; None: 250, and √N/4 from a million points on.
    seed : of the clustering and of the directions.
    """

    strategy: str = "auto"
    n_directions: int = 0
    list_size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(f"strategy needs one of {', '.join(STRATEGIES)}; got {self.strategy!r}")


@dataclass(frozen=True)
class SearchParams:
    """The search budget of a query, and of a neighbor graph.

    Parameters
    ----------
    n_candidates : of inverted lists: points that a query is compared with; the nearest lists are probed until
        they hold as many.
    rerank : candidates that are ranked by the divergence, where they were found by an estimate.
    n_postings : of sparse points: postings that a query reads, those of the rarest features; a graph of 0
        begins with chunks of similar points.
    n_iter : iterations of NN-descent that follow in a neighbor graph.
    n_forward : of every list, the forward neighbors of an iteration.
    """

    n_candidates: int = 0
    rerank: int = 0
    n_postings: int = 0
    n_iter: int = 0
    n_forward: int = 0
