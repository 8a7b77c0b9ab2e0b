"""The report: one self-contained HTML page about a labeling: how sure it is, the map, what to label next."""

from ..walks.layout import map_coordinates
from .model import Report, ResultTable
from .page import render_report, write_report

__all__ = ["Report", "ResultTable", "map_coordinates", "render_report", "write_report"]
