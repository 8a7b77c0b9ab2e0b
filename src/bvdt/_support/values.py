"""Frozen dataclasses with derived arrays."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, eq=False)
class Value:
    """Never changes; a copy leaves out what a ``cached_property`` derived, and derives its own."""

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
