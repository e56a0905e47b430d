"""Processes as Linux shows them: which is below which, which ends with which, which may read which."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path

# prctl(2)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_PR_SET_NO_NEW_PRIVS = 38

# Not every kernel is built with it.
LISTS_CHILDREN = Path("/proc/thread-self/children").exists()


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl({option}): {os.strerror(error)}")


def adopt_orphans() -> None:
    """Makes this process the parent of every orphan below it, so that no process of a worker can slip away."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def adopts_orphans() -> bool:
    """Whether orphans below this process become its children."""
    answer = ctypes.c_int(0)
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def die_with_parent() -> None:
    """This process is killed when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def hide() -> None:
    """No process of the same user may trace this process or read its memory, environment and descriptors in /proc."""
    _prctl(_PR_SET_DUMPABLE, 0)


def show() -> None:
    """Takes `hide` back, which a fork inherits: a process that is hidden may not open some files of its own /proc."""
    _prctl(_PR_SET_DUMPABLE, 1)


def gain_nothing_by_exec() -> None:
    """No program that this process or its children start gets more rights than they have: no setuid."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def children(pid: int, root: int) -> Iterable[int]:
    """The children of a process of the tree below `root`, at the cost of reading that process alone.

    May miss some of a tree that changes (proc(5), "children"). Where the kernel does not list them, asked for `root` it
    gives everything below it at once, and nothing for the others.
    """
    if not LISTS_CHILDREN:
        return descendants(root) if pid == root else ()
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split())
    return found


def tree(root: int) -> Iterator[int]:
    """Every process below `root`, each once, looked for while they are taken. What `children` may miss, it misses."""
    seen, queue = {root}, [root]
    while queue:
        for pid in children(queue.pop(), root):
            # It may have changed parents while being looked at.
            if pid not in seen:
                seen.add(pid)
                queue.append(pid)
                yield pid


def descendants(of: int | None = None) -> set[int]:
    """Every process below process `of`, by default this one."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(f"/proc/{entry.name}/stat").read_text(errors="replace")
            except OSError:
                continue
            # "pid (name) state ppid …": the name may hold blanks and brackets, so read from its last bracket on.
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    queue = [os.getpid() if of is None else of]
    while queue:
        for pid in children.get(queue.pop(), []):
            found.add(pid)
            queue.append(pid)
    return found
