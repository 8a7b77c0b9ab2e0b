"""The compiled core at the best SIMD level that the CPU has, or at the one that BVDT_SIMD names."""

import os as _os
from importlib import import_module as _import_module

from . import _cpu  # type: ignore[attr-defined]


def _level() -> str:
    levels: list[str] = _cpu.levels()
    level = _os.environ.get("BVDT_SIMD") or levels[0]
    if level not in levels:
        has = ", ".join(levels)
        raise ImportError(f"BVDT_SIMD={level}: this CPU and this build of bvdt have the levels {has}")
    return level


_compiled = _import_module(f"._core_{_level()}", __package__)
globals().update({name: value for name, value in vars(_compiled).items() if not name.startswith("_")})
