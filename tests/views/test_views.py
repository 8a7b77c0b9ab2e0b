"""Views where X goes: estimators, files, new points, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import bvdt
import bvdt.dask
from bvdt import LabelPropagation, Views, text_pipeline
from bvdt.documents.model import load_model
from bvdt.neighbors import autotuned
from bvdt.stacking.experts import linear_expert, naive_bayes_expert
from bvdt.stacking.folds import Folds
from bvdt.stacking.rows import FeatureScale, MixedTable, Table
from helpers.cli_cases import read_csv, run


def two_views(n=400, seed=0):
    """Words tell classes 0 and 1 from 2 and 3, vectors the even from the odd: only both know all four."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    rates = np.full((4, 40), 0.1)
    rates[:2, :10], rates[2:, 10:20] = 1.0, 1.0
    words = sparse.csr_array(rng.poisson(rates[y]).astype(float))
    vectors = rng.normal(size=(n, 12))
    vectors[:, 0] += np.where(y % 2, 3.0, -3.0)
    return Views(words=(words, "cosine"), vectors=(vectors, "cosine")), y


def few(y, n=40):
    given = y.copy()
    given[n:] = -1
    return given


@pytest.fixture(scope="module")
def fitted():
    views, y = two_views()
    return LabelPropagation(random_state=0).fit(views, few(y)), views, y


def test_both_views_know_more_than_each(fitted):
    model, views, y = fitted
    accuracy = (model.transduction_ == y)[40:].mean()
    for name in views.names:
        alone = LabelPropagation("cosine", random_state=0).fit(views.blocks[name], few(y))
        assert accuracy > (alone.transduction_ == y)[40:].mean() + 0.1
    assert accuracy > 0.85
    assert set(model.blend_.shares) >= {"walk", "linear", "naive Bayes"}


def test_new_points_and_what_is_told_of_them(fitted):
    model, views, y = fitted
    new, truth = two_views(seed=1)
    assert (model.predict(new) == truth).mean() > 0.8
    assert_allclose(model.predict_proba(new[:5]).sum(axis=1), 1.0)
    assert_array_equal(model.predict(new[[3, 1]]), model.predict(new)[[3, 1]])
    swapped = Views(vectors=(new.blocks["vectors"], "cosine"), words=new.blocks["words"])
    assert_allclose(model.predict_proba(swapped), model.predict_proba(new))
    found = model.reasons(50)
    assert_allclose(sum(part[0] for part in found.parts.values()), 1.0)
    points, shares = model.explain(new[0])
    assert (points < 40).all()
    assert (shares > 0).all()
    updated = clone(model).fit(views, few(y)).update(new[:20], np.full(20, -1))
    assert updated.transduction_.shape == (420,)
    assert model.views_["words"]["n_features"] == 40


def test_what_views_do_not_know():
    """A class without labels, of words and vectors; doubtful labels; groups with their words."""
    views, y = two_views()
    given = np.where(few(y, 80) == 3, -1, few(y, 80))
    terms = [f"word{j}" for j in range(40)]
    model = LabelPropagation(random_state=0).fit(views, given, terms=terms)
    hidden, others = (
        model.novelty_[given < 0][y[given < 0] == 3],
        model.novelty_[given < 0][y[given < 0] != 3],
    )
    assert (hidden[:, None] > others[None]).mean() > 0.9
    new, truth = two_views(seed=1)
    found = model.novelty(new)
    assert (found[truth == 3][:, None] > found[truth != 3][None]).mean() > 0.8
    assert model.unnamed_classes(2)[0].terms
    assert len(model.label_issues().points) == (given >= 0).sum()
    assert (model.predict(new, reject=0.2, unknown=-9) == -9).mean() > 0.05


