"""A worker's time does not run while other work keeps it from a processor; its own processes win it no time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.sandbox.confine import processes
from grader.sandbox.forkserver.handle import ForkServer
from tests.sandbox.forkserver.test_conversation import lost, planned

CORES = len(os.sched_getaffinity(0))
# Ends by itself, whatever becomes of the test.
SPIN = "import time\nuntil = time.monotonic() + 60\nwhile time.monotonic() < until: pass"
# A second of work, in processor time.
WORK = """
import time
import torch
until = time.process_time() + 1
while time.process_time() < until:
    pass
def silu(x, out):
    {}
"""


@pytest.fixture
def crowd() -> Iterator[None]:
    """Eight busy processes for each processor."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(8 * CORES)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


@pytest.mark.full
def test_work_gets_its_time_in_a_crowd_and_idling_does_not(fork_server: ForkServer, crowd: None) -> None:
    began = time.monotonic()
    found = planned(fork_server, WORK.format("pass"), seconds=2.5)
    took = time.monotonic() - began
    assert lost(found) is None and took > 2.5, (found, took)
    idle = lost(planned(fork_server, WORK.format("time.sleep(60)"), seconds=2.5))
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
        for _ in range(3):
            if os.fork() == 0:
                break
        while time.monotonic() < began + 0.8:
            pass
        os.write(write, b".")
        time.sleep(30)
        os._exit(0)
    os.close(write)
    try:
        for _ in range(4):
            os.read(read, 1)
        ready = float(Path(f"/proc/{parent}/schedstat").read_text().split()[1]) * 1e-9
        assert ready > 0.4 and processes.starved(parent) < ready / 2
    finally:
        os.close(read)
        for pid in (*processes.tree(parent), parent):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(parent, 0)
