"""What the benchmarks and the labeling page's tests take for texts: the docstrings of Python's library."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import docstrings


@pytest.mark.slow
def test_docstrings_are_found_without_running_anything(tmp_path):
    """Modules and packages, classes and methods, once each; tests and broken files are left out."""
    words = "says at some length what it is for, number {}"
    method = "class C:\n    def f(self):\n        '{}'\n    def g(self):\n        'short'\n"
    for subject, modules in docstrings.SUBJECTS.items():
        package = tmp_path / modules.split()[0]
        (package / "test").mkdir(parents=True)
        (package / "__init__.py").write_text(f"'''{subject} {words.format('of all')}'''\nraise SystemExit\n")
        for k in range(docstrings.LEAST_TEXTS):
            (package / f"m{k}.py").write_text(method.format(f"{subject[:4]} {words.format(k)}"))
        (package / "test" / "t.py").write_text(method.format(words))
        (package / "same.py").write_text(method.format(words.format("nine in every package")))
        (package / "broken.py").write_text("def (")
    found = docstrings.read_docstrings(tmp_path)
    assert found.subjects == list(docstrings.SUBJECTS)
    assert np.bincount(found.labels).tolist() == [docstrings.LEAST_TEXTS + 1] * 8
    assert len(set(found.texts)) == len(set(found.names)) == len(found.texts) == len(found.labels)
    at = found.names.index("asyncio.m7.C.f")
    assert found.texts[at] == "conc says at some length what it is for, number 7"
    assert found.names[0] == "asyncio"


def test_a_python_without_its_sources_is_told(tmp_path):
    with pytest.raises(ValueError, match="0 of 8 subjects have 100"):
        docstrings.read_docstrings(tmp_path)


@pytest.mark.slow
def test_the_documents_are_pythons_own():
    found = docstrings.read_docstrings()
    assert len(found.texts) > 2000
    name = "pathlib.Path.mkdir" if "pathlib.Path.mkdir" in found.names else "shutil.copyfile"
    assert found.subjects[found.labels[found.names.index(name)]] == "files"
    assert np.bincount(found.labels).min() >= 50
