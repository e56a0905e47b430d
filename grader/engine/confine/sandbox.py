"""What surrounds a worker: `enter` turns a freshly forked process into one, before any student code is read.

The layers that this machine does not offer are left out, and the judge says so (`grader.engine.forkserver.isolation`).
"""

from __future__ import annotations

import os
import resource
import tempfile
from pathlib import Path

from grader.engine.confine import landlock, namespaces, processes, seccomp
from grader.plan import wire

OPEN_FILES = 256
FILES = 4096
CPU_GRACE_SECONDS = 5
# Where bubblewrap has made an empty folder for it.
PRIVATE_FOLDER = "/submission"
# Beside the worker's own, in a namespace that counts for itself: bubblewrap and the zygote.
_OURS = 4

# What numerical libraries ask of the kernel. Without cpuinfo torch silently takes its slowest kernels.
_PROC = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/sys/kernel", "/proc/self",
         "/sys/devices/system/cpu")  # fmt: skip
# Not /dev/zero, which mapped and left holds memory that belongs to no process.
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")


def enter(
    settings: wire.Settings, limits: wire.Limits, folder: Path, control: int, output: int, role: wire.Role,
) -> None:
    """Makes this process a worker: of all descriptors only `control` (as 3), stdin and output stay.

    `folder` holds its working directory and its caches: empty, and its own. With namespaces it is made here, and gone
    with the worker. Raises OSError if a layer of `settings` cannot be had.
    """
    layers = settings.layers
    # A compiler ends with an assembler, which is a program.
    programs = role.endswith("/compiler")
    os.setsid()
    processes.die_with_parent()
    processes.show()
    keep_only(control, output)
    if layers.namespaces:
        namespaces.new_mounts(
            str(folder), megabytes=limits.file_mb, entries=FILES, uid=layers.uid)
    elif layers.uid is not None:
        os.chown(folder, layers.uid, layers.uid)
    own_count = layers.namespaces or layers.uid is not None
    # Where memory runs out the worker goes, not its zygote.
    Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(limits, limits.processes + (_OURS if own_count else _tasks_of_this_user()))
    if layers.uid is not None:
        namespaces.become(layers.uid)
        # With another user the kernel forgets both.
        processes.die_with_parent()
        processes.show()
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
            read=[*settings.readable, *_PROC], write=[str(folder)], devices=DEVICES, execute=programs)
    if layers.seccomp:
        seccomp.install(allow_exec=programs)


def keep_only(control: int, output: int) -> None:
    """Leaves open descriptor 3, which is `control`, and 1 and 2, which write to `output`; 0 reads nothing."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    # Moved out of the way first: one of them may be number 1, 2 or 3.
    control, output = os.dup(control), os.dup(output)
    for number in (1, 2):
        os.dup2(output, number)
    high = os.dup2(control, 100)
    os.dup2(high, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _limit(limits: wire.Limits, tasks: int) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    # The address space that our own libraries have mapped already is not the student's.
    space = pages * resource.getpagesize() + limits.memory_mb * 2**20
    for kind, value in (
        # A GPU driver reserves address space by the hundred GiB: there only memory that is written to can be limited.
        (resource.RLIMIT_DATA, _data() + limits.memory_mb * 2**20) if limits.cuda else (resource.RLIMIT_AS, space),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_mb * 2**20),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_NPROC, tasks),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 1 << 16),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # Of processor time the first limit says by its signal what was used up; the second ends a process that goes on.
        more = CPU_GRACE_SECONDS if kind == resource.RLIMIT_CPU and hard == resource.RLIM_INFINITY else 0
        resource.setrlimit(kind, (value, value + more))


def _data() -> int:
    """Bytes of data of this process, as RLIMIT_DATA counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def _tasks_of_this_user() -> int:
    """RLIMIT_NPROC counts all processes and threads of a user, so it can only be set relative to those there are."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                continue
    return count
