"""One virtual environment a rival, so that no install breaks another; a failed one is a line in the page."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from .methods import Library

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-bench"


def pinned() -> dict[str, str]:
    """Requirement by name, from the extra ``bench`` of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {line.split("==")[0]: line for line in project["optional-dependencies"]["bench"]}


def python_of(library: Library) -> Path:
    """The interpreter that runs the library's methods."""
    return FOLDER / library.name / "bin" / "python" if library.pins else Path(sys.executable)


def failure(library: Library) -> str | None:
    """Why the library could not be installed, in one line; None where it was."""
    note = FOLDER / library.name / "failed.txt"
    return note.read_text() if library.pins and note.exists() else None


def install(library: Library, say=print) -> None:
    """Makes the library's environment unless the same pins are there already."""
    if not library.pins:
        return
    wanted = [pinned()[name] for name in library.pins]
    place = FOLDER / library.name
    done = place / "installed.txt"
    if done.exists() and done.read_text().split() == wanted:
        return
    say(f"installing {' '.join(wanted)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
    source = [f"--no-binary={name}" for name in library.from_source]
    reason = _pip(library, [*source, *wanted]) and _pip(library, wanted) if source else _pip(library, wanted)
    (done if reason is None else place / "failed.txt").write_text(reason or " ".join(wanted))


def _pip(library: Library, requirements: list[str]) -> str | None:
    """Installs; None, or pip's own words on why not."""
    command = [python_of(library), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    limits = ["-c", ROOT / "constraints.txt", "scipy"]
    result = subprocess.run([*command, *limits, *requirements], capture_output=True, text=True)
    if result.returncode == 0:
        return None
    errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
    return (errors or result.stderr.splitlines() or ["pip failed"])[-1]


def versions(library: Library) -> str:
    """What is installed, e.g. "nmslib 2.1.2"."""
    names = library.pins or {"NumPy": ("numpy", "scipy")}.get(library.name, (library.name,))
    code = (
        "import importlib.metadata as m, sys; print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    )
    result = subprocess.run([python_of(library), "-c", code, *names], capture_output=True, text=True)
    return result.stdout.strip()
