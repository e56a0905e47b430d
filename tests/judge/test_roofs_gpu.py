"""Roofs and health on a real device."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
import torch

from grader.assignment import Work
from grader.judge.health import Neighbour, describe, take, unfit, uuid_of
from grader.judge.roofs import COPY_PER_L2, MEMORY_SHARE, Roofs, RoofsError, measure, roofs, share

pytestmark = pytest.mark.gpu

SECONDS_IN_ALL = 1.0
SPREAD = 0.03
SIDE = 8192
KERNEL_BYTES = 2 * 4 * SIDE * SIDE

NEIGHBOUR = """
import sys, torch
a = torch.randn(4096, 4096, device="cuda")
torch.cuda.synchronize()
print("ready", flush=True)
busy = sys.argv[1] == "busy"
while True:
    sys.stdin.readline() if not busy else [a @ a for _ in range(20)]
    torch.cuda.synchronize()
"""


@pytest.fixture(scope="module", autouse=True)
def started() -> None:
    """CUDA's and cuBLAS's own start is no part of measuring."""
    square = torch.ones(256, 256, device="cuda", dtype=torch.float16)
    torch.mm(square, square)
    torch.cuda.synchronize()


@pytest.fixture(scope="module")
def measured() -> Roofs:
    return roofs()


@pytest.fixture
def neighbour(request: pytest.FixtureRequest) -> Iterator[int]:
    """The pid of another process on the device, "busy" or "quiet"."""
    process = subprocess.Popen(
        [sys.executable, "-c", NEIGHBOUR, request.param], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate(timeout=10)


def test_they_are_plausible_and_take_less_than_a_second(measured: Roofs) -> None:
    print(measured)
    assert measured.seconds < SECONDS_IN_ALL
    assert measured.copy > 5e10 and measured.product > 1e12
    assert measured.copy > measured.pinned > 1e9 and measured.pinned > 0.9 * measured.pageable > 0


def test_measured_again_they_are_the_same_and_known_ones_cost_nothing(measured: Roofs) -> None:
    again = [measure() for _ in range(3)]
    for found in again:
        print(found)
    assert all(abs(found.copy / measured.copy - 1) < SPREAD for found in again)
    assert abs(statistics.median(found.product for found in again) / measured.product - 1) < 2 * SPREAD
    assert roofs() is measured
    newer = roofs(max_age=0)
    assert newer is not measured and roofs() is newer


def test_nothing_torch_has_beats_them_by_much(measured: Roofs) -> None:
    x = torch.randn(SIDE, SIDE, device="cuda")
    out = torch.empty_like(x)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    found = {}
    for name, call in {"silu": torch.ops.aten.silu.out, "sigmoid": torch.ops.aten.sigmoid.out}.items():
        for _ in range(20):
            call(x, out=out)
        begin.record()
        for _ in range(50):
            call(x, out=out)
        end.record()
        torch.cuda.synchronize()
        found[name], bound = share(Work(bytes=KERNEL_BYTES), begin.elapsed_time(end) / 1000 / 50, measured)
        assert bound == "device copy"
    print(found)
    assert all(0.8 < of_roof < 1.05 for of_roof in found.values())


def test_memory_is_given_back_and_too_little_is_ours() -> None:
    free, _ = torch.cuda.mem_get_info()
    measure()
    assert torch.cuda.mem_get_info()[0] > free - 64 * 2**20
    least = 2 * COPY_PER_L2 * torch.cuda.get_device_properties(0).L2_cache_size / MEMORY_SHARE
    hog = torch.empty(int(free - least / 2), dtype=torch.uint8, device="cuda")
    with pytest.raises(RoofsError, match="free device memory"):
        measure()
    del hog
    torch.cuda.empty_cache()


def test_a_snapshot_reads_this_device() -> None:
    x = torch.randn(4096, 4096, device="cuda")
    for _ in range(50):
        x @ x
    found = take(uuid_of(0), {os.getpid()})
    torch.cuda.synchronize()
    print(found)
    assert not found.unavailable and found.reasons is not None
    assert found.sm_mhz is not None and found.sm_max_mhz is not None and 100 < found.sm_mhz <= found.sm_max_mhz
    assert found.celsius is not None and 10 < found.celsius < 110
    assert describe(found, found)[-1].startswith("SM clock ")


@pytest.mark.parametrize("neighbour", ["busy", "quiet"], indirect=True)
def test_a_process_of_ours_is_no_neighbour_and_another_is(neighbour: int, request: pytest.FixtureRequest) -> None:
    busy = request.node.callspec.params["neighbour"] == "busy"
    time.sleep(3)
    ours = {os.getpid()}
    found, with_it = take(uuid_of(0), ours), take(uuid_of(0), ours | {neighbour})
    print(found.neighbours, with_it.neighbours, unfit(found))
    if found.neighbours is None:
        pytest.skip("pids of another namespace: neighbours cannot be told here")
    assert neighbour in [n.pid for n in found.neighbours]
    assert neighbour not in [n.pid for n in with_it.neighbours or ()]
    assert unfit(with_it) is None
    if busy:
        assert unfit(found) is not None and str(neighbour) in str(unfit(found))
    else:
        assert found.neighbours == (Neighbour(neighbour, 0),) and unfit(found) is None
