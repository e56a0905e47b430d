"""The process that imports torch and triton once, then forks a worker for each assignment of each submission.

It is ours and runs no student code; it never touches a GPU, since a CUDA context does not survive a fork.
It serves one judge over one channel, one worker at a time, and ends when the judge goes.
"""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import signal
import socket
import sys
import time
from pathlib import Path

from grader.judge import wire
from grader.worker import sandbox

REAP_SECONDS = 5.0


def main(control: int, interpret: bool) -> None:
    """Serves the judge on socket `control`. `interpret` selects Triton's interpreter for every worker."""
    sandbox.die_with_parent()
    sandbox.adopt_orphans()
    channel = wire.Channel(socket.socket(fileno=control))
    torch, triton, numpy = _import(interpret)
    gc.collect()
    # Collections in a worker then leave the imported modules' pages shared.
    gc.freeze()
    channel.send(wire.Ready(seq=0, python=platform.python_version(), torch=torch, triton=triton, numpy=numpy))
    worker = 0
    while True:
        try:
            request, descriptors = channel.receive_with_descriptors(wire.ZYGOTE_REQUEST)
        except wire.ChannelClosed:
            break
        if isinstance(request, wire.Spawn):
            worker = _fork(request, *descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            channel.send(wire.Spawned(seq=request.seq, pid=worker))
        else:
            channel.send(_reap(request.seq, worker))
            worker = 0
    _reap(0, worker)
    os._exit(0)


def _import(interpret: bool) -> tuple[str, str, str]:
    """Imports what workers need. Returns the versions of torch, triton and numpy."""
    if interpret:
        from grader.worker import interpreter

        interpreter.install()
    import numpy
    import torch
    import triton

    # Imported here, so that no worker pays for it.
    from grader.worker import main as _main  # noqa: F401

    torch.set_num_threads(1)
    if interpret:
        # What nothing has written holds anything, by luck the answer. Here torch.empty always holds NaN (of integers:
        # the largest), so that a grade repeats. On a GPU the fill would cost time that is measured.
        torch.set_deterministic_debug_mode("warn")
    # Student code must not find the course's own modules (the oracles among them) by importing.
    packages = {str(Path(module.__file__ or "").resolve().parent.parent) for module in (torch, triton, numpy)}
    standard = (sys.base_prefix, sys.prefix)
    sys.path[:] = [entry for entry in sys.path if entry in packages or entry.startswith(standard)]
    return torch.__version__, triton.__version__, numpy.__version__


def _fork(request: wire.Spawn, control: int, output: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sandbox.enter(Path(request.folder), request.limits, control, output)
        from grader.worker.main import serve

        serve(wire.Channel(socket.socket(fileno=3)))
        code = 0
    finally:
        # Never back into the zygote's loop, and no interpreter exit: that alone takes half a second with torch.
        os._exit(code)


def _reap(seq: int, worker: int) -> wire.Reaped:
    """Kills every process below this one, until none is left."""
    deadline = time.monotonic() + REAP_SECONDS
    status: int | None = None
    killed = 0
    while True:
        left = sandbox.descendants()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while True:
            try:
                pid, code = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                left = set()
                break
            if pid == 0:
                break
            if pid == worker:
                status = code
            else:
                killed += 1
        if not left and not sandbox.descendants():
            break
        if time.monotonic() > deadline:
            break
        time.sleep(0.001)
    return wire.Reaped(
        seq=seq,
        exit_code=os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
        signal=os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
        killed=killed,
        survivors=len(sandbox.descendants()),
    )