def test_every_estimator_takes_views(fitted):
    _, views, y = fitted
    assert bvdt.SpectralEmbedding(3, random_state=0).fit_transform(views).shape == (400, 3)
    labels = bvdt.SpectralClustering(4, random_state=0).fit_predict(views)
    assert len(np.unique(labels)) == 4
    distances, index = bvdt.NearestNeighbors(n_neighbors=3).fit(views).kneighbors(views[:2])
    assert index[0, 0] == 0
    assert_allclose(distances[:, 0], 0.0, atol=1e-12)
    scores = cross_val_score(LabelPropagation(random_state=0), views, y, cv=3)
    assert scores.mean() > 0.85
    own = LabelPropagation(random_state=0, blend=LogisticRegression(max_iter=1000)).fit(views, few(y))
    assert "LogisticRegression" in own.blend_.shares
    assert own.predict(views[:3]).shape == (3,)


def test_weights_decide_what_counts():
    views, _ = two_views()
    both = {name: (X, "cosine") for name, X in views.blocks.items()}
    for name in views.names:
        one = Views(weights={name: 1e6}, **both)
        alone = bvdt.transition_matrix(views.blocks[name], "cosine", n_neighbors=5, random_state=0)
        heavy = bvdt.transition_matrix(one, n_neighbors=5, random_state=0)
        same = [len(set(a) & set(b)) for a, b in zip(alone.neighbors[0], heavy.neighbors[0], strict=True)]
        assert np.mean(same) > 4.8


def test_a_view_that_is_mostly_constant():
    """Its factor follows the share of pairs that differ, without a jump."""
    X, factors = np.random.default_rng(0).normal(size=(1000, 3)), []
    for k in (5, 10, 20, 40, 80):
        flag = np.zeros((1000, 1))
        flag[:k] = 1.0
        factors.append(bvdt.lifting.lift(Views(a=X, flag=flag)).lifting.factors[1] * k)
    assert max(factors) < 2.5 * min(factors)


def test_saved_and_loaded(fitted, tmp_path):
    model, views, _ = fitted
    model.operator_.save(tmp_path / "walk.bvdt")
    again = bvdt.load(tmp_path / "walk.bvdt")
    v = np.arange(400.0)
    assert_array_equal(again @ v, model.operator_ @ v)
    assert_array_equal(again.extend(views[:9]) @ v, model.operator_.extend(views[:9]) @ v)
    assert again.lifted.lifting.names == ("words", "vectors")


def test_recall_of_many_points():
    """More points than are compared pair by pair: the sketch finds them, and its recall is measured."""
    rng = np.random.default_rng(0)
    n = 4000
    centers = rng.normal(size=(40, 16))
    which = rng.integers(40, size=n)
    words = sparse.csr_array(rng.poisson(0.05 + 2.0 * (rng.random((40, 60)) < 0.1)[which]).astype(float))
    views = Views(words=(words, "cosine"), vectors=centers[which] + 0.4 * rng.normal(size=(n, 16)))
    lifted = bvdt.lifting.lift(views)
    lists, reached = autotuned(lifted, 10, 0.9, 0).knn_graph()
    assert reached.estimate >= 0.9
    exact = lifted.divergences(np.arange(50), slice(None))
    exact[np.arange(50), np.arange(50)] = np.inf
    hits = [len(set(lists[0][i]) & set(np.argsort(exact[i])[:10])) for i in range(50)]
    assert np.mean(hits) > 8.5
    assert (lists[1][:50] >= np.sort(exact, axis=1)[:, :10] - 1e-9).all()


def test_mixed_rows_of_the_experts_are_the_stacked_ones():
    """Linear expert and naive Bayes on dense and sparse features, against the same features dense."""
    views, y = two_views(80)
    rows = FeatureScale.of(views).rows(views)
    mixed = MixedTable(Table(rows.dense), Table(rows.stored))
    dense = Table(np.hstack([rows.dense, rows.stored.toarray()]))
    rng = np.random.default_rng(0)
    V, U = rng.normal(size=(52, 3)).astype(np.float32), rng.normal(size=(80, 3)).astype(np.float32)
    assert_allclose(mixed.times(V), dense.times(V), rtol=1e-4, atol=1e-5)
    assert_allclose(mixed.transposed(U), dense.transposed(U), rtol=1e-4, atol=1e-5)
    folds = Folds.of(few(y, 30), 4, 5)
    found, expected = (linear_expert(table, folds)[0].scores for table in (mixed, dense))
    assert_allclose(found, expected, atol=0.05)
    words = Table(rows.stored)
    both = naive_bayes_expert(mixed.stored, folds.targets()), naive_bayes_expert(words, folds.targets())
    assert_allclose(both[0].scores, both[1].scores)


