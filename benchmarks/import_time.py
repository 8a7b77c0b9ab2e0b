"""`import bvdt` against `import sklearn` plus `import scipy.sparse`, in fresh processes; want ≤ 1.3."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    programs = {"nothing": "", "bvdt": "import bvdt", "others": "import sklearn, scipy.sparse"}
    times = {name: [] for name in programs}
    for _ in range(11):  # in turns, so that a busy spell hits all alike
        for name, code in programs.items():
            times[name].append(seconds(code))
    nothing, bvdt, others = (statistics.median(t) for t in times.values())
    print(f"import bvdt {bvdt - nothing:.3f} s, sklearn + scipy.sparse {others - nothing:.3f} s", end="; ")
    print(f"ratio {(bvdt - nothing) / (others - nothing):.2f}")
