"""Runs the benchmarks that take less than a minute, or those named: ``run.py lift_imdb smoothing``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SHORT = ("import_time", "lift_imdb")

if __name__ == "__main__":
    for name in sys.argv[1:] or SHORT:
        print(f"== {name}", flush=True)
        subprocess.run([sys.executable, Path(__file__).with_name(f"{name}.py")], check=True)
