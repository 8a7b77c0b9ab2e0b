"""The commands as a user runs them: every format in, tables, pages and models out."""

import json
import re
import warnings

import numpy as np
import pytest
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file

from bvdt.documents.files import read_documents, write_table
from bvdt.documents.model import load_model
from helpers.cli_cases import (
    N_LABELS,
    WORDS,
    N,
    corpus,
    counts,
    docs_csv,
    docs_folder,
    docs_jsonl,
    docs_matrix,
    docs_parquet,
    few,
    labels_csv,
    points,
    points_csv,
    propagate,
    read_csv,
    run,
    write_csv,
)

COLUMNS = ["id", "label", "confidence", "runner_up", "entropy", "given", "novelty"]


FORMATS = {
    "csv": lambda folder: (docs_csv(folder), "topic"),
    "tsv": lambda folder: (docs_csv(folder, "docs.tsv", "\t"), "topic"),
    "jsonl": lambda folder: (docs_jsonl(folder), "topic"),
    "parquet": lambda folder: (docs_parquet(folder), "topic"),
    "columns": lambda folder: (points_csv(folder), "topic"),
    "mtx": lambda folder: (docs_matrix(folder, ".mtx"), labels_csv(folder)),
    "svmlight": lambda folder: (docs_matrix(folder, ".svmlight"), labels_csv(folder)),
    "npz": lambda folder: (docs_matrix(folder, ".npz"), labels_csv(folder)),
    "npy": lambda folder: (docs_matrix(folder, ".npy"), labels_csv(folder)),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_labeled(tmp_path, name):
    result, rows = propagate(tmp_path, *FORMATS[name](tmp_path))
    _, _, truth = corpus()
    assert list(rows[0]) == COLUMNS
    assert len(rows) == N
    assert [row["id"] for row in rows[:2]] in (["d0", "d1"], ["1", "2"])
    assert np.mean([row["label"] == name for row, name in zip(rows, truth, strict=True)]) > 0.95
    given = [row for row in rows if row["given"] == "True"]
    assert len(given) == N_LABELS
    assert {(row["confidence"], row["runner_up"], row["entropy"]) for row in given} == {("1.0", "", "0.0")}
    others = [row for row in rows if row["given"] == "False"]
    assert all(0 < float(row["confidence"]) <= 1 for row in others)
    assert all(0 <= float(row["entropy"]) <= np.log(3) + 1e-6 for row in others)
    assert all(row["runner_up"] != row["label"] and row["runner_up"] in WORDS for row in others)
    assert f"{N} documents, {N_LABELS} of them labeled, 3 classes" in result.stdout
    assert re.search(r"Accuracy to expect: (9\d|100)\.\d %", result.stdout)
    assert str(tmp_path / "out.csv") in result.stdout


KEPT = [*COLUMNS, "text", "topic", "label_input"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_columns_of_the_input_are_kept(tmp_path, suffix):
    ids, texts, truth = corpus()
    columns = {"id": ids, "text": texts, "topic": few(truth), "label": [f"own {name}" for name in ids]}
    path = tmp_path / f"in{suffix}"
    write_table(path, columns)
    more = ["--keep-columns", "--save", tmp_path / "m.bvdt"]
    _, rows = propagate(tmp_path, path, "topic", *more)
    assert list(rows[0]) == KEPT
    for row, *own in zip(rows, *columns.values(), strict=True):
        assert [row[name] for name in ("id", "text", "topic", "label_input")] == own
    out = tmp_path / f"new{suffix}"
    result = run("propagate", path, "--model", tmp_path / "m.bvdt", "-o", out, "--keep-columns")
    assert result.exit_code == 0, result.output
    assert read_documents(out, text="text", id="id", labels="label_input").labels == columns["label"]
    assert read_documents(out, text="text", id="id").texts == texts


def test_a_kept_column_needs_a_name_of_its_own(tmp_path):
    ids, texts, truth = corpus()
    columns = {"id": ids, "text": texts, "label": few(truth), "label_input": ids}
    path = write_csv(tmp_path / "d.csv", columns)
    result = run("propagate", path, "-l", "label", "-o", tmp_path / "o.csv", "--keep-columns")
    assert result.exit_code == 2
    assert 'column "label" of the input would be kept as "label_input"' in result.stderr
    assert not (tmp_path / "o.csv").exists()


def test_reasons_on_request(tmp_path):
    result, rows = propagate(
        tmp_path, docs_csv(tmp_path), "topic", "--explain", 2, "--report", tmp_path / "r.html"
    )
    ids, _, truth = corpus()
    assert list(rows[0]) == [*COLUMNS, "because"]
    labels = dict(zip(ids, truth, strict=True))
    given = {row["id"] for row in rows if row["given"] == "True"}
    for row in rows:
        assert bool(row["because"]) == (row["given"] == "False")
        parts = re.findall(r"(?:^|; )(walk|words|class shares|neighbors) (\d+) %", row["because"])
        assert len(parts) == row["because"].count(";") + bool(row["because"])
        assert not parts or abs(sum(int(share) for _, share in parts) - 100) <= 2  # each is rounded
        named = re.findall(r"(d\d+) \((\d+) %\)", row["because"])
        assert len(named) <= 2
        assert {name for name, _ in named} <= given
        assert all(labels[name] == row["label"] for name, _ in named)
        words = re.findall(r"([a-z]+) \(\d+ %\)", row["because"].partition("words")[2])
        assert {word for word in words if word in WORDS[row["label"]]} == set(words)
    assert sum("words" in row["because"] for row in rows) > 30
    page = (tmp_path / "r.html").read_text()
    assert rows[-1]["because"] in page
    _, walked = propagate(tmp_path, docs_csv(tmp_path), "topic", "--explain", 2, "--blend", "walk")
    assert {row["because"][:11] for row in walked} == {"", "walk 100 %:"}
    _, rows = propagate(tmp_path, docs_csv(tmp_path), "topic", "--report", tmp_path / "s.html")
    assert list(rows[0]) == COLUMNS
    assert '"because"' in (tmp_path / "s.html").read_text()  # quick here: always in the report
    assert "explain" not in result.stderr


def test_alpha_by_the_folds(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--alpha", "auto", "--report", tmp_path / "r.html")
    bad = run("propagate", docs_csv(tmp_path), "-l", "topic", "-o", tmp_path / "o.csv", "--alpha", "much")
    assert bad.exit_code == 2
    assert "needs auto or a number from 0 to 1; got 'much'" in bad.output.replace("\n", " ")


def test_a_folder_needs_no_option(tmp_path):
    _, rows = propagate(tmp_path, docs_folder(tmp_path), None)
    truth = dict(zip(*corpus()[::2], strict=True))
    right = [row["label"] == truth[row["id"].split("/")[1][:-4]] for row in rows]
    assert np.mean(right) > 0.95
    assert rows[0]["id"] == "cars/d1.txt"


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_output_format_holds_the_same(tmp_path, suffix):
    path = docs_csv(tmp_path)
    _, rows = propagate(tmp_path, path, "topic")
    assert run("propagate", path, "-l", "topic", "-o", tmp_path / f"a{suffix}").exit_code == 0
    back = read_documents(tmp_path / f"a{suffix}", text="runner_up", id="id", labels="label")
    assert back.ids == [row["id"] for row in rows]
    assert back.labels == [row["label"] for row in rows]


def test_a_model_labels_new_documents(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--save", tmp_path / "m.bvdt")
    ids, texts, truth = corpus(30, seed=7)
    new = write_csv(tmp_path / "new.csv", {"id": ids, "text": texts})
    result = run("propagate", new, "--model", tmp_path / "m.bvdt", "-o", tmp_path / "new-out.csv")
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "new-out.csv")
    assert [row["label"] for row in rows] == truth
    assert {row["given"] for row in rows} == {"False"}
    assert "Accuracy when the model was made: 1.000" in result.stdout


def test_new_documents_with_labels_join_a_model(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--save", tmp_path / "m.bvdt", "--holdout", 0)
    ids, texts, truth = corpus(30, seed=7)
    ids, truth = [*ids, "n1", "n2", "n3"], [*truth, "news", "news", "news"]
    texts = [*texts, "press paper apple", "press paper press", "paper press"]
    given = [name if i in (0, 30) else "" for i, name in enumerate(truth)]
    new = write_csv(tmp_path / "new.csv", {"id": ids, "text": texts, "topic": given})
    more = ["-l", "topic", "-o", tmp_path / "out.csv", "--save", tmp_path / "m2.bvdt", "--json"]
    result = run("propagate", new, "--model", tmp_path / "m.bvdt", *more)
    assert result.exit_code == 0, result.output
    rows, told = read_csv(tmp_path / "out.csv"), json.loads(result.stdout)
    assert [row["label"] for row in rows[:31]] == truth[:31]
    assert [row["given"] for row in rows] == [str(bool(name)) for name in given]
    assert told["labeled"] == 2
    assert told["classes"] == ["cars", "food", "music", "news"]
    assert "classes that the model did not have: news" in result.stderr
    words = [word for text in texts for word in text.split()]
    assert told["unknown_words"] == pytest.approx(np.isin(words, ["press", "paper"]).mean())
    assert "of the words are unknown to the model" in result.stderr
    updated = load_model(tmp_path / "m2.bvdt")
    assert len(updated.codes) == N + 33
    assert (updated.codes >= 0).sum() == N_LABELS + 2
    assert run("propagate", new, "--model", tmp_path / "m2.bvdt", "-o", tmp_path / "b.csv").exit_code == 0
    assert [row["label"] for row in read_csv(tmp_path / "b.csv")][:31] == truth[:31]


def test_documents_without_labels_join_a_model_of_columns(tmp_path):
    path = points_csv(tmp_path)
    _, before = propagate(tmp_path, path, "topic", "--save", tmp_path / "m.bvdt", "--holdout", 0)
    columns = {name: [row[name] for row in read_csv(path)] for name in read_csv(path)[0]}
    blank = write_csv(tmp_path / "blank.csv", columns | {"topic": [""] * N})
    more = ["-l", "topic", "-o", tmp_path / "out.csv", "--report", tmp_path / "r.html"]
    result = run("propagate", blank, "--model", tmp_path / "m.bvdt", *more)
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "out.csv")
    assert np.mean([a["label"] == b["label"] for a, b in zip(before, rows, strict=True)]) > 0.95
    assert "The least certain" in (tmp_path / "r.html").read_text()


def test_a_model_of_columns_leaves_other_columns_alone(tmp_path):
    path = points_csv(tmp_path)
    _, before = propagate(tmp_path, path, "topic", "--save", tmp_path / "m.bvdt", "--holdout", 0)
    result = run("propagate", path, "--model", tmp_path / "m.bvdt", "-o", tmp_path / "again.csv")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    again = read_csv(tmp_path / "again.csv")
    assert np.mean([a["label"] == b["label"] for a, b in zip(before, again, strict=True)]) > 0.95


def test_a_model_of_an_svmlight_file_without_the_first_feature(tmp_path):
    _, _, truth = corpus()
    path, X = tmp_path / "docs.svm", counts()
    dump_svmlight_file(X, np.zeros(N, int), str(path), zero_based=True)
    propagate(tmp_path, path, labels_csv(tmp_path), "--save", tmp_path / "m.bvdt", "--holdout", 0)
    rows = np.flatnonzero(X[:, [0]].toarray().ravel() == 0)
    dump_svmlight_file(X[rows], np.zeros(len(rows), int), str(tmp_path / "new.svm"), zero_based=True)
    result = run("propagate", tmp_path / "new.svm", "--model", tmp_path / "m.bvdt", "-o", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    found = [row["label"] for row in read_csv(tmp_path / "n.csv")]
    assert np.mean([label == truth[i] for label, i in zip(found, rows, strict=True)]) > 0.95


def test_the_report_of_a_model_promises_no_more_than_it_knows(tmp_path):
    path = docs_csv(tmp_path)
    propagate(tmp_path, path, "topic", "--save", tmp_path / "m.bvdt", "--report", tmp_path / "a.html")
    more = ["--model", tmp_path / "m.bvdt", "-o", tmp_path / "b.csv", "--report", tmp_path / "b.html"]
    assert run("propagate", path, *more).exit_code == 0
    fitted, predicted = ((tmp_path / name).read_text() for name in ("a.html", "b.html"))
    assert "What to label next" in fitted
    assert "many others follow them" in fitted
    assert "The least certain" in predicted
    assert "many others follow them" not in predicted


def test_a_model_labels_one_document(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--save", tmp_path / "m.bvdt")
    one = write_csv(tmp_path / "one.csv", {"text": ["butter and flour in the oven"]})
    assert run("propagate", one, "--model", tmp_path / "m.bvdt", "-o", tmp_path / "1.csv").exit_code == 0
    assert [row["label"] for row in read_csv(tmp_path / "1.csv")] == ["food"]


def test_documents_without_known_terms_are_told(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--save", tmp_path / "m.bvdt")
    new = write_csv(tmp_path / "new.csv", {"text": ["butter", "zzz", "qqq xxx"]})
    result = run("propagate", new, "--model", tmp_path / "m.bvdt", "-o", tmp_path / "new-out.csv")
    assert result.exit_code == 0
    assert "note: 2 documents hold no known term" in result.stderr


def test_empty_rows_of_a_matrix_are_told(tmp_path):
    X = sparse.csr_array(np.vstack([counts().toarray()[:-1] + 0.5 * np.eye(N - 1, 30), np.zeros((1, 30))]))
    sparse.save_npz(tmp_path / "m.npz", X)
    result, _ = propagate(tmp_path, tmp_path / "m.npz", labels_csv(tmp_path), "--holdout", 0)
    assert "note: 1 document holds only zeros: its place is a guess" in result.stderr


def test_nothing_left_to_label(tmp_path):
    ids, texts, truth = corpus()
    path = write_csv(tmp_path / "d.csv", {"id": ids, "text": texts, "topic": truth})
    result, rows = propagate(tmp_path, path, "topic", "--suggest", 5)
    assert [row["label"] for row in rows] == truth
    assert "Nothing to label next" in result.stdout


def test_the_same_seed_gives_the_same_file(tmp_path):
    path = docs_csv(tmp_path)
    for name, jobs in (("a", 1), ("b", 2)):
        assert (
            run("propagate", path, "-l", "topic", "-o", tmp_path / f"{name}.csv", "-j", jobs).exit_code == 0
        )
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_json_is_the_only_output(tmp_path):
    more = ["--suggest", 3, "--report", tmp_path / "r.html", "--save", tmp_path / "m.bvdt"]
    result, rows = propagate(tmp_path, docs_csv(tmp_path), "topic", "--json", *more)
    found = json.loads(result.stdout)
    assert result.stderr == ""
    assert found["documents"] == N
    assert found["labeled"] == N_LABELS
    assert found["classes"] == sorted(WORDS)
    assert found["holdout"]["n"] == N_LABELS
    assert found["holdout"]["low"] < found["holdout"]["accuracy"] == 1.0
    assert np.sum(found["holdout"]["confusion"]) == N_LABELS
    assert sum(found["predicted"].values()) == N - N_LABELS
    assert [found[key] for key in ("output", "report", "model")] == [
        str(tmp_path / name) for name in ("out.csv", "r.html", "m.bvdt")
    ]
    assert len(found["suggestions"]) == 3
    unlabeled = {row["id"] for row in rows if row["given"] == "False"}
    assert {item["id"] for item in found["suggestions"]} <= unlabeled
    assert found["seconds"]["total"] > 0


def test_quiet_says_nothing(tmp_path):
    result, _ = propagate(tmp_path, points_csv(tmp_path), "topic", "--quiet", "--suggest", 3)
    assert result.output == ""


def test_suggestions_are_listed(tmp_path):
    result, rows = propagate(tmp_path, docs_csv(tmp_path), "topic", "--suggest", 4)
    lines = result.stdout.split("Label these next, the most useful first:\n")[1].splitlines()
    unlabeled = {row["id"] for row in rows if row["given"] == "False"}
    assert lines[0].split() == ["id", "label", "confidence", "runner_up", "text"]
    assert len({line.split()[0] for line in lines[1:5]} & unlabeled) == 4


def test_the_report_is_written(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert f"{N - N_LABELS} of {N} documents got one of 3 labels" in page
    assert "18" in page
    assert (tmp_path / "r.html").stat().st_mode & 0o777 == (tmp_path / "out.csv").stat().st_mode & 0o777


# -- the hold-out ------------------------------------------------------------------------------------------


def test_holdout_off(tmp_path):
    result, _ = propagate(tmp_path, docs_csv(tmp_path), "topic", "--holdout", 0, "--json")
    assert json.loads(result.stdout)["holdout"] is None


def test_holdout_share(tmp_path):
    result, _ = propagate(tmp_path, docs_csv(tmp_path), "topic", "--holdout", 0.5, "--json")
    assert json.loads(result.stdout)["holdout"]["folds"] == 2


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (["food"] * 20, "the labels name only one class"),
        (["food", "cars", "music"], "no class has two labels"),
        (["food", "cars"] * 3, "6 labels; 20 are needed"),
    ],
)
def test_too_few_labels_to_measure(tmp_path, labels, reason):
    ids, texts, _ = corpus()
    path = write_csv(
        tmp_path / "d.csv", {"id": ids, "text": texts, "topic": labels + [""] * (N - len(labels))}
    )
    result, _ = propagate(tmp_path, path, "topic")
    assert f"Accuracy: not measured, {reason}" in result.stdout


def test_a_lone_class_is_named(tmp_path):
    ids, texts, truth = corpus()
    labels = [name if i < 30 and (name != "music" or i == 2) else "" for i, name in enumerate(truth)]
    path = write_csv(tmp_path / "d.csv", {"id": ids, "text": texts, "topic": labels})
    result, _ = propagate(tmp_path, path, "topic")
    assert "1 class has one label, which cannot be hidden (music): untested" in result.stdout


# -- options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        ["--divergence", "gid"],
        ["--divergence", "kl"],
        ["--bandwidth", "learn"],
        ["--bandwidth", "0.2", "--neighbors", "0", "--trees", "3"],
        ["--alpha", "0.5"],
        ["--ngrams", "1-2", "--min-df", "2"],
        ["--chars"],
        ["--stop-words", "english"],
        ["--scale", "none"],
    ],
    ids=" ".join,
)
def test_options(tmp_path, options):
    _, rows = propagate(tmp_path, docs_csv(tmp_path), "topic", *options, "--holdout", 0)
    truth = corpus()[2]
    assert np.mean([row["label"] == name for row, name in zip(rows, truth, strict=True)]) > 0.9


def test_stop_words_of_a_file(tmp_path):
    (tmp_path / "stop.txt").write_text("apple\nPIE\n")
    result, _ = propagate(
        tmp_path, docs_csv(tmp_path), "topic", "--stop-words", tmp_path / "stop.txt", "--json"
    )
    assert json.loads(result.stdout)["walk"]["features"] == 28


@pytest.mark.parametrize("option", ["--unlabeled", "--unlabelled", "--missing"])
def test_a_word_for_unlabeled(tmp_path, option):
    ids, texts, truth = corpus()
    labels = [name if i < N_LABELS else "?" for i, name in enumerate(truth)]
    path = write_csv(tmp_path / "d.csv", {"id": ids, "text": texts, "topic": labels})
    result, _ = propagate(tmp_path, path, "topic", option, "?", "--json")
    assert json.loads(result.stdout)["classes"] == sorted(WORDS)


def test_columns_are_standardised(tmp_path):
    """A column in another unit, a thousand times larger and without information, drowns the others."""
    result, _ = propagate(tmp_path, points_csv(tmp_path), "topic", "--json")
    assert json.loads(result.stdout)["walk"]["scale"] == "standard"
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result, raw = propagate(
            tmp_path, points_csv(tmp_path), "topic", "--scale", "none", "--blend", "walk", "--json"
        )
    assert "note: column 3 of X is nearly all of the squared distances" in result.stderr
    truth = corpus()[2]
    assert np.mean([row["label"] == name for row, name in zip(raw, truth, strict=True)]) < 0.9


def test_control_characters_do_not_reach_the_terminal(tmp_path):
    ids, texts, truth = corpus()
    ids[40] = "evil\x1b[31m"
    labels = [
        "\x1b]0;title\x07" if name == "food" and i < 18 else name if i < 18 else ""
        for i, name in enumerate(truth)
    ]
    path = write_csv(tmp_path / "d.csv", {"id": ids, "text": texts, "topic": labels})
    result, _ = propagate(tmp_path, path, "topic", "--suggest", 50)
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


@pytest.mark.parametrize("blend", ["auto", "walk", "linear", "naive-bayes"])
def test_priors(tmp_path, blend):
    result, rows = propagate(tmp_path, docs_csv(tmp_path), "topic", "--blend", blend, "--json")
    told = json.loads(result.stdout)
    truth = corpus()[2]
    assert np.mean([row["label"] == name for row, name in zip(rows, truth, strict=True)]) > 0.9
    if blend == "walk":
        assert told["blend"] is None
        assert told["holdout"]["alone"] == []
        return
    assert set(told["blend"]["weights"]) == {expert["name"] for expert in told["holdout"]["alone"]}
    assert all(expert["low"] <= expert["accuracy"] <= expert["high"] for expert in told["holdout"]["alone"])
    assert told["holdout"]["curve"][-1]["accuracy"] == told["blend"]["accuracy"]["value"]


def test_experts_are_told(tmp_path):
    result, _ = propagate(tmp_path, docs_csv(tmp_path), "topic", "--report", str(tmp_path / "r.html"))
    assert "each expert alone: walk" in result.stdout + result.stderr
    told = next(line for line in result.stdout.splitlines() if line.startswith("Shares in the answer"))
    assert abs(sum(map(int, re.findall(r"(\d+) %", told.partition(";")[0]))) - 100) <= 2  # each is rounded
    assert "labels to tell whether more would help: " in result.stdout + result.stderr
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "blend of all" in page
    assert "The chance to be right, as far as" in page


@pytest.mark.parametrize("suffix", [".npy", ".mtx"])
def test_distances_and_graphs_that_are_read_as_points_are_told(tmp_path, suffix):
    X = points()
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    nearest = sparse.csr_array(distances * (distances.argsort(axis=1).argsort(axis=1) < 6))
    path = tmp_path / f"matrix{suffix}"
    np.save(path, distances) if suffix == ".npy" else io.mmwrite(path, nearest)
    result, _ = propagate(tmp_path, path, labels_csv(tmp_path))
    what = "symmetric, as graphs and matrices of distances" if suffix == ".npy" else "5 entries in every row"
    assert what in result.stderr
    assert "rows are taken as points; graphs are for Python" in result.stderr
    result, _ = propagate(tmp_path, docs_matrix(tmp_path, suffix), labels_csv(tmp_path))
    assert "graphs" not in result.stderr


def test_method_and_blocks_reach_the_walk(tmp_path):
    docs, model = docs_csv(tmp_path), tmp_path / "m.bvdt"
    propagate(tmp_path, docs, "topic", "--method", "poisson", "--blocks", 600, "--trees", 1, "--save", model)
    found = load_model(model).propagation
    assert (found.method, found.blend, found.operator_.n_blocks) == ("poisson", None, 600)
    command = ["propagate", docs, "--labels", "topic", "-o", tmp_path / "out.csv"]
    refused = run(*command, "--method", "walk", "--blend", "linear")
    assert refused.exit_code == 2
    assert "--method walk is for the walk alone; leave out --blend linear, or --method" in refused.output


def test_documents_like_no_class_get_another_name(tmp_path):
    path = docs_csv(tmp_path)
    result, rows = propagate(
        tmp_path, path, "topic", "--unknown", "none", "--reject", 0.3, "--save", tmp_path / "m.bvdt"
    )
    rejected = [row for row in rows if row["label"] == "none"]
    assert rejected
    assert all(
        float(row["novelty"]) > 0.7 and row["given"] == "False" and row["runner_up"] for row in rejected
    )
    kept = [row for row in rows if row["label"] != "none" and row["given"] == "False"]
    assert all(float(row["novelty"]) <= 0.7 for row in kept)
    assert f"Like no class: {len(rejected)} documents are 'none'" in result.stdout
    out = ["--model", tmp_path / "m.bvdt", "--unknown", "none", "--reject", 0.3, "-o", tmp_path / "new.csv"]
    assert run("propagate", path, *out).exit_code == 0
    assert {row["label"] for row in read_csv(tmp_path / "new.csv")} <= {"cars", "food", "music", "none"}
    assert "novelty" in read_csv(tmp_path / "new.csv")[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--unknown", "food"], "--unknown needs a name that is no class; 'food' is one"),
        (["--reject", "5"], "needs a share from 0 to 1, such as 0.05; got '5'"),
    ],
)
def test_bad_marks_and_shares_are_refused(tmp_path, options, sentence):
    path = docs_csv(tmp_path)
    result = run("propagate", path, "-l", "topic", "-o", tmp_path / "out.csv", *options)
    assert result.exit_code != 0
    assert sentence in " ".join(result.output.split())


def test_doubtful_labels_are_written_and_reported(tmp_path):
    ids, texts, truth = corpus()
    given = [name if i < 40 else "" for i, name in enumerate(truth)]
    given[3] = "food" if truth[3] != "food" else "cars"
    path = write_csv(tmp_path / "docs.csv", {"id": ids, "text": texts, "topic": given})
    files = ["--check-labels", tmp_path / "check.csv", "--report", tmp_path / "report.html"]
    result, _ = propagate(tmp_path, path, "topic", *files)
    rows = read_csv(tmp_path / "check.csv")
    assert rows[0]["id"] == ids[3]
    assert (rows[0]["given"], rows[0]["suggested"]) == (given[3], truth[3])
    assert "Labels that the others contradict: 1 of 40" in result.stdout
    assert "Labels to check" in (tmp_path / "report.html").read_text(encoding="utf-8")
