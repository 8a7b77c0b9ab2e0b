"""The page and the picture of benchmarks/neighbors.py, from what it kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "neighbors.md"
PICTURE = PAGE.with_suffix(".png")
RECALLS = ((0.95, "dense"), (0.99, "dense"), (0.8, "text"), (0.95, "text"))  # and the data compared at it
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

15 neighbors of every point on two threads: seconds {first} from the points to the lists, index included, and
in brackets {second}; the ratio is ours over the fastest other's. {note}Each library runs over a grid of its
settings, of which the fastest that reaches the recall counts; the grid's cost does not. bvdt is asked for a
recall and tunes itself, and that time counts. Recall is measured on 500 rows with exact answers.
`make bench-neighbors` writes this page; `benchmarks/neighbors_data.py` makes the data.

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


def shown(run: dict[str, Any], by: str) -> str:
    other = run["cpu" if by == "wall" else "wall"]
    return f"{run[by]:.2f} s ({other:.2f}) at {run['recall']:.3f}"


def row(title: str, found: Found, recall: float, by: str) -> str:
    asked = [run for run in found.get("bvdt", []) if run["setting"] == f"recall={recall}"]
    ours = fastest(asked, recall, by)
    rivals = {method: fastest(runs, recall, by) for method, runs in found.items() if method != "bvdt"}
    reached = {method: run for method, run in rivals.items() if run is not None}
    mine = shown(ours, by) if ours else "; ".join(f"missed: {shown(run, by)}" for run in asked) or "—"
    if not reached:
        runs = [(method, run) for method in rivals for run in found[method]]
        best, run = max(runs, key=lambda pair: pair[1]["recall"], default=("", None))
        most = f"none reached it; {best}, {run['setting']}: {shown(run, by)}" if run else "none measured"
        return f"| {title} | {mine} | {most} | — |"
    best = min(reached, key=lambda method: reached[method][by])
    run = reached[best]
    ratio = f"{ours[by] / run[by]:.2f}" if ours else "—"
    return f"| {title} | {mine} | {best}, {run['setting']}: {shown(run, by)} | {ratio} |"


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


def read_labels(file: Path) -> list[dict[str, Any]]:
    """Runs of benchmarks/run.py on a million points that lie beside the lists."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [run for run in (json.loads(line).get("run") for line in lines) if run]


def labels(runs: list[dict[str, Any]]) -> list[str]:
    """A million points to their classes."""
    if not runs:
        return []
    lines = ["## A million points to their labels", ""]
    lines += [
        "`benchmarks/run.py --job blobs-1m` on the same machine: 1 000 000 × 20, 1 % labeled, from the",
        "points to all classes, as in [side by side](README.md).",
        "",
        "| | warm, s | cold, s | peak, MiB | accuracy |",
        "|---|---|---|---|---|",
    ]
    for run in sorted(runs, key=lambda run: run["warm"] or 1e9):
        if run["warm"] is None:
            lines.append(f"| {run['method']} | {run['trouble']} | | | |")
            continue
        times, peak = f"{run['warm']:.1f} | {run['cold']:.1f}", run["peak"] / 2**20
        lines.append(f"| {run['method']} | {times} | {peak:.0f} | {run['accuracy']:.4f} |")
    return [*lines, ""]


def page(found: dict[str, Any]) -> str:
    """The page of what ``write`` kept: results and labels, by which seconds, and a note."""
    by, note = found["by"], found["note"]
    other = WORDS["cpu" if by == "wall" else "wall"]
    lines = [HEAD.format(first=WORDS[by], second=other, note=note and f"{note} ")]
    texts = [title for title in found["results"] if title.endswith("tf-idf")]
    for recall, kind in RECALLS:
        lines.append(f"## {'Texts, recall' if kind == 'text' else 'Recall'} of at least {recall}\n")
        lines.append("| points | bvdt | fastest other measured | ratio |\n|---|---|---|---|")
        chosen = [title for title in found["results"] if (title in texts) == (kind == "text")]
        lines += [row(title, found["results"][title], recall, by) for title in chosen]
        lines.append("")
    lines += labels(found["labels"])
    lines.append("## The curves\n\n![Seconds against recall, eight data sets](neighbors.png)\n")
    return "\n".join(lines)


def write(titles: dict[str, str], folder: Path, by: str, note: str) -> None:
    results = {name: read(folder, name) for name in titles}
    found = {
        "by": by,
        "note": note,
        "results": {titles[name]: results[name] for name in titles},
        "labels": read_labels(folder / LABELS),
    }
    PAGE.with_suffix(".json").write_text(
        json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    PAGE.write_text(page(found), encoding="utf-8")
    draw(titles, results, by)
