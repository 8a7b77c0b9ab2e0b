"""Labeling in the browser: a session kept in one file, a desk that labels all documents anew, and a server.

``app`` and ``serving`` need the extra "app" (Starlette and uvicorn) and are imported by their path.
"""

from .corpus import Corpus
from .desk import Desk
from .store import Decision, Shown, Store
from .transfer import FORMATS, export_format, import_labels, read_import, task_of, write_export

__all__ = [
    "FORMATS",
    "Corpus",
    "Decision",
    "Desk",
    "Shown",
    "Store",
    "export_format",
    "import_labels",
    "read_import",
    "task_of",
    "write_export",
]
