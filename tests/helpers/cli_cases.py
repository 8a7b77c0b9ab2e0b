"""What the tests of the command line share: a small labeled corpus in every format, and a runner."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from bvdt.cli import app

WORDS = {
    "food": ["apple", "pie", "tart", "sugar", "oven", "bake", "flour", "butter", "cream", "dough"],
    "cars": ["engine", "wheel", "road", "fuel", "brake", "motor", "tyre", "gear", "clutch", "piston"],
    "music": ["guitar", "drum", "song", "choir", "melody", "violin", "chord", "tempo", "opera", "flute"],
}
N = 60
N_LABELS = 21


def corpus(n: int = N, seed: int = 0) -> tuple[list[str], list[str], list[str]]:
    """Ids, texts and their true classes, in turn."""
    rng = np.random.default_rng(seed)
    truth = [list(WORDS)[i % 3] for i in range(n)]
    texts = [" ".join(rng.choice(WORDS[name], 8)) for name in truth]
    return [f"d{i}" for i in range(n)], texts, truth


def few(truth: list[str], n_labels: int = N_LABELS) -> list[str]:
    """The first labels, then blanks."""
    return [name if i < n_labels else "" for i, name in enumerate(truth)]


def counts() -> sparse.csr_array:
    """Documents × words."""
    _, texts, _ = corpus()
    vocabulary = sorted(word for words in WORDS.values() for word in words)
    return sparse.csr_array([[text.split().count(word) for word in vocabulary] for text in texts])


def points() -> np.ndarray:
    """Three groups of points in four dimensions, one column in another unit."""
    _, _, truth = corpus()
    centers = 6 * np.eye(4)[[list(WORDS).index(name) for name in truth]]
    return (np.random.default_rng(1).normal(size=(N, 4)) + centers) * [1, 1, 1, 1000]


def write_csv(path: Path, columns: dict[str, list], delimiter: str = ",") -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def docs_csv(folder: Path, name: str = "docs.csv", delimiter: str = ",", n: int = N, seed: int = 0) -> Path:
    ids, texts, truth = corpus(n, seed)
    return write_csv(folder / name, {"id": ids, "text": texts, "topic": few(truth)}, delimiter)


def labels_csv(folder: Path) -> Path:
    _, _, truth = corpus()
    return write_csv(folder / "labels.csv", {"id": list(range(1, N_LABELS + 1)), "label": truth[:N_LABELS]})


def docs_jsonl(folder: Path) -> Path:
    rows = zip(*corpus(), few(corpus()[2]), strict=True)
    lines = [json.dumps({"id": i, "text": t, "topic": label or None}) for i, t, _, label in rows]
    (folder / "docs.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "docs.jsonl"


def docs_parquet(folder: Path) -> Path:
    import pyarrow
    from pyarrow import parquet

    ids, texts, truth = corpus()
    labels = [label or None for label in few(truth)]
    parquet.write_table(pyarrow.table({"id": ids, "text": texts, "topic": labels}), folder / "docs.parquet")
    return folder / "docs.parquet"


def docs_folder(folder: Path) -> Path:
    ids, texts, truth = corpus()
    for name, text, label in zip(ids, texts, few(truth), strict=True):
        parent = folder / "docs" / (label or "unlabeled")
        parent.mkdir(parents=True, exist_ok=True)
        (parent / f"{name}.txt").write_text(text)
    return folder / "docs"


def points_csv(folder: Path) -> Path:
    X, truth = points(), corpus()[2]
    columns = {f"x{j}": X[:, j].tolist() for j in range(X.shape[1])}
    return write_csv(folder / "points.csv", columns | {"topic": few(truth)})


def docs_matrix(folder: Path, suffix: str) -> Path:
    path, X = folder / f"docs{suffix}", counts()
    if suffix == ".npz":
        sparse.save_npz(path, X)
    elif suffix == ".mtx":
        io.mmwrite(path, X)
    elif suffix == ".npy":
        np.save(path, points()[:, :3])
    else:
        dump_svmlight_file(X, np.zeros(X.shape[0], int), str(path), zero_based=False)
    return path


def run(*arguments: object):
    """The command in this process; no exception but its exit leaves it."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def read_csv(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def propagate(folder, path, labels, *more):
    """The command on that file, which needs to succeed, and the rows of its table."""
    result = run(
        "propagate", path, *(["--labels", labels] if labels else []), "-o", folder / "out.csv", *more
    )
    assert result.exit_code == 0, result.output
    return result, read_csv(folder / "out.csv")
