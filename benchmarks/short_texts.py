"""One-line texts with few labels, drawn at random: text_pipeline beside linear classifiers.

Prints, per corpus and number of labels, means over labelings: accuracy on the unlabeled of LinearSVC on
tf-idf words, ComplementNB on their counts and LinearSVC on tf-idf character n-grams, all fitted on the
labeled rows, and of ``bvdt.text_pipeline`` at its defaults; the latter less the best of the others. Corpora:
CLINC150, the first sentence of AG News, descriptions of Debian's packages by section (where apt-cache is) and
first lines of the docstrings of Python's library by subject.
Run: python benchmarks/short_texts.py [--labels 40 150] [--seeds 0 1] [corpus ...]
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import bvdt
from corpora import texts
from docstrings import read_docstrings

LABELS = (40, 70, 100, 150)
SEEDS = range(400, 405)
MOST = 6000  # texts of a corpus, drawn once
SECTIONS = 30  # of Debian's, the largest

Corpus = tuple[list[str], np.ndarray]


def debian() -> Corpus:
    """Package descriptions, one line each, and their sections."""
    found = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    rows = {}
    for package in found.split("\n\n"):
        section = re.search(r"^Section: (?:.*/)?(\S+)$", package, re.M)
        line = re.search(r"^Description(?:-en)?: (.+)$", package, re.M)
        if section and line:
            rows[line[1]] = section[1]
    largest = {name for name, _ in Counter(rows.values()).most_common(SECTIONS)}
    kept = [(text, name) for text, name in rows.items() if name in largest]
    return [text for text, _ in kept], _codes([name for _, name in kept])


def docstrings() -> Corpus:
    found = read_docstrings()
    return [text.strip().splitlines()[0] for text in found.texts], np.array(found.labels)


def sentences() -> Corpus:
    documents, y = texts("agnews")
    return [re.split(r"(?<=[.?!]) ", text)[0] for text in documents], y


CORPORA: dict[str, Callable[[], Corpus]] = {
    "clinc150": lambda: texts("clinc150"),
    "agnews": sentences,
    "docstrings": docstrings,
    "debian": debian,
}
RIVALS = {
    "LinearSVC": lambda: make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(random_state=0)),
    "ComplementNB": lambda: make_pipeline(CountVectorizer(), ComplementNB()),
    "characters": lambda: make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True), LinearSVC(random_state=0)
    ),
}


def _codes(names: list[str]) -> np.ndarray:
    return np.unique(names, return_inverse=True)[1]


def sample(corpus: Corpus) -> Corpus:
    documents, y = corpus
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST])
    return [documents[i] for i in rows], y[rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", choices=[[], *CORPORA], metavar="corpus")
    parser.add_argument("--labels", nargs="+", type=int, default=LABELS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    options = parser.parse_args()
    names = options.corpora or [n for n in CORPORA if n != "debian" or shutil.which("apt-cache")]
    heads = ["corpus", "labels", *RIVALS, "bvdt", "bvdt − best"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    leads = []
    for name in names:
        documents, y = sample(CORPORA[name]())
        for n in options.labels:
            found = []
            for seed in options.seeds:
                drawn = np.random.default_rng(seed).choice(len(y), n, replace=False)
                rest = np.setdiff1d(np.arange(len(y)), drawn)
                few = np.full(len(y), -1)
                few[drawn] = y[drawn]
                given = [documents[i] for i in drawn]
                right = [
                    np.mean(R().fit(given, y[drawn]).predict(documents)[rest] == y[rest])
                    for R in RIVALS.values()
                ]
                model = bvdt.text_pipeline("text", random_state=0).fit(documents, few)
                found.append([*right, np.mean(model[-1].transduction_[rest] == y[rest])])
            mean = np.mean(found, axis=0)
            leads.append(mean[-1] - mean[:-1].max())
            print(f"| {name} | {n} | {' | '.join(f'{m:.3f}' for m in mean)} | {leads[-1]:+.3f} |", flush=True)
    print(f"\nbvdt − best: least {min(leads):+.3f}, mean {np.mean(leads):+.3f}")


if __name__ == "__main__":
    main()
