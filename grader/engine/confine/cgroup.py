"""A cgroup around one lane's zygote and its workers: memory and processes bounded whatever the workers do.

It is made below the cgroup that the judge is in, so that limits set from outside go on holding. Version 2 needs one
that was delegated to us; version 1 needs root. Kernel documentation: admin-guide/cgroup-v2.rst and cgroup-v1/.
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

from grader.engine.confine.processes import descendants

WANTED = frozenset({"memory", "pids"})
SELF = Path("/proc/self")

LOCK_SECONDS = 5.0
KILL_SECONDS = 5.0
# A killed process leaves its cgroup a moment after its parent has seen it die.
REMOVE_SECONDS = 2.0
PAUSE_SECONDS = 0.005
# Processes fork while they are being moved; each round moves those that were missed.
MOVE_ROUNDS = 20
# The exit status of a command that could not join.
NOT_JOINED = 97

# The pid, its namespace (a pid says nothing in another one), and a number.
_OURS = re.compile(r"kernelmark-(\d+)-(\d+)-(\w+)")
_LEAF = "graders"
# "0" stands for the writer: the shell, which then becomes the command.
_JOIN = f'while [ "$1" != -- ]; do echo 0 > "$1" || exit {NOT_JOINED}; shift; done; shift; exec "$@"'
_numbers = itertools.count()


class NoCgroup(Exception):
    """No cgroup can be had here: why, and the one command that helps, if there is one."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Hierarchy:
    """One mounted tree of cgroups, and the folder of the cgroup that this process is in."""

    version: int
    folder: Path
    controllers: frozenset[str]


class Cgroup:
    """Bounds on whatever is started with `command`. `folders`: one in each hierarchy used."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(folders)

    def command(self) -> list[str]:
        """Put before a command line, starts it inside: no process of it was ever outside. Status 97: not joined."""
        return ["/bin/sh", "-c", _JOIN, "kernelmark", *(str(f / "cgroup.procs") for f in self.folders), "--"]

    def bound(self, memory_mb: int, processes: int) -> None:
        """Other limits than those it was made with. Raises OSError."""
        for folder in self.folders:
            # Version 1 refuses memory alone above memory and swap together, whichever is written first.
            with contextlib.suppress(FileNotFoundError):
                _write(folder / "memory.memsw.limit_in_bytes", "-1")
            there = {name for name in WANTED if any(folder.glob(f"{name}.*"))}
            limit(folder, frozenset(there), memory_mb, processes)

    def usage(self) -> tuple[int, int]:
        """Bytes of memory, and processes and threads, at this moment; 0 once it is closed."""
        memory = self._text("memory.current") or self._text("memory.usage_in_bytes")
        return int(memory or 0), int(self._text("pids.current") or 0)

    def oom_kills(self) -> int:
        """How many processes the kernel has killed because memory was used up; 0 once it is closed."""
        return _field(self._text("memory.events") or self._text("memory.oom_control"), "oom_kill")

    def refused_forks(self) -> int:
        """How many processes and threads were not to be had because there were too many."""
        return _field(self._text("pids.events"), "max")

    def kill(self) -> bool:
        """Kills every process inside, and waits until it is gone. False if some are left after `KILL_SECONDS`.

        Nothing can be started inside afterwards.
        """
        for folder in self.folders:
            with contextlib.suppress(OSError):
                _write(folder / "cgroup.kill", "1")
            # What cannot fork any more cannot outrun the signals, where there is no cgroup.kill.
            with contextlib.suppress(OSError):
                _write(folder / "pids.max", "0")
        deadline = time.monotonic() + KILL_SECONDS
        while inside := set[int]().union(*map(_members_below, self.folders)):
            for pid in inside - {0, os.getpid()}:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE_SECONDS)
        return True

    def close(self) -> bool:
        """Kills what is left inside and removes the cgroup. Idempotent, never raises. False if it is still there."""
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
    """A new cgroup for `memory_mb` MiB, swap included, and `processes` processes and threads: the zygote's and its
    workers' together. `about` is this process's folder in /proc. Raises NoCgroup.

    Removes what dead graders have left behind. On version 2 it may move this grader's own processes, see `delegate`.
    """
    made: list[Path] = []
    try:
        for hierarchy, controllers in _choose(hierarchies(about)):
            base = hierarchy.folder
            if hierarchy.version == 2:
                base = delegate(base, controllers)
            sweep(base)
            folder = base / _name(str(next(_numbers)))
            folder.mkdir()
            made.append(folder)
            limit(folder, controllers, memory_mb, processes)
    except (OSError, NoCgroup) as error:
        for folder in made:
            _remove(folder)
        if isinstance(error, NoCgroup):
            raise
        raise NoCgroup(f"uid {os.getuid()} cannot make a cgroup: {error.strerror}: {error.filename}",
                       remedy(about)) from None
    return Cgroup(made)


def hierarchies(about: Path = SELF) -> list[Hierarchy]:
    """The mounted hierarchies in which this process's own cgroup can be seen."""
    try:
        mounts = (about / "mountinfo").read_text().splitlines()
        lines = (about / "cgroup").read_text().splitlines()
    except OSError:
        return []
    memberships = {number: (set(names.split(",")), path)
                   for number, names, path in (line.split(":", 2) for line in lines if line.count(":") >= 2)}
    found = []
    for mount in mounts:
        # "id parent device root mount-point options [tags…] - type source options": proc(5).
        left, _, right = (part.split() for part in mount.partition(" - "))
        if len(left) < 6 or len(right) < 3 or right[0] not in ("cgroup", "cgroup2"):
            continue
        root, point, options = _plain(left[3]), Path(_plain(left[4])), set(right[2].split(","))
        for number, (names, path) in memberships.items():
            version = 2 if number == "0" else 1
            if right[0] == "cgroup2" if version == 1 else right[0] == "cgroup":
                continue
            if version == 1 and not names <= options:
                continue
            # A container may see a part of the tree only, and its own cgroup may lie outside of it ("/../…").
            inner = path.removeprefix(root.rstrip("/")).lstrip("/")
            folder = point / inner
            seen = f"{path}/".startswith(f"{root.rstrip('/')}/") and ".." not in inner.split("/")
            if seen and folder.is_dir():
                if version == 2:
                    names = set(_read(folder / "cgroup.controllers").split())
                found.append(Hierarchy(version, folder, frozenset(names)))
    return found


