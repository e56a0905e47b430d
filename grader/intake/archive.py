"""Unpacks archives that anyone may have made: zip, and tar with gzip, bzip2, xz or nothing around it.

Nothing is trusted: neither names, nor sizes, nor kinds of entries. An entry that cannot be taken is left and named; an
archive that cannot be read is a `BrokenArchive`, and nothing of it stays.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import math
import os
import re
import shutil
import stat
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grader.intake.manifest import Left
from grader.model.submission import printable

CHUNK = 1 << 16
MOST_PARTS = 32
NAME_BYTES = 255
# Less than the 4,096 that Linux takes: folders lie around it, of an archive in a hand-in another such path.
PATH_BYTES = 1_024
# What a zip's directory may take for each of its entries: it is read whole before any of them.
DIRECTORY_BYTES = 1_024
# What a tar's header may say of a file: it is copied for each of them.
MOST_KEYS = 256
# Text of one letter shrinks by a thousand; below this size nobody minds.
RATIO_FROM = 4 << 20
OUT = "leads out of the archive"
TOO_LONG = "has a name that is too long"


@dataclass(frozen=True)
class Limits:
    """How much an archive may hold: entries, bytes of a file, bytes in all, and these over the archive's own; and how
    long it may take."""

    entries: int
    file: int
    total: int
    ratio: int = 200
    seconds: float = math.inf


STUDENT = Limits(entries=3_000, file=16 << 20, total=64 << 20, seconds=30)
# A class's download, of which a platform writes the directory and students the files.
CLASS = Limits(entries=200_000, file=64 << 20, total=8 << 30)


class BrokenArchive(Exception):
    """An archive cannot be unpacked; the text says why, in a clause without the archive's name."""


def unpack(path: Path, into: Path, limits: Limits = STUDENT) -> list[Left]:
    """Writes the plain files and folders of an archive below `into`, which it makes. Returns the entries that were
    left, by their names in the archive. Raises BrokenArchive, and OSError where `into` cannot be written; then `into`
    is gone."""
    into.mkdir(parents=True)
    try:
        return _unpack(path, into, limits)
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise


def _unpack(path: Path, into: Path, limits: Limits) -> list[Left]:
    packed = path.stat().st_size
    if packed > limits.total:
        raise BrokenArchive(f"has {packed:,} bytes; at most {limits.total:,} expected")
    target = _Target(into, limits, min(limits.total, max(RATIO_FROM, packed * limits.ratio)))
    try:
        with path.open("rb") as stream:
            is_zip = stream.read(2) == b"PK"
            stream.seek(0)
            entries = _zip_entries(stream, limits) if is_zip else _tar_entries(stream, target)
            for name, kind, content in entries:
                target.add(name, kind, content)
    except (BrokenArchive, _WriteError):
        raise
    # The standard library's readers meet hostile bytes with nearly any exception there is.
    except Exception as error:
        raise BrokenArchive(_why(error)) from None
    return target.left


def _why(error: Exception) -> str:
    if isinstance(error, RuntimeError) and "password" in str(error):
        return "is encrypted; an archive without a password expected"
    if isinstance(error, tarfile.ReadError):
        return "is neither zip nor tar, or damaged; one of them expected"
    said = printable(str(error))[:120]
    return f"is damaged ({said or type(error).__name__}); an archive that opens expected"


class _WriteError(OSError):
    """What went wrong is ours, such as no room on the disk."""


@contextlib.contextmanager
def _ours() -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise
    except OSError as error:
        raise _WriteError(error.errno, error.strerror, error.filename) from None


