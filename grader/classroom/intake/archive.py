"""Unpacking of untrusted archives: zip, and tar plain or compressed by gzip, bzip2 or xz.

Names, sizes and kinds of entries are all checked. An entry that cannot be unpacked is skipped and reported; an archive
that cannot be read raises `BrokenArchive`, and nothing of it stays on disk.
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

from grader.classroom.intake.manifest import OmittedFile
from grader.course.submission import printable

CHUNK = 1 << 16
MOST_PARTS = 32
NAME_BYTES = 255
# The longest path in an archive. Linux allows 4,096 bytes; the rest is for the folders around an archive, and for an
# archive inside another.
PATH_BYTES = 1_024
# Bytes of a zip's directory for each allowed entry: zipfile reads the whole directory before the first entry.
DIRECTORY_BYTES = 1_024
# Keys in a tar's header: tarfile copies all of them for each file.
MOST_KEYS = 256
# Bytes up to which any compression ratio is allowed: repetitive text shrinks a thousandfold.
RATIO_FROM = 4 << 20
OUT = "leads out of the archive"
PACK_LESS = "pack the course's files alone"
TOO_LONG = "has a name that is too long"


@dataclass(frozen=True)
class ArchiveLimits:
    """Limits of an archive: entries; bytes of one file; bytes in all; unpacked bytes for each packed byte; seconds that
    unpacking may take."""

    entries: int
    file: int
    total: int
    ratio: int = 200
    seconds: float = math.inf


STUDENT = ArchiveLimits(entries=3_000, file=16 << 20, total=64 << 20, seconds=30)
# A class's download: the platform wrote its directory, the students only its files.
CLASS = ArchiveLimits(entries=200_000, file=64 << 20, total=8 << 30)


class BrokenArchive(Exception):
    """An archive that cannot be unpacked; the text says why, in a clause without the archive's name."""


def unpack(path: Path, into: Path, limits: ArchiveLimits = STUDENT) -> list[OmittedFile]:
    """Make the folder `into`, unpack an archive's plain files and folders there, and return the entries that were
    skipped, by their names in the archive. Raises BrokenArchive, and OSError if `into` cannot be written; in both cases
    `into` is removed."""
    into.mkdir(parents=True)
    try:
        return _unpack(path, into, limits)
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise


def _unpack(path: Path, into: Path, limits: ArchiveLimits) -> list[OmittedFile]:
    packed = path.stat().st_size
    if packed > limits.total:
        raise BrokenArchive(f"has {packed:,} bytes; pack at most {limits.total:,}")
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
    # On hostile bytes the standard library's readers raise nearly any exception.
    except Exception as error:
        raise BrokenArchive(_why(error)) from None
    return target.left


def _why(error: Exception) -> str:
    if isinstance(error, RuntimeError) and "password" in str(error):
        return "is encrypted; pack it without a password"
    if isinstance(error, tarfile.ReadError):
        return "is neither zip nor tar, or is damaged; pack it as one of them"
    message = printable(str(error))[:120]
    return f"is damaged ({message or type(error).__name__}); pack it again"


class _WriteError(OSError):
    """A failure of ours to write, for example because the disk is full."""


@contextlib.contextmanager
def _ours() -> Iterator[None]:
    try:
        yield
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise
    except OSError as error:
        raise _WriteError(error.errno, error.strerror, error.filename) from None


def _write(out: io.FileIO, data: bytes) -> None:
    """Write all of the data. A single write to a nearly full disk may take only a part; the next one then fails."""
    left = memoryview(data)
    while left:
        left = left[out.write(left):]


