"""The lock of the lanes that share a GPU: their work goes on side by side, and a replay that is timed has the GPU
alone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.sandbox.forkserver import clock

GPU_LOCK = "KERNELMARK_GPU_LOCK"
"""The environment variable of a lane that shares its GPU with other lanes: a path beside which these hold locks."""


@contextmanager
def held_among_lanes(*, alone: bool) -> Iterator[None]:
    """Hold the GPU's lock for the block, together with other lanes' work or alone. Do nothing in a lane that has its
    GPU for itself. The system frees the lock of a lane that is killed. The thread's clock stands still while it waits:
    no submission pays for another one's work."""
    if GPU_LOCK not in os.environ:
        yield
        return
    path = Path(os.environ[GPU_LOCK])
    # A server may outlive its temporary files.
    path.parent.mkdir(0o700, exist_ok=True)
    with path.with_suffix(".turn").open("ab") as turn, path.with_suffix(".lock").open("ab") as lock:
        with clock.stopped():
            # The lane that waits has the turn, so lanes that share the lock all the time do not keep it waiting.
            fcntl.flock(turn, fcntl.LOCK_EX)
            fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            fcntl.flock(turn, fcntl.LOCK_UN)
        yield
