"""The process that imports torch and triton once, then forks one worker after another, each for one role and file.

It is our own code and runs no student code. It never touches a GPU, since a CUDA context does not survive a fork. It
serves one judge over one channel, one worker at a time, and ends when the judge does.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import platform
import signal
import socket
import sys
import time
import traceback
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType

from grader import temporary
from grader.plan import frames, wire
from grader.sandbox.confine import namespaces, probe, processes, sandbox

# Seconds to wait for killed processes. A process with work on a GPU ends only when that work is stopped, which takes
# seconds where others share the GPU.
REAP_SECONDS = 12.0
# Seconds that an init may live on. The kernel adds a worker's processor time to its init's only if init waits for it.
INIT_SECONDS = 0.2
LIBRARIES = ("numpy", "torch", "triton")
"""The libraries that workers need; builders need only the first."""
# Allocations between two garbage collections. At Python's own 700, collections took a fifth of planning.
MOST_UNCOLLECTED = 50_000
# madvise(2).
MADV_COLLAPSE, LARGE_PAGE = 25, 2 << 20


@dataclass(frozen=True)
class _ChildProcess:
    """A child of the fork server. If it is not the worker itself, it writes the worker's exit status to the pipe
    `ended`."""

    pid: int
    ended: int

    def status(self, own: int) -> int:
        """Return the worker's exit status as in waitpid(2). `own` is the exit status of the fork server's child."""
        try:
            return int(os.read(self.ended, 16) or own)
        except BlockingIOError:
            return own
        finally:
            os.close(self.ended)


def main(settings: wire.Settings) -> None:
    """Serve the judge on the socket that `settings` name."""
    # The lane blocks some signals for itself, but a submission must find none of them blocked.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    processes.die_with_parent()
    processes.adopt_orphans()
    processes.hide()
    # bubblewrap sets PWD to the folder where it was started.
    os.environ.pop("PWD", None)
    channel = frames.Channel(socket.socket(fileno=settings.control))
    gc.disable()
    versions, trouble = dict.fromkeys(LIBRARIES, ""), ""
    broken: dict[str, str] = {}
    try:
        if settings.roles:
            versions |= _import(settings, broken)
    except Exception as error:
        # The traceback goes to the log; the judge reports one line.
        traceback.print_exc()
        versions = {name: _installed(name) for name in LIBRARIES}
        trouble = " ".join(f"{type(error).__name__}: {error}".split())
    gc.enable()
    # Frozen objects stay out of a worker's collections, so the pages of imported modules stay shared. Collections may
    # be rare, since workers live briefly. Garbage that exists by now is not collected first: that takes a fifth of a
    # second, and frees no memory.
    gc.freeze()
    gc.set_threshold(MOST_UNCOLLECTED)
    ready = wire.Ready(
        seq=0, python=platform.python_version(), torch=versions["torch"], triton=versions["triton"],
        numpy=versions["numpy"], trouble=trouble, broken=broken)
    _send_with_pidfd(channel, ready, os.getpid())
    if trouble:
        os._exit(1)
    if settings.roles:
        _use_large_pages()
    worker: _ChildProcess | None = None
    folder: Path | None = None
    while True:
        try:
            request, descriptors = channel.receive_with_descriptors(wire.FORK_SERVER_REQUEST)
        except frames.ChannelClosed:
            break
        if isinstance(request, wire.Spawn):
            folder = _make_folder(settings, request.seq)
            worker = _fork(settings, request, folder, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            _send_with_pidfd(channel, wire.Spawned(seq=request.seq), worker.pid)
        else:
            reaped = _reap(request.seq, worker, settings)
            if folder is not None and not settings.layers.namespaces:
                temporary.remove(folder)
            channel.send(reaped)
            worker = None
    _reap(0, worker, settings)
    os._exit(0)


def _import(settings: wire.Settings, broken: dict[str, str]) -> dict[str, str]:
    """Import the modules that workers need. Returns the versions of the libraries among them, and adds to `broken` each
    role that cannot be had, with the reason."""
    # Imported here: a fork server without roles, which only probes, starts in a tenth of the time without them.
    from grader import languages

    needed = LIBRARIES[:1] if all(role.endswith("/builder") for role in settings.roles) else LIBRARIES
    libraries = {name: importlib.import_module(name) for name in needed}
    # The variable that names front ends is set in the judge's environment only.
    languages.__path__[:] = settings.front_ends
    if "torch" in libraries and "executor" not in settings.roles:
        # A worker computes in one thread.
        libraries["torch"].set_num_threads(1)
    # Import and warm up each role here, so that no worker pays for it.
    for role in settings.roles:
        prepare = getattr(_module(role), "prepare", None)
        if prepare is not None and (reason := prepare()):
            broken[role] = reason
    # Student code must not import the course's own modules, the oracles among them.
    packages = {str(Path(module.__file__ or "").resolve().parent.parent) for module in libraries.values()}
    standard = (sys.base_prefix, sys.prefix)
    sys.path[:] = [entry for entry in sys.path if entry in packages or entry.startswith(standard)]
    return {name: module.__version__ for name, module in libraries.items()}


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _use_large_pages() -> None:
    """Move the imported modules to pages of 2 MiB where the kernel (6.1 and later) has MADV_COLLAPSE. A fork copies one
    entry for each page, and the end of a process removes each entry again."""
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, rights, *_, inode = line.split()[:5]
        first, end = (int(address, 16) for address in span.split("-"))
        first, end = -(-first // LARGE_PAGE) * LARGE_PAGE, end // LARGE_PAGE * LARGE_PAGE
        if rights == "rw-p" and inode == "0" and first < end:
            madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), MADV_COLLAPSE)


def _module(role: wire.Role) -> ModuleType:
    language, _, name = role.rpartition("/")
    room = f"languages.{language}.confined.{name}" if language else "device"
    return importlib.import_module(f"grader.{room}.main")


def _send_with_pidfd(channel: frames.Channel, message: wire.Message, pid: int) -> None:
    descriptor = os.pidfd_open(pid)
    try:
        channel.send(message, [descriptor])
    finally:
        os.close(descriptor)


def _make_folder(settings: wire.Settings, number: int) -> Path:
    """Make the next worker's folder. With namespaces each worker mounts its own at the same place."""
    if settings.layers.namespaces:
        return Path(sandbox.PRIVATE_FOLDER)
    folder = Path(settings.home) / str(number)
    folder.mkdir(mode=0o700)
    return folder


