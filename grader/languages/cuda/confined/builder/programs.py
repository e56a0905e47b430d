"""Runs of compilers and binary utilities within some processor time, and their output."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import ceil
from pathlib import Path

SAID_BYTES = 1 << 16
_OUTPUT_BYTES = 256 << 20
_ENDING_SECONDS = 1.0
# Seconds of the clock for each second of processor time, where other work takes most of the machine.
_PATIENCE = 4
_numbers = count()


class TooSlow(Exception):
    """Processor time that was used up before a program had ended."""


def spent() -> float:
    """Return the seconds of processor time that programs have used which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class ProgramEnd:
    """Result of a program: its exit status, negative for a signal, and its output."""

    status: int
    printed: str


def run(
    command: Sequence[str], folder: Path, until: float, given: bytes = b"", *, quiet: bool = False,
    most: int = SAID_BYTES,
) -> ProgramEnd:
    """Run a program in a folder until programs have `spent` this processor time: on a busy machine a file compiles as
    on a quiet one. The output goes to a file there, so that the program never waits for a reader. `quiet` drops stderr.
    At most `most` bytes are read. Raises TooSlow."""
    left = until - spent()
    if left <= 0:
        raise TooSlow
    path = folder / f"printed.{next(_numbers)}"
    with path.open("wb") as printed:
        # A process group of its own, so that programs which it starts are ended with it.
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE if given else subprocess.DEVNULL, stdout=printed,
            stderr=subprocess.DEVNULL if quiet else printed, process_group=0, preexec_fn=partial(_limit, ceil(left)),
            env={"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(folder), "LC_ALL": "C"})
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as stream:
            stream.write(given)
    try:
        status = process.wait(_PATIENCE * left)
    except subprocess.TimeoutExpired:
        raise TooSlow from None
    finally:
        _end(process)
    if status and spent() >= until:
        # The limit has ended the program, or one that it started.
        raise TooSlow
    with path.open("rb") as file:
        return ProgramEnd(status, file.read(most).decode(errors="replace"))


def output(command: Sequence[str], folder: Path, until: float, given: bytes = b"") -> str:
    """Return the stdout of a program of the binary utilities, "" if it fails. Raises TooSlow."""
    end = run(command, folder, until, given, quiet=True, most=_OUTPUT_BYTES)
    return "" if end.status else end.printed


def _limit(seconds: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds if most == resource.RLIM_INFINITY else min(seconds, most), most))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program's process group. A confined process may not do so: there the judge ends the whole builder after
    its answer."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_SECONDS)
