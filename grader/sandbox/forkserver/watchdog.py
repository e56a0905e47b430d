"""A watchdog for what no rlimit bounds: the total memory of a worker's processes, their number, and their folder.

The judge reads these from outside while it waits, in files of /proc that every user may read (proc(5)).
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader.plan import wire
from grader.sandbox.confine.processes import tree
from grader.sandbox.confine.sandbox import FILES

# The deepest nesting of folders: the judge holds one open descriptor for each level.
DEPTH = 64
# A costly check is repeated only after this many times its own duration. Such checks are those of the folder (16 ms for
# 4096 files), and of the shared pages (30 ms a GiB, and only if memory may be over the limit).
FOLDER_REST = 20
MEMORY_REST = 5
# Seconds until an excess is checked again: between vfork(2) and exec two processes report the same memory.
SECOND_LOOK_SECONDS = 0.02

_MIB = 2**20
_STATUS = re.compile(rb"^(RssAnon|RssShmem|VmSwap|Threads):\s+(\d+)", re.MULTILINE)
_ROLLUP = re.compile(rb"^(Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Excess:
    """A limit that was exceeded, with the figures in `message`."""

    kind: Literal["out_of_memory", "too_many_processes", "disk"]
    message: str


@dataclass(frozen=True)
class _Process:
    """The memory and threads of a process: bytes of `anonymous` memory, which include swapped pages; bytes of shared
    memory; number of threads."""

    anonymous: int
    shared: int
    threads: int


class Watchdog:
    """A watch on the worker's `folder` and on the processes below `root_pid`, the fork server, which is not counted."""

    def __init__(self, root_pid: int, folder: Path | None, limits: wire.Limits, *, entries: int = FILES) -> None:
        self._given = 0
        self._root = root_pid
        self._folder = folder
        self._limits = limits
        self._entries = entries
        self._next_folder = 0.0
        self._next_memory = 0.0

    def give(self, size: int) -> None:
        """Add `size` bytes to the shared memory that the judge has given to the worker, which is not counted."""
        self._given += size

    def check(self) -> Excess | None:
        """Return the first limit that was exceeded, or None. Cheap enough for ten calls a second. Processes and files
        may vanish meanwhile."""
        root = _process(self._root)
        if root is None:
            return None
        below = _tree(self._root, self._limits.processes)
        return self._too_many(below) or self._memory(root, below) or self._disk(below)

    def _too_many(self, below: dict[int, _Process]) -> Excess | None:
        tasks = sum(process.threads for process in below.values())
        if tasks <= self._limits.processes:
            return None
        return Excess(
            "too_many_processes",
            f"{tasks:,} or more processes and threads, {self._limits.processes:,} allowed")

    def _memory(self, root: _Process, below: dict[int, _Process]) -> Excess | None:
        allowed = self._limits.memory_mb * _MIB
        # This upper bound is cheap and mostly low enough. It counts pages shared after a fork once for each process.
        at_most = sum(process.anonymous for process in below.values()) + self._beyond_given(below)
        started = time.monotonic()
        if at_most <= allowed or started < self._next_memory:
            return None
        used = self._used_bytes(root, below)
        if used > allowed:
            time.sleep(SECOND_LOOK_SECONDS)
            below = _tree(self._root, self._limits.processes)
            used = min(used, self._used_bytes(_process(self._root) or root, below))
        now = time.monotonic()
        self._next_memory = now + MEMORY_REST * (now - started)
        if used <= allowed:
            return None
        processes = f"{len(below):,} process{'' if len(below) == 1 else 'es'}"
        return Excess(
            "out_of_memory", f"{used / _MIB:,.0f} MiB in {processes}, {self._limits.memory_mb:,} MiB allowed")

    def _used_bytes(self, root: _Process, below: dict[int, _Process]) -> int:
        """Return the bytes that the tree holds, without the pages shared with the root and without the judge's
        memory."""
        exact = _proportional(self._root, below)
        if exact is None:
            # Each process may share all of the root's pages.
            own = sum(max(0, process.anonymous - root.anonymous) for process in below.values())
            return own + self._beyond_given(below)
        anonymous, shared = exact
        # The sum counts each page of the root once, however it is divided among processes.
        return max(0, anonymous - root.anonymous) + max(0, shared - self._given)

    def _beyond_given(self, below: dict[int, _Process]) -> int:
        return max(0, sum(process.shared for process in below.values()) - self._given)

    def _disk(self, pids: Iterable[int]) -> Excess | None:
        started = time.monotonic()
        if self._folder is None or started < self._next_folder:
            return None
        count = _Count(self._limits.file_mb * _MIB, self._entries)
        excess = count.folder(self._folder) or count.nameless(pids, self._folder)
        now = time.monotonic()
        self._next_folder = now + FOLDER_REST * (now - started)
        return Excess("disk", excess) if excess else None


