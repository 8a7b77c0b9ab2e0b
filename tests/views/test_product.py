"""A product of divergences is the sum of its parts, in every operation, dense, sparse and mixed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import logsumexp

import bvdt
from bvdt.blocks import BlockPartition, block_divergences
from bvdt.divergences import Product, get
from bvdt.lifting import lift
from bvdt.neighbors import NeighborIndex
from bvdt.operators import TransitionOperator
from helpers.engine_cases import random_partition, random_tree

NAMES = ("squared_euclidean", "gid", "itakura_saito", "cosine")
ALL = slice(None)


def block(name, n, rng):
    """(matrix, divergence) of that name, sparse where it may be and chance says so."""
    d = int(rng.integers(1, 6))
    if name in ("squared_euclidean", "cosine"):
        X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10)
    elif name == "gid":
        X = rng.poisson(1.0, size=(n, d)) + 0.3
    else:
        X = rng.gamma(2.0, size=(n, d)) + 0.01
    kept = rng.random((n, d)) < 0.4
    if name in ("squared_euclidean", "cosine") and rng.random() < 0.5:
        kept[:, 0] = True
        return sparse.csr_array(X * kept), name
    if name == "gid" and rng.random() < 0.5:
        return sparse.csr_array(np.rint(X) * kept), name
    return X, name


def drawn(seed, n=30):
    rng = np.random.default_rng(seed)
    names = rng.choice(NAMES, size=rng.integers(1, 5))
    blocks = {f"v{k}": block(str(name), n, rng) for k, name in enumerate(names)}
    weights = {name: float(rng.uniform(0.2, 5)) for name in blocks if rng.random() < 0.5}
    return bvdt.Views(weights=weights, **blocks), rng


def parts_of(views, lifted):
    """The views lifted alone, each with the factor of its divergence."""
    described = lifted.lifting.described()
    alone = [lift(views.blocks[name], described[name]["divergence"]) for name in views.names]
    return list(zip(alone, [described[name]["factor"] for name in views.names], strict=True))


def summed(parts, of):
    return sum(factor * of(part) for part, factor in parts)


@given(seed=st.integers(0, 2**32 - 1))
def test_divergences_sums_and_bound(seed):
    views, rng = drawn(seed)
    lifted = lift(views, "squared_euclidean")
    parts = parts_of(views, lifted)
    expected = summed(parts, lambda part: part.divergences(ALL, ALL))
    size = np.abs(lifted.u).max() + np.abs(lifted.w).max()
    assert_allclose(lifted.divergences(ALL, ALL), expected, rtol=0, atol=1e-12 * size)
    tree = random_tree(30, rng)
    for partition in (BlockPartition.coarsest(tree), random_partition(tree, 40, rng)):
        of_parts = summed(parts, lambda part, p=partition: block_divergences(part, tree, p))
        found = block_divergences(lifted, tree, partition)
        assert_allclose(found, of_parts, rtol=0, atol=1e-12 * size)
        both = [
            TransitionOperator(lifted, tree, partition=partition, mean_divergence=d, bandwidth=0.7)
            for d in (found, np.maximum(of_parts, 0))
        ]
        assert_allclose(both[0].lower_bound, both[1].lower_bound, rtol=1e-12, atol=1e-11 * size)


@given(seed=st.integers(0, 2**32 - 1))
def test_neighbors_and_new_points(seed):
    views, _ = drawn(seed)
    lifted = lift(views, "squared_euclidean")
    d = summed(parts_of(views, lifted), lambda part: part.divergences(ALL, ALL))
    np.fill_diagonal(d, np.inf)
    size = np.abs(lifted.u).max() + np.abs(lifted.w).max()
    found = NeighborIndex.build(lifted).knn_graph(4)[1]
    assert_allclose(found, np.sort(d, axis=1)[:, :4], rtol=0, atol=1e-12 * size)
    again = lifted.lifting.transform(views[[3, 1]])
    assert_allclose(again.u, lifted.u[[3, 1]], rtol=1e-12, atol=1e-12 * size)
    assert_allclose(
        again.divergences(ALL, ALL), lifted.divergences([3, 1], [3, 1]), rtol=0, atol=1e-12 * size
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_functions_of_a_product(seed):
    """φ, ∇φ, φ*, d, representative, against the parts."""
    rng = np.random.default_rng(seed)
    parts = [get("gid"), get("squared_euclidean"), get("itakura_saito")]
    scales = rng.uniform(0.2, 5, size=3)
    product = Product(parts, [2, 3, 1], scales)
    X = rng.gamma(2.0, size=(8, 6)) + 0.01
    columns = [slice(0, 2), slice(2, 5), slice(5, 6)]
    both = list(zip(parts, columns, scales, strict=True))
    assert_allclose(product.phi_sum(X), sum(p.phi_sum(X[:, c]) / s for p, c, s in both), rtol=1e-12)
    expected = sum(p.pairwise(X[:, c], X[:, c]) / s for p, c, s in both)
    assert_allclose(product.pairwise(X, X), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(product.grad_inverse(product.grad(X)), X, rtol=1e-12)
    T = product.grad(X)
    assert_allclose(product.conjugate_sum(T), (T * X).sum(axis=1) - product.phi_sum(X), rtol=1e-9, atol=1e-9)
    assert_allclose(lift(X, product).divergences(ALL, ALL), expected, rtol=1e-10, atol=1e-10)


def test_log_density_is_the_sum():
    rng = np.random.default_rng(0)
    product = Product(["gid", "itakura_saito", "squared_euclidean"], [2, 1, 2], [1.0, 0.3, 4.0])
    x = np.hstack([rng.poisson(2.0, (5, 2)), rng.gamma(2.0, size=(5, 1)), rng.normal(size=(5, 2))])
    mean = np.hstack([rng.gamma(2.0, size=(5, 3)), rng.normal(size=(5, 2))])
    columns = [slice(0, 2), slice(2, 3), slice(3, 5)]
    parts = zip(product.parts, columns, product.scales, strict=True)
    expected = sum(p.log_density(x[:, c], mean[:, c], s) for p, c, s in parts)
    assert_allclose(product.log_density(x, mean), expected, rtol=1e-12)
    theta = product.grad(mean)
    assert_allclose(product.family.log_density(x, theta), expected, rtol=1e-9)
    assert Product(["gid"], [2], [2.0]).family is None


@pytest.mark.parametrize("as_sparse", [False, True])
def test_likelihood_of_views(as_sparse):
    """Two families at once, by brute force; single entries give the likelihood itself."""
    rng = np.random.default_rng(0)
    A, B = rng.poisson(2.0, (40, 3)) + 1.0, rng.normal(size=(40, 2))
    views = bvdt.Views(counts=(sparse.csr_array(A) if as_sparse else A, "gid"), numbers=B)
    lifted = lift(views, "squared_euclidean")
    factors = dict(zip(views.names, lifted.lifting.factors, strict=True))
    beta = factors["counts"]  # at which the counts' own bandwidth is 1
    op = bvdt.transition_matrix(views, bandwidth=beta, random_state=0)
    logs = get("gid").log_density(A[:, None], A[None]) + get("squared_euclidean").log_density(
        B[:, None], B[None], beta / factors["numbers"]
    )
    np.fill_diagonal(logs, -np.inf)
    exact = float((logsumexp(logs, axis=1) - np.log(39)).sum())
    assert op.log_likelihood() <= exact
    assert_allclose(op.refine(40 * 39).log_likelihood(), exact, rtol=1e-9)
    new = views[:5]
    np.fill_diagonal(
        logs,
        get("gid").log_density(A, A) + get("squared_euclidean").log_density(B, B, beta / factors["numbers"]),
    )
    assert_allclose(op.score_samples(new), logsumexp(logs[:5], axis=1) - np.log(40), rtol=1e-9)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_likelihood_of_smoothed_counts_beside_numbers(as_sparse):
    rng = np.random.default_rng(1)
    A, B = rng.poisson(1.0, (40, 3)).astype(float), rng.normal(5.0, 1.0, size=(40, 2))
    views = bvdt.Views(counts=(sparse.csr_array(A) if as_sparse else A, "gid"), numbers=B)
    lifting = lift(views, "squared_euclidean", 0.1).lifting
    factors = dict(zip(views.names, lifting.factors, strict=True))
    op = bvdt.transition_matrix(views, smoothing=0.1, bandwidth=factors["counts"], random_state=0)
    sigma = factors["counts"] / factors["numbers"]
    logs = get("gid").log_density(A[:, None], A[None] + 0.1)
    logs = logs + get("squared_euclidean").log_density(B[:, None], B[None], sigma)
    whole = logsumexp(logs[:5], axis=1) - np.log(40)
    np.fill_diagonal(logs, -np.inf)
    exact = float((logsumexp(logs, axis=1) - np.log(39)).sum())
    assert op.log_likelihood() <= exact
    assert_allclose(op.refine(40 * 39).log_likelihood(), exact, rtol=1e-9)
    assert_allclose(op.score_samples(views[:5]), whole, rtol=1e-9)
    other = bvdt.transition_matrix(views, smoothing=0.1, bandwidth=0.3, random_state=0)
    with pytest.raises(ValueError, match=r"view 'counts': .* needs bandwidth=1; .*gives it 1"):
        other.log_likelihood()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_learned_bandwidth_of_gaussian_views_is_the_likeliest(as_sparse):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(150, 3)), 7.0 * rng.normal(size=(150, 2)) * (rng.random((150, 2)) < 0.6)
    views = bvdt.Views(a=A, b=sparse.csr_array(B) if as_sparse else B)
    op = bvdt.transition_matrix(views, bandwidth="learn", random_state=0)
    assert 0.01 < op.bandwidth < 10
    for factor in (0.97, 1.03):
        other = bvdt.transition_matrix(views, bandwidth=factor * op.bandwidth, random_state=0)
        assert other.log_likelihood() < op.log_likelihood()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["gid"], [2, 3]), "as many parts"),
        ((["gid"], [2], [0.0]), "scales > 0"),
        (([], []), "as many parts"),
        ((["nothing"], [2]), "needs one of"),
    ],
)
def test_bad_products(arguments, message):
    with pytest.raises(ValueError, match=message):
        Product(*arguments)


def test_data_of_another_width():
    with pytest.raises(ValueError, match="product needs 3 features"):
        lift(np.ones((4, 2)), Product(["gid", "gid"], [1, 2]))
