"""A worker's time does not run while other work keeps it from a processor; its own processes win it no time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from grader.plan.limits import MOST_EXCUSED
from grader.sandbox.confine import processes
from grader.sandbox.forkserver.handle import ForkServer
from tests.rows import beside
from tests.sandbox.forkserver.test_conversation import lost, planned

DATA = beside(__file__)
CORES = len(os.sched_getaffinity(0))
# Ends by itself, whatever becomes of the test.
SPIN = "import time\nuntil = time.monotonic() + 60\nwhile time.monotonic() < until: pass"
# A second of work, in processor time.
WORK: str = DATA["work"]


@pytest.fixture
def crowd() -> Iterator[None]:
    """Two busy processes for each processor."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(2 * CORES)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@pytest.mark.full
def test_work_gets_its_time_in_a_crowd_and_idling_does_not(fork_server: ForkServer, crowd: None) -> None:
    for _ in range(5):
        began = time.monotonic()
        planning = planned(fork_server, WORK.format("pass"), seconds=1.8)
        took = time.monotonic() - began
        assert lost(planning) is None, (planning, took)
        if took > 1.8:
            break
    else:
        pytest.skip("this system gave the work a processor in spite of the crowd")
    idle = lost(planned(fork_server, WORK.format("time.sleep(60)"), seconds=2))
    assert idle is not None and idle.kind == "time_out"


@pytest.mark.skipif(os.getuid() != 0, reason="only root may keep a processor from all others")
def test_a_tree_that_keeps_itself_busy_is_not_starved() -> None:
    """Four processes take turns on a processor that nobody else gets: each waits three quarters of the time."""
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        began = time.monotonic()
        for _ in range(4):
            if os.fork() == 0:
                while time.monotonic() < began + 0.8:
                    pass
                os.write(write, b".")
                break
        time.sleep(30)
        os._exit(0)
    os.close(write)
    try:
        for _ in range(4):
            os.read(read, 1)
        after = processes.processor_use(parent)
        assert len(after.wanted) == 4 and min(after.wanted.values()) > 0.6 and after.had < 1.2
        assert processes.starved_seconds(processes.ProcessorUse({}, 0), after) < 0.3
    finally:
        os.close(read)
        for pid in (*processes.tree(parent), parent):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(parent, 0)


@pytest.mark.full
def test_a_worker_that_keeps_itself_waiting_ends_in_time(fork_server: ForkServer) -> None:
    """It is nice to its own children, who are gone before anybody counts them."""
    began = time.monotonic()
    answer = lost(planned(fork_server, f"""
import ctypes, os, time
def silu(x, out):
    libc = ctypes.CDLL(None)
    libc.nice(19)
    while True:
        for _ in range({4 * CORES}):
            if libc.fork() == 0:
                until = time.monotonic() + 0.1
                while time.monotonic() < until: pass
                libc._exit(0)
        while libc.wait(0) > 0: pass
""", seconds=2))
    assert answer is not None and time.monotonic() - began < 2 * 3 * (1 + MOST_EXCUSED) + 5, answer
