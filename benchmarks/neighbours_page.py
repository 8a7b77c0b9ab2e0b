"""The page and the picture of benchmarks/neighbours.py, from what it kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "neighbours.md"
PICTURE = PAGE.with_suffix(".png")
RECALLS = (0.95, 0.99)
COLOURS = {
    "bvdt": "#0b6e99",
    "faiss": "#d9822b",
    "hnswlib": "#7a9e3d",
    "pynndescent": "#9b59b6",
    "nmslib": "#b03a2e",
}
Found = dict[str, list[dict[str, Any]]]  # by method

HEAD = """# Neighbours: time against recall

`make bench-neighbours` writes this page: 15 neighbours of every point on two threads, processor seconds of
both from the points to the lists, index included, and in brackets seconds by the clock. The clock also
shows what else the machine did: the last run shared its two cores, so the ratio, ours over the fastest
other's, is of processor seconds. Each library runs over a grid (faiss-cpu: inverted lists and probes;
hnswlib: M and ef; nmslib: NN and ef of its small world graphs; pynndescent, warm: the number of
neighbours), and its fastest setting that reaches the recall counts; the grid's cost does not. bvdt is asked
for a recall and finds its own setting, which counts. The recall is that of 500 rows with exact answers. The
blobs are Gaussian groups (50 000: 10 groups, centres of deviation 2; 1 000 000: 50 groups, deviation 1, so
that they overlap), the unit vectors 500 topics in 60 directions of falling size with noise in these and in
all 384, the histograms gamma draws around 30 profiles, compared by KL.

"""


def read(folder: Path, name: str) -> Found:
    found: Found = {}
    for file in sorted(folder.glob(f"{name}.*.jsonl")):
        lines = file.read_text(encoding="utf-8").splitlines()
        found[file.name.split(".")[1]] = [json.loads(line) for line in lines]
    return found


def fastest(runs: list[dict[str, Any]], recall: float) -> dict[str, Any] | None:
    return min((run for run in runs if run["recall"] >= recall), key=lambda run: run["cpu"], default=None)


def told(run: dict[str, Any]) -> str:
    return f"{run['cpu']:.2f} s ({run['wall']:.2f}) at {run['recall']:.3f}"


def row(title: str, found: Found, recall: float) -> str:
    asked = [run for run in found.get("bvdt", []) if run["setting"] == f"recall={recall}"]
    ours = fastest(asked, recall)
    rivals = {method: fastest(runs, recall) for method, runs in found.items() if method != "bvdt"}
    reached = {method: run for method, run in rivals.items() if run is not None}
    mine = told(ours) if ours else "—"
    if not reached:
        return f"| {title} | {mine} | none measured | — |"
    best = min(reached, key=lambda method: reached[method]["cpu"])
    run = reached[best]
    ratio = f"{ours['cpu'] / run['cpu']:.2f}" if ours else "—"
    return f"| {title} | {mine} | {best}, {run['setting']}: {told(run)} | {ratio} |"


def draw(titles: dict[str, str], results: dict[str, Found]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(12, 7))
    for place, (name, title) in zip(axes.ravel(), titles.items(), strict=True):
        for method, runs in results[name].items():
            runs = sorted((run for run in runs if run["recall"] > 0.6), key=lambda run: run["cpu"])
            best, kept = 0.0, []
            for run in runs:  # those that no faster one beats
                if run["recall"] > best:
                    best = run["recall"]
                    kept.append(run)
            place.plot(
                [run["recall"] for run in kept],
                [run["cpu"] for run in kept],
                "o-",
                color=COLOURS[method],
                label=method,
                markersize=4,
            )
        place.set_yscale("log")
        place.set_title(title, fontsize=10)
        place.set_xlabel("recall")
        place.set_ylabel("processor seconds")
        place.grid(alpha=0.3, which="both")
        if results[name]:
            place.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


def write(titles: dict[str, str], folder: Path) -> None:
    results = {name: read(folder, name) for name in titles}
    lines = [HEAD]
    for recall in RECALLS:
        lines.append(f"## Recall of at least {recall}\n")
        lines.append("| points | bvdt | fastest other measured | ratio |\n|---|---|---|---|")
        lines += [row(title, results[name], recall) for name, title in titles.items()]
        lines.append("")
    lines.append("## What was measured\n")
    lines.append("Settings per library; a run that was stopped early has few, and goes on where it ended.\n")
    lines.append("| points | settings |\n|---|---|")
    for name, title in titles.items():
        counts = ", ".join(f"{method} {len(runs)}" for method, runs in results[name].items() if runs)
        lines.append(f"| {title} | {counts} |")
    lines.append("\n## The curves\n\n![Seconds against recall, six data sets](neighbours.png)\n")
    PAGE.write_text("\n".join(lines), encoding="utf-8")
    draw(titles, results)
