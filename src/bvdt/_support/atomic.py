"""A file that appears whole or not at all: a temporary name beside it, then a rename."""

from __future__ import annotations

import errno
import glob
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

_YOUNG = 2.0  # seconds in which a temporary may not be locked yet
_LEFTOVER = re.compile(r"\.[0-9a-f]{12}\.tmp$")


@contextmanager
def atomic(path: str | Path, mode: str = "w") -> Iterator[IO[Any]]:
    """File to write, "w" (UTF-8, line ends as given) or "wb"; it takes its name when the block ends well.

    Whatever ends the block otherwise, Ctrl-C included, leaves the former file, or none, and no temporary.
    A device or pipe (``/dev/stdout``) cannot be renamed to and is written directly.
    """
    if mode not in ("w", "wb"):
        raise ValueError(f'atomic needs the mode "w" or "wb"; got {mode!r}')
    path = Path(path)
    text: dict[str, Any] = {} if mode == "wb" else {"encoding": "utf-8", "errors": "replace", "newline": ""}
    if _is_special(path):
        with _named(path, path), open(path, mode, **text) as file:
            yield file
        return
    target = _target(path)
    _remove_leftovers(target)
    temporary = _temporary(target)
    try:
        with _named(path, temporary):
            with open(_create(temporary, path), mode, **text) as file:
                _lock(file.fileno())
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o777)
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def check_writable(path: str | Path) -> None:
    """Raise now the OSError that ``atomic(path)`` would raise after the work."""
    path = Path(path)
    if _is_special(path):
        return
    temporary = _temporary(_target(path))
    with _named(path, temporary):
        os.close(_create(temporary, path))
        temporary.unlink()


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def _target(path: Path) -> Path:
    """The file itself, as a link stays a link; a write-protected one is refused, though a rename could."""
    target = Path(os.path.realpath(path))
    if target.is_file() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected; choose another name", str(path))
    return target


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")


def _lock(descriptor: int) -> bool:
    """Claims an open file until it is closed, or its process dies; False if another has, or none can."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_leftovers(target: Path) -> None:
    """Temporaries of that name whose process was killed: old enough to be locked, and without an owner."""
    with suppress(OSError):
        for left in target.parent.glob(glob.escape(f".{target.name[:40]}.") + "*.tmp"):
            with suppress(OSError):
                if not _LEFTOVER.search(left.name) or time.time() - left.stat().st_mtime < _YOUNG:
                    continue
                descriptor = os.open(left, os.O_RDWR)
                try:
                    if _lock(descriptor):
                        left.unlink()
                finally:
                    os.close(descriptor)


def _create(temporary: Path, path: Path) -> int:
    """Descriptor of the new temporary; its mode follows the umask."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file in it", str(path))
    if not temporary.parent.is_dir():
        reason = f"there is no folder {path.parent}; create it first, or choose another"
        raise FileNotFoundError(errno.ENOENT, reason, str(path))
    return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


@contextmanager
def _named(path: Path, temporary: Path) -> Iterator[None]:
    """An OSError without a file, or with the temporary's name, gets the user's."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary), temporary):
            raise
        raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error
