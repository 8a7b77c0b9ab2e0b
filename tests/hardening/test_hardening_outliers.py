"""Far rows, repeated rows and rows far from the origin change nothing for the others."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import bvdt
from bvdt.lifting import lift
from bvdt.operators.near_field import NearField

K = 10
TRANSLATED = ("squared_euclidean", "mahalanobis")


def two_classes(divergence, n_points, n_features, rng, as_sparse=False):
    """Points of two classes in the divergence's domain, and the classes."""
    y = rng.integers(0, 2, n_points)
    if as_sparse:
        rate = rng.gamma(0.3, size=(2, n_features)) + 0.02
        counts = rng.poisson(0.8 * n_features * (rate / rate.sum(axis=1, keepdims=True))[y])
        counts[:, 0] += 1
        return counts.astype(float), y
    center = rng.normal(size=(2, n_features))
    X = rng.normal(size=(n_points, n_features)) + (center * 4 / np.linalg.norm(center[0] - center[1]))[y]
    return (X if divergence in TRANSLATED else np.exp(X / 2)), y


def far_rows(X, count, distance, kind, rng, translated):
    """Rows that many times the spread away: all in one place, or each in its own direction."""
    if not translated:
        source = X[:1] if kind == "together" else X[rng.integers(0, len(X), count)]
        return distance * source * rng.uniform(1, 1.1, size=(count, 1))
    away = rng.normal(size=(1 if kind == "together" else count, X.shape[1]))
    away *= distance / np.linalg.norm(away, axis=1, keepdims=True)
    return away + rng.normal(size=(count, X.shape[1]))


def neighbors(X, divergence, as_sparse, seed=0, recall=None):
    lifted = lift(sparse.csr_array(X) if as_sparse else X, divergence)
    return NearField.of(lifted, K, np.random.default_rng(seed), recall=recall).indices


def overlap(found, wanted):
    return np.mean([len(set(a) & set(b)) / K for a, b in zip(found, wanted, strict=True)])


def true_neighbors(X, divergence, as_sparse, rows):
    lifted = lift(sparse.csr_array(X) if as_sparse else X, divergence)
    d = lifted.divergences(rows, slice(None))
    d[np.arange(len(rows)), rows] = np.inf
    return np.argsort(d, axis=1, kind="stable")[:, :K]


def accuracy(X, y, divergence, as_sparse, **options):
    """Of the first len(y) rows, one in forty labeled; of the walk alone unless a blend is asked for."""
    labels = np.full(len(X), -1)
    labels[: len(y) : 40] = y[::40]
    model = bvdt.LabelPropagation(divergence, random_state=0, **({"blend": None} | options))
    model.fit(sparse.csr_array(X) if as_sparse else X, labels)
    return np.mean(model.transduction_[: len(y)] == y)


# -- 1: far rows ---------------------------------------------------------------------------------------------

CASES = [(name, False) for name in ("squared_euclidean", "mahalanobis", "gid", "itakura_saito")]
CASES += [("squared_euclidean", True), ("gid", True)]


