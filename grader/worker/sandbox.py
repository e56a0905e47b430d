"""What surrounds a worker. Today: a session of its own, an empty folder, a bare environment, resource limits.

This is level 0 of the isolation levels: it stops accidents, not an attacker. A stronger sandbox (another uid,
namespaces, Landlock, seccomp) enters here, in `enter`, before any student code is read.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import tempfile
from pathlib import Path

from grader.judge.wire import Limits

# prctl(2)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_PR_SET_NO_NEW_PRIVS = 38

OPEN_FILES = 256


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
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def enter(folder: Path, limits: Limits, control: int, output: int) -> None:
    """Turns a freshly forked process into a worker's: of all descriptors only `control` (as 3), stdin and output stay.

    `folder` holds the worker's working directory and its caches; it is empty, and its own.
    """
    os.setsid()
    die_with_parent()
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    # Moved out of the way first: one of them may be number 1, 2 or 3.
    control, output = os.dup(control), os.dup(output)
    for number, descriptor in ((1, output), (2, output)):
        os.dup2(descriptor, number)
    high = os.dup2(control, 100)
    os.dup2(high, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])

    work, cache = folder / "work", folder / "cache"
    work.mkdir()
    cache.mkdir()
    os.chdir(work)
    os.environ.update(HOME=str(work), TMPDIR=str(work), TRITON_CACHE_DIR=str(cache), TRITON_HOME=str(cache))
    tempfile.tempdir = None
    _limit(limits)


def _limit(limits: Limits) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    # The address space that torch and triton have mapped already is ours, not the student's.
    space = pages * resource.getpagesize() + limits.memory_mb * 2**20
    for kind, value in (
        # A GPU driver reserves address space by the hundred GiB: there only memory that is written to can be limited.
        (resource.RLIMIT_DATA, _data() + limits.memory_mb * 2**20) if limits.cuda else (resource.RLIMIT_AS, space),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_mb * 2**20),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        # Counted over all processes of this user, so it can only be set relative to those there are. Root is exempt.
        (resource.RLIMIT_NPROC, _tasks_of_this_user() + limits.processes),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _data() -> int:
    """Bytes of data of this process, as RLIMIT_DATA counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def _tasks_of_this_user() -> int:
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                continue
    return count


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
