"""What a worker of either kind of device is refused, by the sandbox that such workers get."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from grader.catalogue import assignments
from grader.confine.sandbox import CUDA_FILES, FILES
from grader.forkserver.handle import Zygote
from grader.forkserver.isolation import measure
from grader.judge.session import Lost, Session
from grader.plan import wire

INODES = Path(__file__).parents[1] / "submissions" / "hostile" / "exhausting" / "inodes" / "silu.py"
LIMITS = wire.Limits(memory_mb=2048, file_mb=64, processes=64, cpu_seconds=60)
CALL_SECONDS = 30.0
# Its folders are entries, too.
FOLDERS = 8


@pytest.mark.parametrize(("interpret", "allowed"), [(True, FILES), (False, CUDA_FILES)], ids=["cpu", "cuda"])
def test_the_hostile_submission_of_many_files_meets_the_limit_of_either_device(interpret: bool, allowed: int) -> None:
    layers = measure(cuda=False).layers
    if not layers.namespaces:
        pytest.skip("no file system of its own here: the judge counts instead")
    # No GPU is needed: the file is refused when it is imported, and a worker for CUDA starts without one.
    zygote = Zygote(interpret=interpret, layers=layers)
    try:
        session = Session(zygote, assignments()["silu"], INODES.read_bytes(), LIMITS, 1 << 20, CALL_SECONDS, math.inf)
        started = time.monotonic()
        lost = session.load()
        session.close()
    finally:
        zygote.close()
    assert isinstance(lost, Lost) and "refused: ENOSPC after " in lost.message, lost
    assert allowed - FOLDERS <= int(lost.message.split(" after ")[1].split()[0]) < allowed
    assert time.monotonic() - started < CALL_SECONDS
