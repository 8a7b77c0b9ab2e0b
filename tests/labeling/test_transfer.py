"""Labels out and in again, in every format; propagate takes the session as it is."""

from __future__ import annotations

import csv
import json
import os

import pytest
from typer.testing import CliRunner

from bvdt.cli import app
from bvdt.documents.files import read_documents
from bvdt.documents.files.sessions import session_labels
from bvdt.labeling import FORMATS, Shown, Store, write_export
from helpers.labeling import write_corpus


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth = write_corpus(tmp_path / "docs.csv", n=90)
    store = Store("docs.labels.sqlite")
    texts = dict(csv.reader(open_text(tmp_path / "docs.csv")))
    for k, (name, topic) in enumerate(list(truth.items())[:30]):
        shown = Shown(name, texts[name], "auto", "sport", 0.25)
        store.decide(f"r{k}", "label", [shown], who="ann", label=topic)
    store.decide("skip", "skip", [Shown("doc-40", texts["doc-40"])], who="ann")
    store.close()
    return tmp_path, dict(list(truth.items())[:30]), texts


def open_text(path):
    return path.read_text(encoding="utf-8").splitlines()


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def labels(path) -> dict[str, str]:
    store = Store(path, create=False)
    found = store.labels()
    store.close()
    return found


def test_csv(folder):
    tmp_path, given, _ = folder
    assert "30 labels" in run("label", "--session", "docs.labels.sqlite", "--export", "out.csv")
    rows = list(csv.DictReader(open_text(tmp_path / "out.csv")))
    assert {row["id"]: row["label"] for row in rows} == given
    assert {(row["who"], row["suggested"], row["confidence"]) for row in rows} == {("ann", "sport", "0.25")}


def test_json_lines_are_prodigys_and_spacys(folder):
    tmp_path, given, texts = folder
    run("label", "--session", "docs.labels.sqlite", "--export", "out.jsonl")
    lines = [json.loads(line) for line in open_text(tmp_path / "out.jsonl")]
    accepted = [line for line in lines if line["answer"] == "accept"]
    assert {line["meta"]["id"]: line["label"] for line in accepted} == given
    for line in accepted:
        assert line["text"] == texts[line["meta"]["id"]]
        assert line["accept"] == [line["label"]]
        assert line["cats"] == {name: float(name == line["label"]) for name in ("sport", "money", "garden")}
    assert [line["meta"]["id"] for line in lines if line["answer"] == "ignore"] == ["doc-40"]


@pytest.mark.slow
def test_label_studio_has_annotations_and_for_all_documents_predictions_with_scores(folder):
    tmp_path, given, texts = folder
    run("label", "docs.csv", "--text", "text", "--export", "out.json", "--quiet")
    tasks = {task["data"]["id"]: task for task in json.loads((tmp_path / "out.json").read_text("utf-8"))}
    assert set(tasks) == set(texts) - {"id"}
    for name, topic in given.items():
        (result,) = tasks[name]["annotations"][0]["result"]
        assert result["value"] == {"choices": [topic]}
        assert (result["from_name"], result["to_name"], result["type"]) == ("label", "text", "choices")
    rest = tasks["doc-60"]
    assert "annotations" not in rest
    assert 0 < rest["predictions"][0]["score"] <= 1
    assert rest["data"]["text"] == texts["doc-60"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*FORMATS, "sqlite"])
def test_what_was_exported_is_imported(folder, kind):
    tmp_path, given, _ = folder
    source = "docs.labels.sqlite"
    if kind != "sqlite":
        source = f"out.{kind}"
        run("label", "--session", "docs.labels.sqlite", "--export", source)
    options = ("--session", "new.sqlite", "--import", source, "--export", "again.csv", "--quiet")
    for _ in range(2):  # the second time nothing is new
        run("label", "docs.csv", "--text", "text", *options)
        assert labels(tmp_path / "new.sqlite") == given
    store = Store(tmp_path / "new.sqlite", create=False)
    assert store.n_rows() == 30
    store.close()


@pytest.mark.slow
def test_tools_that_know_only_the_text_are_joined_by_it(folder):
    tmp_path, _, texts = folder
    line = {"text": texts["doc-7"], "label": "sport", "answer": "accept"}
    (tmp_path / "theirs.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    run(
        "label",
        "docs.csv",
        "--text",
        "text",
        "--session",
        "n.sqlite",
        "--import",
        "theirs.jsonl",
        "--export",
        "o.csv",
    )
    assert labels(tmp_path / "n.sqlite") == {"doc-7": "sport"}


@pytest.mark.slow
def test_propagate_takes_the_session(folder):
    tmp_path, given, _ = folder
    run(
        "propagate",
        "docs.csv",
        "--text",
        "text",
        "--labels",
        "docs.labels.sqlite",
        "-o",
        "out.csv",
        "--quiet",
    )
    rows = list(csv.DictReader(open_text(tmp_path / "out.csv")))
    assert {row["id"]: row["label"] for row in rows if row["given"] == "True"} == given
    assert len(rows) == 90


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--export", "x.csv"), "needs documents to label, or --session"),
        (("--session", "docs.labels.sqlite"), "needs --export"),
        (("--session", "missing.sqlite", "--export", "x.csv"), "there is no such file"),
        (
            ("--session", "docs.labels.sqlite", "--export", "x.txt"),
            "ends in one of .csv, .jsonl, .json, .parquet",
        ),
        (("--session", "docs.csv", "--export", "x.csv"), "needs to be a session of bvdt label"),
    ],
)
def test_what_cannot_be_done_is_told(folder, arguments, reason):
    result = CliRunner().invoke(app, ["label", *arguments])
    assert result.exit_code == 2
    assert reason in result.output


@pytest.mark.slow
def test_a_session_of_other_documents_is_refused(folder):
    tmp_path, _, _ = folder
    (tmp_path / "other.csv").write_text(
        "id,text\n" + "\n".join(f"x{k},some words here {k}" for k in range(20))
    )
    command = ["propagate", "other.csv", "--labels", "docs.labels.sqlite", "-o", "o.csv"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 2
    assert 'has a label for "doc-0", which is not in other.csv' in result.output


def test_a_csv_of_odd_texts_comes_back_and_formulas_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = Store("docs.labels.sqlite")
    for name in ("a\rb", '=HYPERLINK("x")', "plain"):
        store.decide(name, "label", [Shown(name, "a text")], who="ann", label="one")
    with pytest.warns(UserWarning, match="spreadsheet runs as a formula"):
        write_export(tmp_path / "out.csv", store)
    store.close()
    back = read_documents(tmp_path / "out.csv", text="who", id="id", labels="label")
    assert set(back.ids) == {"a\rb", '=HYPERLINK("x")', "plain"}


def test_a_session_in_a_folder_that_may_not_be_written_is_read(folder, monkeypatch):
    """Root may write everywhere, so ``os.access`` says that one may not; nothing is written beside it."""
    tmp_path, given, _ = folder
    monkeypatch.setattr(os, "access", lambda *_: False)
    before = sorted(tmp_path.iterdir())
    assert session_labels(tmp_path / "docs.labels.sqlite")[0] == given
    assert sorted(tmp_path.iterdir()) == before
