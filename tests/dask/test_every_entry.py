"""One table, 20 columns of blobs and one of salaries, through every entry point: equally right, or told."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is in the extra dask")
pytest.importorskip("pyarrow", reason="pyarrow is in the extra parquet")

import dask.array as da
import pyarrow
import pyarrow.parquet as parquet
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import bvdt
import bvdt.dask
from bvdt.cli import app

pytestmark = pytest.mark.slow
N, K = 2000, 10
OPTIONS = {"divergence": "squared_euclidean", "random_state": 0}
TOLD = "column 20 of X is nearly all of the squared distances.*standardise them first"


@pytest.fixture(scope="module")
def salaries():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    blobs = 1.5 * rng.normal(size=(K, 20))[y] + rng.normal(size=(N, 20))
    X = np.column_stack([blobs, rng.lognormal(10.5, 0.6, N)])
    return X, y, np.where(rng.random(N) < 0.05, y, -1)


def by_python(X, few, client, folder):
    walk = make_pipeline(StandardScaler(), bvdt.LabelPropagation(**OPTIONS))
    return walk.fit(X, few)[-1].transduction_


def by_python_with_a_prior(X, few, client, folder):
    return (
        bvdt.LabelPropagation(**OPTIONS, blend="auto")
        .fit(StandardScaler().fit_transform(X), few)
        .transduction_
    )


def by_the_cluster(X, few, client, folder):
    points = da.from_array(StandardScaler().fit_transform(X), chunks=(500, 21))
    model = bvdt.dask.LabelPropagation(**OPTIONS, client=client).fit(points, few)
    return client.compute(model.transduction_).result()


def by_shell(X, few, client, folder, *more):
    columns = {f"x{j}": X[:, j] for j in range(20)} | {"salary": X[:, 20]}
    columns["topic"] = [f"{k}" if k >= 0 else None for k in few]
    parquet.write_table(pyarrow.table(columns), folder / "in.parquet", row_group_size=500)
    named = ["propagate", folder / "in.parquet", "-l", "topic", "-o", folder / "out.parquet", *more]
    done = CliRunner().invoke(app, [str(part) for part in named])
    assert done.exit_code == 0, done.output
    assert "standardised" in done.output
    return np.array(parquet.read_table(folder / "out.parquet").column("label").to_pylist()).astype(int)


def by_shell_and_its_own_workers(X, few, client, folder):
    return by_shell(X, few, client, folder, "--dask", "local")


def by_shell_and_the_cluster(X, few, client, folder):
    return by_shell(X, few, client, folder, "--dask", client.scheduler.address)


ENTRIES = [
    by_python,
    by_python_with_a_prior,
    by_the_cluster,
    by_shell,
    by_shell_and_its_own_workers,
    by_shell_and_the_cluster,
]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_every_entry_point_labels_alike(salaries, client, tmp_path):
    X, y, few = salaries
    hidden = few < 0
    right = {entry.__name__: (entry(X, few, client, tmp_path) == y)[hidden].mean() for entry in ENTRIES}
    assert max(right.values()) - min(right.values()) <= 0.005, right
    assert min(right.values()) > 0.98, right


def test_columns_that_are_not_standardised_are_told(salaries, client):
    X, _, few = salaries
    with pytest.warns(UserWarning, match=TOLD):
        bvdt.LabelPropagation(**OPTIONS).fit(X, few)
    with pytest.warns(UserWarning, match=TOLD):
        bvdt.dask.LabelPropagation(**OPTIONS, client=client).fit(da.from_array(X, chunks=(500, 21)), few)
