"""A cgroup around one lane's fork server and its workers: it bounds their memory and processes, whatever they do.

The cgroup is made below the judge's own one, so that limits set from outside still hold. Version 2 needs a cgroup that
is delegated to this user; version 1 needs root. Kernel documentation: admin-guide/cgroup-v2.rst and cgroup-v1/.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import multiprocessing
import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox.confine.processes import descendants

WANTED = frozenset({"memory", "pids"})
SELF = Path("/proc/self")

LOCK_SECONDS = 5.0
KILL_SECONDS = 5.0
# A killed process leaves its cgroup shortly after its parent has seen it die.
REMOVE_SECONDS = 2.0
PAUSE_SECONDS = 0.005
# Processes may fork while they are being moved; each round moves the ones that the last round missed.
MOVE_ROUNDS = 20
# The exit status of a command that could not join.
NOT_JOINED = 97

# A name holds the grader's pid, its pid namespace (in another one the pid means nothing), and a label.
_OURS = re.compile(r"kernelmark-(\d+)-(\d+)-(\w+)")
_LEAF = "graders"
# "0" stands for the process that writes it: the shell, which then becomes the command.
_JOIN = f'while [ "$1" != -- ]; do echo 0 > "$1" || exit {NOT_JOINED}; shift; done; shift; exec "$@"'
_numbers = itertools.count()


class NoCgroup(Exception):
    """The reason why no cgroup can be made here. `remedy` is the command that helps, "" if there is none."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Hierarchy:
    """A mounted tree of cgroups, and the folder of this process's own cgroup in it."""

    version: int
    folder: Path
    controllers: frozenset[str]