class _Target:
    """The folder to unpack to, and what may still go there."""

    def __init__(self, into: Path, limits: Limits, most: int) -> None:
        self._into, self._most = into, most
        self._limits = limits
        self._until = time.monotonic() + limits.seconds
        self.bytes_left, self._entries = most, 0
        self.left: list[Left] = []

    def add(self, name: str, kind: str, content: IO[bytes] | None) -> None:
        """Takes an entry, or notes why not. `kind` is "file", "folder", or what it is instead."""
        self._entries += 1
        if time.monotonic() > self._until:
            raise BrokenArchive(f"takes more than {self._limits.seconds:.0f} s to unpack")
        if self._entries > self._limits.entries:
            raise BrokenArchive(f"has more than {self._limits.entries:,} entries")
        parts = _parts(name)
        if isinstance(parts, str):
            self._leave(name, parts)
        elif kind not in ("file", "folder"):
            self._leave(name, f"is {kind}; a file expected")
        elif parts:
            path = self._into.joinpath(*parts)
            try:
                with _ours():
                    (path if kind == "folder" else path.parent).mkdir(parents=True, exist_ok=True)
                if kind == "file" and content is not None:
                    self._write(path, name, content)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                self._leave(name, "has the name of another entry")

    def _write(self, path: Path, name: str, content: IO[bytes]) -> None:
        if path.is_file():
            # As with tar's append and zip's update: what comes later is newer.
            self._leave(name, "stands there again later, or as another case of the same letters; the last is taken")
            path.unlink()
        size = 0
        with _ours():
            out = path.open("xb")
        with out:
            while chunk := content.read(CHUNK):
                size += len(chunk)
                self._spend(len(chunk))
                if size > self._limits.file:
                    break
                with _ours():
                    out.write(chunk)
        if size > self._limits.file:
            path.unlink()
            self._leave(name, f"has more than {self._limits.file >> 20} MiB")

    def _spend(self, count: int) -> None:
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise BrokenArchive(f"unpacks to more than {self._most >> 20} MiB, the most that one of its size may hold")

    def _leave(self, name: str, why: str) -> None:
        # A name may have megabytes, and the manifest of the whole class holds it.
        shown = name[:PATH_BYTES] + "…" * (len(name) > PATH_BYTES)
        self.left.append(Left(name=printable(shown), why=why))


def _parts(name: str) -> list[str] | str:
    """The folders and the name of an entry, or why it cannot have them."""
    if len(name) > 4 * PATH_BYTES:
        return TOO_LONG
    name = name.replace("\\", "/")
    parts = [printable(part) for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name):
        return OUT
    sizes = [len(os.fsencode(part)) + 1 for part in parts]
    if len(parts) > MOST_PARTS or sum(sizes) > PATH_BYTES or max(sizes, default=0) > NAME_BYTES + 1:
        return TOO_LONG
    return parts


def _zip_entries(stream: IO[bytes], limits: Limits) -> Iterator[tuple[str, str, IO[bytes] | None]]:
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]
    if end is not None and end[zipfile._ECD_SIZE] > limits.entries * DIRECTORY_BYTES:  # type: ignore[attr-defined]
        raise BrokenArchive(f"has a directory for more than {limits.entries:,} entries")
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            kind = _kind(info.external_attr >> 16, is_folder=info.is_dir())
            if kind != "file":
                yield _zip_name(info), kind, None
                continue
            with archive.open(info) as content:
                yield _zip_name(info), kind, content


def _zip_name(info: zipfile.ZipInfo) -> str:
    """What does not say that it is UTF-8 often is, since macOS does not say so."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _tar_entries(stream: IO[bytes], target: _Target) -> Iterator[tuple[str, str, IO[bytes] | None]]:
    # As a stream, of which no more is read than the limit: a header may claim gigabytes, and be read at once.
    bounded = io.BufferedReader(_Bounded(_decompressed(stream), target.bytes_left + RATIO_FROM))
    with tarfile.open(fileobj=bounded, mode="r|", errors="surrogateescape") as archive:
        for member in archive:
            if max(len(archive.pax_headers), len(member.pax_headers)) > MOST_KEYS:
                raise BrokenArchive(f"says more than {MOST_KEYS} things of a file")
            kind = "folder" if member.isdir() else "file" if member.isreg() else (
                "a link" if member.issym() or member.islnk() else "a device")
            content = archive.extractfile(member) if kind == "file" else None
            yield member.name, kind, content


def _decompressed(stream: IO[bytes]) -> IO[bytes] | io.BufferedIOBase:
    begin = stream.read(6)
    stream.seek(0)
    for magic, opener in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open)):
        if begin.startswith(magic):
            return opener(stream, "rb")
    return stream


class _Bounded(io.RawIOBase):
    """The first bytes of a stream; more of them is too much."""

    def __init__(self, stream: IO[bytes] | io.BufferedIOBase, most: int) -> None:
        self._stream, self._left, self._most = stream, most, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._stream.read(min(len(view), CHUNK))
        self._left -= len(data)
        if self._left < 0:
            raise BrokenArchive(f"unpacks to more than {self._most >> 20} MiB")
        view[:len(data)] = data
        return len(data)


def _kind(mode: int, *, is_folder: bool) -> str:
    """By the mode of Unix, which is 0 where a zip was made elsewhere."""
    if is_folder:
        return "folder"
    with contextlib.suppress(KeyError):
        return {0: "file", stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "a link"}[stat.S_IFMT(mode)]
    return "a device"
