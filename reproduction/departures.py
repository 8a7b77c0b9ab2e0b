"""Where this reproduction is not the paper, and what the paper leaves open: the page's two lists."""

from __future__ import annotations

from .config import Config

__all__ = ["as_in_the_paper", "beyond", "departures", "left_open"]


def as_in_the_paper(config: Config) -> str:
    """What both have."""
    sampled = ""
    if config.max_documents is not None:
        sampled = f" Sets of more than {config.max_documents:,} documents are random samples, BBC is whole."
    return (
        f"As in the paper: α = {config.alpha:g}, {config.iterations} iterations of Eq. (29), one-vs-all, "
        f"{config.trials} trials, the anchor tree (VDT merges by Eq. (10), BVDT by Eq. (22)), 2(N − 1) "
        f"blocks.{sampled}"
    )


def departures(config: Config) -> list[str]:
    """Everything that is known to differ, one item each."""
    return [
        "Data: the NSF surrogate stands for a corpus that could not be had: award abstracts, drawn in a way "
        "not on record, with the same N, d and C; classes are ten groups of divisions, every term is in five "
        "or more. Movie reviews were counted anew with the published vocabulary.",
        "Trees: one scan per new anchor instead of sorted lists, with the same result. Small nodes, and "
        "searches where thresholds save less than 5 %, go without. A point equal to a pivot is no new pivot; "
        "after 40 levels a node is halved by distance.",
        "Eq. (29): ended where further steps change no score by a share of 1e-12 (in logarithms: where one "
        "step does not), but not in Figure 2F. Scores below 1e-300 are 0, and a document that no label "
        "reaches gets the most frequent class; not so in logarithms.",
        "Exact methods: on all five sets, with the σ of the first trial's tree (of each trial's under block "
        f"regularization and sensitivity). Above {config.dense_documents:,} documents P is made by rows; "
        "entries below 2^-53·m/N are dropped, m being the least, over trials and shares, of the row's "
        "largest entry to up to 2,000 labeled documents. That moves no score by more than 2^-44 of its "
        "document's sum.",
        "Labels: at least one document of each class; a draw for each trial and share, not nested, the same "
        "for all methods. Each trial has its own trees.",
        f"Trials: {config.many_trials} of the two trees on the small sets, for one claim. On the large sets "
        f"{config.large_trials} of all but the paper's trees, plain and in logarithms: no interval, and "
        "comparisons take the first. Intervals are Student's t.",
    ]


def left_open(config: Config) -> list[str]:
    """What the paper does not say, and what stands here for it."""
    return [
        "σ, a design parameter there: at the maximum of Eq. (4) with its constant, Eq. (5). VDT's accuracy "
        "depends on it: *stored values as d*, their mean number per row instead of all features, departs "
        "from Eq. (5).",
        f"Zero counts, where Eq. (28) is not defined: x + {config.smoothing:g}. GID's bandwidth, of which "
        f"Eq. (28) has none: {config.gid_bandwidth}. Both were chosen on these corpora, so the accuracies of "
        "GID, and of NB, which takes both, are optimistic.",
        "The shares of labels; the weights of terms: plain counts.",
    ]


def beyond(config: Config) -> list[str]:
    """The methods that the paper does not have."""
    k = config.neighbors
    return [
        "Ward tree: Eq. (29), automatic bandwidth. Text forest: bvdt.text_pipeline's operator without a "
        f"blend. Exact {k}-NN graph of tf-idf, symmetrized, α = {config.spreading_alpha:g}; scikit-learn's "
        f"has {k - 1} neighbors, is not symmetrized, and gives class 0 where no label reaches (up to "
        f"{config.spreading_documents:,} documents).",
        f"Nyström: node reduction (Kumar et al. 2009), label spreading, α = {config.spreading_alpha:g}, on "
        f"C·A⁺·Cᵀ of {config.n_landmarks:,} documents (all where fewer), diagonal kept, kernel "
        f"exp(−(1 − cos)/{config.landmark_width:g}) of tf-idf, the width tried by hand on the small sets "
        "(0.02, 0.05, 0.1, 0.2). Dropped are eigenvalues below 1e-10 of the largest, edges of documents "
        "below 1e-10 of the mean degree, scores below 0.",
        "NB: negative binomial, φ(x) = x·log x − (x + r)·log(x + r), r = 0.1 without a source, smoothing and "
        "bandwidth as GID; automatic bandwidth for the Ward tree and the forest "
        f"({config.forest_trees} trees, {config.forest_neighbors} neighbors, label spreading). In the "
        "figures and figure2*_means.csv.",
    ]
