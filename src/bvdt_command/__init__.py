"""Where the ``bvdt`` command begins: Ctrl-C is answered from here on, while the library is being imported.

A package of its own, as importing anything of ``bvdt`` takes the first half second. Nothing is open or
written in that time, so that the process may end at once; ``bvdt.cli`` takes the signals over.
"""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Entry point of the ``bvdt`` command."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    from bvdt.cli import main as run

    run()


def _leave(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGINT:
        os.write(2, b"bvdt: interrupted\n")
    os._exit(128 + number)