class Cgroup:
    """Limits on every process started with `command`. `folders` holds one folder for each hierarchy in use."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)

    def command(self) -> list[str]:
        """Return the prefix of a command line that starts a command inside the cgroup, so that none of its processes
        ever runs outside. Exit status 97 means that the command could not join."""
        return ["/bin/sh", "-c", _JOIN, "kernelmark", *(str(f / "cgroup.procs") for f in self.folders), "--"]

    def bound(self, memory_mb: int, processes: int) -> None:
        """Replace the limits. Raises OSError."""
        for folder in self.folders:
            # Version 1 refuses a limit of memory above the limit of memory and swap together, so lift the latter first.
            with contextlib.suppress(FileNotFoundError):
                _write(folder / "memory.memsw.limit_in_bytes", "-1")
            present = {name for name in WANTED if any(folder.glob(f"{name}.*"))}
            limit(folder, frozenset(present), memory_mb, processes)

    def usage(self) -> tuple[int, int]:
        """Return the current bytes of memory, and the number of processes and threads; 0 once the cgroup is closed."""
        memory = self._text("memory.current") or self._text("memory.usage_in_bytes")
        return int(memory or 0), int(self._text("pids.current") or 0)

    def oom_kills(self) -> int:
        """Return the number of processes that the kernel killed because memory ran out; 0 once the cgroup is closed."""
        return _field(self._text("memory.events") or self._text("memory.oom_control"), "oom_kill")

    def refused_forks(self) -> int:
        """Return the number of forks that the kernel refused because there were too many processes and threads."""
        return _field(self._text("pids.events"), "max")

    def kill(self) -> bool:
        """Kill every process inside and wait until all are gone. False if some are left after `KILL_SECONDS`.

        Afterwards nothing can be started inside.
        """
        for folder in self.folders:
            with contextlib.suppress(OSError):
                _write(folder / "cgroup.kill", "1")
            # Older kernels have no cgroup.kill. A process that cannot fork cannot outrun signals.
            with contextlib.suppress(OSError):
                _write(folder / "pids.max", "0")
        deadline = time.monotonic() + KILL_SECONDS
        while inside := {pid for top in self.folders for path, _, _ in os.walk(top) for pid in _members(Path(path))}:
            for pid in inside - {0, os.getpid()}:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def close(self) -> bool:
        """Kill the processes inside and remove the cgroup. Idempotent, never raises. False if it still exists."""
        self.kill()
        deadline = time.monotonic() + REMOVE_SECONDS
        while [folder for folder in self.folders if not _remove(folder)]:
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def _text(self, file: str) -> str:
        for folder in self.folders:
            with contextlib.suppress(OSError):
                return (folder / file).read_text()
        return ""


def create(memory_mb: int, processes: int, *, about: Path = SELF) -> Cgroup:
    """Make a cgroup for a fork server and its workers: together at most `memory_mb` MiB, swap included, and `processes`
    processes and threads. `about` is this process's folder in /proc. Raises NoCgroup.

    Removes the cgroups of dead graders. On version 2 it may move this grader's own processes, see `delegate`.
    """
    paths: list[Path] = []
    try:
        for hierarchy, controllers in _choose(hierarchies(about)):
            base = hierarchy.folder
            if hierarchy.version == 2:
                base = delegate(base, controllers)
            sweep(base)
            folder = base / _name(str(next(_numbers)))
            folder.mkdir()
            paths.append(folder)
            limit(folder, controllers, memory_mb, processes)
    except (OSError, NoCgroup) as error:
        for folder in paths:
            _remove(folder)
        if isinstance(error, NoCgroup):
            raise
        # Only the part before our own cgroup's name, which differs in every process.
        where = str(error.filename).partition("/kernelmark-")[0]
        raise NoCgroup(f"uid {os.getuid()} cannot make a cgroup: {error.strerror}: {where}", remedy(about)) from None
    return Cgroup(paths)


def hierarchies(about: Path = SELF) -> list[Hierarchy]:
    """Return the mounted hierarchies that show this process's own cgroup."""
    try:
        mounts = (about / "mountinfo").read_text().splitlines()
        lines = (about / "cgroup").read_text().splitlines()
    except OSError:
        return []
    memberships = {number: (set(names.split(",")), path)
                   for number, names, path in (line.split(":", 2) for line in lines if line.count(":") >= 2)}
    visible = []
    for mount in mounts:
        # "id parent device root mount-point options [tags…] - type source options": proc(5).
        left, _, right = (part.split() for part in mount.partition(" - "))
        if len(left) < 6 or len(right) < 3 or right[0] not in ("cgroup", "cgroup2"):
            continue
        root, point, options = _unescape(left[3]), Path(_unescape(left[4])), set(right[2].split(","))
        for number, (names, path) in memberships.items():
            version = 2 if number == "0" else 1
            if right[0] == "cgroup2" if version == 1 else right[0] == "cgroup":
                continue
            if version == 1 and not names <= options:
                continue
            # A container may see only a part of the tree, and its own cgroup may lie outside that part ("/../…").
            inner = path.removeprefix(root.rstrip("/")).lstrip("/")
            folder = point / inner
            seen = f"{path}/".startswith(f"{root.rstrip('/')}/") and ".." not in inner.split("/")
            if seen and folder.is_dir():
                if version == 2:
                    names = set(_read(folder / "cgroup.controllers").split())
                visible.append(Hierarchy(version, folder, frozenset(names)))
    return visible


def _choose(visible: list[Hierarchy]) -> list[tuple[Hierarchy, frozenset[str]]]:
    """Return the hierarchies that have the controllers which we need, each with the controllers to use in it."""
    chosen: dict[Path, tuple[Hierarchy, frozenset[str]]] = {}
    for controller in sorted(WANTED):
        hierarchy = next((h for h in visible if controller in h.controllers), None)
        if hierarchy is None:
            unified = any(h.version == 2 for h in visible)
            raise NoCgroup(f"no cgroup with the controller {controller} is {'delegated' if unified else 'mounted'}",
                           _systemd() if unified else "")
        used = chosen[hierarchy.folder][1] if hierarchy.folder in chosen else frozenset()
        chosen[hierarchy.folder] = hierarchy, used | {controller}
    return list(chosen.values())


