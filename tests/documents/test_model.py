"""A model survives its file; every other file is refused with a reason."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import bvdt
from bvdt.documents.features import Features, TextSettings, learn_features
from bvdt.documents.files import Documents
from bvdt.documents.holdout import measure_holdout
from bvdt.documents.labels import encode
from bvdt.documents.model import MODEL_VERSION, Model, load_model, save_model
from bvdt.documents.predictions import Labeling
from bvdt.documents.settings import WalkSettings, build_walk, propagation
from bvdt.operators import storage

WORDS = {"food": "apple pie tart sugar oven bake", "cars": "engine wheel road fuel brake motor"}


def texts(n=40, seed=0):
    rng = np.random.default_rng(seed)
    truth = [list(WORDS)[i % 2] for i in range(n)]
    bodies = [" ".join(rng.choice(WORDS[t].split(), 6)) + f" the Größe{i % 3}" for i, t in enumerate(truth)]
    labels = [t if i < 20 else None for i, t in enumerate(truth)]
    return Documents(Path("docs.csv"), [f"d{i}" for i in range(n)], bodies, labels=labels), truth


def counts(n=40):
    documents, truth = texts(n)
    X = TextSettings().vectorizer().fit_transform(documents.texts)
    return Documents(Path("docs.npz"), documents.ids, X=sparse.csr_array(X), labels=documents.labels), truth


def columns(n=40):
    rng = np.random.default_rng(0)
    truth = [list(WORDS)[i % 2] for i in range(n)]
    X = rng.normal(size=(n, 3)) + 8 * np.array([t == "cars" for t in truth])[:, None]
    X[:, 1] *= 1000  # another unit
    labels = [t if i < 20 else None for i, t in enumerate(truth)]
    names = ["a", "b", "c"]
    return Documents(
        Path("points.csv"), [str(i) for i in range(n)], X=X, features=names, labels=labels
    ), truth


def fitted(documents, holdout=True, blend="auto", **settings):
    chosen = WalkSettings(jobs=1, **settings)
    features, X = learn_features(
        documents, scale=chosen.scale, divergence=chosen.divergence, text=chosen.text
    )
    classes, codes = encode(documents.labels)
    walk = build_walk(X, chosen.parameters(features))
    model = propagation(features, chosen, blend=blend).fit(X, codes, operator=walk, terms=features.terms)
    measured = measure_holdout(model, walk, codes, classes, random_state=0) if holdout else None
    return Model(features, model, classes, measured, "docs.csv")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:column 1 of X is nearly all")  # of columns that are left as they are
@pytest.mark.parametrize("make", [texts, counts, columns])
@pytest.mark.parametrize("blend", ["auto", None])
@pytest.mark.parametrize(
    "settings", [{}, {"divergence": "gid"}, {"scale": "none"}, {"n_neighbors": 0, "trees": 1}]
)
def test_a_loaded_model_predicts_the_same(tmp_path, make, blend, settings):
    documents, truth = make()
    if make is columns and "divergence" in settings:
        documents = Documents(
            documents.path, documents.ids, None, np.abs(documents.X), ["a", "b", "c"], documents.labels
        )
    model = fitted(documents, blend=blend, **settings)
    save_model(tmp_path / "m.bvdt", model)
    assert [path.name for path in tmp_path.iterdir()] == ["m.bvdt"]
    other = load_model(tmp_path / "m.bvdt")
    P = model.predict_proba(documents)
    assert_array_equal(other.predict_proba(documents), P)
    assert np.mean([model.classes[k] == t for k, t in zip(P.argmax(axis=1), truth, strict=True)]) > 0.9
    assert other.classes == ["cars", "food"]
    assert other.source == "docs.csv"
    assert_array_equal(other.codes, model.codes)
    assert_array_equal(other.propagation.label_distributions_, model.propagation.label_distributions_)
    assert_array_equal(other.propagation.suggest(5), model.propagation.suggest(5))
    X = model.features.transform(documents)
    assert_array_equal(other.propagation.novelty_, model.propagation.novelty_)
    assert_array_equal(other.propagation.novelty(X), model.propagation.novelty(X))
    assert other.holdout.accuracy == model.holdout.accuracy
    assert_array_equal(other.holdout.confusion, model.holdout.confusion)
    assert other.propagation.blend == blend
    assert other.holdout.alone == model.holdout.alone
    assert other.holdout.curve == model.holdout.curve


@pytest.mark.parametrize("blend", ["auto", None])
def test_what_explanations_need_is_stored(tmp_path, blend):
    documents, _ = texts()
    model = fitted(documents, holdout=False, blend=blend)
    weight = np.where(np.arange(40) % 3, 1.0, 5.0)
    model.propagation.set_params(class_balance=False)
    operator = model.propagation.operator_
    model.propagation.fit(y=model.codes, operator=operator, sample_weight=weight)
    save_model(tmp_path / "m.bvdt", model)
    other = load_model(tmp_path / "m.bvdt").propagation
    assert other.class_balance is False
    assert_array_equal(other.label_weights[other.codes_ >= 0], weight[model.codes >= 0])
    for mine, theirs in zip(model.propagation.explain(30), other.explain(30), strict=True):
        assert_array_equal(mine, theirs)


def test_a_file_of_the_first_version_loads(tmp_path):
    """It has no word of a blend, nor of experts in its hold-out."""
    model = fitted(texts()[0], blend=None)
    save_model(tmp_path / "m.bvdt", model)
    header, arrays = storage.read(tmp_path / "m.bvdt")
    arrays.pop("header")
    header["model"]["version"] = 1
    header["model"].pop("prior")
    header["model"]["settings"].pop("class_balance")
    for name in ("alone", "curve"):
        header["model"]["holdout"].pop(name)
    storage.write(tmp_path / "old.bvdt", header, arrays)
    old = load_model(tmp_path / "old.bvdt")
    assert_array_equal(old.predict_proba(texts()[0]), model.predict_proba(texts()[0]))


def test_a_classifier_is_not_saved(tmp_path):
    from sklearn.linear_model import LogisticRegression

    model = fitted(texts()[0], holdout=False, blend=LogisticRegression())
    with pytest.raises(ValueError, match=r"holds no classifiers.*LogisticRegression"):
        save_model(tmp_path / "m.bvdt", model)
    assert not list(tmp_path.iterdir())


def test_it_is_the_pipeline_of_the_library():
    """What the command does with texts is ``bvdt.text_pipeline("text")``."""
    documents, _ = texts()
    model = fitted(documents)
    y = [label or "" for label in documents.labels]
    pipeline = bvdt.text_pipeline("text", random_state=0, n_jobs=1).fit(documents.texts, y)
    assert_array_equal(pipeline[-1].label_distributions_, model.propagation.label_distributions_)


def test_the_operator_of_a_model_file_loads_alone(tmp_path):
    model = fitted(texts()[0])
    save_model(tmp_path / "m.bvdt", model)
    assert_array_equal(bvdt.load(tmp_path / "m.bvdt").toarray(), model.propagation.operator_.toarray())


def test_an_operator_file_is_not_a_model(tmp_path):
    fitted(texts()[0]).propagation.operator_.save(tmp_path / "op.bvdt")
    with pytest.raises(ValueError, match=r"an operator without labels.*--save.*bvdt\.load"):
        load_model(tmp_path / "op.bvdt")


def test_no_pickle_inside(tmp_path):
    save_model(tmp_path / "m.bvdt", fitted(texts()[0]))
    with np.load(tmp_path / "m.bvdt", allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in "uif" for name in stored.files)


def saved(tmp_path):
    save_model(tmp_path / "m.bvdt", fitted(texts()[0]))
    return tmp_path / "m.bvdt"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated(tmp_path, share):
    path = saved(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="not a bvdt file, or is truncated"):
        load_model(path)


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path):
    """Bytes of the data are covered by the archive's checksums."""
    path = saved(tmp_path)
    whole, expected = path.read_bytes(), load_model(path).predict_proba(texts()[0])
    for at in np.random.default_rng(0).integers(len(whole), size=60):
        damaged = bytearray(whole)
        damaged[at] ^= 255
        path.write_bytes(damaged)
        try:
            found = load_model(path).predict_proba(texts()[0])
        except ValueError:
            continue
        assert_array_equal(found, expected)


