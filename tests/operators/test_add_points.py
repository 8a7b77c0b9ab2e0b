"""New points in an operator that is there already."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bvdt
from bvdt.divergences import BregmanDivergence
from helpers.engine_cases import DIVERGENCES, random_data

FORMS = {
    "one tree": {},
    "n_neighbors": {"n_neighbors": 4},
    "forest": {"n_neighbors": 4, "n_trees": 3, "weights": "bound"},
    "refined": {"n_blocks": 500},
    "anchor": {"tree": "anchor"},
}


def made(divergence="squared_euclidean", n_new=40, as_sparse=False, seed=0, **options):
    X = random_data(divergence, 160 + n_new, np.random.default_rng(seed), as_sparse=as_sparse)
    smoothing = 0.1 if as_sparse and divergence != "squared_euclidean" else "auto"
    op = bvdt.transition_matrix(X[:160], divergence, smoothing=smoothing, random_state=0, **options)
    return X, op


@pytest.mark.kernel
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_the_grown_walk_is_that_of_its_trees_over_all_points(divergence, form, as_sparse):
    if as_sparse and divergence == "itakura_saito":
        pytest.skip("zeros are outside its domain")
    X, op = made(divergence, as_sparse=as_sparse, **FORMS[form])
    grown = op.add_points(X[160:])
    Q = grown.toarray()
    assert_allclose(Q.sum(axis=1), 1, rtol=1e-9)
    assert (Q >= 0).all()
    assert grown.bandwidth == op.bandwidth
    assert len(grown.members) == len(op.members)
    both = op.lifted.lifting.transform(X)
    assert_allclose(
        grown.lifted.divergences(range(200), range(200)), both.divergences(range(200), range(200))
    )
    for member in grown.members:
        twin = bvdt.operators.TransitionOperator(both, member.tree.validate(), bandwidth=op.bandwidth)
        twin = twin if member.partition.is_coarsest else twin.refine(member.n_blocks)
        assert_allclose(member.toarray(), twin.toarray(), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("form", ["n_neighbors", "forest"])
def test_the_near_field_is_that_of_a_refit(form):
    X, op = made("gid", **FORMS[form])
    grown = op.add_points(X[160:])
    refit = bvdt.transition_matrix(
        X, "gid", smoothing=op.lifted.lifting.smoothing, n_neighbors=4, random_state=0
    )
    assert_array_equal(grown.near_field.indices, refit.near_field.indices)
    assert_allclose(grown.near_field.divergences, refit.near_field.divergences, rtol=1e-9)
    assert grown.near_field.recall == refit.near_field.recall


def test_a_new_point_is_beside_its_nearest():
    X, op = made()
    grown = op.add_points(X[160:161])
    nearest = grown.lifted.divergences([160], range(160))[0].argmin()
    leaf = grown.tree.leaf_nodes()
    assert grown.tree.siblings()[leaf[160]] == leaf[nearest]


def test_refined_blocks_grow_as_the_points_do():
    X, op = made(n_blocks=480)
    assert op.add_points(X[160:]).n_blocks == round(480 * 399 / 319)


def test_the_bandwidth_is_found_anew_where_that_is_asked_for():
    X, op = made(bandwidth=3.0)
    grown = op.add_points(X[160:], "learn")
    twin = bvdt.operators.TransitionOperator(grown.lifted, grown.tree, bandwidth="learn")
    assert grown.bandwidth == twin.bandwidth != 3.0


def test_the_operator_itself_does_not_change():
    X, op = made(**FORMS["forest"])
    before = op.toarray()
    op.add_points(X[160:])
    assert_array_equal(op.toarray(), before)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_new_empty_texts_are_far_from_all_and_near_each_other(as_sparse):
    X = np.abs(random_data("gid", 60, np.random.default_rng(0)))
    X[50:52] = 0
    data = sparse.csr_array(X) if as_sparse else X
    op = bvdt.transition_matrix(data[:50], "cosine", n_neighbors=3, random_state=0)
    grown = op.add_points(data[50:])
    refit = bvdt.transition_matrix(data, "cosine", n_neighbors=3, random_state=0)
    every = range(60)
    expected = refit.lifted.divergences(every, every)
    assert_allclose(grown.lifted.divergences(every, every), expected, atol=1e-12)
    assert_array_equal(grown.near_field.indices[:50], refit.near_field.indices[:50])
    again = grown.add_points(data[50:52])
    assert set(again.near_field.indices[60]) >= {50, 51}


@pytest.mark.parametrize("form", FORMS)
def test_a_grown_operator_is_stored_and_grows_again(form, tmp_path):
    X, op = made("gid", as_sparse=True, **FORMS[form])
    grown = op.add_points(X[160:180])
    grown.save(tmp_path / "grown.bvdt")
    again = bvdt.load(tmp_path / "grown.bvdt")
    assert_array_equal(again.toarray(), grown.toarray())
    assert_allclose(again.add_points(X[180:]).toarray(), grown.add_points(X[180:]).toarray(), rtol=1e-9)


def test_features_that_no_fitted_point_has():
    X = sparse.csr_array(np.random.default_rng(0).poisson(0.5, (80, 30)) * 1.0)
    old = sparse.csr_array(X[:60].toarray() * (np.arange(30) < 20))
    for divergence in ("gid", "cosine", "squared_euclidean"):
        op = bvdt.transition_matrix(old, divergence, n_neighbors=3, random_state=0)
        assert_allclose(op.add_points(X[60:]).toarray().sum(axis=1), 1, rtol=1e-9)


def test_single_precision_stays():
    X, op = made()
    assert op.astype(np.float32).add_points(X[160:]).dtype == np.float32


def test_wrong_points_are_refused(tmp_path):
    X, op = made()
    with pytest.raises(ValueError, match="X needs 4 features"):
        op.add_points(X[160:, :3])
    with pytest.raises(ValueError, match="bandwidth needs"):
        op.add_points(X[160:], -1.0)
    cube = BregmanDivergence(lambda x: x**4, lambda x: 4 * x**3, grad_inverse=lambda t: np.cbrt(t / 4))
    bvdt.transition_matrix(X, cube, random_state=0).save(tmp_path / "cube.bvdt")
    with pytest.raises(ValueError, match="add_points needs the divergence"):
        bvdt.load(tmp_path / "cube.bvdt").add_points(X)
