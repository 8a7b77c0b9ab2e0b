"""Labels for texts, with one setting for all corpora (docs/choices.md)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.pipeline import Pipeline

from .._support.defaults import TEXT_DIVERGENCE, TEXT_TREES
from .._support.sparse import PointsLike
from . import LabelPropagation

# What texts take besides the defaults of all data.
DEFAULTS: dict[str, Any] = {"divergence": TEXT_DIVERGENCE, "n_trees": TEXT_TREES}


class TextPipeline(Pipeline):  # type: ignore[misc]  # scikit-learn has no types
    """A vectorizer of words, then LabelPropagation, which gets the words."""

    def fit(self, X: PointsLike, y: ArrayLike | None = None, **params: Any) -> TextPipeline:
        """Fit the vectorizer, then the labels; ``params`` as of scikit-learn's Pipeline."""
        if not get_config()["enable_metadata_routing"]:  # which has a way of its own
            params = {f"{self.steps[-1][0]}__terms": self[0].get_feature_names_out, **params}
        super().fit(X, y, **params)
        return self


def text_pipeline(input: str = "counts", *, encoder: Any = None, **params: Any) -> Pipeline:
    """Pipeline from term counts, or from strings, to labels: sublinear tf-idf, then LabelPropagation.

    Parameters
    ----------
    input : "counts", a matrix documents × terms; "text", strings, one per document: of a table one column.
    encoder : an object with ``encode(list of str) -> array``, as sentence-transformers and model2vec have, or
        that array for the texts of the fit: the walk is then over words and vectors together. For strings.
    params : of ``bvdt.LabelPropagation``; the divergence is "cosine" and there are 2 trees unless they say
        otherwise. From strings the linear experts of blend="auto" see the words' character n-grams, too.

    Examples
    --------
    >>> import bvdt
    >>> texts = ["red apple pie", "apple tart", "fast red car", "car engine"]
    >>> model = bvdt.text_pipeline("text", n_neighbors=1, random_state=0).fit(texts, ["food", "", "", "cars"])
    >>> model[-1].transduction_.tolist()
    ['food', 'food', 'cars', 'cars']
    """
    from ._texts import CountWeights, TextViews, TextWeights

    steps = {"counts": (Pipeline, CountWeights), "text": (TextPipeline, TextWeights)}
    if input not in steps:
        raise ValueError(f'input needs "counts" or "text"; got {input!r}')
    pipeline, weighting = steps[input]
    labels = LabelPropagation(**(DEFAULTS | params))
    if encoder is not None:
        if input != "text":
            raise ValueError(f'encoder needs input="text"; got {input!r}')
        return TextPipeline([("views", TextViews(encoder)), ("labels", labels)])
    return pipeline([("tfidf", weighting(sublinear_tf=True)), ("labels", labels)])
