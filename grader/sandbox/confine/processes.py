"""Processes of Linux: their trees, when they end, and which process may read another."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# prctl(2)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_PR_SET_NO_NEW_PRIVS = 38

# Some kernels are built without it (CONFIG_PROC_CHILDREN).
LISTS_CHILDREN = Path("/proc/thread-self/children").exists()


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    # The kernel compares whole registers with zero, so each argument must be a long: a C int would leave its upper half
    # undefined.
    if libc.prctl(option, *(ctypes.c_ulong(argument) for argument in (value, 0, 0, 0))) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl({option}): {os.strerror(error)}")


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it, so that no process of a worker escapes it."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def adopts_orphans() -> bool:
    """Return whether orphans below this process become its children."""
    answer = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def die_with_parent() -> None:
    """Have this process killed when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def hide() -> None:
    """Keep other processes of the user from tracing this one and from reading its memory and descriptors in /proc."""
    _prctl(_PR_SET_DUMPABLE, 0)


def unhide() -> None:
    """Undo `hide`, which a fork inherits: a hidden process may not open some files of its own in /proc."""
    _prctl(_PR_SET_DUMPABLE, 1)


def gain_nothing_by_exec() -> None:
    """Keep programs that this process or its children start from gaining rights, by setuid for one."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def children(pid: int, root: int) -> Iterable[int]:
    """Return the children of process `pid`, which is `root` or below it. Reads the files of that process only.

    May miss some while the tree changes (proc(5), "children"). Where the kernel does not list children, it returns all
    processes below `root` for `root` itself, and none for any other process.
    """
    if not LISTS_CHILDREN:
        return descendants(root) if pid == root else ()
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                pids += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return pids


def tree(root: int) -> Iterator[int]:
    """Yield each process below `root` once, searching as it goes. Misses what `children` misses."""
    seen, queue = {root}, [root]
    while queue:
        for pid in children(queue.pop(), root):
            # A process may change parents during the search.
            if pid not in seen:
                seen.add(pid)
                queue.append(pid)
                yield pid


def descendants(of: int | None = None) -> set[int]:
    """Return all processes below process `of`, by default this one."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                children.setdefault(int(_stat(entry.name)[1]), []).append(int(entry.name))
    below: set[int] = set()
    queue = [os.getpid() if of is None else of]
    while queue:
        for pid in children.get(queue.pop(), []):
            below.add(pid)
            queue.append(pid)
    return below


def processor_seconds() -> float:
    """Return the processor time, in seconds, of all processes below this one, living and ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for pid in descendants():
        with contextlib.suppress(OSError):
            # utime, stime, cutime and cstime
            ticks += sum(map(int, _stat(pid)[11:15]))
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessorUse:
    """Seconds of the processes below another: for each, by pid, the time in which it had a processor or was ready for
    one; for all, the time in which any had one, ended children included."""

    wanted: Mapping[int, float]
    had: float


def processor_use(root: int) -> ProcessorUse:
    """Return the use of processors below `root`. Empty if the kernel counts no such seconds."""
    wanted, had = {}, 0.0
    for pid in (root, *tree(root)):
        with contextlib.suppress(OSError, ValueError):
            # utime, stime, and those of children that have ended and were waited for: of the root's own, only these.
            had += sum(map(int, _stat(pid)[13 if pid == root else 11 : 15])) / os.sysconf("SC_CLK_TCK")
            # Nanoseconds of the first thread: on a processor, then ready and without one.
            own, ready, _ = map(int, Path(f"/proc/{pid}/schedstat").read_text().split())
            wanted[pid] = (own + ready) * 1e-9
    wanted.pop(root, None)
    return ProcessorUse(wanted, had)


def starved_seconds(before: ProcessorUse, now: ProcessorUse) -> float:
    """Return the seconds in which work of others kept one of the processes from a processor: a lower bound, the largest
    of any process. Time in which another of them had the processor does not count: starting many wins nothing."""
    waited = (seconds - before.wanted.get(pid, 0.0) for pid, seconds in now.wanted.items())
    return max(0.0, max(waited, default=0.0) - (now.had - before.had))


def _stat(pid: int | str) -> list[str]:
    """Return a process's fields of proc(5), "stat", from the third on. Raises OSError."""
    # "pid (name) state ppid …": the name may hold blanks and brackets, so read on from the last bracket.
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
