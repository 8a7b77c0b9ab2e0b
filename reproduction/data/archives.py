"""Members of a zip or tar.gz archive, read straight from it: nothing is ever unpacked to disk."""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

__all__ = ["read_members"]

DAMAGE = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, OSError, NotImplementedError)
LIMIT = 2 * 2**30  # bytes unpacked: several times the largest original


def read_members(path: str | Path, wanted: Sequence[str], *, limit: int = LIMIT) -> dict[str, bytes]:
    """The contents of the wanted members, keyed as they were asked for.

    A wanted name is the end of a member's path: "train/a.feat" finds "folder/train/a.feat". Every member is
    looked at: one whose path climbs out of its folder, a link, a device, or more than ``limit`` bytes in all
    is a ValueError, for such an archive is not what it claims to be.
    """
    path = Path(path)
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"PK"):
        kind, read = "zip", _read_zip
    elif head.startswith(b"\x1f\x8b"):
        kind, read = "tar.gz", _read_tar
    else:
        raise ValueError(f"{path} is neither a zip nor a tar.gz archive; it begins with {head[:16]!r}")
    try:
        found = read(path, wanted, limit)
    except DAMAGE as error:
        raise ValueError(f"{path} is a damaged or truncated {kind} archive: {error}") from error
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ValueError(f"{path} has no member {missing[0]!r}; it is not the expected archive")
    return found


def _read_zip(path: Path, wanted: Sequence[str], limit: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        for member in members:
            _check_name(path, member.filename)
            if stat.S_ISLNK(member.external_attr >> 16):
                raise ValueError(f"{path} holds a link, {member.filename!r}; only plain files are read")
        if sum(member.file_size for member in members) > limit:
            raise ValueError(_too_large(path, limit))
        for member in members:
            name = _match(path, member.filename, wanted, found)
            if name is None or member.is_dir():
                continue
            if member.flag_bits & 1:
                raise ValueError(f"{path} is encrypted; the originals are not")
            found[name] = archive.read(member)  # checks the CRC, stops at the size declared
    return found


def _read_tar(path: Path, wanted: Sequence[str], limit: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with gzip.open(path) as unpacked:
        stream = _Capped(unpacked, limit, path)
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                _check_name(path, member.name)
                if member.isdir():
                    continue
                if not member.isfile():
                    raise ValueError(
                        f"{path} holds a link or device, {member.name!r}; only plain files are read"
                    )
                name = _match(path, member.name, wanted, found)
                if name is not None:
                    found[name] = _whole(archive, member)
        while stream.read(2**20):  # to the end, where gzip keeps its checksum
            pass
    return found


def _whole(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = archive.extractfile(member)
    data = b"" if content is None else content.read()
    if len(data) != member.size:
        raise tarfile.ReadError(f"{member.name!r} ends after {len(data)} of {member.size} bytes")
    return data


class _Capped(io.RawIOBase):
    """A stream that refuses to yield more than ``limit`` bytes: a small archive must not fill the memory."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, limit: int, path: Path) -> None:
        self._stream, self._left, self._limit, self._path = stream, limit, limit, path

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(_too_large(self._path, self._limit))
        return data


def _too_large(path: Path, limit: int) -> str:
    return f"{path} unpacks to more than {limit / 2**20:.0f} MiB; none of the originals does"


def _check_name(path: Path, name: str) -> None:
    parts = re.split(r"[/\\]", name)
    if not parts[0] or ".." in parts or re.match(r"[A-Za-z]:", name) or "\0" in name:
        raise ValueError(f"{path} holds a member that climbs out of its folder: {name!r}")


def _match(path: Path, name: str, wanted: Sequence[str], found: Iterable[str]) -> str | None:
    """The wanted name that this member's path ends with."""
    for want in wanted:
        if name == want or name.endswith("/" + want):
            if want in found:
                raise ValueError(f"{path} holds two members named {want!r}; it is not the expected archive")
            return want
    return None
