"""Which code the numbers come from: a hash of every source that they can depend on."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import bvdt

__all__ = ["code_version"]

HERE = Path(__file__).parent
SHOWN = {
    "__main__", "claims", "command", "contents", "departures", "drawing", "figures", "machine", "measured",
    "page", "reading", "run", "style", "tree_claims", "verdicts",
}  # fmt: skip


@cache
def code_version() -> str:
    """SHA-256 of bvdt's Python and C++ sources and of this package's, but for the modules that only show."""
    found = [(HERE.parent / "cpp", "*.[ch]pp"), (Path(bvdt.__file__).parent, "*.py"), (HERE, "*.py")]
    sources = [(path.relative_to(root.parent), path) for root, kind in found for path in root.rglob(kind)]
    digest = hashlib.sha256()
    for name, path in sorted(sources):
        if not (path.parent == HERE and path.stem in SHOWN) and "tests" not in name.parts:
            digest.update(name.as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
