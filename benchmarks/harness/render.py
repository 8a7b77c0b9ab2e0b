"""The tables as Markdown, and everything as JSON."""

from __future__ import annotations

import ast
from typing import Any

from .acceptance import exponent
from .jobs import GROWTH_DENSE, JOBS, Job
from .measure import BENCHMARKS
from .summary import Row

HEAD = """# Side by side

Label propagation from the points to all classes, beside libraries that build a neighbor graph for it, and
spectral embeddings. `make bench` writes this page from `results.json`, which has every single run, the other
jobs and the seconds by stage; `benchmarks/README.md` says how it is measured, and the functions in
`benchmarks/rivals` have each method's settings.

Medians of up to three runs on two threads. *Warm*: a second call in the same process. *Cold*: from the start
of the process to the result, with nothing compiled before. *Peak*: resident memory, with interpreter and
data. Rows of bvdt are bold: "forest" is `bvdt.text_pipeline` and "near field" `bvdt.LabelPropagation`, both
without a blend. The figures are of version 0.1.0.dev0, before the present neighbor index and defaults.
"""
SHOWN = ("bbc", "20news", "imdb", "blobs-50k", "kl-50k", "is-50k", "product-1m", "embedding", "blobs-1m")


def markdown(facts: dict[str, Any], rows: dict[str, list[Row]], reasons: Any) -> str:
    """The whole page: the jobs that are not a variant or a smaller one of another."""
    parts = [HEAD, machine(facts), "![time against accuracy](time_accuracy.png)\n"]
    for name in SHOWN:
        if rows.get(name):
            parts.append(table(JOBS[name], rows[name]))
    parts += [absent({name: reasons.get(name, {}) for name in SHOWN}), growth(rows)]
    return "\n".join(part for part in parts if part)


def machine(facts: dict[str, Any]) -> str:
    """Where and with what."""
    versions = ", ".join(v for v in facts.get("versions", {}).values() if v)
    return f"{facts['machine']}. {versions}.\n"


def table(job: Job, rows: list[Row]) -> str:
    """One job: the quickest first, then a line on those that did not finish or were not started."""
    timed = [row for row in rows if row.warm]
    body = "\n".join(_row(row) for row in sorted(timed, key=lambda row: row.warm.median if row.warm else 0))
    left = {row.method.name.replace(", ", " "): _short(row.trouble) for row in rows if not row.warm}
    notes = "; ".join(
        f"{why}: {', '.join(name for name in left if left[name] == why)}"
        for why in dict.fromkeys(left.values())
    )
    judged = "; accuracy of 10 labeled neighbors in it" if job.kind == "embedding" else ""
    shown = f"{100 * job.share:.0f} % labeled{judged}" if job.kind != "product" else "One product"
    head = "| | warm, s | cold, s | peak, MiB | accuracy |\n|---|---|---|---|---|"
    return f"## {job.title}\n\n{shown} (`--job {job.name}`).\n\n{head}\n{body}\n" + (
        f"\n{notes[0].upper()}{notes[1:]}.\n" if notes else ""
    )


def _short(trouble: str) -> str:
    """Why there is no time, without the figures of each method."""
    return "not run, expected beyond the limit" if trouble.startswith("not run") else trouble


def _row(row: Row) -> str:
    name = row.method.name if row.is_rival else f"**{row.method.name}**"
    times = " | ".join(digits(s.median) if s else "" for s in (row.warm, row.cold))
    peak = "" if row.peak is None else f"{row.peak.median / 2**20:.0f}"
    accuracy = "" if row.accuracy is None else f"{row.accuracy:.3f}"
    return f"| {name} | {times} | {peak} | {accuracy} |"


def absent(reasons: dict[str, dict[str, str]]) -> str:
    """Why a library is in none of a job's tables, each reason once."""
    jobs: dict[str, list[str]] = {}
    for job, found in reasons.items():
        for why in dict.fromkeys(filter(None, found.values())):
            names = ", ".join(name for name in found if found[name] == why)
            jobs.setdefault(f"{names}: {why}", []).append(job)
    lines = [f"- {', '.join(of)}: {text}." for text, of in jobs.items()]
    return "## Not in a table\n\n" + "\n".join(lines) + "\n" if lines else ""


def digits(x: float) -> str:
    """Three digits, without an exponent."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}" if x >= 1 else f"{x:.3g}"


def growth(rows: dict[str, list[Row]]) -> str:
    """The picture, and the exponent where the sizes were run."""
    sizes = {
        n: [r for r in rows.get(name, []) if r.method.role == "one tree"] for n, name in GROWTH_DENSE.items()
    }
    times = [(n, found[0].warm.median) for n, found in sizes.items() if found and found[0].warm]
    late = [(n, t) for n, t in times if n >= 10_000]
    if len(late) < 2:
        return ""
    power = exponent([n for n, _ in late], [t for _, t in late])
    text = f"Warm seconds of one tree grow as N^{power:.2f} from {late[0][0]:,} blobs on."
    return f"## Growth\n\n![growth](growth.png)\n\n{text}\n"


def described(call: str) -> str:
    """The docstring of a method, or of its module for "module:"; read, not imported."""
    module, function = call.split(":")
    tree = ast.parse((BENCHMARKS / "rivals" / f"{module}.py").read_text())
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function]
    return " ".join((ast.get_docstring(found[0] if function else tree) or "").split())
