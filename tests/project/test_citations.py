"""Citations: every section, page, module and source file that is named anywhere exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "reproduction", "cpp", "tests", "benchmarks", "docs")
KINDS = {".py", ".pyi", ".cpp", ".hpp", ".h", ".md", ".js", ".css", ".html", ".txt"}
GONE = ("DES" + "IGN", "Accept" + "ance")  # in two pieces, so that this file does not hold them

SECTION = re.compile(r'docs/(theory|beyond)\.md(?:``)?, "([^"]+)"|\((theory): ([^()]+)\)')
PAGE = re.compile(r"\bdocs/([\w/-]+\.md)\b")
LINK = re.compile(r"\]\(([\w./-]*\.md)?(?:#([\w-]+))?\)")
NAME = re.compile(r"`(bvdt(?:\.\w+)+)")  # in one pair of backticks or two, or after :mod:
SOURCE = re.compile(r"(?<![\w./-])((?:[\w.-]+/)+[\w.-]+\.(?:py|cpp|hpp))\b")
WRAPPED = re.compile(r"[ \t]*\n[ \t]*(?://|#)?[ \t]*")  # a line's end, and the next line's comment sign


def files_of(folder: str) -> list[Path]:
    found = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS and path.is_file())
    return [path for path in found if "__pycache__" not in path.parts]


def sections_cited(text: str) -> list[tuple[str, str]]:
    """(page, title) of a citation, which may run over a line's end; "(theory: …)" is on either page: ""."""
    found = SECTION.findall(WRAPPED.sub(" ", text))
    return [(page, title) if page else ("", other) for page, title, _, other in found]


def headings(page: Path) -> list[str]:
    return re.findall(r"^##+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)


def anchor(title: str) -> str:
    """What a browser calls a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of the longest module that it begins with."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def has_source(name: str, page: Path) -> bool:
    """Whether a source file is there, by its path from the root, the package or the page's own folder."""
    return any((folder / name).is_file() for folder in (ROOT, ROOT / "src" / "bvdt", page.parent))


THEORY = {page: headings(ROOT / "docs" / f"{page}.md") for page in ("theory", "beyond")}
TITLES = THEORY["theory"] + THEORY["beyond"]
THEORY[""] = TITLES  # wherever it is
FILES = [path for folder in FOLDERS for path in files_of(folder)] + [*ROOT.glob("*.md")]
PAGES = [path for path in FILES if path.suffix == ".md"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_cited_sections_and_pages_exist(path):
    text = path.read_text(encoding="utf-8")
    own = path == Path(__file__)  # it cites examples
    wrong = [(page, title) for page, title in sections_cited(text) if title not in THEORY[page] and not own]
    assert not wrong, f"the theory has no such sections: {wrong}"
    missing = [page for page in PAGE.findall(text) if not (ROOT / "docs" / page).is_file() and not own]
    assert not missing, f"docs has no page {missing}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_modules_and_sources_exist(path):
    if path == Path(__file__):
        pytest.skip("it names what does not exist")
    text = path.read_text(encoding="utf-8")
    unknown = sorted({name for name in NAME.findall(text) if not resolves(name)})
    assert not unknown, f"bvdt has no {unknown}"
    if path.suffix == ".md":
        missing = sorted({name for name in SOURCE.findall(text) if not has_source(name, path)})
        assert not missing, f"there is no file {missing}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(path):
    for target, place in LINK.findall(path.read_text(encoding="utf-8")):
        page = path.parent / target if target else path
        assert page.is_file(), f"{target} is not there"
        assert not place or place in map(anchor, headings(page)), f"{page.name} has no heading for #{place}"


@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if (ROOT / folder).is_dir()])
def test_nothing_cites_what_no_reader_has(folder):
    pattern = re.compile(r"\b(" + "|".join(GONE) + r")\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files_of(folder)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found, f"{' and '.join(GONE)} belong to pages outside the repository: {found}"


def test_every_section_of_the_theory_has_one_title():
    assert len(TITLES) == len(set(TITLES)) >= 35


def test_citations_are_read_in_every_form():
    text = '# docs/theory.md, "The optimum in\n    # two passes".\n// (theory: Near and\n//  far field)\n'
    found = sections_cited(text + '``docs/beyond.md``, "Two levels"')
    assert found == [
        ("theory", "The optimum in two passes"),
        ("", "Near and far field"),
        ("beyond", "Two levels"),
    ]
    assert all(title in THEORY[page] for page, title in found)
    assert "Two levels" not in THEORY["theory"]
    assert sections_cited("(theory: Nothing of that name)")[0][1] not in TITLES
    assert sum(len(sections_cited(path.read_text(encoding="utf-8"))) for path in files_of("tests")) >= 5


def test_names_are_read_in_every_form():
    text = "`bvdt.load(path)`, ``bvdt.tree``, :mod:`bvdt.walks.haar` and `bvdt propagate`"
    assert NAME.findall(text) == ["bvdt.load", "bvdt.tree", "bvdt.walks.haar"]
    assert all(map(resolves, NAME.findall(text)))
    assert resolves("bvdt.Tree.from_linkage")
    assert not resolves("bvdt.lift")
    assert not resolves("bvdt.tree.grow")
    assert SOURCE.findall("`walks/haar.py`, src/bvdt/lifting/lifted.py: both; haar.py") == [
        "walks/haar.py",
        "src/bvdt/lifting/lifted.py",
    ]
    here = ROOT / "docs" / "beyond.md"
    assert has_source("walks/haar.py", here)
    assert not has_source("walks/layout.cpp", here)
    assert sum(len(NAME.findall(path.read_text(encoding="utf-8"))) for path in FILES) >= 50


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = re.search(
    r"^layers =\n((?: +.+\n)+)", (ROOT / ".importlinter").read_text(encoding="utf-8"), re.MULTILINE
)
PACKAGES = re.findall(r"bvdt\.(\w+)", LAYERS[1] if LAYERS else "")


def test_the_architecture_has_every_package_from_top_to_bottom():
    named = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE, re.MULTILINE)
    assert named == [*PACKAGES, "_core"]
    packages = {path.parent.name for path in (ROOT / "src" / "bvdt").glob("*/__init__.py")}
    assert packages == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_architecture_names_every_module_of_a_package(package):
    row = next(line for line in ARCHITECTURE.splitlines() if line.startswith(f"| `{package}` |"))
    found = (ROOT / "src" / "bvdt" / package).iterdir()
    modules = {path.stem for path in found if path.suffix == ".py" and path.stem != "__init__"}
    missing = {name for name in modules if f"`{name}`" not in row}
    assert not missing, f"docs/architecture.md does not say what {sorted(missing)} of {package} are for"
