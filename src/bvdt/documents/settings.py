"""How the walk over documents is built: parameters by the documents' kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._support.defaults import ALPHA, BLEND, DIVERGENCE, N_NEIGHBORS, N_TREES, TEXT_DIVERGENCE, TEXT_TREES
from .._support.progress import Progress
from .._support.sparse import Points
from ..divergences import BregmanDivergence, KullbackLeibler, get
from .features import Features, TextSettings

if TYPE_CHECKING:
    from ..estimators import LabelPropagation
    from ..operators import WalkOperator


@dataclass(frozen=True)
class WalkSettings:
    """How to build the walk; None is the default for the documents' kind."""

    divergence: str | None = None
    bandwidth: float | str = "auto"
    n_neighbors: int | None = None
    trees: int | None = None
    scale: str = "auto"
    text: TextSettings = field(default_factory=TextSettings)
    seed: int = 0
    jobs: int | None = None
    blocks: int | None = None

    def parameters(self, features: Features) -> dict[str, Any]:
        """Of ``bvdt.LabelPropagation`` or another estimator; texts and counts take ``text_pipeline``'s."""
        chosen: dict[str, Any] = {
            "divergence": TEXT_DIVERGENCE if features.scale == "tfidf" else DIVERGENCE,
            "n_neighbors": N_NEIGHBORS,
            "n_trees": TEXT_TREES if features.kind in ("text", "counts") else N_TREES,
        }
        given = {
            "divergence": self.divergence,
            "n_neighbors": self.n_neighbors,
            "n_trees": self.trees,
            "n_blocks": self.blocks,
        }
        chosen |= {name: value for name, value in given.items() if value is not None}
        chosen["divergence"] = _divergence(chosen["divergence"])
        running = {"random_state": self.seed, "n_jobs": self.jobs}
        return chosen | {"bandwidth": self.bandwidth} | running


def _divergence(name: str) -> BregmanDivergence:
    """Of that name; kl divides rows by their sums, which files of counts have not."""
    return KullbackLeibler(normalize=True) if name == "kl" else get(name)


def build_walk(X: Points, parameters: dict[str, Any], progress: Progress = False) -> WalkOperator:
    """The operator of ``bvdt.transition_matrix``; with few points, all others are near."""
    from ..operators import transition_matrix

    n_neighbors = min(parameters["n_neighbors"], X.shape[0] - 1)
    return transition_matrix(X, **(parameters | {"n_neighbors": n_neighbors, "progress": progress}))


def propagation(
    features: Features,
    settings: WalkSettings,
    alpha: float | str | None = None,
    blend: str | None = BLEND,
    method: str = "spread",
) -> LabelPropagation:
    """A LabelPropagation, not fitted, for documents of that kind; ``blend`` None is the walk alone.

    Class masses are not matched: labels that someone happened to give say little about the classes' sizes.
    """
    from ..estimators import LabelPropagation

    return LabelPropagation(
        **settings.parameters(features),
        alpha=ALPHA if alpha is None else alpha,
        method=method,
        class_mass_normalization=False,
        blend=blend,
    )
