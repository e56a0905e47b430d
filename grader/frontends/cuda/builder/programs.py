"""Running compilers: with an end, and with what they say."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SAID_BYTES = 1 << 16


class TooSlow(Exception):
    """A program had not ended when its time was over; it has been ended."""


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended, and what it wrote."""

    status: int
    said: str


class RunningProgram:
    """A program at work. Its messages go to a file, so that nothing waits for a reader."""

    def __init__(self, command: Sequence[str], folder: Path, name: str, given: bytes = b"") -> None:
        self._said = folder / f"{name}.said"
        with self._said.open("wb") as said:
            # A group of its own: programs that it starts are ended with it.
            self._process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.PIPE if given else subprocess.DEVNULL, stdout=said, stderr=said,
                env={"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(folder), "LC_ALL": "C"}, process_group=0)
        if self._process.stdin is not None:
            with self._process.stdin as stream:
                stream.write(given)

    def ended(self, until: float) -> ProgramEnd:
        """Waits until a time of the clock `monotonic`. Raises TooSlow."""
        try:
            status = self._process.wait(max(0.01, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TooSlow from None
        finally:
            self.end()
        with self._said.open("rb") as file:
            return ProgramEnd(status, file.read(SAID_BYTES).decode(errors="replace"))

    def end(self) -> None:
        """Ends it and all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def run(command: Sequence[str], folder: Path, name: str, until: float) -> ProgramEnd:
    """Raises TooSlow."""
    return RunningProgram(command, folder, name).ended(until)


def output(command: Sequence[str], folder: Path, until: float, given: bytes = b"") -> str:
    """What a program of the binary utilities writes about an object, "" if it fails. Raises TooSlow."""
    try:
        done = subprocess.run(
            command, cwd=folder, input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=max(0.01, until - time.monotonic()), check=False)
    except subprocess.TimeoutExpired:
        raise TooSlow from None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
