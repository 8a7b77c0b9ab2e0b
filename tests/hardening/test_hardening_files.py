"""A file that was tampered with is refused by the name of the field, or its operator is a walk."""

import json
import zipfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import bvdt

N = 40


def saved(path, kind):
    """Contents, as a dict of arrays, of the file of an operator of that kind."""
    X = np.random.default_rng(0).gamma(1.0, size=(N, 6)) + 0.01
    if "sparse" in kind:
        X = sparse.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.5))
    divergence = "squared_euclidean" if "plain" in kind else "gid"
    options = {"n_trees": 2, "n_neighbors": 4} if "forest" in kind else {}
    op = bvdt.transition_matrix(X, divergence, random_state=0, **options)
    op = op.refine(op.n_blocks + 50) if "refined" in kind else op
    op.save(path)
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def header_of(contents):
    return json.loads(contents["header"].tobytes())


def with_header(contents, change):
    header = header_of(contents)
    change(header)
    return contents | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)}


def write(path, contents):
    with open(path, "wb") as file:
        np.savez(file, **contents)


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


KINDS = ["tree plain", "tree sparse", "forest plain", "forest sparse refined"]

EDITS = {
    "share above 1": ("near_share", lambda a: np.asarray(1.5)),
    "share below 0": ("near_share", lambda a: np.asarray(-0.1)),
    "share no number": ("near_share", lambda a: np.asarray(np.nan)),
    "own neighbor": ("near_indices", lambda a: changed(a, (3, 0), 3)),
    "neighbor not there": ("near_indices", lambda a: changed(a, (3, 0), N)),
    "hole in the list": ("near_indices", lambda a: changed(a, (3, 0), -1)),
    "neighbor at NaN": ("near_divergences", lambda a: changed(a, (3, 0), np.nan)),
    "neighbor at inf": ("near_divergences", lambda a: changed(a, (3, 0), np.inf)),
    "neighbor below 0": ("near_divergences", lambda a: changed(a, (3, 0), -1.0)),
    "floats as neighbors": ("near_indices", lambda a: a.astype(float)),
    "block at NaN": ("mean_divergence", lambda a: changed(a, 5, np.nan)),
    "block below 0": ("mean_divergence", lambda a: changed(a, 5, -1.0)),
    "block at inf": ("mean_divergence", lambda a: changed(a, 5, np.inf)),
    "a block too few": ("mean_divergence", lambda a: a[:-1]),
    "single precision": ("mean_divergence", lambda a: a.astype(np.float32)),
    "NaN in u": ("u", lambda a: changed(a, 2, np.nan)),
    "another u": ("u", lambda a: changed(a, 2, a[2] + 3)),
    "inf in X": ("X", lambda a: changed(a, (2, 1) if a.ndim == 2 else 2, np.inf)),
    "X of objects' size": ("X", lambda a: a.astype(np.complex128)),
    "sizes of another tree": ("size", lambda a: changed(a, 1, a[1] + 1)),
    "a size of 0": ("size", lambda a: changed(a, -1, 0)),
    "a huge size": ("size", lambda a: changed(a, -1, 2**31 - 1)),
    "a point twice": ("order", lambda a: changed(a, 0, a[1])),
    "smoothing of another shape": ("smoothing", lambda a: a[:-1]),
    "negative smoothing": ("smoothing", lambda a: a - 1),
    "scale 0": ("scale", lambda a: np.asarray(0.0)),
    "offset of another shape": ("offset", lambda a: a[:2]),
    "offset NaN": ("offset", lambda a: changed(a, 0, np.nan)),
    "weights below 0": ("weights", lambda a: -a),
    "negative column": ("indices", lambda a: changed(a, 3, -1)),
    "falling indptr": ("indptr", lambda a: changed(a, 3, 10**6)),
    "base of another shape": ("base", lambda a: a[:3]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edit", EDITS)
def test_an_impossible_field_is_refused_by_name(tmp_path, kind, edit):
    path = tmp_path / "m.bvdt"
    contents = saved(path, kind)
    field, change = EDITS[edit]
    names = [name for name in contents if name == field or name == f"tree1_{field}"]
    if not names:
        pytest.skip(f"no {field} in such a file")
    write(path, contents | {names[-1]: change(contents[names[-1]])})
    weights_are_asked_for = field == "weights"
    if weights_are_asked_for and header_of(contents)["forest"]["weighting"] is not None:
        bvdt.load(path)  # made anew from the trees, not read
        return
    with pytest.raises(ValueError, match=r"m\.bvdt") as caught:
        bvdt.load(path)
    assert any(
        word in str(caught.value) for word in (names[-1], field, "Tree", "index", "indptr", "u[", "near_")
    )


HEADERS = {
    "bandwidth": [0, -1, None, "auto", True, [1], 1e-320],
    "dtype": ["float16", "object", None, 5, "int64"],
    "version": [0, -1, 2.0, True, "3", 99],
    "shape": [[N, 5], [N], [1, 6], ["a", 6], None, [N, 10**12]],
    "sparse": [None, 1, "yes"],
    "divergence": ["gid", {"name": 3, "custom": False}, {"name": "no such", "custom": False, "options": {}}],
}


@pytest.mark.parametrize(("entry", "value"), [(e, v) for e, values in HEADERS.items() for v in values])
def test_an_impossible_header_is_refused(tmp_path, entry, value):
    path = tmp_path / "m.bvdt"
    contents = saved(path, "tree plain")
    write(path, with_header(contents, lambda header: header.update({entry: value})))
    with pytest.raises(ValueError, match=r"m\.bvdt"):
        bvdt.load(path)


def test_a_billion_trees_and_unused_members_cost_nothing(tmp_path):
    path = tmp_path / "m.bvdt"
    contents = saved(path, "forest plain")
    write(path, with_header(contents, lambda header: header["forest"].update(n_trees=10**9)))
    with pytest.raises(ValueError, match="n_trees needs 1 to 2"):
        bvdt.load(path)
    write(path, contents)
    with (
        zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("unused.npy", "w") as member,
    ):
        for _ in range(64):
            member.write(bytes(1 << 20))
    assert bvdt.load(path).n_trees == 2


def test_nested_headers_and_odd_arrays_are_a_value_error(tmp_path):
    path = tmp_path / "m.bvdt"
    contents = saved(path, "tree plain")
    write(path, contents | {"header": np.frombuffer(b"[" * 200_000, np.uint8)})
    with pytest.raises(ValueError, match=r"m\.bvdt"):
        bvdt.load(path)
    write(path, contents)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for text in (b"{'descr'\x01", b'{"""escr:', b"(((((((((", b"{'descr']", b"\xff\xff\xff"):
        odd = members["u.npy"].replace(b"{'descr':"[: len(text)], text, 1)
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in (members | {"u.npy": odd}).items():
                archive.writestr(name, data)
        with pytest.raises(ValueError, match=r"m\.bvdt"):
            bvdt.load(path)


@cache
def original(kind):
    with TemporaryDirectory() as folder:
        return saved(Path(folder) / "original.bvdt", kind)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    which=st.integers(0, 10**6),
    place=st.integers(0, 10**6),
    value=st.one_of(
        st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31)]),
        st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e150]),
        st.floats(-1e3, 1e3),
    ),
)
def test_any_one_changed_number_is_refused_or_leaves_a_walk(kind, which, place, value):
    contents = original(kind)
    names = sorted(set(contents) - {"header"})
    name = names[which % len(names)]
    array = contents[name].copy()
    if array.dtype.kind == "i":
        value = int(np.clip(np.nan_to_num(value), -(2**31), 2**31 - 1))
    array.reshape(-1)[place % array.size] = value
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.bvdt"
        write(path, contents | {name: array})
        try:
            op = bvdt.load(path)
        except ValueError as error:
            assert "m.bvdt" in str(error)  # noqa: PT017
            return
    rows = op.toarray()
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-9)
    assert (np.diag(rows) == 0).all()
    assert op.refine(op.n_blocks + 20).n_blocks == op.n_blocks + 20
