"""What the standard library's ``json`` reads and writes."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]  # typeshed's word for it: a key says what its value is
