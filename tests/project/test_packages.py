"""The contract of the packages (.importlinter): it holds, and it fails when a module imports upward."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED_AT_THE_TOP = {"__init__.py", "__main__.py", "py.typed", "_core.py", "_core.pyi"}

linter = pytest.mark.skipif(
    not (Path(sys.executable).parent / "lint-imports").exists(), reason="import-linter is in the extra lint"
)


# An editable install finds the package before sys.path is looked at: here the copy counts.
PROGRAM = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
sys.path.insert(0, "src")
from importlinter.cli import lint_imports_command
lint_imports_command()
"""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter on the package in folder/src."""
    command = [sys.executable, "-c", PROGRAM, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")


@pytest.fixture
def copy(tmp_path):
    """The package's Python files and the contract, to be broken."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    return tmp_path


@linter
def test_the_packages_keep_the_contract(copy):
    found = lint(copy)
    assert found.returncode == 0, found.stdout + found.stderr


@linter
@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("blocks/optimum.py", "from ..operators import TransitionOperator"),
        ("lifting/points.py", "from ..tree.structure import Tree"),
        ("operators/walk.py", "from ..estimators import LabelPropagation"),
        ("walks/pagerank.py", "import rich"),
    ],
)
def test_an_import_upward_breaks_it(copy, module, line):
    path = copy / "src" / "bvdt" / module
    head, future, rest = path.read_text(encoding="utf-8").partition("from __future__ import annotations\n")
    path.write_text(f"{head}{future}{line}\n{rest}", encoding="utf-8")
    found = lint(copy)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "BROKEN" in found.stdout


def test_of_bvdt_itself_packages_import_only_the_core():
    """The contract leaves out imports of ``bvdt`` itself, as the compiled core is one of them."""
    for path in (ROOT / "src" / "bvdt").rglob("*.py"):
        if path.parent.name == "bvdt":
            continue
        depth = len(path.relative_to(ROOT / "src" / "bvdt").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is None and node.level == depth:
                names = {alias.name for alias in node.names}
                packages = {name for name in names if (ROOT / "src" / "bvdt" / name).is_dir()}
                assert names - packages <= {"_core"}, f"{path}: {names}"


def test_nothing_else_lies_beside_the_packages():
    """Directly under the package lies only what has to."""
    files = {path.name for path in (ROOT / "src" / "bvdt").iterdir() if path.is_file()}
    assert {name for name in files if not name.endswith(".so")} == ALLOWED_AT_THE_TOP


@pytest.mark.slow
def test_types_are_for_users_too(tmp_path):
    """A user's mypy sees the package's types."""
    pytest.importorskip("mypy")
    program = "import bvdt\nop = bvdt.transition_matrix([[0.0], [1.0]])\nop.refine('many')\nreveal_type(op)\n"
    (tmp_path / "user.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "user.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8").stdout
    assert 'user.py:3: error: Argument 1 to "refine" of "WalkOperator" has incompatible type' in said
    assert 'Revealed type is "bvdt.operators.walk.WalkOperator"' in said
