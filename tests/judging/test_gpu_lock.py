"""The lock of the lanes that share a GPU: their work goes on side by side, and a timed replay has the GPU alone."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.judging.running.device import working
from grader.judging.running.gpu_lock import GPU_LOCK
from grader.sandbox.forkserver import clock

Span = tuple[float, float]
# Far longer than a process takes to notice that a lock is free.
WORK = 0.05
FORK = multiprocessing.get_context("fork")


def work(count: int, alone: bool) -> list[Span]:
    """Hold the GPU again and again, and return when."""
    spans = []
    for _ in range(count):
        with working(alone=alone):
            began = time.monotonic()
            time.sleep(WORK)
            spans.append((began, time.monotonic()))
    return spans


def overlap(some: list[Span], others: list[Span]) -> bool:
    return any(begin < other_end and other_begin < end for begin, end in some for other_begin, other_end in others)


@contextmanager
def lanes(lock: Path | None) -> Iterator[Callable[..., Future[list[Span]]]]:
    """Start processes that share a lock, or, without a lock, nothing."""
    pool = ProcessPoolExecutor(3, mp_context=FORK, initializer=share, initargs=(lock,))
    with pool:
        yield lambda count, alone: pool.submit(work, count, alone)


def share(lock: Path | None) -> None:
    os.environ.pop(GPU_LOCK, None)
    if lock is not None:
        os.environ[GPU_LOCK] = str(lock)


def test_work_goes_on_side_by_side_and_a_replay_is_alone(tmp_path: Path) -> None:
    with lanes(tmp_path / "0") as start:
        some, others, replays = start(10, False), start(10, False), start(5, True)
        assert overlap(some.result(), others.result())
        assert not overlap(replays.result(), some.result() + others.result())
        # Work that never pauses keeps no replay waiting until its end.
        assert replays.result()[0][0] < max(some.result()[-1][0], others.result()[-1][0])


def test_lanes_of_different_gpus_share_nothing(tmp_path: Path) -> None:
    with lanes(None) as start:
        assert overlap(start(5, True).result(), []) is False
        first, second = start(5, True), start(5, True)
        assert overlap(first.result(), second.result())


def test_a_killed_lane_leaves_no_lock(tmp_path: Path) -> None:
    share(tmp_path / "0")
    try:
        child = os.fork()
        if not child:
            with working(alone=True):
                (tmp_path / "held").touch()
                time.sleep(60)
        while not (tmp_path / "held").exists():
            time.sleep(0.01)
        os.kill(child, 9)
        os.waitpid(child, 0)
        with working(alone=True):
            pass
    finally:
        share(None)


def test_a_block_inside_another_adds_nothing(tmp_path: Path) -> None:
    share(tmp_path / "0")
    try:
        with working(alone=True), working(), working(alone=True):
            pass
        with working(), working(), pytest.raises(AssertionError, match="inside a block of other work"), \
                working(alone=True):
            pass
        with lanes(tmp_path / "0") as start:
            assert len(start(1, True).result()) == 1
    finally:
        share(None)


def test_a_submission_does_not_pay_for_waiting(tmp_path: Path) -> None:
    share(tmp_path / "gone" / "0")
    try:
        with lanes(tmp_path / "gone" / "0") as start:
            others = start(10, True)
            while not (tmp_path / "gone" / "0.lock").exists():
                time.sleep(0.01)
            began, own = time.monotonic(), clock.now()
            for _ in range(5):
                with working(alone=True):
                    pass
            waited, counted = time.monotonic() - began, clock.now() - own
            others.result()
        assert waited - counted > WORK / 4 > counted
    finally:
        share(None)
