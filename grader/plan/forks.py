"""Work in forked children: a work that hangs, or ends its process, stops none of the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from math import inf
from tempfile import TemporaryFile

_MOST_PRINTED = 8 << 20


def outcomes(
    works: Sequence[Callable[[], str]], shares: Sequence[Sequence[int]], died: Callable[[int, str], str],
    until: float = inf,
) -> dict[int, str]:
    """Return the result of each work, a line of text, by its number. Each share of numbers gets a child, which does one
    work after another. If a work ends its child, the result is `died` of the child's status (as of `os.waitpid`) and of
    what it printed to standard error, and another child does the rest. No child starts after `until` (`monotonic`)."""
    results: dict[int, str] = {}
    left = [list(share) for share in shares]
    while (left := [share for share in left if share]) and time.monotonic() < until:
        for share, child in [(share, _Child([works[number] for number in share])) for share in left]:
            done, status, printed = child.ended()
            if len(done) < len(share):
                done.append(died(status, printed))
            results.update(zip(share, done, strict=False))
            del share[: len(done)]
    return results


def printed(file: int = 2) -> str:
    """Return what this child has printed to standard error since its present work began."""
    return os.pread(file, _MOST_PRINTED, 0).decode(errors="replace").replace("\0", "")


class _Child:
    def __init__(self, works: Sequence[Callable[[], str]]) -> None:
        self._errors, self._results = TemporaryFile(), TemporaryFile()  # noqa: SIM115 -- closed by `ended`
        self._pid = os.fork()
        if self._pid:
            return
        try:
            for standard in (1, 2):
                os.dup2(self._errors.fileno(), standard)
            for work in works:
                os.lseek(2, 0, os.SEEK_SET)
                os.ftruncate(2, 0)
                os.write(self._results.fileno(), f"{work()}\n".encode())
        finally:
            os._exit(0)

    def ended(self) -> tuple[list[str], int, str]:
        """Wait for the child's end, and return its results, its status and what it printed."""
        _, status = os.waitpid(self._pid, 0)
        with self._errors, self._results as results:
            results.seek(0)
            lines = [line[:-1].decode(errors="replace") for line in results if line.endswith(b"\n")]
            return lines, status, printed(self._errors.fileno())
