"""README: its Python examples run, and its head names the two commands a newcomer needs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code, capsys):
    exec(code, {})
    assert capsys.readouterr().out.strip()


def test_head_names_the_commands():
    head = "\n".join(TEXT.splitlines()[:30])
    assert "make demo" in head
    assert "make test" in head
