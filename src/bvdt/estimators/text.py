"""Labels for texts, with the defaults that measured best on five corpora (docs/forest.md, decisions.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import LabelPropagation

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

# One setting for all corpora of docs/forest.md; the prior is measured in docs/decisions.md.
DEFAULTS: dict[str, Any] = {
    "divergence": "cosine",
    "n_trees": 2,
    "near": 15,
    "alpha": 0.875,
    "mode": "spread",
    "class_mass_normalization": False,
    "prior": "auto",
}


def text_pipeline(input: str = "counts", **params: Any) -> Pipeline:
    """Pipeline from term counts, or from strings, to labels: sublinear tf-idf, then LabelPropagation.

    Parameters
    ----------
    input : "counts", a matrix documents × terms; "text", strings, one per document: of a table one column.
    params : of ``bvdt.LabelPropagation``, in place of the defaults: cosine, 2 trees, the 15 nearest kept,
        label spreading with α = 0.875, no class masses, blended with a linear model, naive Bayes and their
        students (prior="auto").

    Examples
    --------
    >>> import bvdt
    >>> texts = ["red apple pie", "apple tart", "fast red car", "car engine"]
    >>> model = bvdt.text_pipeline("text", near=1, random_state=0).fit(texts, ["food", "", "", "cars"])
    >>> model[-1].transduction_.tolist()
    ['food', 'food', 'cars', 'cars']
    """
    from sklearn.pipeline import Pipeline

    from ._texts import CountWeights, TextWeights

    steps = {"counts": CountWeights, "text": TextWeights}
    if input not in steps:
        raise ValueError(f'input needs "counts" or "text"; got {input!r}')
    weighting = steps[input](sublinear_tf=True)
    return Pipeline([("tfidf", weighting), ("labels", LabelPropagation(**(DEFAULTS | params)))])
