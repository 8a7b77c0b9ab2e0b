"""The tables as Markdown, and everything as JSON."""

from __future__ import annotations

import ast
from typing import Any

from .acceptance import Line
from .jobs import GROWTH_DENSE, GROWTH_TEXT, JOBS, Job
from .measure import BENCHMARKS
from .methods import METHODS
from .summary import Row, Spread, methods_of

HEAD = """# Side by side

Made by `make bench` (`benchmarks/run.py`); what is measured, what is not and how to add a rival:
`benchmarks/README.md`. Medians of the runs, in brackets the least
and the greatest. "Warm" is a second call in the same process; "cold" is from the start of the process to the
result, with nothing compiled before. A line with * is ours.
"""


def markdown(facts: dict[str, Any], rows: dict[str, list[Row]], reasons: Any, lines: list[Line]) -> str:
    """The whole page."""
    parts = [
        HEAD,
        machine(facts),
        rules(facts.get("rules", {})),
        acceptance(lines),
        "![time against accuracy](time_accuracy.png)\n",
    ]
    for name, job in JOBS.items():
        if rows.get(name) and not job.group:
            parts.append(table(job, rows[name], reasons.get(name, {})))
    parts += [growth(rows), profiles(facts.get("profiles", {})), settings(rows)]
    return "\n".join(part for part in parts if part)


def machine(facts: dict[str, Any]) -> str:
    """Where and with what."""
    versions = ", ".join(v for v in facts.get("versions", {}).values() if v)
    return f"{facts['machine']}. {versions}.\n"


def rules(found: dict[str, dict[str, Any]]) -> str:
    """How long a call was allowed to take, and what ran once."""
    said = []
    for limit, slow in sorted({(r["limit"], r["slow"]) for r in found.values()}):
        jobs = [name for name, r in found.items() if (r["limit"], r["slow"]) == (limit, slow)]
        once = f"; what took more than {slow:g} s, both calls together, ran once" if slow < 1e9 else ""
        which = "" if len(jobs) == len(found) else f" ({', '.join(jobs)})"
        said.append(f"A call was given {limit:g} s{once}{which}.")
    return " ".join(said) + "\n" if said else ""


def acceptance(lines: list[Line]) -> str:
    """The project's own requirements."""
    mark = {True: "holds", False: "**fails**", None: "open"}
    body = "\n".join(f"| {x.number} | {x.text} | {x.figures} | {mark[x.holds]} |" for x in lines)
    return f"## Requirements\n\n| | requirement | measured | |\n|---|---|---|---|\n{body}\n"


def table(job: Job, rows: list[Row], reasons: dict[str, str]) -> str:
    """One job: the quickest first, then those with trouble, then why others are not here."""
    ordered = sorted(rows, key=lambda row: row.warm.median if row.warm else float("inf"))
    body = "\n".join(_row(row) for row in ordered)
    notes = "\n".join(f"- {name}: {why}." for name, why in reasons.items() if why)
    judged = ", accuracy of a vote of 10 labeled neighbors in it" if job.kind == "embedding" else ""
    shown = (
        f"{100 * job.share:.0f} % of the points labeled{judged}" if job.kind != "product" else "one product"
    )
    head = "| | warm, s | cold, s | peak, MiB | accuracy | runs |\n|---|---|---|---|---|---|"
    return f"## {job.title}\n\n{shown[0].upper()}{shown[1:]} (`--job {job.name}`).\n\n{head}\n{body}\n" + (
        f"\n{notes}\n" if notes else ""
    )


def _row(row: Row) -> str:
    name = row.method.name if row.is_rival else f"**{row.method.name}** *"
    accuracy = "" if row.accuracy is None else f"{row.accuracy:.3f}"
    peak = "" if row.peak is None else f"{row.peak.median / 2**20:.0f}"
    if not row.warm and not row.cold:
        return f"| {name} | {row.trouble} | | {peak and f'≥ {peak}'} | | {row.n_runs} |"
    warm = spread(row.warm) if row.warm else row.trouble
    return f"| {name} | {warm} | {spread(row.cold)} | {peak} | {accuracy} | {row.n_runs} |"


def spread(s: Spread | None) -> str:
    """Median (least–greatest), to three digits."""
    return "" if s is None else f"{digits(s.median)} ({digits(s.least)}–{digits(s.most)})"


def digits(x: float) -> str:
    """Three digits, without an exponent."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}" if x >= 1 else f"{x:.3g}"


def growth(rows: dict[str, list[Row]]) -> str:
    """Warm seconds by the number of points."""
    parts = []
    for title, sizes in (("blobs", GROWTH_DENSE), ("IMDB", GROWTH_TEXT)):
        have = {n: {r.method.name: r for r in rows.get(name, [])} for n, name in sizes.items()}
        kind = JOBS[next(iter(sizes.values()))]
        names = [m.name for m in methods_of(kind) if any(m.name in found for found in have.values())]
        if not names:
            continue
        lines = []
        for name in names:
            cells = [have[n].get(name) for n in sizes]
            shown = " | ".join(digits(r.warm.median) if r and r.warm else "" for r in cells)
            lines.append(f"| {name} | {shown} |")
        head = " | ".join(f"{n:,}".replace(",", " ") for n in sizes)
        rule = "---|" * (len(sizes) + 1)
        parts.append(f"### {title}\n\n| points | {head} |\n|{rule}\n" + "\n".join(lines) + "\n")
    return "## Growth: warm seconds\n\n![growth](growth.png)\n\n" + "\n".join(parts) if parts else ""


def profiles(found: dict[str, dict[str, float]]) -> str:
    """Seconds of our own stages."""
    if not found:
        return ""
    stages = list(dict.fromkeys(stage for seconds in found.values() for stage in seconds))
    body = "\n".join(
        f"| {name} | "
        + " | ".join(digits(s[x]) if x in s else "" for x in stages)
        + f" | {sum(s.values()):.2f} |"
        for name, s in found.items()
    )
    rule = "---|" * (len(stages) + 2)
    head = f"| | {' | '.join(stages)} | sum |\n|{rule}"
    title = "## Where our own time goes, s\n\nMedians of three warm calls, each stage without those it calls."
    return f"{title}\n\n{head}\n{body}\n"


def settings(rows: dict[str, list[Row]]) -> str:
    """Each method's settings in its own words, by library."""
    calls: dict[str, list[str]] = {}
    for method in METHODS:
        if any(row.method.call == method.call for found in rows.values() for row in found):
            calls.setdefault(method.call.split(":")[0], []).append(method.call)
    parts = []
    for module, of in calls.items():
        names = {m.call: f"{m.name} ({', '.join(m.kinds)})" for m in METHODS if not m.keeps_cache}
        lines = [f"- {names[call]}: {described(call)}" for call in dict.fromkeys(of)]
        parts.append(described(f"{module}:") + "\n\n" + "\n".join(lines))
    return "## Settings\n\n" + "\n\n".join(parts) + "\n" if parts else ""


def described(call: str) -> str:
    """The docstring of a method, or of its module for "module:"; read, not imported."""
    module, function = call.split(":")
    tree = ast.parse((BENCHMARKS / "rivals" / f"{module}.py").read_text())
    found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function]
    return " ".join((ast.get_docstring(found[0] if function else tree) or "").split())
