"""A short run of every fuzzer with fresh seeds, and the engine's own promises: it sees crashes and hangs.

``make fuzz`` runs for an hour, ``make fuzz-sanitize`` under the sanitizers; docs/reliability.md has what they
found.
"""

from __future__ import annotations

import sys
import textwrap

import pytest
from hypothesis import strategies as st

from fuzz.__main__ import NAMES, targets
from fuzz.damage import ByteEdit, JsonEdit, damaged_bytes, damaged_json
from fuzz.engine import (
    ACCEPTED,
    CRASH,
    HANG,
    IMPOSSIBLE,
    REFUSED,
    SESSION,
    UNEXPECTED,
    Campaign,
    Target,
    repeat,
)

INPUTS = SESSION  # per target; `make fuzz` takes an hour
SECONDS = 300  # far more than they take: a busy machine tries as many as a quiet one


@pytest.mark.slow
@pytest.mark.parametrize("target", NAMES)
def test_no_fuzzer_finds_anything_in_a_short_run(target):
    counts = Campaign([target], SECONDS, inputs=INPUTS, tell=lambda _: None).run()
    assert not counts.findings, "\n" + "\n".join(map(str, counts.findings[:5]))
    assert counts.by_target[target][REFUSED] > 0
    assert counts.by_target[target][ACCEPTED] > 0


def test_every_target_is_run():
    assert tuple(targets()) == NAMES


# -- the engine ----------------------------------------------------------------------------------------------

BAD = """
    import os, sys, time
    from hypothesis import strategies as st
    from fuzz.engine import Impossible, Refused, Target, fresh_seeds, work

    refused = []  # before anything bad happens in this child

    def attempt(number, folder):
        left = folder / "left"
        assert not left.exists(), "the folder is not empty"
        left.mkdir()
        if number % 2:
            refused.append(number)
            raise Refused("odd")
        if not refused:
            return
        if sys.argv[1] == "crash" and number > 40:
            os.abort()
        if sys.argv[1] == "hang" and number > 40:
            time.sleep(100)
        if sys.argv[1] == "impossible" and number > 40:
            raise Impossible("a row sums to 2")
        if sys.argv[1] == "unexpected" and number > 40:
            raise ZeroDivisionError("by zero")

    work(Target(sys.argv[1], st.integers(0, 60), attempt), fresh_seeds(), sys.stdout)
    """


@pytest.mark.slow
@pytest.mark.parametrize("kind", [CRASH, HANG, IMPOSSIBLE, UNEXPECTED])
def test_the_engine_survives_and_tells(kind):
    child = [sys.executable, "-c", textwrap.dedent(BAD)]
    enough = {"seconds": 4.0} if kind == HANG else {"seconds": SECONDS, "inputs": 100}
    counts = Campaign([kind], silence=2.0, child=child, tell=lambda _: None, **enough).run()
    assert {finding.outcome for finding in counts.findings} == {kind}
    first = counts.findings[0]
    assert first.seed > 0
    assert int(first.recipe) > 40
    assert int(first.recipe) % 2 == 0
    assert counts.by_target[kind][REFUSED] > 0
    assert f"fuzz repeat {kind} {first.seed}" in str(first)
    assert kind in counts.table()


def test_a_fuzzer_that_does_not_start_is_an_error():
    child = [sys.executable, "-c", "import no_such_module"]
    with pytest.raises(RuntimeError, match=r"(?s)does not start: ended with 1; .*no_such_module"):
        Campaign(["nothing"], 5.0, child=child, tell=lambda _: None).run()


def test_a_session_is_repeated_and_made_small():
    seen = []

    def attempt(number, folder):
        seen.append(number)
        if number >= 100:
            raise ZeroDivisionError

    target = Target("numbers", st.integers(0, 10**6), attempt)
    with pytest.raises(AssertionError, match="unexpected: ZeroDivisionError"):
        repeat(target, 5)
    assert seen[-1] == 100
    first, seen[:] = seen[:20], []
    with pytest.raises(AssertionError):
        repeat(target, 5)
    assert seen[:20] == first


def test_damage_changes_something():
    data = b"label,1.5\nother,2\n"
    for how in ("flip", "insert", "delete", "cut", "repeat", "token", "number"):
        assert damaged_bytes(data, [ByteEdit(how, 3, 2, b"x")]) != data
    document = {"a": [1, {"b": 2}], "c": "d"}
    assert damaged_json(document, [JsonEdit(3, "set", None)]) == {"a": [1, {"b": None}], "c": "d"}
    assert damaged_json(document, [JsonEdit(0, "remove", None)]) == {"c": "d"}
    assert document == {"a": [1, {"b": 2}], "c": "d"}
