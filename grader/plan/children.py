"""Runs of programs whose output depends on a stranger's file: the output is read in pieces, with a cap and a deadline.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

_PIECE = 1 << 16


class TooMuchError(Exception):
    """An error: a program wrote more output than is allowed."""


@dataclass(frozen=True)
class ChildEnd:
    """A program's exit status as subprocess gives it (negative for a signal), and the bytes of its standard output and
    standard error."""

    status: int
    output: bytes
    errors: bytes


def run(
    command: Sequence[str], *, most: int, seconds: float | None = None, env: Mapping[str, str] | None = None,
    cwd: str | None = None, into: IO[bytes] | None = None,
) -> ChildEnd:
    """Run a program without input. Its standard output goes to the file `into`, if there is one.

    Raises TooMuchError if the program writes more than `most` bytes to its standard output or to its standard error,
    TimeoutError if it does not end within `seconds`, and OSError if it cannot be started. The program has ended, by
    itself or killed, when this function returns or raises.
    """
    until = None if seconds is None else time.monotonic() + seconds
    pieces: dict[int, list[bytes]] = {}
    room: dict[int, int] = {}
    with subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process, selectors.DefaultSelector() as waiting:
        streams = [stream.fileno() for stream in (process.stdout, process.stderr) if stream is not None]
        for stream in streams:
            waiting.register(stream, selectors.EVENT_READ)
            pieces[stream], room[stream] = [], most
        try:
            while waiting.get_map():
                for key, _ in waiting.select(_left(until)):
                    piece = os.read(key.fd, _PIECE)
                    room[key.fd] -= len(piece)
                    if room[key.fd] < 0:
                        raise TooMuchError
                    if not piece:
                        waiting.unregister(key.fd)
                    elif into is not None and key.fd == streams[0]:
                        into.write(piece)
                    else:
                        pieces[key.fd].append(piece)
            status = process.wait(_left(until))
        except BaseException as error:
            # A confined process may not kill another, but a program that writes to a closed pipe ends by itself.
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            with contextlib.suppress(PermissionError):
                process.kill()
            if isinstance(error, subprocess.TimeoutExpired):
                raise TimeoutError from None
            raise
    return ChildEnd(status, *(b"".join(pieces[stream]) for stream in streams))


def _left(until: float | None) -> float | None:
    if until is None:
        return None
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
