"""Planning of edited files one after another, in children of the planner: a file that hangs or ends its child stops
none of the others."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from tempfile import TemporaryFile

# A student's machine has two processors to spare; where lanes take them all, two children take as long as one.
AT_ONCE = 2
# Seconds of the clock for each second of processor time: a file may sleep, and a machine may be busy.
PATIENCE = 5


def planned(texts: Sequence[str], seconds: float, plan: Callable[[int, bytes], int]) -> list[int]:
    """Return the outcome of `plan(number, text)` for each text: a length in bytes, or 0 if it did not return within
    `seconds` of processor time."""
    found = [0] * len(texts)
    shares = [list(range(first, len(texts), AT_ONCE)) for first in range(AT_ONCE)]
    while shares := [share for share in shares if share]:
        for share, child in [(share, _PlanningChild(share, texts, seconds, plan)) for share in shares]:
            lengths = child.lengths()
            for number, length in zip(share, lengths, strict=False):
                found[number] = length
            # The next text has ended the child, and another child goes on after that text.
            del share[:len(lengths) + 1]
    return found


class _PlanningChild:
    """A process that plans the texts of these numbers, until all are done or a text ends it."""

    def __init__(
        self, numbers: Sequence[int], texts: Sequence[str], seconds: float, plan: Callable[[int, bytes], int]
    ) -> None:
        self._heard, said = os.pipe2(os.O_CLOEXEC)
        self._pid = os.fork()
        if self._pid:
            os.close(said)
            return
        try:
            # The child's own clocks end it, since no confined process may end another.
            for ends in (signal.SIGALRM, signal.SIGPROF):
                signal.signal(ends, signal.SIG_DFL)
            # Nobody reads the output of edited files.
            with TemporaryFile() as printed:
                for standard in (1, 2):
                    os.dup2(printed.fileno(), standard)
                for number in numbers:
                    signal.setitimer(signal.ITIMER_PROF, seconds)
                    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
                    os.write(said, b"%d\n" % plan(number, texts[number].encode()))
        finally:
            os._exit(0)

    def lengths(self) -> list[int]:
        """Wait for the child's end, and return an outcome for each text, up to the text that ended it."""
        os.waitpid(self._pid, 0)
        # A process of the file's own may hold the pipe open.
        os.set_blocking(self._heard, False)
        try:
            said = os.read(self._heard, 4096)
        except BlockingIOError:
            said = b""
        os.close(self._heard)
        return [int(line) for line in said.split(b"\n")[:-1] if line.isdigit()]