class _Target:
    """The folder to unpack into, and the number of bytes that may still be written there."""

    def __init__(self, into: Path, limits: ArchiveLimits, most: int) -> None:
        self._into, self._most = into, most
        self._limits = limits
        self._until = time.monotonic() + limits.seconds
        self.bytes_left, self._entries = most, 0
        self.left: list[OmittedFile] = []

    def add(self, name: str, kind: str, content: IO[bytes] | None) -> None:
        """Unpack an entry, or note why it is skipped. `kind` is "file", "folder", or words for any other kind."""
        self._entries += 1
        if time.monotonic() > self._until:
            raise BrokenArchive(f"takes more than {self._limits.seconds:.0f} s to unpack; pack fewer files")
        if self._entries > self._limits.entries:
            raise BrokenArchive(f"has more than {self._limits.entries:,} entries; {PACK_LESS}")
        parts = _parts(name)
        if isinstance(parts, str):
            self._leave(name, parts)
        elif kind not in ("file", "folder"):
            self._leave(name, f"is {kind}; hand in a plain file")
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
            # tar's append and zip's update put a newer entry behind the older one.
            self._leave(name, "appears again later, or with other capital letters; the last one is taken")
            path.unlink()
        size = 0
        with _ours():
            # Unbuffered, so that a full disk refuses the data here and not when the file is closed.
            out = path.open("xb", buffering=0)
        with out:
            while chunk := content.read(CHUNK):
                size += len(chunk)
                self._spend(len(chunk))
                if size > self._limits.file:
                    break
                with _ours():
                    _write(out, chunk)
        if size > self._limits.file:
            path.unlink()
            self._leave(name, f"has more than {self._limits.file >> 20} MiB")

    def _spend(self, count: int) -> None:
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise BrokenArchive(f"unpacks to more than {self._most >> 20} MiB, the limit for an archive of its size; "
                                f"{PACK_LESS}")

    def _leave(self, name: str, why: str) -> None:
        # A name may be megabytes long, and the manifest holds all names of a class.
        shown = name[:PATH_BYTES] + "…" * (len(name) > PATH_BYTES)
        self.left.append(OmittedFile(name=printable(shown), why=why))


def _parts(name: str) -> list[str] | str:
    """Return the folders and the file name in an entry's path, or the reason why the path cannot be used."""
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


def _zip_entries(stream: IO[bytes], limits: ArchiveLimits) -> Iterator[tuple[str, str, IO[bytes] | None]]:
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]
    if end is not None and end[zipfile._ECD_SIZE] > limits.entries * DIRECTORY_BYTES:  # type: ignore[attr-defined]
        raise BrokenArchive(f"has a directory for more than {limits.entries:,} entries; {PACK_LESS}")
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            kind = _kind(info.external_attr >> 16, is_folder=info.is_dir())
            if kind != "file":
                yield _zip_name(info), kind, None
                continue
            with archive.open(info) as content:
                yield _zip_name(info), kind, content


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name. macOS writes UTF-8 without the flag that announces it."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _tar_entries(stream: IO[bytes], target: _Target) -> Iterator[tuple[str, str, IO[bytes] | None]]:
    # A bounded stream: a header may claim gigabytes, which tarfile would read at once.
    bounded = io.BufferedReader(_BoundedStream(_decompress(stream), target.bytes_left + RATIO_FROM))
    with tarfile.open(fileobj=bounded, mode="r|", errors="surrogateescape") as archive:
        for member in archive:
            if max(len(archive.pax_headers), len(member.pax_headers)) > MOST_KEYS:
                raise BrokenArchive(f"has more than {MOST_KEYS} keys in a file's header; pack it anew")
            kind = "folder" if member.isdir() else "file" if member.isreg() else (
                "a link" if member.issym() or member.islnk() else "a device")
            content = archive.extractfile(member) if kind == "file" else None
            yield member.name, kind, content


def _decompress(stream: IO[bytes]) -> IO[bytes] | io.BufferedIOBase:
    begin = stream.read(6)
    stream.seek(0)
    for magic, opener in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open)):
        if begin.startswith(magic):
            return opener(stream, "rb")
    return stream


class _BoundedStream(io.RawIOBase):
    """A stream that raises BrokenArchive beyond its first `most` bytes."""

    def __init__(self, stream: IO[bytes] | io.BufferedIOBase, most: int) -> None:
        self._stream, self._left, self._most = stream, most, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._stream.read(min(len(view), CHUNK))
        self._left -= len(data)
        if self._left < 0:
            raise BrokenArchive(f"unpacks to more than {self._most >> 20} MiB; {PACK_LESS}")
        view[:len(data)] = data
        return len(data)


def _kind(mode: int, *, is_folder: bool) -> str:
    """Return an entry's kind by its Unix mode, which is 0 if the zip was made on another system."""
    if is_folder:
        return "folder"
    with contextlib.suppress(KeyError):
        return {0: "file", stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "a link"}[stat.S_IFMT(mode)]
    return "a device"