@pytest.mark.slow
@pytest.mark.parametrize(("divergence", "as_sparse"), CASES)
@settings(max_examples=12, deadline=None)
@given(
    n_points=st.sampled_from([800, 2500, 4000]),
    n_features=st.sampled_from([2, 5, 20]),
    exponent=st.floats(2, 12),  # nearer, a row is one of the others: a covariance may well include it
    share=st.sampled_from([0.0, 0.003, 0.01]),
    kind=st.sampled_from(["together", "apart"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_far_rows_change_nothing_for_the_others(
    divergence, as_sparse, n_points, n_features, exponent, share, kind, seed
):
    rng = np.random.default_rng(seed)
    n_features = 100 if as_sparse else n_features
    X, y = two_classes(divergence, n_points, n_features, rng, as_sparse)
    count = max(1, int(share * n_points))
    translated = divergence in TRANSLATED and not as_sparse
    Z = np.concatenate([X, far_rows(X, count, 10.0**exponent, kind, rng, translated)])
    rows = rng.choice(n_points, 200, replace=False)
    wanted = true_neighbors(X, divergence, as_sparse, rows)
    # Chunks cut at random cost sparse data a few neighbors at their borders: the mean over seeds counts.
    seeds = range(4) if as_sparse and n_points > 2000 else range(1)
    found = [
        [overlap(neighbors(data, divergence, as_sparse, s)[rows], wanted) for s in seeds] for data in (X, Z)
    ]
    error = np.sqrt(np.var(found, axis=1, ddof=1).sum() / len(seeds)) if len(seeds) > 1 else 0.0
    assert np.mean(found[1]) + 2 * error > np.mean(found[0]) - 0.01
    before, after = (accuracy(data, y, divergence, as_sparse) for data in (X, Z))
    assert after > before - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("divergence", ["squared_euclidean", "mahalanobis", "gid", "itakura_saito"])
def test_far_rows_leave_the_blends_accuracy(divergence):
    """In the mean of eight draws: a few labels more or less decide its weights."""
    loss = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = two_classes(divergence, 1000, 5, rng, False)
        far = far_rows(X, 10, 1e3, "together", rng, divergence in TRANSLATED)
        both = X, np.concatenate([X, far])
        before, after = (accuracy(data, y, divergence, False, blend="auto") for data in both)
        loss.append(before - after)
    assert np.mean(loss) < 0.005


@pytest.mark.slow
@pytest.mark.parametrize("value", [-999_999.0, 1e3, 1e12])
@pytest.mark.parametrize("options", [{}, {"n_neighbors": 0}, {"n_neighbors": 0, "method": "walk"}])
def test_one_far_row_leaves_the_labels(value, options):
    X, y = two_classes("squared_euclidean", 2000, 5, np.random.default_rng(0))
    Z = np.concatenate([X, np.full((1, 5), value)])
    before, after = (accuracy(data, y, "squared_euclidean", False, **options) for data in (X, Z))
    assert abs(after - before) < 0.01


def test_one_far_row_leaves_the_neighbors_of_a_large_dense_set():
    X = np.random.default_rng(0).normal(size=(4001, 5))
    X[-1] = -999_999
    rows = np.arange(0, 4000, 20)
    assert (
        overlap(
            neighbors(X, "squared_euclidean", False)[rows],
            true_neighbors(X, "squared_euclidean", False, rows),
        )
        > 0.99
    )


def three_clusters(n_points, n_features, seed):
    """Clusters of deviation 0.3 around centers 3 apart, their classes, and three labels of each."""
    rng = np.random.default_rng(seed)
    centers = np.eye(3, n_features) * 3 / np.sqrt(2)
    y = np.arange(n_points) % 3
    labels = np.full(n_points, -1)
    labels[:9] = y[:9]
    return centers[y] + 0.3 * rng.normal(size=(n_points, n_features)), y, labels, rng


@pytest.mark.parametrize("n_far", [2, 20])
@pytest.mark.parametrize("distance", [20.0, 1e6])
@pytest.mark.parametrize(
    "options", [{"n_neighbors": 0}, {"n_neighbors": 10}, {"n_neighbors": 0, "n_trees": 3}]
)
def test_a_few_far_rows_leave_clusters_and_labels(n_far, distance, options):
    X, y, labels, rng = three_clusters(300 if n_far < 20 else 900, 50, n_far)
    away = rng.normal(size=(n_far, 50))
    away *= distance / np.linalg.norm(away, axis=1, keepdims=True)
    away[1::4] = away[:-1:4][: len(away[1::4])] + 1e-3  # a pair here and there
    op = bvdt.transition_matrix(np.vstack([X, away]), "squared_euclidean", random_state=0, **options)
    few = np.append(labels, np.full(n_far, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clusters = bvdt.SpectralClustering(3, random_state=0).fit(operator=op).labels_
        embedding = bvdt.SpectralEmbedding(3, random_state=0).fit(operator=op).embedding_
    assert adjusted_rand_score(y, clusters[: len(y)]) == 1.0
    assert np.isfinite(embedding).all()
    for mode in ("spread", "walk", "poisson", "poisson_mbo"):
        model = bvdt.LabelPropagation("squared_euclidean", method=mode, blend=None).fit(
            None, few, operator=op
        )
        assert np.mean(model.transduction_[: len(y)] == y) >= 0.99, mode


def test_an_isolated_point_is_labeled_by_its_own_row():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 3)), rng.normal(size=(300, 3)) + 8, [[1e4, 1e4, 1e4]]])
    labels = np.full(601, -1)
    labels[:3], labels[300:303] = 0, 1
    model = bvdt.LabelPropagation("squared_euclidean", n_neighbors=0, random_state=0).fit(X, labels)
    assert np.isfinite(model.label_distributions_).all()
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert 600 in model.operator_.symmetrized().isolated
    assert 0.1 < model.label_distributions_[600, 0] < 0.9  # its row leads everywhere


@pytest.mark.filterwarnings("default")
def test_columns_with_a_code_for_missing_get_a_warning(tmp_path):
    from typer.testing import CliRunner

    from bvdt.cli import app

    X, y = two_classes("squared_euclidean", 400, 3, np.random.default_rng(0))
    X[7, 1] = -999_999
    lines = [
        "a,b,c,label",
        *(
            f"{a},{b},{c},{'xy'[k] if i % 10 == 0 else ''}"
            for i, ((a, b, c), k) in enumerate(zip(X, y, strict=True))
        ),
    ]
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_text("\n".join(lines) + "\n")
    result = CliRunner().invoke(app, ["propagate", str(table), "--labels", "label", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "column 'b' is -999999 in 1 of 400 rows" in result.output
    predicted = [line.split(",")[1] for line in out.read_text().splitlines()[1:]]
    assert np.mean([p == "xy"[k] for p, k in zip(predicted, y, strict=True)]) > 0.9


# -- 2: repeated rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_auto_bandwidth_with_repeated_rows(scale):
    X = scale * np.random.default_rng(0).integers(0, 20, (2000, 1))
    dense = bvdt.transition_matrix(X, "squared_euclidean", random_state=0)
    thin = bvdt.transition_matrix(sparse.csr_array(X), "squared_euclidean", random_state=0)
    assert thin.bandwidth == pytest.approx(dense.bandwidth, rel=1e-6)
    assert 0.1 * scale**2 < dense.bandwidth < 10 * scale**2


@settings(max_examples=20, deadline=None)
@given(copies=st.integers(2, 30), seed=st.integers(0, 2**32 - 1))
def test_copies_of_all_points_leave_the_auto_bandwidth(copies, seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    one = bvdt.transition_matrix(X, "squared_euclidean", random_state=0).bandwidth
    many = bvdt.transition_matrix(np.repeat(X, copies, axis=0), "squared_euclidean", random_state=0).bandwidth
    assert many == pytest.approx(one, rel=0.05)  # Ward weighs clusters by their points: another tree


# -- 3: far from the origin ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("beside", [False, True])
def test_sparse_data_far_from_the_origin_keep_their_neighbors(offset, beside):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(1500, 20))
    thin = 3 * sparse.random(1500, 300, 0.03, format="csr", random_state=0).toarray()
    near_origin = np.hstack([Y, thin]) if beside else Y
    far = np.hstack([Y + offset, thin]) if beside else Y + offset
    square = ((near_origin[:100, None] - near_origin[None]) ** 2).sum(axis=2)
    square[np.arange(100), np.arange(100)] = np.inf
    wanted = np.argsort(square, axis=1)[:, :K]
    assert overlap(neighbors(far, "squared_euclidean", True)[:100], wanted) > 0.95


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_gid_far_from_the_origin_keeps_its_neighbors(offset):
    Y = np.random.default_rng(0).normal(size=(600, 20))
    found = true_neighbors(Y + offset, "gid", False, np.arange(100))
    wanted = true_neighbors(Y, "squared_euclidean", False, np.arange(100))  # to which gid tends
    assert overlap(found, wanted) > 0.95


@pytest.mark.parametrize("offset", [1e7, 1e8, 1e9, 1e12])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_gid_is_refused_where_only_rounding_is_left(offset, as_sparse):
    X = np.random.default_rng(0).normal(size=(600, 20)) + offset
    with pytest.raises(ValueError, match=r"gid needs points whose differences exceed rounding"):
        bvdt.transition_matrix(sparse.csr_array(X) if as_sparse else X, "gid")
    equal = np.full((600, 20), offset)
    assert np.isfinite(bvdt.transition_matrix(equal, "gid", random_state=0).row(0)).all()


def test_new_points_are_shifted_as_the_first_ones_were():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        np.hstack([1e5 + rng.normal(size=(200, 3)), rng.random((200, 40)) * (rng.random((200, 40)) < 0.1)])
    )
    lifting = lift(X, "squared_euclidean").lifting
    assert lifting.sparse
    new = X[:5].toarray()
    new[2, 1] = 0.0  # not stored, though the column has an offset
    moved = lifting.transform(sparse.csr_array(new))
    np.testing.assert_allclose(moved.X.toarray(), new - lifting.offset)
