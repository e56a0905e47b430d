"""Runs of compilers and binary utilities with a deadline, and their output."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

SAID_BYTES = 1 << 16
_OUTPUT_BYTES = 256 << 20
_ENDING_SECONDS = 1.0
_numbers = count()


class TooSlow(Exception):
    """Deadline that passed before a program had ended."""


@dataclass(frozen=True)
class ProgramEnd:
    """Result of a program: its exit status, negative for a signal, and its output."""

    status: int
    said: str


def run(
    command: Sequence[str], folder: Path, until: float, given: bytes = b"", *, quiet: bool = False,
    most: int = SAID_BYTES,
) -> ProgramEnd:
    """Run a program in a folder until the time `until` of the monotonic clock. The output goes to a file there, so that
    the program never waits for a reader. `quiet` drops stderr. At most `most` bytes are read. Raises TooSlow."""
    path = folder / f"said.{next(_numbers)}"
    with path.open("wb") as said:
        # A process group of its own, so that programs which it starts are ended with it.
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE if given else subprocess.DEVNULL, stdout=said,
            stderr=subprocess.DEVNULL if quiet else said, process_group=0,
            env={"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(folder), "LC_ALL": "C"})
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as stream:
            stream.write(given)
    try:
        status = process.wait(max(0.01, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TooSlow from None
    finally:
        _end(process)
    with path.open("rb") as file:
        return ProgramEnd(status, file.read(most).decode(errors="replace"))


def output(command: Sequence[str], folder: Path, until: float, given: bytes = b"") -> str:
    """Return the stdout of a program of the binary utilities, "" if it fails. Raises TooSlow."""
    done = run(command, folder, until, given, quiet=True, most=_OUTPUT_BYTES)
    return "" if done.status else done.said


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program's process group. A confined process may not do so: there the judge ends the whole builder after
    its answer."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_SECONDS)
