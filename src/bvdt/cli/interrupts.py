"""Ctrl-C and SIGTERM, which wait for an import to end.

An exception that arrives while a compiled module is being imported may be lost there, or come out as an
ImportError of the module; and modules are imported throughout a command, when they are first needed.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from types import FrameType

_AGAIN = 0.02  # seconds


def handle() -> None:
    """Ctrl-C raises KeyboardInterrupt, SIGTERM leaves with 143 after temporary files are gone."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _arrived)


def _arrived(number: int, frame: FrameType | None) -> None:
    if _importing(frame):
        threading.Timer(_AGAIN, _send, (number,)).start()
    elif number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        sys.exit(128 + number)


def _send(number: int) -> None:
    """The signal once more, to the main thread, from another."""
    if hasattr(signal, "pthread_kill"):  # not on Windows; unlike the other it ends a wait
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))


def _importing(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_globals.get("__name__") != "importlib._bootstrap":
        frame = frame.f_back
    return frame is not None
