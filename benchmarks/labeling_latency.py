"""From a key to the new labels and the next document on the screen, in Chromium, on a quiet machine.

    python benchmarks/labeling_latency.py [imdb|20news_bydate_train] [documents] [answers, 30]

The corpora are counts: texts are made of the terms' numbers. The clock runs in the page, from the key's event
to the second frame after the next document is there, and after the map has been painted with the new label.
"""

from __future__ import annotations

import csv
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

from corpora import FOLDER

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from helpers.browser import Browser
from helpers.labeling import Process

WATCH = """(() => {
  const times = window.times = [];
  let began = 0, row = "", wanted = 0, shown = 0, painted = 0;
  const later = (act) => requestAnimationFrame(() => requestAnimationFrame(act));
  const done = () => {
    if (!began || !shown || !painted) return;
    times.push([shown, painted]);
    began = 0;
    document.body.dataset.timed = times.length;
  };
  document.addEventListener("keydown", (event) => {
    if (!/^[1-9]$/.test(event.key)) return;
    [began, row, shown, painted] = [performance.now(), document.body.dataset.row, 0, 0];
    wanted = Number(document.body.dataset.followed || 0) + 1;
  }, true);
  new MutationObserver(() => {
    const now = document.body.dataset;
    if (began && now.row !== row) later(() => { shown = shown || performance.now() - began; done(); });
    if (began && Number(now.followed) >= wanted)
      later(() => { painted = painted || performance.now() - began; done(); });
  }).observe(document.body, { attributes: true });
})()"""


def write_documents(folder: Path, name: str, n: int) -> dict[str, str]:
    with np.load(FOLDER / f"{name}.npz", allow_pickle=True) as file:
        first, terms, counts, labels = (file[k] for k in ("indptr", "indices", "data", "labels"))
    truth = {}
    with open(folder / "docs.csv", "w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow(["id", "text"])
        for k, i in enumerate(np.random.default_rng(0).permutation(len(labels))[:n]):
            part = slice(first[i], first[i + 1])
            words = (f"term{t} " * int(c) for t, c in zip(terms[part], counts[part], strict=True))
            table.writerow([f"d{k}", "".join(words)])
            truth[f"d{k}"] = f"class {labels[i] % 9}"  # as many as there are keys
    return truth


def main() -> None:
    name, n, answers = [*sys.argv[1:], *("imdb", "50000", "30")[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as folder:
        truth = write_documents(Path(folder), name, int(n))
        classes = sorted(set(truth.values()))
        process, browser = Process(Path(folder), "--classes", ",".join(classes)), Browser()
        try:
            page = browser.open(process.address, width=1280, height=860)
            page.wait_for_selector('body[data-row]:not([data-row=""])', state="attached")
            page.wait_for_selector("#drawing", state="hidden", timeout=300_000)
            page.evaluate(WATCH)
            for k in range(int(answers)):
                page.keyboard.press(str(classes.index(truth[page.inner_text("#asked")]) + 1))
                page.wait_for_selector(f'body[data-timed="{k + 1}"]', state="attached")
            shown, painted = zip(*page.evaluate("window.times"), strict=True)
        finally:
            browser.close()
            process.stop()
    both = statistics.median(map(max, shown, painted))
    print(
        f"{name}, {n} documents, median of {answers}: next document {statistics.median(shown):.0f} ms, "
        f"labels on the map {statistics.median(painted):.0f} ms, both {both:.0f} ms"
    )


if __name__ == "__main__":
    main()
