"""How long somebody had to wait for a processor: threads that share one for certain, since they are bound to it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.judge.contention import BATCHES, SHARE, crowded, waits

SECONDS = 0.4
told_by_the_kernel = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this kernel does not tell how long a processor was waited for")


@contextmanager
def never_resting(core: int) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is at work on a core of this machine, and on no other."""
    source = f"import os\nos.sched_setaffinity(0, {{{core}}})\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None and program.stdout.readline()
            yield program
        finally:
            program.kill()


@pytest.fixture
def neighbour() -> Iterator[subprocess.Popen[bytes]]:
    """Such a program, on the one core that this thread may use until the test ends."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        with never_resting(max(allowed)) as program:
            yield program
    finally:
        os.sched_setaffinity(0, allowed)


def spin() -> None:
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        pass


@told_by_the_kernel
def test_who_shares_a_core_waits_for_it(neighbour: subprocess.Popen[bytes]) -> None:
    with waits(neighbour.pid) as so_far:
        before = so_far()
        spin()
        # One of the two always waits.
        assert so_far() - before > 0.8 * SECONDS


@told_by_the_kernel
def test_who_wants_no_core_does_not(neighbour: subprocess.Popen[bytes]) -> None:
    with subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({10 * SECONDS})"]) as sleeper:
        try:
            time.sleep(SECONDS)
            with waits(sleeper.pid) as so_far:
                before = so_far()
                time.sleep(SECONDS)
                # Once, to be woken.
                assert so_far() - before < 0.5 * SECONDS
        finally:
            sleeper.kill()


def test_of_a_process_that_is_gone_nothing_is_told(neighbour: subprocess.Popen[bytes]) -> None:
    with waits(neighbour.pid) as so_far:
        assert so_far() >= 0
        neighbour.kill()
        neighbour.wait()
        assert so_far() >= 0
    with waits(neighbour.pid) as so_far:
        assert so_far() >= 0


def test_a_burst_is_no_crowd() -> None:
    batches = 20
    few = int(BATCHES * batches)
    assert not crowded([2 * SHARE] * few + [0.0] * (batches - few)) and not crowded([SHARE] * batches)
    assert crowded([2 * SHARE] * (few + 1) + [0.0] * (batches - few - 1)) == (
        "Other programs keep the processor busy: 6 of 20 of the yardstick's batches had to wait for it.")
    assert not crowded([])
