"""Where bvdt's own time goes: seconds per stage, by wrapping its functions from outside.

    python -m harness.stages CALL DATA_FOLDER OUT_FILE

A stage's time is its own, without that of the stages it calls; "other" is what no stage holds.
"""

from __future__ import annotations

import functools
import importlib
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

# stage: the functions that belong to it, as module:name in that module or module:Class.method
STAGES = {
    "tf-idf": ["rivals.ours:tf_idf"],
    "lift": ["bvdt.operators.build:lift"],
    "split": ["bvdt.tree.ward:split", "bvdt.tree.chunking:split"],
    "ward": ["bvdt.tree.ward:_merge_chunks", "bvdt.tree.ward:_carry_out"],
    "means": ["bvdt.tree.ward:Clusters.merged"],
    "tree": ["bvdt.operators.forest:BUILDERS.ward"],
    "near field": ["bvdt.operators.near_field:NearField.of"],
    "n_blocks": ["bvdt.operators.single_tree:block_divergences"],
    "optimum": ["bvdt.operators.single_tree:optimum", "bvdt.operators.single_tree:resolve_bandwidth"],
    "preparation": ["bvdt.operators.single_tree:prepared"],
    "product": [
        "bvdt.operators.single_tree:TransitionOperator.apply",
        "bvdt.operators.ordered:OrderedWalk.scaled",
        "bvdt.operators.ordered:OrderedWalk.step",
    ],
    "propagation": [
        "bvdt:propagate_labels",
        "rivals.ours:label_scores",
        "bvdt.estimators.label_propagation:label_scores",
    ],
    "eigenvectors": ["bvdt.walks.eigenvectors:leading_eigenvectors"],
}
REPEATS = 3


class Clock:
    """Own time of nested stages: entering one stops the clock of the one around it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open: list[str] = []
        self._since = 0.0

    def _turn(self) -> None:
        now = time.perf_counter()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def timed(self, stage: str, function: Any) -> Any:
        @functools.wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            self._turn()
            self._open.append(stage)
            try:
                return function(*args, **options)
            finally:
                self._turn()
                self._open.pop()

        return run


def wrap(clock: Clock) -> None:
    """Replaces every function of ``STAGES`` by one that keeps the time."""
    for stage, places in STAGES.items():
        for place in places:
            module, _, path = place.partition(":")
            owner: Any = importlib.import_module(module)
            *outer, name = path.split(".")
            for part in outer:
                owner = getattr(owner, part)
            if isinstance(owner, dict):
                owner[name] = clock.timed(stage, owner[name])
                continue
            raw = owner.__dict__.get(name, getattr(owner, name))
            if isinstance(raw, classmethod):
                setattr(owner, name, classmethod(clock.timed(stage, raw.__func__)))
            else:
                setattr(owner, name, clock.timed(stage, raw))


def profile(call: str, folder: Path) -> dict[str, float]:
    """Median seconds per stage over three calls, after one that is not counted."""
    from rivals.common import Data

    module, function = call.split(":")
    method = getattr(importlib.import_module(f"rivals.{module}"), function)
    clock, data = Clock(), Data.load(folder)
    method(data)
    wrap(clock)
    runs = []
    for _ in range(REPEATS):
        clock.seconds = defaultdict(float)
        clock.timed("other", method)(data)
        runs.append(dict(clock.seconds))
    stages = [*STAGES, "other"]
    return {s: statistics.median(r.get(s, 0.0) for r in runs) for s in stages if any(s in r for r in runs)}


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(profile(sys.argv[1], Path(sys.argv[2]))))
