"""Our linear operator against SciPy's own: classes, products, algebra, copies."""

import copy
import functools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import bvdt

rng = np.random.default_rng(0)
X = rng.random((40, 3))
op = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
OPERATORS = {
    "walk": op,
    "transpose": op.T,
    "symmetrized": op.symmetrized(),
    "forest": bvdt.transition_matrix(X, "squared_euclidean", n_trees=2, n_neighbors=3, random_state=0),
    "extended": op.extend(rng.random((7, 3))),
}
operators = pytest.mark.parametrize("ours", OPERATORS.values(), ids=OPERATORS.keys())


def dense(ours):  # column by column, so by its own product
    return np.column_stack([ours @ column for column in np.eye(ours.shape[1])])


@operators
def test_it_is_one_to_scipy(ours):
    assert isinstance(ours, LinearOperator)
    assert aslinearoperator(ours) is ours
    assert isinstance(ours, type(ours))
    assert not isinstance(ours, sparse.sparray)


@operators
def test_products_are_scipys(ours):
    A, theirs = dense(ours), aslinearoperator(dense(ours))
    if hasattr(ours, "toarray"):
        assert_allclose(ours.toarray(), A, atol=1e-14)
    n_rows, n_columns = ours.shape
    v, V, u, U = (rng.random(shape) for shape in (n_columns, (n_columns, 4), n_rows, (n_rows, 4)))
    for product in (
        lambda M: M @ v,
        lambda M: M @ list(v),
        lambda M: M @ v[:, None],
        lambda M: M @ V,
        lambda M: M @ (V + 1j),
        lambda M: M.matvec(v),
        lambda M: M.matvec(v[:, None]),
        lambda M: M.matmat(V),
        lambda M: M.rmatvec(u),
        lambda M: M.rmatmat(U),
        lambda M: M.dot(V),
        lambda M: M(v),
        lambda M: M * v,
        lambda M: M.T @ U,
        lambda M: M.H @ u,
        lambda M: M.transpose().T @ v,
        lambda M: M.adjoint() @ u,
        lambda M: u @ M,
        lambda M: U.T @ M,
    ):
        expected = product(theirs)
        found = product(ours)
        assert isinstance(found, np.ndarray)
        assert found.shape == expected.shape
        assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(
    "combine",
    [
        lambda M, N: 2 * M,
        lambda M, N: np.float64(2) * M,
        lambda M, N: M * 2,
        lambda M, N: M / 2,
        lambda M, N: -M,
        lambda M, N: M**3,
        lambda M, N: M + M.T,
        lambda M, N: M - N,
        lambda M, N: N - M,
        lambda M, N: N + M,
        lambda M, N: M @ N,
        lambda M, N: N @ M,
        lambda M, N: M * N,
        lambda M, N: N * M,
        lambda M, N: M @ M.T,
    ],
)
def test_algebra_is_scipys(combine):
    other = aslinearoperator(rng.random((40, 40)))
    ours, theirs = combine(op, other), combine(aslinearoperator(op.toarray()), other)
    assert isinstance(ours, LinearOperator)
    for v in (rng.random(40), rng.random((40, 3))):
        assert_allclose(ours @ v, theirs @ v, atol=1e-12)
        assert_allclose(ours.T @ v, theirs.T @ v, atol=1e-12)


@operators
@pytest.mark.parametrize("wrong", [np.ones(3), np.ones((3, 2)), np.ones(()), np.ones((40, 1, 1)), 2.0])
def test_wrong_shapes_are_refused(ours, wrong):
    with pytest.raises(ValueError, match=r"mismatch|Scalar|expected"):
        ours @ wrong
    with pytest.raises(ValueError, match=r"mismatch|expected"):
        ours.matvec(wrong)
    with pytest.raises(ValueError, match=r"mismatch|expected"):
        ours.rmatmat(wrong)


def test_one_vector_or_columns():
    with pytest.raises(ValueError, match="mismatch"):
        op.matvec(np.ones((40, 2)))
    with pytest.raises(ValueError, match="2-d"):
        op.matmat(np.ones(40))
    with pytest.raises(TypeError, match="sparse"):
        op @ sparse.eye_array(40).tocsr()


@operators
def test_it_is_copied_and_pickled(ours):
    v = rng.random(ours.shape[1])
    for other in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert type(other) is type(ours)
        assert_allclose(other @ v, ours @ v, rtol=0)


def test_it_is_scipys_class_everywhere():
    """What rests on classes, not on duck typing."""

    @functools.singledispatch
    def kind(_):
        return "something"

    kind.register(LinearOperator)(lambda _: "operator")
    assert kind(op) == "operator"
    for cls in (
        bvdt.operators.WalkOperator,
        bvdt.operators.TransitionOperator,
        bvdt.operators.ForestOperator,
    ):
        assert issubclass(cls, LinearOperator)
    assert type(op) is op.__class__ is bvdt.operators.TransitionOperator