# -- texts ---------------------------------------------------------------------------------------------------

TEXTS = ["red apple pie", "apple tart", "fast red car", "car engine", "pear pie", "slow car"]


class Encoder:
    """Deterministic: the first letters' numbers."""

    def encode(self, texts):
        return np.array([[len(text), ord(text[0]) - 96.0, text.count("car")] for text in texts], float)


def test_text_pipeline_with_an_encoder():
    labels = ["food", "", "", "cars", "", ""]
    model = text_pipeline("text", encoder=Encoder(), n_neighbors=2, random_state=0).fit(TEXTS, labels)
    assert set(model[-1].views_) == {"words", "vectors"}
    assert model.predict(["red car", "apple"]).shape == (2,)
    ready = text_pipeline("text", encoder=Encoder().encode(TEXTS), n_neighbors=2, random_state=0)
    ready.fit(TEXTS, labels)
    assert_allclose(ready[-1].label_distributions_, model[-1].label_distributions_)
    with pytest.raises(ValueError, match="new texts need an encoder"):
        ready.predict(["car"])
    with pytest.raises(ValueError, match="a vector for each of 6 texts"):
        text_pipeline("text", encoder=np.ones((5, 2))).fit(TEXTS, labels)
    with pytest.raises(ValueError, match="load the model first"):
        text_pipeline("text", encoder="all-MiniLM-L6-v2").fit(TEXTS, labels)
    called = text_pipeline("text", encoder=Encoder().encode, n_neighbors=2, random_state=0).fit(TEXTS, labels)
    assert_allclose(called[-1].label_distributions_, model[-1].label_distributions_)
    with pytest.raises(ValueError, match='encoder needs input="text"'):
        text_pipeline("counts", encoder=Encoder())


# -- what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Views(), "at least one matrix"),
        (lambda: Views(a=np.ones((3, 1)), b=np.ones((4, 1))), "rows are: a 3, b 4"),
        (lambda: Views(a=np.ones((3, 1)), weights={"b": 1}), "names of the views, a; got 'b'"),
        (lambda: Views(a=np.ones((3, 1)), weights={"a": 0}), "numbers > 0; got 0"),
        (lambda: Views(a=[[1.0], [np.nan]]), r"view 'a': X needs finite values"),
        (lambda: Views(a=(np.ones((3, 1)), "nothing")), "view 'a': divergence needs one of"),
        (lambda: Views(a=np.ones((3, 1)), weights=np.ones((3, 1))), 'cannot be called "weights"'),
        (lambda: bvdt.transition_matrix(Views(a=(-np.ones((3, 1)), "gid"))), "view 'a': gid needs X >= 0"),
    ],
)
def test_bad_views(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("take", "message"),
    [
        (lambda views: bvdt.transition_matrix(views, tree="anchor"), "takes dense views"),
        (lambda views: bvdt.dask.transition_matrix(views, memory_limit="2GB"), "takes one matrix"),
        (bvdt.divergences.compare, "compare each of the views"),
        (lambda views: bvdt.transition_matrix(views[:1]), "view 'words': X needs at least 2 points"),
    ],
)
def test_what_takes_no_views(take, message):
    with pytest.raises(ValueError, match=message):
        take(two_views(30)[0])


def test_anchor_trees_of_dense_views():
    rng = np.random.default_rng(0)
    X, Z = rng.gamma(2.0, size=(300, 3)), rng.normal(size=(300, 2))
    op = bvdt.transition_matrix(Views(a=(X, "gid"), b=Z), tree="anchor", random_state=0)
    assert_allclose(op @ np.ones(300), 1.0)