CHANGES = {
    "newer model": (lambda h, a: h["model"].update(version=MODEL_VERSION + 1), "update bvdt"),
    "newer file": (lambda h, a: h.update(version=storage.VERSION + 1), "update bvdt"),
    "no version": (lambda h, a: h["model"].pop("version"), "no version"),
    "model of another kind": (lambda h, a: h.update(model=[1]), "no version"),
    "no classes": (lambda h, a: h["model"].pop("classes"), "damaged"),
    "too few classes": (lambda h, a: h["model"]["classes"].pop(), "damaged"),
    "no settings": (lambda h, a: h["model"].pop("settings"), "damaged"),
    "no codes": (lambda h, a: a.pop("model_codes"), "damaged"),
    "codes of other points": (lambda h, a: a.update(model_codes=a["model_codes"][1:]), "damaged"),
    "codes without a class": (lambda h, a: a.update(model_codes=a["model_codes"] + 7), "damaged"),
    "scores of other points": (lambda h, a: a.update(model_scores=a["model_scores"][1:]), "damaged"),
    "scores not finite": (lambda h, a: a.update(model_scores=a["model_scores"] * np.nan), "damaged"),
    "idf of other terms": (lambda h, a: a.update(model_idf=a["model_idf"][1:]), "damaged"),
    "vocabulary is no JSON": (lambda h, a: a.update(model_names=a["model_names"][1:]), "damaged"),
    "vocabulary missing": (lambda h, a: a.pop("model_names"), "damaged"),
    "other features": (lambda h, a: h["model"]["features"].update(n_features=3), "damaged"),
    "unknown scale": (lambda h, a: h["model"]["features"].update(scale="log"), "damaged"),
    "tree missing": (lambda h, a: a.pop("tree0_size"), "damaged"),
    "tree that is none": (lambda h, a: a.update(tree0_size=a["tree0_size"][::-1].copy()), "damaged"),
    "columns that are not there": (lambda h, a: a.update(indices=a["indices"] + 1000), "damaged"),
    "neighbors that are not there": (
        lambda h, a: a.update(near_indices=a["near_indices"] + 1000),
        "damaged",
    ),
    "weights of other terms": (
        lambda h, a: a.update(model_prior_weights=a["model_prior_weights"][1:]),
        "damaged",
    ),
    "weights not finite": (
        lambda h, a: a.update(model_prior_weights=a["model_prior_weights"] * np.nan),
        "damaged",
    ),
    "a prior without its scores": (lambda h, a: a.pop("model_prior_walk"), "damaged"),
    "a prior without its share": (lambda h, a: h["model"]["prior"].pop("share"), "damaged"),
    "novelty of other points": (
        lambda h, a: a.update(model_novelty_lack=a["model_novelty_lack"][1:]),
        "damaged",
    ),
    "novelty that falls": (
        lambda h, a: a.update(model_novelty_below=-a["model_novelty_below"]),
        "damaged",
    ),
    "points missing": (lambda h, a: a.update(u=a["u"][1:]), "damaged"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_damaged_contents(tmp_path, name):
    change, match = CHANGES[name]
    path = saved(tmp_path)
    header, arrays = storage.read(path)
    arrays.pop("header")
    change(header, arrays)
    storage.write(path, header, arrays)
    with pytest.raises(ValueError, match=match) as error:
        load_model(path)
    assert str(path) in str(error.value)


def test_a_header_that_is_no_json(tmp_path):
    path = saved(tmp_path)
    _, arrays = storage.read(path)
    with open(path, "wb") as file:
        np.savez(file, **(arrays | {"header": np.frombuffer(b"{oops", np.uint8)}))
    with pytest.raises(ValueError, match="not a bvdt file"):
        load_model(path)


# -- features ----------------------------------------------------------------------------------------------


def test_columns_are_found_by_name():
    documents, _ = columns()
    features, X = learn_features(documents)
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [[0] * 3, [1] * 3], atol=1e-12)
    turned = Documents(Path("new.csv"), documents.ids, X=documents.X[:, [2, 0, 1]], features=["c", "a", "b"])
    assert_array_equal(features.transform(turned), X)
    less = Documents(Path("new.csv"), documents.ids, X=documents.X[:, :2], features=["a", "b"])
    with pytest.raises(ValueError, match=r"new\.csv needs the columns.*'c' is missing"):
        features.transform(less)


def test_a_constant_column_is_no_division_by_zero():
    documents = Documents(Path("p.csv"), ["1", "2"], X=np.array([[1.0, 5], [2, 5]]), features=["a", "b"])
    assert np.isfinite(learn_features(documents)[1]).all()


def test_stored_zeros_and_the_input_stay():
    X = sparse.csr_array(np.array([[1.0, 2, 0], [0, 1, 3]]))
    X.data[0] = 0
    before = X.data.copy()
    documents = Documents(Path("x.npz"), ["1", "2"], X=X)
    features, weights = learn_features(documents)
    assert features.kind == "counts"
    assert np.isfinite(weights.toarray()).all()
    assert_array_equal(X.data, before)


@pytest.mark.parametrize(
    ("X", "names", "divergence", "kind", "scale"),
    [
        (sparse.csr_array([[1, 0], [0, 2]]), None, None, "counts", "tfidf"),
        (sparse.csr_array([[1, 0], [0, 2]]), None, "gid", "counts", "none"),
        (sparse.csr_array([[0.5, 0], [0, 2]]), None, None, "matrix", "none"),
        (sparse.csr_array([[-1.0, 0], [0, 2]]), None, None, "matrix", "none"),
        (np.array([[1.0, 0], [0, 2]]), None, None, "matrix", "none"),
        (np.array([[1.0, 0], [0, 2]]), ["a", "b"], None, "columns", "standard"),
        (np.array([[1.0, 0], [0, 2]]), ["a", "b"], "gid", "columns", "none"),
    ],
)
def test_kinds_and_scales(X, names, divergence, kind, scale):
    features, _ = learn_features(Documents(Path("x"), ["1", "2"], X=X, features=names), divergence=divergence)
    assert (features.kind, features.scale) == (kind, scale)


def test_new_matrices_of_another_width():
    documents, _ = counts()
    features, X = learn_features(documents)
    d = X.shape[1]
    narrow = sparse.csr_array(documents.X)[:, : d - 1]
    shorter = Documents(Path("new.svm"), documents.ids, X=narrow)
    assert features.transform(shorter).shape == X.shape  # the last features did not occur
    with pytest.raises(ValueError, match=rf"new\.npz needs {d} columns.*it has {d - 1}"):
        features.transform(Documents(Path("new.npz"), documents.ids, X=narrow))


def test_characters_instead_of_words():
    documents = Documents(Path("x"), ["1", "2", "3"], ["今日は天気", "今日は雨", "車の色"])
    words, _ = learn_features(documents)
    _, X = learn_features(documents, text=TextSettings("char", (1, 2)))
    assert words.n_features == 3
    assert (X[[0]] @ X[[1]].T).sum() > (X[[0]] @ X[[2]].T).sum()


def test_features_survive_json():
    features, _ = learn_features(texts()[0], text=TextSettings(stop_words=("the", "of")))
    header, arrays = features.contents()
    other = Features.from_contents(json.loads(json.dumps(header)), arrays)
    assert other.names == features.names
    assert other.text == features.text
    assert "the" not in other.names
    assert "größe0" in other.names


# -- labeling ---------------------------------------------------------------------------------------------


def test_labeling_keeps_given_labels():
    P = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
    found = Labeling.of(P, ["a", "b", "c"], np.array([2, -1, -1]))
    assert found.labels == ["c", "c", "b"]
    assert found.runner_up == ["", "b", "c"]
    assert found.confidence.tolist() == [1.0, 0.6, 0.5]
    assert found.entropy[0] == 0
    np.testing.assert_allclose(found.entropy[1], -(P[1] * np.log(P[1])).sum())
    assert found.given.tolist() == [True, False, False]
    assert found.counts(["a", "b", "c"]) == [("a", 0, 0, None), ("b", 0, 1, 0.5), ("c", 1, 1, 0.6)]


def test_one_class_has_no_runner_up():
    assert Labeling.of(np.ones((2, 1)), ["a"]).runner_up == ["", ""]


def test_encode():
    classes, codes = encode(["b", None, "a", "b", "-1"])
    assert classes == ["-1", "a", "b"]
    assert codes.tolist() == [2, -1, 1, 2, 0]


def test_a_constant_column_does_not_explode():
    """0.1 a hundred times has a deviation of 4e-17 by rounding."""
    X = np.column_stack([np.full(100, 0.1), np.arange(100.0), 0.1 + 1e-17 * (np.arange(100) % 4)])
    names = ["constant", "rising", "rounded"]
    learnt, scaled = learn_features(Documents(Path("p.csv"), ["i"] * 100, X=X, features=names))
    assert np.abs(scaled).max() < 2
    new = learnt.transform(Documents(Path("n.csv"), ["a"], X=np.array([[0.3, 50.0, 0.1]]), features=names))
    np.testing.assert_allclose(new, [[0.2, 0.0173, 0.0]], atol=1e-3)


@pytest.mark.parametrize("scale", ["tfidf", "none"])
def test_repeated_entries_are_added_up(scale):
    repeated = sparse.csr_array(
        (np.array([1.0, 2.0, 4.0, 1.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 3, 4])), (3, 2)
    )
    plain = sparse.csr_array([[3.0, 0.0], [0.0, 4.0], [0.0, 1.0]])
    made = [Documents(Path("m.npz"), ["a", "b", "c"], X=X) for X in (repeated, plain)]
    (one, first), (_, second) = [learn_features(documents, scale=scale) for documents in made]
    assert_array_equal(first.toarray(), second.toarray())
    assert_array_equal(one.transform(made[0]).toarray(), second.toarray())
    assert repeated.nnz == 4  # the caller's matrix is left as it is
