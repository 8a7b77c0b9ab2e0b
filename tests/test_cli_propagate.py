"""The commands as a user runs them: every format in, tables, pages and models out."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import bvdt.files.write
from bvdt.files import read_documents
from cli_cases import (
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
    labels_csv,
    points_csv,
    read_csv,
    run,
    write_csv,
)

COLUMNS = ["id", "label", "confidence", "runner_up", "entropy", "given"]


def propagate(folder, path, labels, *more):
    result = run(
        "propagate", path, *(["--labels", labels] if labels else []), "-o", folder / "out.csv", *more
    )
    assert result.exit_code == 0, result.output
    return result, read_csv(folder / "out.csv")


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
def test_every_format_is_labelled(tmp_path, name):
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
    assert f"{N} documents, {N_LABELS} of them labelled, 3 classes" in result.stdout
    assert "Accuracy on hidden labels: 100.0 %" in result.stdout
    assert str(tmp_path / "out.csv") in result.stdout


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
    assert found["labelled"] == N_LABELS
    assert found["classes"] == sorted(WORDS)
    assert found["holdout"]["n"] == N_LABELS
    assert found["holdout"]["low"] < found["holdout"]["accuracy"] == 1.0
    assert np.sum(found["holdout"]["confusion"]) == N_LABELS
    assert sum(found["predicted"].values()) == N - N_LABELS
    assert [found[key] for key in ("output", "report", "model")] == [
        str(tmp_path / name) for name in ("out.csv", "r.html", "m.bvdt")
    ]
    assert len(found["suggestions"]) == 3
    unlabelled = {row["id"] for row in rows if row["given"] == "False"}
    assert {item["id"] for item in found["suggestions"]} <= unlabelled
    assert found["seconds"]["total"] > 0


def test_quiet_says_nothing(tmp_path):
    result, _ = propagate(tmp_path, points_csv(tmp_path), "topic", "--quiet", "--suggest", 3)
    assert result.output == ""


def test_suggestions_are_listed(tmp_path):
    result, rows = propagate(tmp_path, docs_csv(tmp_path), "topic", "--suggest", 4)
    lines = result.stdout.split("Label these next, the most useful first:\n")[1].splitlines()
    unlabelled = {row["id"] for row in rows if row["given"] == "False"}
    assert lines[0].split() == ["id", "label", "confidence", "runner_up", "text"]
    assert len({line.split()[0] for line in lines[1:5]} & unlabelled) == 4


def test_the_report_is_written(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--report", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "42 of 60 documents got one of 3 labels" in page
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
        (["food", "cars"] * 3, "6 labels in classes with two or more, 10 are needed"),
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
    labels = [name if i < 20 and (name != "music" or i == 2) else "" for i, name in enumerate(truth)]
    path = write_csv(tmp_path / "d.csv", {"id": ids, "text": texts, "topic": labels})
    result, _ = propagate(tmp_path, path, "topic")
    assert "classes with one label could not be tested: music" in result.stderr


# -- options -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        ["--divergence", "gid"],
        ["--divergence", "kl"],
        ["--bandwidth", "learn"],
        ["--bandwidth", "0.2", "--near", "0", "--trees", "3"],
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


def test_missing_word(tmp_path):
    ids, texts, truth = corpus()
    labels = [name if i < N_LABELS else "?" for i, name in enumerate(truth)]
    path = write_csv(tmp_path / "d.csv", {"id": ids, "text": texts, "topic": labels})
    result, _ = propagate(tmp_path, path, "topic", "--missing", "?", "--json")
    assert json.loads(result.stdout)["classes"] == sorted(WORDS)


def test_columns_are_standardised(tmp_path):
    """A column in another unit, a thousand times larger and without information, drowns the others."""
    result, _ = propagate(tmp_path, points_csv(tmp_path), "topic", "--json")
    assert json.loads(result.stdout)["walk"]["scale"] == "standard"
    result, raw = propagate(tmp_path, points_csv(tmp_path), "topic", "--scale", "none", "--json")
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


# -- embed, cluster, inspect -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".png", ".html", ".svg", ".pdf"])
def test_embed(tmp_path, suffix):
    plot = tmp_path / f"p{suffix}"
    result = run(
        "embed", docs_csv(tmp_path), "-o", tmp_path / "x.csv", "-k", 3, "--plot", plot, "-l", "topic"
    )
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "x.csv")
    assert list(rows[0]) == ["id", "x1", "x2", "x3"]
    assert len(rows) == N
    X = np.array([[float(row[f"x{k}"]) for k in (1, 2)] for row in rows])
    truth = np.array(corpus()[2])
    within = np.mean([X[truth == name].std(axis=0) for name in WORDS])
    assert within < 0.5 * X.std(axis=0).mean()
    start = {".png": b"\x89PNG", ".html": b"<!doctype html>", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert plot.read_bytes().startswith(start)


def test_embed_one_component(tmp_path):
    result = run(
        "embed", docs_csv(tmp_path), "-o", tmp_path / "x.csv", "-k", 1, "--plot", tmp_path / "p.html"
    )
    assert result.exit_code == 0, result.output
    assert list(read_csv(tmp_path / "x.csv")[0]) == ["id", "x1"]


@pytest.mark.parametrize("suffix", [".png", ".html"])
def test_cluster(tmp_path, suffix):
    path = docs_csv(tmp_path)
    plot = tmp_path / f"p{suffix}"
    result = run("cluster", path, "-k", 3, "-o", tmp_path / "c.csv", "--plot", plot, "--json")
    assert result.exit_code == 0, result.output
    rows = read_csv(tmp_path / "c.csv")
    assert {row["cluster"] for row in rows} == {"1", "2", "3"}
    pairs = {(row["cluster"], name) for row, name in zip(rows, corpus()[2], strict=True)}
    assert len(pairs) == 3
    for item in json.loads(result.stdout)["clusters"]:
        (name,) = {name for number, name in pairs if int(number) == item["cluster"]}
        assert set(item["terms"]) <= set(WORDS[name])
    assert plot.stat().st_size > 1000


def test_inspect(tmp_path):
    propagate(tmp_path, docs_csv(tmp_path), "topic", "--save", tmp_path / "m.bvdt")
    result = run("inspect", tmp_path / "m.bvdt", "--rows", 20)
    assert result.exit_code == 0, result.output
    for piece in ("points", "bandwidth", "depth", "blocks", "lower bound", "docs.csv", "Quality", "cars"):
        assert piece in result.stdout
    found = json.loads(run("inspect", tmp_path / "m.bvdt", "--json", "--rows", 20).stdout)
    assert (found["kind"], found["points"], found["features"], found["trees"]) == ("model", N, 30, 2)
    assert found["quality"]["n_rows"] == 20
    assert found["blocks"] == 2 * 2 * (N - 1)


def test_inspect_an_operator(tmp_path):
    bvdt.transition_matrix(counts(), "gid", random_state=0).save(tmp_path / "op")
    found = json.loads(run("inspect", tmp_path / "op", "--json", "--rows", 0).stdout)
    assert found["kind"] == "operator"
    assert found["divergence"] == "gid"
    assert "quality" not in found


# -- help and version --------------------------------------------------------------------------------------


COMMANDS = [
    "",
    "propagate",
    "embed",
    "cluster",
    "inspect",
    "demo",
    "datasets",
    "datasets list",
    "datasets fetch",
]


@pytest.mark.parametrize("command", [name.split() for name in COMMANDS], ids=COMMANDS)
def test_help_fits_a_screen(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = run(*command, "--help")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert any(line.strip().startswith("Example") for line in lines)
    assert any(line.startswith(f"    {' '.join(['bvdt', *command])}") for line in lines)


def test_help_examples_run(tmp_path, monkeypatch):
    """The lines under "Example" in every help text, as they stand."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    docs_csv(tmp_path)
    docs_csv(tmp_path, "new.csv", seed=3)
    examples = [
        line.split()[1:]
        for command in ([], ["propagate"], ["embed"], ["cluster"], ["inspect"])
        for line in run(*command, "--help").stdout.splitlines()
        if line.startswith("    bvdt ")
    ]
    assert len(examples) >= 6
    for example in examples:
        result = run(*example)
        assert result.exit_code == 0, (example, result.output)