class _Count:
    """A count of bytes and entries in a hostile folder. It follows no symbolic links and stops at the first limit that
    is exceeded."""

    def __init__(self, max_bytes: int, max_entries: int) -> None:
        self.bytes = 0
        self.entries = 0
        self._max_bytes = max_bytes
        self._max_entries = max_entries

    def folder(self, name: str | Path, inside: int | None = None, depth: int = 0) -> str | None:
        """Count the contents of folder `name`. Returns the limit that was exceeded, in words, or None."""
        if depth > DEPTH:
            return f"folders nested more than {DEPTH:,} deep"
        try:
            descriptor = os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=inside)
        except PermissionError:
            return "a folder that cannot be read"
        except OSError:
            return None
        try:
            return self._entries(descriptor, depth)
        finally:
            os.close(descriptor)

    def nameless(self, pids: Iterable[int], beside: Path) -> str | None:
        """Count files without a name that these processes hold open on the file system of `beside`."""
        try:
            device = beside.stat().st_dev
        except OSError:
            return None
        seen = set()
        for pid in pids:
            try:
                numbers = os.listdir(f"/proc/{pid}/fd")
            except OSError:
                continue
            for number in numbers:
                try:
                    about = Path(f"/proc/{pid}/fd/{number}").stat()
                except OSError:
                    continue
                if about.st_nlink or about.st_dev != device or about.st_ino in seen or not stat.S_ISREG(about.st_mode):
                    continue
                seen.add(about.st_ino)
                self.bytes += about.st_blocks * 512
                if self.bytes > self._max_bytes:
                    return self._too_large()
        return None

    def _too_large(self) -> str:
        return f"{self.bytes / _MIB:,.1f} MiB or more in files, {self._max_bytes // _MIB:,} MiB allowed"

    def _entries(self, descriptor: int, depth: int) -> str | None:
        folders = []
        with os.scandir(descriptor) as listing:
            for entry in listing:
                self.entries += 1
                if self.entries > self._max_entries:
                    return f"more than {self._max_entries:,} files and folders, {self._max_entries:,} allowed"
                try:
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(about.st_mode):
                    folders.append(entry.name)
                    continue
                # The larger of the two sizes: a file may have holes, or blocks beyond its end.
                self.bytes += max(about.st_size, about.st_blocks * 512)
                if self.bytes > self._max_bytes:
                    return self._too_large()
        for name in folders:
            if excess := self.folder(name, descriptor, depth + 1):
                return excess
        return None


def _tree(root: int, enough: int) -> dict[int, _Process]:
    """Return the processes below `root`; stop once they have more than `enough` threads in all."""
    below: dict[int, _Process] = {}
    tasks = 0
    for pid in tree(root):
        process = _process(pid)
        if process is None:
            continue
        below[pid] = process
        tasks += process.threads
        if tasks > enough:
            break
    return below


def _process(pid: int) -> _Process | None:
    """Return a process's memory and threads; None if it is gone. A dead process that is not yet reaped holds no memory.
    """
    try:
        fields = {name: int(value) for name, value in _STATUS.findall(_read(f"/proc/{pid}/status"))}
    except OSError:
        return None
    if b"Threads" not in fields:
        return None
    return _Process(
        1024 * (fields.get(b"RssAnon", 0) + fields.get(b"VmSwap", 0)), 1024 * fields.get(b"RssShmem", 0),
        fields[b"Threads"])


def _proportional(root: int, below: Iterable[int]) -> tuple[int, int] | None:
    """Return the bytes of anonymous memory of the root and all processes below it, with each page counted once, and the
    bytes of shared memory of those below it. None if this process may not read them, which needs the right to trace
    them."""
    anonymous = shared = 0
    for pid in (root, *below):
        try:
            fields = {name: int(value) for name, value in _ROLLUP.findall(_read(f"/proc/{pid}/smaps_rollup"))}
        except PermissionError:
            return None
        except OSError:
            continue
        if 0 < len(fields) < 3:
            return None
        anonymous += fields.get(b"Pss_Anon", 0) + fields.get(b"SwapPss", 0)
        if pid != root:
            shared += fields.get(b"Pss_Shmem", 0)
    return 1024 * anonymous, 1024 * shared


def _read(path: str) -> bytes:
    # Not pathlib, which is slower: this runs for every process at every check. /proc gives a page at a time.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while part := os.read(descriptor, 65536):
            text += part
        return text
    finally:
        os.close(descriptor)

