"""Do other programs keep the processor busy? The kernel tells how long a thread stood ready to run and had to wait.

proc(5), /proc/pid/schedstat: nanoseconds on a processor, nanoseconds waiting for one, number of turns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

# Of a batch that took so long, who has waited for more than this share has not had a processor to itself.
SHARE = 0.05
# One burst of somebody's work is in a few batches, and the median leaves those out.
BATCHES = 0.25


@contextmanager
def waits(pid: int) -> Iterator[Callable[[], float]]:
    """A function that returns how many seconds so far this thread and the main thread of process `pid` have waited for
    a processor, added up; 0 where the kernel does not tell."""
    with ExitStack() as stack:
        files = []
        for path in ("/proc/thread-self/schedstat", f"/proc/{pid}/schedstat"):
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            files.append(descriptor)
        yield lambda: sum(map(_waited, files))


def _waited(descriptor: int) -> float:
    try:
        return int(os.pread(descriptor, 128, 0).split()[1]) * 1e-9
    except (OSError, IndexError):
        # The process is gone.
        return 0.0


def crowded(shares: Sequence[float]) -> str:
    """A sentence, if in many of some batches such a share of the time was spent waiting for a processor; else ""."""
    many = sum(share > SHARE for share in shares)
    if many <= BATCHES * len(shares):
        return ""
    return (f"Other programs keep the processor busy: {many} of {len(shares)} of the yardstick's batches had to wait "
            "for it.")
