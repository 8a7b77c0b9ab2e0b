"""scikit-learn's own checks of its conventions."""

from functools import partial

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import bvdt

blended = partial(bvdt.LabelPropagation, blend="auto")

KINDS = (bvdt.LabelPropagation, bvdt.SpectralEmbedding, bvdt.SpectralClustering)
SLOWER = (blended, bvdt.Map)
ESTIMATORS = [kind(divergence="gid", random_state=0, n_jobs=1) for kind in KINDS]
OTHERS = [kind(divergence="squared_euclidean", random_state=0, n_jobs=1) for kind in (*KINDS, *SLOWER)]
OTHERS += [kind(divergence="gid", random_state=0, n_jobs=1) for kind in SLOWER]


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


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=expected_failed_checks)
def test_sklearn_check_of_other_settings(estimator, check):
    check(estimator)
