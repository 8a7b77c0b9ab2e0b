"""Labeling in the browser: a session in one file, all documents labeled anew as it grows, and a server.

``app`` and ``serving`` need the extra "app" (Starlette and uvicorn) and are imported by their path.
"""

from .corpus import Corpus
from .session import LabelingSession
from .store import Decision, Shown, Store
from .transfer import FORMATS, export_format, import_labels, read_import, task_of, write_export

__all__ = [
    "FORMATS",
    "Corpus",
    "Decision",
    "LabelingSession",
    "Shown",
    "Store",
    "export_format",
    "import_labels",
    "read_import",
    "task_of",
    "write_export",
]
