"""Every command and every public name once, of bvdt as installed; .ci/wheel-test runs it beside the wheel."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import signal
import subprocess
import sysconfig
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits

import bvdt

COMMAND = str(Path(sysconfig.get_path("scripts")) / "bvdt")
TOPICS = {"sport": ["ball", "goal", "team", "match"], "money": ["bank", "stock", "price", "market"]}
RNG = np.random.default_rng(0)
X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
few = np.where(np.arange(len(y)) < 60, y, -1)
counts = sparse.csr_array(X)


def imported() -> None:
    """Every module, from outside this folder."""
    assert "site-packages" in bvdt.__file__, bvdt.__file__
    for module in pkgutil.walk_packages(bvdt.__path__, "bvdt."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


# -- public names ------------------------------------------------------------------------------------------


def walks() -> None:
    op = bvdt.transition_matrix(counts, "gid", random_state=0)
    assert isinstance(op, bvdt.operators.TransitionOperator)
    assert isinstance(op, bvdt.operators.WalkOperator)
    assert isinstance(op.partition, bvdt.blocks.BlockPartition)
    assert isinstance(op.tree, bvdt.Tree)
    assert isinstance(
        bvdt.transition_matrix(X, "squared_euclidean", n_trees=2, n_neighbors=5),
        bvdt.operators.ForestOperator,
    )
    assert np.allclose(op @ np.ones(len(y)), 1)
    assert np.allclose(bvdt.exact_transition_matrix(X, "squared_euclidean").sum(axis=1), 1)
    for found in (bvdt.walks.pagerank(op), bvdt.walks.stationary_distribution(op, tol=1e-4)):
        assert np.isclose(found.sum(), 1)
    known = np.eye(10)[y] * (few >= 0)[:, None]
    assert (bvdt.propagate_labels(op, known).argmax(axis=1) == y).mean() > 0.6
    op.save("walk.bvdt")
    assert np.array_equal(bvdt.load("walk.bvdt") @ np.ones(len(y)), op @ np.ones(len(y)))


def divergences() -> None:
    names = ("squared_euclidean", "mahalanobis", "gid", "kl", "itakura_saito", "cosine", "multinomial")
    for name in names:
        assert bvdt.divergences.get(name)
        Z = X + RNG.uniform(0.5, 1.5, X.shape)
        Z = Z / Z.sum(axis=1, keepdims=True) if name in ("kl", "multinomial") else Z
        assert np.allclose(bvdt.transition_matrix(Z, name, random_state=0) @ np.ones(len(y)), 1)
    shares = 1 / (1 + np.exp(-RNG.normal(size=X.shape)))
    assert np.allclose(bvdt.transition_matrix(shares, "logistic", random_state=0) @ np.ones(len(y)), 1)
    views = bvdt.Views(a=(X, "cosine"), b=RNG.normal(size=(len(y), 2)))
    assert bvdt.LabelPropagation(random_state=0).fit(views, y).views_["b"]["n_features"] == 2
    counts = RNG.poisson(2.0, (len(y), 4))
    assert np.isfinite(bvdt.divergences.compare(counts, y=y).best.score)
    op = bvdt.transition_matrix(counts, "negative_binomial", bandwidth=1.0, random_state=0)
    assert np.isclose(op.score_samples().sum(), op.log_likelihood())
    assert op.score_samples(counts[:3]).shape == (3,)


def estimators() -> None:
    model = bvdt.LabelPropagation("squared_euclidean", random_state=0).fit(X, few)
    assert (model.transduction_ == y)[60:].mean() > 0.8
    assert model.novelty_.shape == y.shape
    assert len(model.predict(X[:3], reject=0.05)) == len(model.novelty(X[:3])) == 3
    assert len(model.label_issues().points) == 60
    assert len(model.unnamed_classes(2)) <= 2
    assert len(model.suggest(3)) == len(model.predict(X[:3])) == 3
    assert bvdt.SpectralEmbedding(n_components=2, random_state=0).fit_transform(X).shape == (len(y), 2)
    assert bvdt.Map(random_state=0).fit_transform(X).shape == (len(y), 2)
    assert len(set(bvdt.SpectralClustering(n_clusters=10, random_state=0).fit_predict(X))) == 10
    assert bvdt.NearestNeighbors(n_neighbors=3).fit(X).kneighbors(X)[1].shape == (len(y), 3)
    graph = bvdt.KNeighborsTransformer(n_neighbors=3).fit_transform(X)
    assert graph.shape == (len(y), len(y))
    assert bvdt.neighbors.audit(X, graph).estimate == 1
    assert bvdt.transition_matrix(X, "squared_euclidean", neighbors=graph).near_field.k == 3
    assert len(bvdt.LabelPropagation().fit(None, few, neighbors=graph).transduction_) == len(y)
    texts, topics = documents(60)
    labeled = [topic if i < 20 else "" for i, topic in enumerate(topics)]
    pipeline = bvdt.text_pipeline("text", random_state=0).fit(texts, labeled)
    assert pipeline.predict(["goal of the team"]).tolist() == ["sport"]


def beyond_one_memory() -> None:
    model = bvdt.dask.LabelPropagation(memory_limit="1GiB", random_state=0).fit(X, few)
    assert (model.transduction_.compute(scheduler="synchronous") == y)[60:].mean() > 0.8


def data_and_report() -> None:
    corpus = bvdt.datasets.make_documents(100, n_classes=2, random_state=0)
    page = bvdt.report.render_report(bvdt.report.Report("smoke", ["one."], ids=list(map(str, corpus.labels))))
    assert page.rstrip().endswith("</html>")
    bvdt.show_versions()
    assert re.fullmatch(r"\d+\.\d+\.\d+", bvdt.__version__)


def nothing_is_left_out() -> None:
    """A new public name is used above."""
    source = Path(__file__).read_text(encoding="utf-8")
    missing = [name for name in bvdt.__all__ if f"bvdt.{name}" not in source]
    assert not missing, missing


# -- commands ----------------------------------------------------------------------------------------------


def documents(n: int) -> tuple[list[str], list[str]]:
    topics = [list(TOPICS)[i % 2] for i in range(n)]
    return [" ".join(RNG.choice([*TOPICS[topic], "the", "day"], 12)) for topic in topics], topics


def tables() -> None:
    texts, topics = documents(120)
    table = pd.DataFrame({"id": range(120), "text": texts, "topic": topics})
    table.loc[40:, "topic"] = ""
    table.to_csv("docs.csv", index=False)
    table[["text"]].to_csv("new.csv", index=False)
    numbers = pd.DataFrame(X, columns=[f"x{i}" for i in range(64)])
    numbers["label"] = np.where(few >= 0, y.astype(str), "")
    numbers.to_parquet("digits.parquet", index=False)


def run(arguments: str, *files: str) -> str:
    done = subprocess.run([COMMAND, *arguments.split()], capture_output=True, text=True)
    assert done.returncode == 0, f"bvdt {arguments}: {done.stderr}"
    for name in files:
        assert Path(name).stat().st_size > 100, f"bvdt {arguments} left {name} empty"
    return done.stdout


def commands() -> None:
    tables()
    assert bvdt.__version__ in run("--version")
    named = re.findall(r"^  (\w+)  ", run("--help").split("Commands:")[1], flags=re.MULTILINE)
    assert set(named) == {
        "demo",
        "label",
        "propagate",
        "embed",
        "cluster",
        "inspect",
        "neighbors",
    }
    for name in named:
        assert "Usage" in run(f"{name} --help")
    run("propagate docs.csv --labels topic -o out.csv --report report.html --save topics.bvdt "
        "--unknown none --check-labels check.csv",
        "out.csv", "check.csv", "report.html", "topics.bvdt")  # fmt: skip
    run("propagate new.csv --model topics.bvdt -o new-out.csv", "new-out.csv")
    assert pd.read_csv("new-out.csv")["label"].tolist() == ["sport", "money"] * 60
    run(
        "propagate docs.csv --model topics.bvdt --labels topic -o more.csv --save more.bvdt",
        "more.csv",
        "more.bvdt",
    )
    run("propagate digits.parquet --labels label -o digits-out.parquet --dask local", "digits-out.parquet")
    run("embed docs.csv -o map.csv --plot map.html", "map.csv", "map.html")
    run("embed docs.csv -o map.csv --spectral --plot map.png", "map.png")
    run(
        "cluster docs.csv -k 2 -o clusters.csv --plot clusters.svg --hierarchy nested.csv",
        "clusters.csv",
        "nested.csv",
    )
    assert "label" in run("inspect topics.bvdt")
    np.save("points.npy", X)
    np.save("lists.npy", bvdt.NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False))
    assert "1.000" in run("neighbors audit points.npy lists.npy")
    run("demo --quiet --out demo", "demo/report.html")


def browser_page() -> None:
    """The server of ``bvdt label`` gives its page and all that the page asks for."""
    command = [COMMAND, "label", "docs.csv", "--text", "text", "--classes", "sport,money", "--no-browser"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            line = next(line for line in server.stdout if line.startswith("Label at "))
            address = line.split()[-1].split("#")[0]
            page = urllib.request.urlopen(address, timeout=60).read().decode()
            needed = re.findall(r'(?:src|href)="/?([\w.]+\.(?:js|css))"', page)
            assert len(needed) >= 2, page
            for name in needed:
                assert len(urllib.request.urlopen(f"{address.rstrip('/')}/{name}", timeout=60).read()) > 100
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0


PARTS: tuple[Callable[[], None], ...] = (
    imported, walks, divergences, estimators, beyond_one_memory, data_and_report, nothing_is_left_out,
    commands, browser_page,
)  # fmt: skip

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in PARTS:
            part()
            print(f"smoke: {part.__name__} works", flush=True)
    print("smoke: everything works")