def _fork(settings: wire.Settings, request: wire.Spawn, folder: Path, control: int, output: int) -> _ChildProcess:
    ended, ending = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    with namespaces.new_pid_namespace() if settings.layers.namespaces else contextlib.nullcontext():
        pid = os.fork()
    if pid:
        os.close(ending)
        return _ChildProcess(pid, ended)
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if settings.layers.namespaces:
            _stay_as_init(ending)
        try:
            # Some roles start compilers or assemblers.
            programs = request.role != "probe" and getattr(_module(request.role), "STARTS_PROGRAMS", False)
            sandbox.enter(settings, request.limits, folder, control, output, programs=programs)
        except Exception as error:
            # Print to the worker's output: the judge quotes its last line if "entered" does not come.
            print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
            sys.stderr.flush()
            raise
        channel = frames.Channel(socket.socket(fileno=3))
        channel.send(wire.Entered(seq=0))
        if request.role == "probe":
            attempts, _ = channel.receive_with_descriptors(wire.PROBE)
            channel.send(probe.answer(attempts))
        else:
            _module(request.role).serve(channel)
        code = 0
    finally:
        # Never return to the fork server's loop. The interpreter's own exit takes half a second with torch, so skip it.
        os._exit(code)


def _stay_as_init(ending: int) -> None:
    """Fork, and return in the child, which becomes the worker. The first process of a pid namespace stays behind, since
    the kernel shields it from most signals, some of which must end a worker. It ends when the child does, and with it
    all other processes of the namespace."""
    processes.die_with_parent()
    worker = os.fork()
    if not worker:
        return
    os.closerange(0, ending)
    os.closerange(ending + 1, os.sysconf("SC_OPEN_MAX"))
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == worker:
            os.write(ending, str(status).encode())
            os._exit(0)


def _reap(seq: int, worker: _ChildProcess | None, settings: wire.Settings) -> wire.Reaped:
    """Kill every process below this one, until none is left or `REAP_SECONDS` have passed. A namespace's init gets
    `INIT_SECONDS` to end by itself."""
    begun = time.monotonic()
    init = {worker.pid} if worker is not None and settings.layers.namespaces else set()
    status: int | None = None
    while True:
        living = processes.descendants()
        for pid in living - (init if time.monotonic() < begun + INIT_SECONDS else set()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while True:
            try:
                pid, code = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                living = set()
                break
            if pid == 0:
                break
            if worker is not None and pid == worker.pid:
                status = worker.status(code)
        if not living and not processes.descendants():
            break
        if time.monotonic() > begun + REAP_SECONDS:
            break
        time.sleep(0.001)
    return wire.Reaped(
        seq=seq,
        exit_code=os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
        survivors=len(processes.descendants()),
    )