def delegate(own: Path, controllers: frozenset[str]) -> Path:
    """Prepare this process's own cgroup of version 2, `own`, for cgroups with `controllers` below it. Returns the
    folder to make them in.

    A cgroup with such children may hold no processes itself, so the grader's processes are moved into a leaf, once for
    all its lanes. Raises NoCgroup if the cgroup holds other processes, too; OSError if it cannot be written.
    """
    name = _OURS.fullmatch(own.name)
    base = own.parent if name and name[3] == _LEAF else own
    # Moving a process needs write access to the common ancestor as well.
    os.close(os.open(base / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
    with _lock(base):
        missing = controllers - set(_read(base / "cgroup.subtree_control").split())
        if missing:
            # The root of all cgroups has no such file, and may hold processes.
            if (base / "cgroup.type").exists():
                _move_into_leaf(base)
            _write(base / "cgroup.subtree_control", " ".join(f"+{controller}" for controller in sorted(missing)))
    return base


def _move_into_leaf(base: Path) -> None:
    parent = multiprocessing.parent_process()
    main = os.getpid() if parent is None or parent.pid is None else parent.pid
    leaf = base / _name(_LEAF, main)
    for _ in range(MOVE_ROUNDS):
        inside = _members(base)
        if not inside:
            return
        others = inside - {main} - descendants(main)
        if others:
            names = sorted({_read(Path(f"/proc/{pid}/comm")).strip() or str(pid) for pid in others})[:5]
            raise NoCgroup(f"{base} also holds processes that are not the grader's: {', '.join(names)}", _systemd())
        leaf.mkdir(exist_ok=True)
        for pid in inside:
            with contextlib.suppress(ProcessLookupError):
                _write(leaf / "cgroup.procs", str(pid))
    raise NoCgroup(f"{base} could not be emptied", _systemd())


def limit(folder: Path, controllers: frozenset[str], memory_mb: int, processes: int) -> None:
    """Write the limits of a cgroup of either version. Raises OSError."""
    size = str(memory_mb * 2**20)
    if "pids" in controllers:
        _write(folder / "pids.max", str(processes))
    if "memory" not in controllers:
        return
    if (folder / "memory.limit_in_bytes").exists():
        _write(folder / "memory.limit_in_bytes", size)
        # Memory and swap together. If the kernel does not count swap, forbid it instead.
        try:
            _write(folder / "memory.memsw.limit_in_bytes", size)
        except FileNotFoundError:
            _write(folder / "memory.swappiness", "0")
        return
    _write(folder / "memory.max", size)
    # The file is missing on a kernel without swap.
    with contextlib.suppress(FileNotFoundError):
        _write(folder / "memory.swap.max", "0")


def sweep(base: Path) -> None:
    """Remove the cgroups below `base` whose grader is dead, and kill the processes in them. Never raises."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(base)):
            name = _OURS.fullmatch(entry.name)
            if name and int(name[2]) == _namespace() and not _alive(int(name[1])):
                Cgroup([Path(entry.path)]).close()


def remedy(about: Path = SELF) -> str:
    """Return the command that gives the grader a cgroup it may write; "" if there is none."""
    if any(h.version == 1 and h.controllers & WANTED for h in hierarchies(about)):
        return "" if os.getuid() == 0 else "sudo kernelmark grade …"
    return _systemd()


def _systemd() -> str:
    if not Path("/run/systemd/system").is_dir():
        return ""
    return f"systemd-run {'--user ' if os.getuid() else ''}--scope -p Delegate=yes kernelmark grade …"


def _name(label: str, pid: int | None = None) -> str:
    return f"kernelmark-{os.getpid() if pid is None else pid}-{_namespace()}-{label}"


def _alive(pid: int) -> bool:
    # By a signal, since /proc may hide the processes of other users.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder against other graders. Raises OSError if another grader holds it for too long."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    deadline = time.monotonic() + LOCK_SECONDS
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise OSError(error.errno, "locked by another process", str(folder)) from None
            time.sleep(PAUSE_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _members(folder: Path) -> set[int]:
    """Return the processes in a cgroup; 0 stands for a process of another pid namespace."""
    return {int(pid) for pid in _read(folder / "cgroup.procs").split()}


def _remove(folder: Path) -> bool:
    """Remove a cgroup's folder and the folders below it; their files need no removal. False if it still exists."""
    for path, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            Path(path).rmdir()
    return not folder.exists()


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _write(path: Path, text: str) -> None:
    # Without O_CREAT: in a cgroup's folder only the kernel makes files.
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_TRUNC)
    try:
        os.write(descriptor, text.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(descriptor)


def _field(text: str, name: str) -> int:
    """Return the number beside `name` in a text of lines "name number"; 0 if the name is missing."""
    return int(dict(line.split()[:2] for line in text.splitlines() if len(line.split()) > 1).get(name, 0))


def _unescape(text: str) -> str:
    """Decode a path of mountinfo, which writes blanks and backslashes in octal."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)
