"""Running compilers: with an end, and with what they say."""

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
    """How a program ended, and what it wrote."""

    status: int
    said: str


class RunningProgram:
    """A program at work in a folder. What it writes goes to a file there, so that nothing waits for a reader; with
    `quiet`, without its errors."""

    def __init__(self, command: Sequence[str], folder: Path, given: bytes = b"", *, quiet: bool = False) -> None:
        self._said = folder / f"said.{next(_numbers)}"
        with self._said.open("wb") as said:
            # A group of its own: programs that it starts are ended with it.
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.PIPE if given else subprocess.DEVNULL, stdout=said,
                stderr=subprocess.DEVNULL if quiet else said, process_group=0,
                env={"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(folder), "LC_ALL": "C"})
        if self._process.stdin is not None:
            with suppress(BrokenPipeError), self._process.stdin as stream:
                stream.write(given)

    def ended(self, until: float, most: int = SAID_BYTES) -> ProgramEnd:
        """Waits until a time of the clock `monotonic`. Raises TooSlow."""
        try:
            status = self._process.wait(max(0.01, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TooSlow from None
        finally:
            self.end()
        with self._said.open("rb") as file:
            return ProgramEnd(status, file.read(most).decode(errors="replace"))

    def end(self) -> None:
        """Ends it and all that it has started. A confined process may not: there the judge does, who ends the whole
        builder when it has answered."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)


def run(command: Sequence[str], folder: Path, until: float) -> ProgramEnd:
    """Raises TooSlow."""
    return RunningProgram(command, folder).ended(until)


def output(command: Sequence[str], folder: Path, until: float, given: bytes = b"") -> str:
    """What a program of the binary utilities writes about an object, "" if it fails. Raises TooSlow."""
    done = RunningProgram(command, folder, given, quiet=True).ended(until, _OUTPUT_BYTES)
    return "" if done.status else done.said
