"""The page and the picture of benchmarks/neighbors.py, from what it kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "neighbors.md"
PICTURE = PAGE.with_suffix(".png")
RECALLS = ((0.95, "dense"), (0.99, "dense"), (0.8, "text"), (0.95, "text"))  # and the data compared at it
TEXTS = ("news", "imdb")
LABELS = "labels.jsonl"  # runs of benchmarks/run.py --job blobs-1m, on the same machine
COLORS = {
    "bvdt": "#0b6e99",
    "faiss": "#d9822b",
    "hnswlib": "#7a9e3d",
    "pynndescent": "#9b59b6",
    "nmslib": "#b03a2e",
}
Found = dict[str, list[dict[str, Any]]]  # by method

HEAD = """# Neighbors: time against recall

`make bench-neighbors` writes this page: 15 neighbors of every point on two threads, seconds {first} from
the points to the lists, index included, and in brackets {second}. The ratio is ours over the fastest
other's, {first}. {note}Each library runs over a grid (faiss-cpu: inverted lists and probes; hnswlib: M and
ef at building and at searching; nmslib: NN and ef of its small world graphs; pynndescent, warm: the number
of neighbors), and its fastest setting that reaches the recall counts; the grid's cost does not. bvdt is
asked for a recall and finds its own setting, which counts. The recall is that of 500 rows with exact
answers. The blobs are Gaussian groups (50 000: 10 groups, centers of deviation 2; 1 000 000: 50 groups,
deviation 1, so that they overlap), the unit vectors 500 topics in 60 directions of falling size with noise
in these and in all 384, the histograms gamma draws around 30 profiles, compared by KL; the texts are rows
of tf-idf, of which faiss-cpu and hnswlib take none.

"""
WORDS = {"wall": "by the clock", "cpu": "of both cores together"}


def read(folder: Path, name: str) -> Found:
    found: Found = {}
    for file in sorted(folder.glob(f"{name}.*.jsonl")):
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        found[file.name.split(".")[1]] = [line for line in lines if "setting" in line]
    return found


def fastest(runs: list[dict[str, Any]], recall: float, by: str) -> dict[str, Any] | None:
    return min((run for run in runs if run["recall"] >= recall), key=lambda run: run[by], default=None)


def told(run: dict[str, Any], by: str) -> str:
    other = run["cpu" if by == "wall" else "wall"]
    return f"{run[by]:.2f} s ({other:.2f}) at {run['recall']:.3f}"


def row(title: str, found: Found, recall: float, by: str) -> str:
    asked = [run for run in found.get("bvdt", []) if run["setting"] == f"recall={recall}"]
    ours = fastest(asked, recall, by)
    rivals = {method: fastest(runs, recall, by) for method, runs in found.items() if method != "bvdt"}
    reached = {method: run for method, run in rivals.items() if run is not None}
    mine = told(ours, by) if ours else "; ".join(f"missed: {told(run, by)}" for run in asked) or "—"
    if not reached:
        runs = [(method, run) for method in rivals for run in found[method]]
        best, run = max(runs, key=lambda pair: pair[1]["recall"], default=("", None))
        most = f"none reached it; {best}, {run['setting']}: {told(run, by)}" if run else "none measured"
        return f"| {title} | {mine} | {most} | — |"
    best = min(reached, key=lambda method: reached[method][by])
    run = reached[best]
    ratio = f"{ours[by] / run[by]:.2f}" if ours else "—"
    return f"| {title} | {mine} | {best}, {run['setting']}: {told(run, by)} | {ratio} |"


def efficient(runs: list[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    """Those that no faster one beats."""
    best, kept = 0.6, []
    for run in sorted(runs, key=lambda run: run[by]):
        if run["recall"] > best:
            best = run["recall"]
            kept.append(run)
    return kept


def draw(titles: dict[str, str], results: dict[str, Found], by: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 4, figsize=(16, 7))
    for place, (name, title) in zip(axes.ravel(), titles.items(), strict=True):
        for method, runs in results[name].items():
            kept = efficient(runs, by)
            x, y = [run["recall"] for run in kept], [run[by] for run in kept]
            place.plot(x, y, "o-", color=COLORS[method], label=method, markersize=4)
        place.set_yscale("log")
        place.set_title(title, fontsize=10)
        place.set_xlabel("recall")
        place.set_ylabel(f"seconds {WORDS[by]}")
        place.grid(alpha=0.3, which="both")
        if results[name]:
            place.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


def labels(file: Path) -> list[str]:
    """A million points to their classes, from the runs of benchmarks/run.py that lie beside the lists."""
    if not file.exists():
        return []
    lines = ["## A million points to their labels", ""]
    lines += [
        "`python benchmarks/run.py --job blobs-1m`, on the same machine: 1 000 000 × 20, 1 % labeled, from",
        "the points to all classes, as in [side by side](README.md). Cold: with import and compilation.",
        "",
        "| | warm, s | cold, s | peak, MiB | accuracy |",
        "|---|---|---|---|---|",
    ]
    runs = [json.loads(line).get("run") for line in file.read_text(encoding="utf-8").splitlines()]
    for run in sorted((run for run in runs if run), key=lambda run: run["warm"] or 1e9):
        if run["warm"] is None:
            lines.append(f"| {run['method']} | {run['trouble']} | | | |")
            continue
        times, peak = f"{run['warm']:.1f} | {run['cold']:.1f}", run["peak"] / 2**20
        lines.append(f"| {run['method']} | {times} | {peak:.0f} | {run['accuracy']:.4f} |")
    return [*lines, ""]


def write(titles: dict[str, str], folder: Path, by: str, note: str) -> None:
    results = {name: read(folder, name) for name in titles}
    other = WORDS["cpu" if by == "wall" else "wall"]
    lines = [HEAD.format(first=WORDS[by], second=other, note=note and f"{note} ")]
    for recall, kind in RECALLS:
        lines.append(f"## {'Texts, recall' if kind == 'text' else 'Recall'} of at least {recall}\n")
        lines.append("| points | bvdt | fastest other measured | ratio |\n|---|---|---|---|")
        chosen = [name for name in titles if (name in TEXTS) == (kind == "text")]
        lines += [row(titles[name], results[name], recall, by) for name in chosen]
        lines.append("")
    lines += labels(folder / LABELS)
    lines.append("## What was measured\n")
    lines.append("Settings per library; a run that was stopped early has few, and goes on where it ended.\n")
    lines.append("| points | settings |\n|---|---|")
    for name, title in titles.items():
        counts = ", ".join(f"{method} {len(runs)}" for method, runs in results[name].items() if runs)
        lines.append(f"| {title} | {counts} |")
    lines.append("\n## The curves\n\n![Seconds against recall, eight data sets](neighbors.png)\n")
    PAGE.write_text("\n".join(lines), encoding="utf-8")
    draw(titles, results, by)
