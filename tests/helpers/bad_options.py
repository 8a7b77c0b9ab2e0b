"""Bad outputs, models and options for the commands, and what they say to each."""

from __future__ import annotations

from bvdt.operators import storage
from helpers.bad_files import GARBAGE, Case, changed_model, cut, model, of_model, on_docs, operator, put
from helpers.cli_cases import (
    docs_csv,
    docs_folder,
    docs_matrix,
    labels_csv,
    points_csv,
    write_csv,
)

OPTIONS: dict[str, Case] = {
    # the outputs
    "output in no folder": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", f / "no" / "o.csv"],
        r"o\.csv: there is no folder",
    ),
    "output below a file": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", f / "docs.csv" / "o.csv"],
        r"o\.csv",
    ),
    "output is a folder": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", (f / "d.csv").mkdir() or f / "d.csv"],
        "is a folder",
    ),
    "output of no format": on_docs(r"o\.doc needs a name that ends in \.csv", "-o", "o.doc"),
    "output is the input": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "-o", f / "docs.csv"],
        "it is the input as well",
    ),
    "output is the label file": (
        lambda f: ["propagate", docs_matrix(f, ".npz"), "-l", labels_csv(f), "-o", f / "labels.csv"],
        "it is the labels as well",
    ),
    "report that is no page": on_docs(r"r\.pdf needs the suffix \.html", "--report", "r.pdf"),
    "report is the model that is read": of_model(model, "it is the model as well", "--report", "m.bvdt"),
    "output is a link to the stop words": (
        lambda f: [
            "cluster",
            docs_csv(f),
            "--stop-words",
            put(f, "stop.csv", "the of"),
            "-o",
            (f / "link.csv").symlink_to(f / "stop.csv") or f / "link.csv",
        ],
        "it is the stop words as well",
    ),
    "output among the documents": (
        lambda f: ["propagate", docs_folder(f), "-o", f / "docs" / "out.csv"],
        r"out\.csv needs a place outside .*docs, whose files are the documents",
    ),
    "plot among the documents": (
        lambda f: [
            "embed",
            docs_folder(f),
            "--plot",
            (f / "link").symlink_to(f / "docs" / "food") or f / "link" / "p.html",
        ],
        r"p\.html needs a place outside",
    ),
    "no output named": (lambda f: ["propagate", docs_csv(f), "-l", "topic"], "Missing option"),
    "report in no folder": on_docs(r"r\.html: there is no folder", "--report", "no/r.html"),
    "model in no folder": on_docs(r"m\.bvdt: there is no folder", "--save", "no/m.bvdt"),
    "report is the model": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "--report", f / "a", "--save", f / "a"],
        "it is another output as well",
    ),
    "disk full": (
        lambda f: [
            "propagate",
            docs_csv(f),
            "-l",
            "topic",
            "-o",
            (f / "o.csv").symlink_to("/dev/full") or f / "o.csv",
        ],
        r"o\.csv: cannot be written: No space left",
    ),
    # models
    "no such model": of_model(lambda f: f / "no.bvdt", r"no\.bvdt"),
    "garbage model": of_model(lambda f: put(f, "m.bvdt", GARBAGE), r"m\.bvdt is not a bvdt file"),
    "empty model": of_model(lambda f: put(f, "m.bvdt", ""), r"m\.bvdt is not a bvdt file"),
    "text as model": of_model(docs_csv, r"docs\.csv is not a bvdt file"),
    "another npz as model": of_model(lambda f: docs_matrix(f, ".npz"), r"docs\.npz is not a bvdt file"),
    "truncated model": of_model(lambda f: cut(model(f)), r"m\.bvdt is not a bvdt file, or is truncated"),
    "newer model": of_model(lambda f: changed_model(f, storage.VERSION + 1), "update bvdt to load it"),
    "operator as model": of_model(operator, "holds an operator without labels"),
    "folder as model": of_model(lambda f: f, "is a folder, not a bvdt file"),
    "model and a model to be saved": of_model(
        model, "unless --labels adds some; leave out --save", "--save", "n"
    ),
    "model, labels and settings": of_model(
        model, "leave out --neighbors", "--labels", "topic", "--neighbors", 3
    ),
    "model and labels in no column": of_model(model, 'no column "topics"', "--labels", "topics"),
    "model and settings": of_model(model, "leave out --neighbors", "--neighbors", 3),
    **{
        f"model and {option} 0": of_model(model, f"leave out {option}", option, 0)
        for option in ("--neighbors", "--alpha", "--holdout", "--suggest")
    },
    "model of texts on a matrix": (
        lambda f: ["propagate", docs_matrix(f, ".npz"), "--model", model(f)],
        r"docs\.npz needs a text column",
    ),
    "model of columns on texts": of_model(
        lambda f: model(f, points_csv), r"new\.csv holds texts; the model was made from numeric columns"
    ),
    "model of other columns": (
        lambda f: [
            "propagate",
            write_csv(f / "x.csv", {"x0": [1, 2], "x9": [1, 2]}),
            "--model",
            model(f, points_csv),
        ],
        r"x\.csv needs the columns.*'x1', 'x2', 'x3' are missing",
    ),
    # settings
    "unknown divergence": on_docs("needs one of squared_euclidean.*'manhattan'", "--divergence", "manhattan"),
    "gid of negative numbers": (
        lambda f: ["propagate", points_csv(f), "-l", "topic", "--divergence", "gid"],
        r"points\.csv: gid needs",
    ),
    "bandwidth 0": on_docs("needs auto, learn or a number above 0; got '0'", "--bandwidth", "0"),
    "bandwidth in words": on_docs("needs auto, learn or a number", "--bandwidth", "wide"),
    "near below 0": on_docs("needs an integer ≥ 0; got '-1'", "--neighbors", "-1"),
    "no tree": on_docs("needs an integer ≥ 1; got '0'", "--trees", "0"),
    "half a tree": on_docs("needs an integer ≥ 1; got '1.5'", "--trees", "1.5"),
    "alpha above 1": on_docs("needs auto or a number from 0 to 1; got '2'", "--alpha", "2"),
    "unknown scale": on_docs("needs one of auto, tfidf", "--scale", "log"),
    "standardised texts": on_docs("cannot be standardised", "--scale", "standard"),
    "n-grams backwards": on_docs("needs a length such as 1", "--ngrams", "3-1"),
    "min-df 0": on_docs("needs an integer ≥ 1", "--min-df", "0"),
    "min-df above N": on_docs("min_df needs 1 to 60", "--min-df", "61"),
    "no stop words": on_docs('needs "english" or a file of words', "--stop-words", "klingon"),
    "garbage stop words": (
        lambda f: ["propagate", docs_csv(f), "-l", "topic", "--stop-words", put(f, "s.txt", GARBAGE)],
        r"s\.txt needs words in UTF-8",
    ),
    "stop words of characters": on_docs("--stop-words .* --chars", "--stop-words", "english", "--chars"),
    "hold-out of all": on_docs(r"share from 0\.05 to 0\.5, or 0; got '0\.9'", "--holdout", "0.9"),
    "hold-out in words": on_docs("share from .* got 'some'", "--holdout", "some"),
    "suggest below 0": on_docs("needs an integer ≥ 0", "--suggest", "-5"),
    "no threads": on_docs("needs a number of threads; got '0'", "--jobs", "0"),
    "seed below 0": on_docs("needs an integer ≥ 0", "--seed", "-1"),
    "unknown option": on_docs("No such option", "--frobnicate"),
    "unknown command": (lambda f: ["frobnicate"], "No such command"),
    # the other commands
    "one cluster": (lambda f: ["cluster", docs_csv(f), "-k", "1"], "needs an integer ≥ 2"),
    "more clusters than documents": (
        lambda f: ["cluster", docs_csv(f), "-k", "61"],
        "at least 61 documents for 61 clusters; it has 60",
    ),
    "as many coordinates as documents": (
        lambda f: ["embed", docs_csv(f), "-k", "60"],
        "at least 61 documents for 60 coordinates",
    ),
    "plot of no format": (
        lambda f: ["embed", docs_csv(f), "--plot", f / "p.gif"],
        r"p\.gif needs a name that ends in",
    ),
    "plot in no folder": (
        lambda f: ["embed", docs_csv(f), "--plot", f / "no" / "p.png"],
        r"p\.png: there is no folder",
    ),
    "plot is the output": (
        lambda f: ["cluster", docs_csv(f), "--plot", f / "out.csv"],
        "another output|ends in",
    ),
    "cluster a missing file": (lambda f: ["cluster", f / "no.csv"], r"no\.csv: there is no such file"),
    "inspect a missing file": (lambda f: ["inspect", f / "no.bvdt"], r"no\.bvdt"),
    "inspect garbage": (lambda f: ["inspect", put(f, "m.bvdt", GARBAGE)], r"m\.bvdt is not a bvdt file"),
    "inspect a truncated model": (lambda f: ["inspect", cut(model(f))], "truncated"),
    "inspect a folder": (lambda f: ["inspect", f], "is a folder"),
}
