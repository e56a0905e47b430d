"""A worker's sandbox: `enter` puts a freshly forked process into it before any student code is read.

Layers that this machine does not offer are left out; `grader.sandbox.forkserver.isolation` states which are in force.
"""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path

from grader.plan import wire
from grader.sandbox.confine import landlock, namespaces, processes, seccomp

OPEN_FILES = 256
FILES = 4096
CPU_GRACE_SECONDS = 5
# The empty folder that bubblewrap makes for the worker.
PRIVATE_FOLDER = "/submission"
# Tasks of bubblewrap and the fork server. In a namespace with a count of its own, they count as the worker's do.
_OUR_TASKS = 4

# Files of the kernel that numerical libraries read. Without cpuinfo torch silently chooses its slowest kernels.
_PROC = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/sys/kernel", "/proc/self",
         "/sys/devices/system/cpu")  # fmt: skip
# Not /dev/zero: a mapping of it that is unmapped again holds memory that belongs to no process.
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")


def enter(
    settings: wire.Settings, limits: wire.Limits, folder: Path, control: int, output: int, *,
    programs: bool,
) -> None:
    """Make this process a worker. Only three descriptors stay open: `control` (as 3), stdin and `output`.

    `folder` is empty and the worker's own: it will hold the working directory and the caches. With namespaces a file
    system is mounted on it, which vanishes with the worker. `programs`: the worker may start programs. Raises OSError
    if a layer of `settings` is not available.
    """
    layers = settings.layers
    os.setsid()
    processes.die_with_parent()
    processes.unhide()
    keep_only(control, output)
    if layers.namespaces:
        namespaces.new_mounts(
            str(folder), megabytes=limits.file_mb, entries=FILES, uid=layers.uid)
    elif layers.uid is not None:
        os.chown(folder, layers.uid, layers.uid)
    has_own_count = layers.namespaces or layers.uid is not None
    # If memory runs out, the kernel must end the worker and not its fork server.
    Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(limits, limits.processes + (_OUR_TASKS if has_own_count else _tasks_of_this_user()))
    if layers.uid is not None:
        namespaces.become(layers.uid)
        # The kernel resets both when the user changes.
        processes.die_with_parent()
        processes.unhide()
    namespaces.drop_capabilities()
    processes.gain_nothing_by_exec()
    work, cache = folder / "work", folder / "cache"
    work.mkdir()
    cache.mkdir()
    os.chdir(work)
    os.environ.update(HOME=str(work), TMPDIR=str(work), TRITON_CACHE_DIR=str(cache), TRITON_HOME=str(cache))
    tempfile.tempdir = None
    if layers.landlock:
        landlock.restrict(
            read=[*settings.readable, *_PROC], listed=settings.listed, write=[str(folder)], devices=DEVICES,
            execute=programs)
    if layers.seccomp:
        seccomp.install(allow_exec=programs)


def keep_only(control: int, output: int) -> None:
    """Close all descriptors but four: 0 becomes empty, 1 and 2 write to `output`, and 3 is `control`."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    # Duplicate both first, since either may have the number 1, 2 or 3.
    control, output = os.dup(control), os.dup(output)
    for number in (1, 2):
        os.dup2(output, number)
    high = os.dup2(control, 100)
    os.dup2(high, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _limit(limits: wire.Limits, tasks: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    memory = limits.memory_mb * 2**20
    # Address space that our own libraries have mapped does not count against the student.
    space = pages * resource.getpagesize() + memory
    for kind, value in (
        # A GPU driver reserves hundreds of GiB of address space, so only written memory can be limited.
        (resource.RLIMIT_DATA, _data_bytes() + memory) if limits.cuda else (resource.RLIMIT_AS, space),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_mb * 2**20),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NPROC, tasks),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 1 << 16),
    ):
        hard = resource.getrlimit(kind)[1]
        is_unlimited = hard == resource.RLIM_INFINITY
        value = value if is_unlimited else min(value, hard)
        # At the soft limit of processor time a process gets SIGXCPU, which names the cause; the hard limit ends a
        # process that ignores it.
        grace = CPU_GRACE_SECONDS if kind == resource.RLIMIT_CPU and is_unlimited else 0
        resource.setrlimit(kind, (value, value + grace))


def _data_bytes() -> int:
    """Return this process's bytes of data, as RLIMIT_DATA counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def _tasks_of_this_user() -> int:
    """Count this user's processes and threads. RLIMIT_NPROC counts all of them, so the limit is set above this
    number."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                continue
    return count