def test_version():
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, "0.1.0.dev0\n")


# -- half-written files ------------------------------------------------------------------------------------


def stop_in_the_middle(monkeypatch, error):
    def broken(file, columns, delimiter):
        file.write("id,label\nd0,fo")
        raise error

    monkeypatch.setattr(bvdt.files.write, "_write_delimited", broken)


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "No space left"), 2)])
def test_a_good_file_is_never_replaced_by_half_a_one(tmp_path, monkeypatch, error, code):
    path = docs_csv(tmp_path)
    (tmp_path / "out.csv").write_text("the old one")
    stop_in_the_middle(monkeypatch, error)
    result = run("propagate", path, "-l", "topic", "-o", tmp_path / "out.csv")
    assert result.exit_code == code
    assert (tmp_path / "out.csv").read_text() == "the old one"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["docs.csv", "out.csv"]
    assert "Traceback" not in result.output


def test_a_failed_report_says_that_the_predictions_are_there(tmp_path):
    (tmp_path / "r.html").symlink_to("/dev/full")
    result = run(
        "propagate",
        docs_csv(tmp_path),
        "-l",
        "topic",
        "-o",
        tmp_path / "out.csv",
        "--report",
        tmp_path / "r.html",
    )
    assert result.exit_code == 2
    assert "No space left" in result.stderr
    assert f"{tmp_path / 'out.csv'} is written and complete" in result.stderr
    assert len(read_csv(tmp_path / "out.csv")) == N


def test_ctrl_c_in_a_real_process(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", rng.normal(size=(60_000, 20)))
    (tmp_path / "labels.txt").write_text("\n".join(["a", "b"] * 20 + [""] * 59_960) + "\n")
    command = [sys.executable, "-m", "bvdt", "propagate", "points.npy", "-l", "labels.txt", "-o", "out.csv"]
    command += ["--save", "m.bvdt", "--report", "r.html", "--jobs", "1"]
    before = sorted(p.name for p in tmp_path.iterdir())
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Read points.npy")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err == "bvdt: interrupted; no file is left half-written\n"
    assert "Wrote" not in out
    assert sorted(p.name for p in tmp_path.iterdir()) == before
