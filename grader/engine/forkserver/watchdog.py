"""What no rlimit bounds: the memory of all of a worker's processes together, their number, and its folder.

The judge reads them from outside while it waits, in files of /proc that every user may read (proc(5)).
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

from grader.engine.confine.processes import tree
from grader.engine.confine.sandbox import FILES
from grader.plan import wire

# Folders inside each other: every level is one open descriptor of the judge's.
DEPTH = 64
# A dear look is not repeated before this many times its own duration has passed: at the folder (16 ms for 4096 files),
# and at which pages are shared (30 ms a GiB, and only where memory may be over the limit).
FOLDER_REST = 20
MEMORY_REST = 5
# Between vfork(2) and exec, two processes show the same memory.
SECOND_LOOK_SECONDS = 0.02

_MIB = 2**20
_STATUS = re.compile(rb"^(RssAnon|RssShmem|VmSwap|Threads):\s+(\d+)", re.MULTILINE)
_ROLLUP = re.compile(rb"^(Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Excess:
    """A limit that was passed, with figures for people."""

    kind: Literal["out_of_memory", "too_many_processes", "disk"]
    message: str


@dataclass(frozen=True)
class _Process:
    """Bytes of memory that is its own (`anonymous`, swapped pages too) and shared; number of threads."""

    anonymous: int
    shared: int
    threads: int


class Watchdog:
    """Watches what is below process `root_pid` (the zygote, not counted itself) and `folder` (the worker's)."""

    def __init__(self, root_pid: int, folder: Path | None, limits: wire.Limits, *, entries: int = FILES) -> None:
        self._given = 0
        self._root = root_pid
        self._folder = folder
        self._limits = limits
        self._entries = entries
        self._next_folder = 0.0
        self._next_memory = 0.0

    def give(self, size: int) -> None:
        """Bytes of shared memory that the judge has handed out besides: they are not counted."""
        self._given += size

    def check(self) -> Excess | None:
        """The first limit found passed. Cheap enough for ten times a second; never raises for what vanishes."""
        root = _process(self._root)
        if root is None:
            return None
        found = _tree(self._root, self._limits.processes)
        return self._too_many(found) or self._memory(root, found) or self._disk(found)

    def _too_many(self, found: dict[int, _Process]) -> Excess | None:
        tasks = sum(process.threads for process in found.values())
        if tasks <= self._limits.processes:
            return None
        return Excess(
            "too_many_processes",
            f"{tasks:,} or more processes and threads, {self._limits.processes:,} allowed")

    def _memory(self, root: _Process, found: dict[int, _Process]) -> Excess | None:
        allowed = self._limits.memory_mb * _MIB
        # Pages shared after a fork count for each process here: at most this is used, and mostly it is little enough.
        at_most = sum(process.anonymous for process in found.values()) + self._beyond_given(found)
        started = time.monotonic()
        if at_most <= allowed or started < self._next_memory:
            return None
        used = self._used(root, found)
        if used > allowed:
            time.sleep(SECOND_LOOK_SECONDS)
            found = _tree(self._root, self._limits.processes)
            used = min(used, self._used(_process(self._root) or root, found))
        now = time.monotonic()
        self._next_memory = now + MEMORY_REST * (now - started)
        if used <= allowed:
            return None
        processes = f"{len(found):,} process{'' if len(found) == 1 else 'es'}"
        return Excess(
            "out_of_memory", f"{used / _MIB:,.0f} MiB in {processes}, {self._limits.memory_mb:,} MiB allowed")

    def _used(self, root: _Process, found: dict[int, _Process]) -> int:
        """Bytes that the tree holds beyond what it shares with the root and what the judge has given."""
        exact = _proportional(self._root, found)
        if exact is None:
            # Each may share all of the root's pages.
            own = sum(max(0, process.anonymous - root.anonymous) for process in found.values())
            return own + self._beyond_given(found)
        anonymous, shared = exact
        # Every page of the root counts once in all, however it is divided.
        return max(0, anonymous - root.anonymous) + max(0, shared - self._given)

    def _beyond_given(self, found: dict[int, _Process]) -> int:
        return max(0, sum(process.shared for process in found.values()) - self._given)

    def _disk(self, found: Iterable[int]) -> Excess | None:
        started = time.monotonic()
        if self._folder is None or started < self._next_folder:
            return None
        count = _Count(self._limits.file_mb * _MIB, self._entries)
        excess = count.folder(self._folder) or count.nameless(found, self._folder)
        now = time.monotonic()
        self._next_folder = now + FOLDER_REST * (now - started)
        return Excess("disk", excess) if excess else None


class _Count:
    """Bytes and entries of a hostile folder: no symbolic link is followed, and counting ends at the first limit."""

    def __init__(self, max_bytes: int, max_entries: int) -> None:
        self.bytes = 0
        self.entries = 0
        self._max_bytes = max_bytes
        self._max_entries = max_entries

    def folder(self, name: str | Path, inside: int | None = None, depth: int = 0) -> str | None:
        """Counts what is in `name`. Returns the limit that was passed, in words."""
        if depth > DEPTH:
            return f"folders inside each other more than {DEPTH:,} deep"
        try:
            descriptor = os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=inside)
        except PermissionError:
            return "a folder that cannot be looked into"
        except OSError:
            return None
        try:
            return self._entries(descriptor, depth)
        finally:
            os.close(descriptor)

    def nameless(self, pids: Iterable[int], beside: Path) -> str | None:
        """Counts files of the same file system that these processes hold open and that no longer have a name."""
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
                # The larger: a file may have holes, or blocks beyond its end.
                self.bytes += max(about.st_size, about.st_blocks * 512)
                if self.bytes > self._max_bytes:
                    return self._too_large()
        for name in folders:
            if excess := self.folder(name, descriptor, depth + 1):
                return excess
        return None


def _tree(root: int, enough: int) -> dict[int, _Process]:
    """The processes below `root`, or the first of them that have more than `enough` threads in all."""
    found: dict[int, _Process] = {}
    tasks = 0
    for pid in tree(root):
        process = _process(pid)
        if process is None:
            continue
        found[pid] = process
        tasks += process.threads
        if tasks > enough:
            break
    return found


def _process(pid: int) -> _Process | None:
    """What /proc tells of a process; None if it is gone. A dead process that is not yet reaped holds no memory."""
    try:
        fields = {name: int(value) for name, value in _STATUS.findall(_read(f"/proc/{pid}/status"))}
    except OSError:
        return None
    if b"Threads" not in fields:
        return None
    return _Process(
        1024 * (fields.get(b"RssAnon", 0) + fields.get(b"VmSwap", 0)), 1024 * fields.get(b"RssShmem", 0),
        fields[b"Threads"])


def _proportional(root: int, found: Iterable[int]) -> tuple[int, int] | None:
    """Bytes of anonymous memory of all processes and of the root, each page counted once in all; of shared memory
    without the root's. None where it may not be read: that takes the right to trace them.
    """
    anonymous = shared = 0
    for pid in (root, *found):
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
    # Cheaper than pathlib, and this runs for every process at every look. /proc gives a page at a time.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        text = b""
        while part := os.read(descriptor, 65536):
            text += part
        return text
    finally:
        os.close(descriptor)

