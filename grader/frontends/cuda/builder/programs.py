"""Runs of compilers, with a deadline and with what they write."""

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
    """A program had not ended when its time was over."""


@dataclass(frozen=True)
class ProgramEnd:
    """The end of a program: its exit, and what it wrote."""

    status: int
    said: str


def run(
    command: Sequence[str], folder: Path, until: float, given: bytes = b"", *, quiet: bool = False,
    most: int = SAID_BYTES,
) -> ProgramEnd:
    """Run a program in a folder until a time of the clock `monotonic`. What it writes goes to a file there, so that
    nothing waits for a reader; with `quiet`, without its errors. Raises TooSlow."""
    path = folder / f"said.{next(_numbers)}"
    with path.open("wb") as said:
        # A group of its own: programs that it starts are ended with it.
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
    """Return what a program of the binary utilities writes about an object, "" if it fails. Raises TooSlow."""
    done = run(command, folder, until, given, quiet=True, most=_OUTPUT_BYTES)
    return "" if done.status else done.said


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started. A confined process may not: there the judge does so, who ends the
    whole builder when it has answered."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_SECONDS)