def test_new_points_of_another_kind(fitted):
    model, _, _ = fitted
    with pytest.raises(ValueError, match=r"bvdt.Views of words, vectors, as the fit; got ndarray"):
        model.predict(np.ones((2, 52)))
    other = Views(words=np.ones((2, 40)), vectors=np.ones((2, 5)))
    with pytest.raises(ValueError, match="view 'vectors' needs 12 features, as in the fit; it has 5"):
        model.predict(other)
    with pytest.raises(ValueError, match="got words"):
        model.predict(Views(words=np.ones((2, 40))))
    with pytest.raises(AttributeError, match=r"after a fit to bvdt\.Views"):
        _ = LabelPropagation().fit([[0.0], [1.0], [2.0]], [0, 1, -1]).views_


# -- the shell -----------------------------------------------------------------------------------------------


def succeed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output


def fail(*arguments):
    result = run(*arguments)
    assert result.exit_code != 0
    return result.output + result.stderr


@pytest.fixture
def corpus(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    vectors = rng.normal(size=(60, 4)) + 3.0 * y[:, None]
    lines = ["text,topic"]
    for i in range(60):
        lines.append(f"{'apple pie' if i % 3 else 'fast car'} {i},{'ab'[y[i]] if i < 20 else ''}")
    (tmp_path / "docs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    np.save(tmp_path / "vectors.npy", vectors.astype(np.float32))
    return tmp_path, vectors, y


def test_propagate_with_vectors(corpus):
    folder, _, y = corpus
    docs, given, out, saved = (folder / name for name in ("docs.csv", "vectors.npy", "out.csv", "m.bvdt"))
    common = ["propagate", docs, "--vectors", given]
    succeed(
        *common,
        "--labels",
        "topic",
        "-o",
        out,
        "--save",
        saved,
        "--explain",
        2,
        "--report",
        folder / "r.html",
    )
    found = [line.split(",")[1] for line in out.read_text(encoding="utf-8").splitlines()[1:]]
    assert np.mean(np.array(found) == np.array(list("ab"))[y]) > 0.9
    assert load_model(saved).features.n_vectors == 4
    succeed(*common, "--model", saved, "-o", folder / "again.csv")
    again = [
        line.split(",")[1] for line in (folder / "again.csv").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert np.mean(np.array(again) == np.array(found)) > 0.95


def test_clusters_and_embeddings_of_words_and_vectors(corpus):
    folder, _, y = corpus
    given = ["--vectors", folder / "vectors.npy", "-o", folder / "out.csv"]
    succeed("cluster", folder / "docs.csv", "-k", 2, *given)
    found = np.array([row["cluster"] for row in read_csv(folder / "out.csv")])
    assert max(np.mean((found == "1") == (y == k)) for k in (0, 1)) > 0.6
    succeed("embed", folder / "docs.csv", *given)
    assert len(read_csv(folder / "out.csv")) == 60


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((5, 4)), "needs 60 rows, one per document"),
        (np.full((60, 4), np.nan), "needs finite numbers; row 1"),
        (np.ones(60), "documents × columns"),
        (np.array(["a"] * 60), "array of numbers"),
        (None, "no such file"),
    ],
)
def test_bad_vectors(corpus, array, message):
    folder, _, _ = corpus
    path = folder / "bad.npy"
    if array is not None:
        np.save(path, array)
    said = fail(
        "propagate", folder / "docs.csv", "--vectors", path, "--labels", "topic", "-o", folder / "o.csv"
    )
    assert message in said
    assert not (folder / "o.csv").exists()


def test_a_models_vectors(corpus):
    folder, vectors, _ = corpus
    docs, out = folder / "docs.csv", folder / "out.csv"
    succeed(
        "propagate",
        docs,
        "--vectors",
        folder / "vectors.npy",
        "--labels",
        "topic",
        "-o",
        out,
        "--save",
        folder / "m.bvdt",
    )
    succeed("propagate", docs, "--labels", "topic", "-o", out, "--save", folder / "plain.bvdt")
    np.save(folder / "narrow.npy", vectors[:, :2])
    for options, message in (
        (["--model", folder / "m.bvdt"], "needs --vectors"),
        (["--model", folder / "m.bvdt", "--vectors", folder / "narrow.npy"], "needs 4 columns"),
        (["--model", folder / "plain.bvdt", "--vectors", folder / "vectors.npy"], "leave out --vectors"),
    ):
        assert message in fail("propagate", docs, *options, "-o", folder / "x.csv")
