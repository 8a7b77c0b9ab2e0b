"""Every number of the experiments that is chosen, in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["FULL", "PANELS", "QUICK", "TITLES", "Config"]

# As in every table and figure; the NSF abstracts are not the paper's, and every mention has to say so.
TITLES = {
    "bbcsport": "BBC-Sport",
    "bbc": "BBC",
    "20news": "20 Newsgroups",
    "nsf": "NSF surrogate",
    "imdb": "Movie reviews",
}
PANELS = dict(zip(TITLES, "abcde", strict=True))  # of Figure 2


@dataclass(frozen=True)
class Config:
    """Settings of a run; the defaults are the full run's.

    The paper's own: ``alpha``, ``iterations``, ``trials``, the coarsest partition, the anchor tree. Open in
    the paper: ``shares``, ``smoothing``, both bandwidths, and counts without any weighting.
    """

    # Figure 2, A to E
    shares: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
    trials: int = 5
    many_trials: int = 30  # of the paper's trees, on the two small sets
    large_trials: int = 1  # of all but the paper's trees, on the three large sets
    alpha: float = 0.01
    iterations: int = 300
    smoothing: float = 0.01
    gid_bandwidth: float | str = 1.0  # Eq. (28) has none
    euclidean_bandwidth: float | str = "learn"  # σ² that maximizes the bound of Eq. (4)
    max_documents: int | None = None  # larger sets are sub-sampled to as many
    whole: tuple[str, ...] = ("bbcsport", "bbc")  # the small sets, never sub-sampled
    dense_documents: int = 20_000  # up to as many P is dense; above, streamed
    # Beyond the paper
    nb_bandwidth: float | str = 1.0
    small_documents: int = 3_000  # exact methods that are not the paper's: sets of up to as many
    n_landmarks: int = 1_000
    landmark_width: float = 0.05  # tried by hand on the two small sets, 0.02 to 0.2
    forest_trees: int = 2
    forest_neighbors: int = 15
    cluster_documents: int = 5_000  # larger sets are sampled for both spectral clusterings
    cluster_seeds: int = 3
    spreading_documents: int = 3_000  # scikit-learn's LabelSpreading: it searches the graph anew each fit
    neighbors: int = 10
    spreading_alpha: float = 0.9
    # Sensitivity
    sensitivity_documents: int = 3_000
    sensitivity_exact: int = 3_000
    sensitivity_share: float = 0.1
    sensitivity_trials: int = 3
    smoothings: tuple[float | str, ...] = (1.0, 0.1, 0.01, 0.001, "auto")
    gid_bandwidths: tuple[float | str, ...] = (0.3, 1.0, 3.0, 10.0, 30.0, "learn", "auto")
    euclidean_bandwidths: tuple[float | str, ...] = (1.0, 3.0, 10.0, 30.0, 100.0, "learn", "stored", "auto")
    # Blocks
    regularization_sets: tuple[str, ...] = ("bbcsport", "bbc")
    regularization_shares: tuple[float, ...] = (0.1, 0.5, 0.9)
    blocks_per_point: tuple[int, ...] = (2, 4, 16, 64, 256)
    # Pruning
    cloud_points: int = 20_000
    cloud_dimensions: tuple[int, ...] = (2, 8, 32, 128, 512)
    cloud_spreads: tuple[float, ...] = (0.01, 0.05)
    # Figure 2F
    growth_sizes: tuple[int, ...] = (1_000, 2_000, 4_000, 8_000, 16_000, 50_000)
    growth_exact: int = 16_000  # the dense P
    model_sizes: tuple[int, ...] = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
    model_exact: int = 10_000
    model_terms: int = 2_000
    model_length: float = 50.0
    repeats: int = 2  # of sizes up to ``repeat_up_to``; the least time counts
    repeat_up_to: int = 4_000
    fit_from: int = 2_000  # exponents are fitted from this N on: below, constant costs show
    # Figure 1
    drawing_points: int = 30


FULL = Config()
QUICK = replace(
    FULL,
    max_documents=2_000,
    spreading_documents=1_000,
    sensitivity_documents=1_000,
    sensitivity_exact=1_000,
    growth_sizes=(500, 1_000, 2_000, 4_000, 8_000),
    growth_exact=4_000,
    model_sizes=(1_000, 3_000, 10_000, 30_000),
    model_exact=3_000,
    fit_from=1_000,
    many_trials=5,
    cluster_documents=2_000,
    cloud_points=5_000,
)
