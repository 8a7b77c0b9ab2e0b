"""The walks of the reproduction against the paper's formulas and their slow twins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

import reproduction.version as version
from bvdt.blocks import BlockPartition, block_divergences, bound_curve
from bvdt.datasets import make_documents
from reproduction import FULL
from reproduction.data import load_corpus
from reproduction.logarithms import LogExact, LogTree, log_vote
from reproduction.methods import METHODS
from reproduction.nystrom import Nystrom
from reproduction.propagation import draw_labeled, literal, vote
from reproduction.streaming import streamed_matrix
from reproduction.walks import exact_walk, grow_tree, kernel_of, lifted_counts, resolved, tree_walk

COUNTS = make_documents(150, n_classes=3, n_terms=120, length=40, difficulty=0.5, random_state=0)


@pytest.mark.parametrize(("method", "stored"), [("vdt", False), ("vdt_stored", True)])
def test_sigma_maximizes_eq_4_with_its_constant(method: str, stored: bool) -> None:
    X, kernel = COUNTS.counts, kernel_of(method, FULL)
    lifted = lifted_counts(X, kernel)
    tree = grow_tree(lifted, kernel, [0])
    blocks = BlockPartition.coarsest(tree)
    dbar = block_divergences(lifted, tree, blocks, 1)
    d = X.nnz / X.shape[0] if stored else X.shape[1]

    def negative(log_sigma2: float) -> float:  # Eq. (4) for a document, but for what does not depend on σ
        return d / 2 * log_sigma2 - bound_curve(dbar, tree, blocks, float(np.exp(log_sigma2)), 1).value

    at = float(np.log(resolved(lifted, tree, kernel)))
    best = minimize_scalar(negative, bounds=(at - 1, at + 1), method="bounded", options={"xatol": 1e-9})
    assert np.exp(best.x) == pytest.approx(np.exp(at), rel=1e-4)
    grid = at + np.linspace(-6, 6, 97)
    assert negative(at) <= min(negative(float(x)) for x in grid) + 1e-9


def test_vdt_merges_by_eq_10_and_bvdt_by_eq_22() -> None:
    assert kernel_of("vdt", FULL).merge == kernel_of("exact_stored", FULL).merge == "radius"
    assert {kernel_of(key, FULL).merge for key in ("bvdt", "exact_gid", "bvdt_nb")} == {"bregman"}
    assert kernel_of("vdt", FULL).bandwidth == "learn"


@pytest.mark.parametrize("method", ["exact_euclidean", "exact_gid", "exact_nb"])
def test_streamed_rows_give_the_scores_of_the_dense_matrix(method: str) -> None:
    X, y = COUNTS.counts, COUNTS.labels
    masks = [draw_labeled(y, share, np.random.default_rng(k)) for k, share in enumerate((0.02, 0.3))]
    kernel = kernel_of(method, FULL)
    rule = kernel.bandwidth
    bandwidth = tree_walk(X, kernel, [0]).bandwidth if isinstance(rule, str) else rule
    dense = exact_walk(X, kernel, bandwidth, masks, dense_documents=150)
    streamed = exact_walk(X, kernel, bandwidth, masks, dense_documents=149)
    assert streamed.nnz < (dense > 0).sum()
    for known in masks:
        Y0 = np.eye(3)[y] * known[:, None]
        theirs, ours = (literal(M, Y0, FULL.alpha, FULL.iterations) for M in (dense, streamed))
        sums = theirs.sum(axis=1, keepdims=True)
        assert (np.abs(ours - theirs) <= 1e-13 * sums).all()
        assert (ours.argmax(axis=1) == theirs.argmax(axis=1)).all()


def test_streamed_rows_are_the_dense_ones_but_for_what_is_dropped() -> None:
    kernel = kernel_of("exact_gid", FULL)
    lifted, known = lifted_counts(COUNTS.counts, kernel), np.arange(150) % 2 == 0
    d = lifted.divergences(np.arange(150), slice(None))
    np.fill_diagonal(d, np.inf)
    P, streamed = softmax(-d, axis=1), streamed_matrix(lifted, 1.0, [known]).toarray()
    np.testing.assert_allclose(streamed[streamed > 0], P[streamed > 0], rtol=1e-12)
    cut = np.finfo(float).eps / 2 / 150 * P[:, known].max(axis=1)
    assert (np.maximum(cut, 1e-300)[:, None] * (1 + 1e-12) >= P)[streamed == 0].all()


def test_nystrom_with_every_document_a_landmark_is_label_spreading() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((40, 6))
    from scipy import sparse

    X /= np.linalg.norm(X, axis=1, keepdims=True)
    W = np.exp((X @ X.T - 1.0) / 0.5)
    scale = 1.0 / np.sqrt(W.sum(axis=1))
    S, Y0 = scale[:, None] * W * scale, np.eye(2)[np.arange(40) % 2] * (np.arange(40) < 10)[:, None]
    expected = 0.1 * np.linalg.solve(np.eye(40) - 0.9 * S, Y0)
    walk = Nystrom(sparse.csr_array(X), 40, 0.5, rng)
    np.testing.assert_allclose(walk.spread(Y0, 0.9), expected, atol=1e-4)


def test_methods_of_a_group_have_unlike_titles() -> None:
    titles = [method.title for method in METHODS.values()]
    assert len(set(titles)) == len(titles)


def test_other_code_is_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = version.code_version()
    here = tmp_path / "reproduction"
    here.mkdir()
    for path in version.HERE.glob("*.py"):
        (here / path.name).write_bytes(path.read_bytes())
    (tmp_path / "cpp").symlink_to(version.HERE.parent / "cpp")
    monkeypatch.setattr(version, "HERE", here)
    again = version.code_version.__wrapped__

    def edited(name: str) -> str:
        path = here / name
        before = path.read_bytes()
        path.write_bytes(before + b"# edited\n")
        found = again()
        path.write_bytes(before)
        return found

    whole = again()
    assert edited("contents.py") == whole  # it only shows
    assert edited("walks.py") != whole
    assert edited("config.py") != whole
    assert len(first) == 64


def test_what_the_page_says_of_the_nsf_surrogate(data_folder: Path) -> None:
    counts = load_corpus("nsf", data_folder).counts
    assert np.bincount(counts.indices, minlength=counts.shape[1]).min() == 5
    with np.load(data_folder / "nsf_surrogate.npz") as stored:
        pairs = set(zip(stored["division"].tolist(), stored["labels"].tolist(), strict=True))
    assert len(pairs) == len({division for division, _ in pairs})


def test_kernels_follow_the_configuration() -> None:
    config = replace(FULL, gid_bandwidth=2.0, nb_bandwidth=3.0, smoothing=0.5)
    assert kernel_of("bvdt", config).bandwidth == kernel_of("ward", config).bandwidth == 2.0
    assert kernel_of("exact_nb", config).bandwidth == 3.0
    assert kernel_of("bvdt_nb", config).smoothing == 0.5
    assert kernel_of("vdt_stored", config).bandwidth == "stored"


def test_walks_in_logarithms_are_the_walks() -> None:
    X, y = COUNTS.counts, COUNTS.labels
    kernel = replace(kernel_of("vdt", FULL), bandwidth=20.0)
    walk = tree_walk(X, kernel, [0])
    tree, exact = LogTree(walk), LogExact(walk.lifted, 20.0)
    np.testing.assert_allclose(np.exp(tree.log_q[1:]), walk.partition.q, rtol=1e-10)
    V = np.random.default_rng(0).random((150, 3)) * (np.arange(150) % 2 == 0)[:, None]
    P = exact_walk(X, kernel, 20.0, [], dense_documents=150)
    with np.errstate(divide="ignore"):
        log_V = np.log(V)
    np.testing.assert_allclose(np.exp(tree(log_V)), walk @ V, rtol=1e-10)
    np.testing.assert_allclose(np.exp(exact(log_V)), P @ V, rtol=1e-10)
    masks = [draw_labeled(y, 0.1, np.random.default_rng(0))]
    for M, product in ((walk, tree), (P, exact)):
        (plain,), (found,) = vote(M, y, masks, 0.01, 300), log_vote(product, y, masks, 0.01, 300)
        assert (found.classes == plain.classes).all()


def test_in_logarithms_every_document_is_reached() -> None:
    X, y = 30.0 * COUNTS.counts, COUNTS.labels
    kernel = replace(kernel_of("vdt", FULL), bandwidth=1e-2)
    walk = tree_walk(X, kernel, [0])
    masks = [draw_labeled(y, 0.02, np.random.default_rng(0))]
    (plain,) = vote(walk, y, masks, 0.01, 300)
    assert not plain.reached.all()
    for product in (LogTree(walk), LogExact(walk.lifted, 1e-2)):
        (found,) = log_vote(product, y, masks, 0.01, 300)
        assert found.reached.all()