def _choose(found: list[Hierarchy]) -> list[tuple[Hierarchy, frozenset[str]]]:
    """Hierarchies that have the controllers wanted, each with those that it is used for."""
    chosen: dict[Path, tuple[Hierarchy, frozenset[str]]] = {}
    for controller in sorted(WANTED):
        hierarchy = next((h for h in found if controller in h.controllers), None)
        if hierarchy is None:
            unified = any(h.version == 2 for h in found)
            raise NoCgroup(f"no cgroup with the controller {controller} is {'delegated' if unified else 'mounted'}",
                           _systemd() if unified else "")
        used = chosen[hierarchy.folder][1] if hierarchy.folder in chosen else frozenset()
        chosen[hierarchy.folder] = hierarchy, used | {controller}
    return list(chosen.values())


def delegate(own: Path, controllers: frozenset[str]) -> Path:
    """The cgroup of version 2 below which some with `controllers` can be made: `own`, the one that this process is in.

    Such a cgroup may hold no processes of its own, so the grader's are moved into a leaf, once for all its lanes, and
    only if there are no others in it. Raises NoCgroup otherwise, OSError where it may not be written.
    """
    ours = _OURS.fullmatch(own.name)
    base = own.parent if ours and ours[3] == _LEAF else own
    # A move takes the right to write where both ways meet, too.
    os.close(os.open(base / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
    with _locked(base):
        missing = controllers - set(_read(base / "cgroup.subtree_control").split())
        if missing:
            # The root of all cgroups has no type, and may hold processes.
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
    """Writes the limits of a cgroup's folder, of either version. Raises OSError."""
    size = str(memory_mb * 2**20)
    if "pids" in controllers:
        _write(folder / "pids.max", str(processes))
    if "memory" not in controllers:
        return
    if (folder / "memory.limit_in_bytes").exists():
        _write(folder / "memory.limit_in_bytes", size)
        # Memory and swap together; a kernel that does not count swap can at least be told not to use it.
        try:
            _write(folder / "memory.memsw.limit_in_bytes", size)
        except FileNotFoundError:
            _write(folder / "memory.swappiness", "0")
        return
    _write(folder / "memory.max", size)
    # Not there on a kernel without swap.
    with contextlib.suppress(FileNotFoundError):
        _write(folder / "memory.swap.max", "0")


def sweep(base: Path) -> None:
    """Removes the cgroups below `base` whose grader is dead, with what still runs in them. Never raises."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(base)):
            name = _OURS.fullmatch(entry.name)
            if name and int(name[2]) == _namespace() and not _alive(int(name[1])):
                Cgroup([Path(entry.path)]).close()


def remedy(about: Path = SELF) -> str:
    """The command that helps where no cgroup may be written, or nothing."""
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
    # Not looked up in /proc, which may hide other users' processes.
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
def _locked(folder: Path) -> Iterator[None]:
    """One grader at a time. Raises OSError if another one holds it for too long."""
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
    """The processes in a cgroup; 0 stands for one in another pid namespace."""
    return {int(pid) for pid in _read(folder / "cgroup.procs").split()}


def _members_below(folder: Path) -> set[int]:
    """The processes in a cgroup and in those below it."""
    return set[int]().union(*(_members(Path(path)) for path, _, _ in os.walk(folder)))


def _remove(folder: Path) -> bool:
    """Removes a cgroup's folder and those below it. The files in one need no removal. False if it is still there."""
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
    # Never creates: in a cgroup's folder only the kernel makes files.
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_TRUNC)
    try:
        os.write(descriptor, text.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        os.close(descriptor)


def _field(text: str, name: str) -> int:
    """The number beside `name` in a file of lines "name number"."""
    return int(dict(line.split()[:2] for line in text.splitlines() if len(line.split()) > 1).get(name, 0))


def _plain(text: str) -> str:
    """A path as mountinfo writes it: blanks and backslashes in octal."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), text)
