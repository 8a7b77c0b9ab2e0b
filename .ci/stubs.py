#!/usr/bin/env python3
"""Write src/bvdt/_core.pyi, the kernels' signatures, as nanobind's stubgen tells them of the compiled core.

Needs the Python that bvdt is installed in. With --check nothing is written: the file is compared. Arrays are
named by their type and dimensions; the rest of this script says what nanobind cannot know.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STUB = Path(__file__).parents[1] / "src/bvdt/_core.pyi"
RUFF = Path(sys.executable).with_name("ruff")

# What functions return that give Python's own containers: nanobind's signature says tuple, dict or object.
RETURNS = {
    "anchor_steal": "tuple[int, int]",  # divergences evaluated, farthest position or −1
    "apply_merges": "tuple[int, Int32Vector]",  # how many merges were applied, each item's cluster
    "build_info": "BuildInfo",
    "curve_blocks": "tuple[float, float, float, float]",  # value, entropy, mean, variance
    "curve_coarsest": "tuple[float, float, float, float]",
    # CSR: indptr, indices, x, h
    "group_means": "tuple[Int64Vector, Int32Vector, Float64Vector, Float64Vector]",
    "split_levels": "tuple[Int64Vector, int]",  # bounds, levels needed
}

HEAD = '''"""Kernels: functions of C-contiguous arrays; malformed ones raise ValueError before a kernel runs.

Written by .ci/stubs.py from the compiled core; what each kernel computes stands in cpp/kernels, its shapes in
cpp/bindings. The number of threads never changes a result.
"""

from typing import Annotated, TypedDict, overload

import numpy as np
from numpy.typing import NDArray

'''

BUILD_INFO = """
class BuildInfo(TypedDict):
    version: str
    compiler: str  # name and version
    openmp: bool  # without it there is one thread
    openmp_version: str  # year and month of the specification, or empty
    simd: str  # the level in use: baseline, avx2 or avx512
    max_threads: int  # that OpenMP would start of its own accord; 1 without it

"""

ARRAY = re.compile(r"Annotated\[NDArray\[numpy\.(\w+)\], dict\(shape=\((None,(?: None)?)[^)]*\)([^)]*)\)\]")
BARE = re.compile(r"def (\w+)\(.*\) -> (?:tuple|dict|object|list): \.\.\.$", re.M)
SIGNATURE = re.compile(r"^( *def \w+\()(.*)(\) -> .*: \.\.\.)$", re.M)


def generated() -> str:
    """What stubgen says of the core that is in use."""
    from bvdt import _core

    with tempfile.TemporaryDirectory() as folder:
        stub = Path(folder) / "core.pyi"
        module = ["-m", _core._compiled.__name__, "-o", str(stub)]
        subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", *module], check=True)
        return stub.read_text(encoding="utf-8")


def named(text: str) -> str:
    """The stub with names for array types, in the order of Python's syntax, and with whole return types."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        kind, shape, more = found.groups()
        dimensions = "Matrix" if shape.count("None") == 2 else "Vector"
        written = "order=" in more and "writable=False" not in more
        key = f"{kind.capitalize()}{dimensions}{'Out' if written else ''}"
        names[key] = f"Annotated[NDArray[np.{kind}], {_note(key)!r}]"
        return key

    body = ARRAY.sub(name, text[text.index("\n\n\n") + 2 :])
    unknown = {found[1] for found in BARE.finditer(body)} ^ RETURNS.keys()
    if unknown:
        sys.exit(f".ci/stubs.py: RETURNS needs what returns tuple, dict or object; see {sorted(unknown)}")
    body = BARE.sub(lambda found: f"{found[0].rsplit(' -> ', 1)[0]} -> {RETURNS[found[1]]}: ...", body)
    body = SIGNATURE.sub(lambda found: found[1] + by_keyword(found[2].split(", ")) + found[3], body)
    body = of_either_precision(body)
    for key in sorted(set(re.findall(r"\bReal\w+", body))):
        names[key] = f"Annotated[NDArray[np.float32 | np.float64], {_note(key)!r}]"
    used = [key for key in sorted(names) if re.search(rf"\b{key}\b", body)]
    aliases = "".join(f"{key} = {names[key]}\n" for key in used)
    lists = "from collections.abc import Sequence\n" if "Sequence[" in body else ""
    return HEAD.replace("from typing", lists + "from typing", 1) + aliases + BUILD_INFO + body


def _note(key: str) -> str:
    return f"({'n, m' if 'Matrix' in key else 'n,'}){', written' if key.endswith('Out') else ''}"


def of_either_precision(body: str) -> str:
    """A kernel in double and in single precision as one function, whose arrays may be either."""

    def both(found: re.Match[str]) -> str:
        singles = found["single"]
        words = zip(re.split(r"(\w+)", found["double"]), re.split(r"(\w+)", singles), strict=False)
        either = "".join(a if a == b else a.replace("Float64", "Real") for a, b in words)
        return either if either.replace("Real", "Float32") == singles else found[0].removesuffix("\n")

    line = r"(?P<indent> *)@overload\n(?P<double>(?P=indent)def (?P<name>\w+)\(.*)\n\n"
    pair = line + r"(?P=indent)@overload\n(?P<single>(?P=indent)def (?P=name)\(.*)\n"
    return re.sub(pair, lambda found: both(found) + "\n", body)


def by_keyword(parameters: list[str]) -> str:
    """C++ allows a default before parameters without one, Python from there on by keyword only."""
    optional = [" = " in parameter for parameter in parameters]
    first = optional.index(True) if True in optional else len(parameters)
    named = [] if all(optional[first:]) else ["*"]
    return ", ".join([*parameters[:first], *named, *parameters[first:]])


def formatted(text: str) -> str:
    """As ``ruff format`` leaves it."""
    command = [str(RUFF), "format", "--stdin-filename", str(STUB), "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=True, encoding="utf-8")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and end with 1 where it differs")
    wanted = formatted(named(generated()))
    if not parser.parse_args().check:
        STUB.write_text(wanted, encoding="utf-8")
        return
    there = STUB.read_text(encoding="utf-8").splitlines()
    different = list(difflib.unified_diff(there, wanted.splitlines(), str(STUB), "of the core", lineterm=""))
    if different:
        sys.exit("\n".join([*different[:40], f"{STUB} is not of this core: make stubs writes it"]))


if __name__ == "__main__":
    main()
