"""One file, no pickle, clear errors."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import bvdt
from bvdt.divergences import BregmanDivergence, KullbackLeibler, Mahalanobis
from bvdt.operators.storage import VERSION
from helpers.engine_cases import random_data, random_tree


def make(divergence, as_sparse=False, n_blocks=None, n_points=40):
    rng = np.random.default_rng(0)
    name = divergence if isinstance(divergence, str) else "gid"
    X = random_data(name, n_points, rng, as_sparse=as_sparse)
    if as_sparse and isinstance(divergence, KullbackLeibler):
        X = X + sparse.csr_array(np.eye(1, 4)[np.zeros(n_points, int)])  # no empty rows
    smoothing = 0.1 if as_sparse and name != "squared_euclidean" else "auto"
    tree = random_tree(n_points, rng)
    return X, bvdt.transition_matrix(X, divergence, tree=tree, smoothing=smoothing, n_blocks=n_blocks)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("n_blocks", [None, 200])
@pytest.mark.parametrize(
    "divergence",
    ["gid", "squared_euclidean", "logistic", Mahalanobis(), KullbackLeibler(normalize=True)],
    ids=str,
)
def test_everything_works_after_loading(tmp_path, divergence, as_sparse, n_blocks):
    X, op = make(divergence, as_sparse, n_blocks)
    op.astype(np.float32).save(tmp_path / "walk.bvdt")
    assert [p.name for p in tmp_path.iterdir()] == ["walk.bvdt"]
    other = bvdt.load(tmp_path / "walk.bvdt")
    assert other.dtype == np.float32
    assert other.bandwidth == op.bandwidth
    assert_array_equal(other.astype(float).toarray(), op.toarray())
    assert other.lower_bound == op.lower_bound
    assert_array_equal(other.refine(300).partition.q, op.refine(300).partition.q)
    assert other.quality(10, 0) == op.quality(10, 0)
    assert_array_equal(other.extend(X).nearest, op.extend(X).nearest)
    assert other.lower_bound == op.lower_bound


def test_custom_phi_is_said_to_be_missing(tmp_path):
    phi = BregmanDivergence(phi=lambda x: x**4, grad=lambda x: 4 * x**3, domain=(0, np.inf), name="quartic")
    X, op = make(phi)
    op.save(tmp_path / "a")
    other = bvdt.load(tmp_path / "a")
    assert_allclose(other @ np.ones(40), 1.0)
    with pytest.raises(ValueError, match="divergence="):
        other.extend(X)
    again = bvdt.load(tmp_path / "a", divergence=phi)
    assert_array_equal(again.extend(X).nearest, op.extend(X).nearest)


def test_bad_files(tmp_path):
    _, op = make("gid")
    path = tmp_path / "a"
    op.save(path)
    whole = path.read_bytes()
    for share in (0, 10, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:share])
        with pytest.raises(ValueError, match="truncated"):
            bvdt.load(path)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 255
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match="bvdt file"):
        bvdt.load(path)
    path.write_text("hello")
    with pytest.raises(ValueError, match="not a bvdt file"):
        bvdt.load(path)
    np.savez(tmp_path / "b.npz", x=np.ones(3))
    with pytest.raises(ValueError, match="no header"):
        bvdt.load(tmp_path / "b.npz")
    with pytest.raises(FileNotFoundError, match="no such file"):
        bvdt.load(tmp_path / "c")


@pytest.mark.parametrize(
    ("header", "match"),
    [
        ({"format": "bvdt", "version": VERSION + 1}, "update bvdt"),
        ({"format": "other", "version": 1}, "another format"),
        ({"format": "bvdt", "version": 1}, "damaged"),
        ([1], "another format"),
    ],
)
def test_foreign_and_newer_headers(tmp_path, header, match):
    with open(tmp_path / "a", "wb") as file:
        np.savez(
            file,
            header=np.frombuffer(json.dumps(header).encode(), np.uint8),
            size=[3, 1, 2, 1, 1],
            order=[0, 1, 2],
        )
    with pytest.raises(ValueError, match=match):
        bvdt.load(tmp_path / "a")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    _, op = make("gid")
    path = tmp_path / "a"
    op.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(np, "savez", lambda *args, **kwargs: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        op.save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
