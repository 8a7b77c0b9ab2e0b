"""Bytes to text: which encoding a file is in, and whether it is text at all."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ..._support import memory

PIECE = 1 << 20
Pieces = Callable[[], Iterator[bytes]]
UNDEFINED = bytes([0x81, 0x8D, 0x8F, 0x90, 0x9D])  # not in Windows-1252
CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))


def open_bytes(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """The file's bytes; a name that ends in .gz is unpacked."""
    refuse_streams(path)
    if path.suffix.lower() == ".gz":
        return _Unpacked(path, "rb")
    return open(path, "rb")


def refuse_streams(path: Path) -> None:
    """ValueError for a pipe, a terminal or a socket, which can be read once only, or never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(
            f"{path} needs to be a file, as it is read more than once; write the stream to one first"
        )


class TooLargeError(ValueError):
    """A packed file becomes more than there is memory for."""


class _Unpacked(gzip.GzipFile):
    """A packed file that is refused once it has given more bytes than there is memory for."""

    def __init__(self, path: Path, mode: str) -> None:
        super().__init__(path, mode)
        self._most, self._given = max_unpacked(), 0

    def _counted(self, piece: bytes) -> bytes:
        self._given += len(piece)
        if self._given > self._most:
            raise TooLargeError(
                f"{self.name} unpacks to more than {self._most / memory.GIB:.1f} GiB of memory left"
            )
        return piece

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes."""
        return self._counted(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        """The next bytes that are at hand."""
        return self._counted(super().read1(size))

    def readline(self, size: int | None = -1) -> bytes:
        """The next line, also for loops over lines."""
        return self._counted(super().readline(size))


def max_unpacked() -> float:
    """Bytes that a packed file may become."""
    return memory.available_bytes()


def open_text(path: Path, encoding: str, newline: str | None = None) -> io.TextIOWrapper:
    """The file's text in an encoding that ``find_encoding`` found."""
    return io.TextIOWrapper(open_bytes(path), encoding, newline=newline)


def find_encoding(path: Path, forced: str | None = None) -> tuple[str, list[str]]:
    """Name of the encoding, and a note where it had to be guessed.

    UTF-8 with or without a byte-order mark, UTF-16 with one; what is not UTF-8 but has no more control
    characters than text has is read as Windows-1252, which contains the letters of Latin-1.
    """
    return _choose(str(path), lambda: _pieces(path), forced)


def decode(data: bytes, name: str, forced: str | None = None) -> tuple[str, list[str]]:
    """The text of these bytes, under the same rules."""
    encoding, notes = _choose(name, lambda: iter([data]), forced)
    return data.decode(encoding), notes


def _choose(name: str, pieces: Pieces, forced: str | None) -> tuple[str, list[str]]:
    if forced is not None:
        encoding = _known(forced)
        fault = _first_fault(name, pieces(), encoding, nul_is_text=encoding.startswith(("utf-16", "utf-32")))
        if fault is not None:
            raise ValueError(
                f"{name}, line {fault} is not {forced}; leave the encoding out, or name the right one"
            )
        return encoding, []
    start = next(pieces(), b"")
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return _choose(name, pieces, "utf-16")
    fault = _first_fault(name, pieces(), "utf-8-sig")
    if fault is None:
        return "utf-8-sig", []
    _refuse_controls(name, start)
    undefined = any(len(piece.translate(None, UNDEFINED)) < len(piece) for piece in pieces())
    encoding, shown = ("latin-1", "Latin-1") if undefined else ("cp1252", "Windows-1252")
    return encoding, [f"{name} is not UTF-8 (line {fault}); it was read as {shown}"]


def _known(forced: str) -> str:
    try:
        io.TextIOWrapper(io.BytesIO(), forced)  # refuses codecs that are not of text
        name = codecs.lookup(forced).name
    except LookupError:
        common = '"utf-8", "latin-1" and "cp1252" are common'
        raise ValueError(f"{forced!r} is not the name of an encoding; {common}") from None
    return "utf-8-sig" if name == "utf-8" else name


def _first_fault(name: str, pieces: Iterator[bytes], encoding: str, nul_is_text: bool = False) -> int | None:
    """Line of the first bytes that are not in the encoding; a NUL byte anywhere is an error."""
    decoder, line, fault = codecs.getincrementaldecoder(encoding)(), 1, None
    for piece in pieces:
        nul = -1 if nul_is_text else piece.find(b"\0")
        if nul >= 0:
            line += piece.count(b"\n", 0, nul)
            raise ValueError(f"{name}, line {line} holds a NUL byte: it is not text; save it again as UTF-8")
        fault = _fault_in(decoder, piece, line) if fault is None else fault
        line += piece.count(b"\n")
    return _fault_in(decoder, b"", line, final=True) if fault is None else fault


def _fault_in(decoder: codecs.IncrementalDecoder, piece: bytes, line: int, final: bool = False) -> int | None:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        return line + error.object[: error.start].count(b"\n")
    except UnicodeError:  # UTF-16 without a byte-order mark
        return line
    return None


def _refuse_controls(name: str, piece: bytes) -> None:
    controls = len(piece) - len(piece.translate(None, CONTROLS))
    if 100 * controls > len(piece):
        raise ValueError(f"{name} is not text: neither UTF-8 nor Windows-1252; save it again as UTF-8")


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with open_bytes(path) as file:
            while piece := file.read(PIECE):
                yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is not a gzip file, or is truncated ({error}); pack it again") from error
