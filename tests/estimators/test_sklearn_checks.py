"""scikit-learn's own checks of its conventions."""

from functools import partial

from sklearn.utils.estimator_checks import parametrize_with_checks

import bvdt

blended = partial(bvdt.LabelPropagation, prior="auto")

ESTIMATORS = [
    kind(divergence=divergence, random_state=0, n_jobs=1)
    for kind in (bvdt.LabelPropagation, bvdt.SpectralEmbedding, bvdt.SpectralClustering, bvdt.Map, blended)
    for divergence in ("gid", "squared_euclidean")
]


def expected_failed_checks(estimator):
    if isinstance(estimator, bvdt.SpectralClustering) and estimator.divergence == "gid":
        return {"check_clustering": "its data are negative whatever the tag positive_only says"}
    if isinstance(estimator, bvdt.LabelPropagation):
        # Weights are of labels. A point whose label has no weight is still a point that others walk over.
        reason = "a label's weight does not repeat or remove its point"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check(estimator, check):
    check(estimator)
