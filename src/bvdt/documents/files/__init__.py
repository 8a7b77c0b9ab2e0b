"""Files in and out: documents from tables, folders and matrices; tables that appear whole or not at all."""

from ..._support.atomic import atomic, check_writable
from .documents import Documents, read_documents
from .write import check_table, write_table

__all__ = ["Documents", "atomic", "check_table", "check_writable", "read_documents", "write_table"]
