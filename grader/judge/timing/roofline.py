"""What this device can do at best, measured in the same run: device copy, matrix product, host to device.

A roof is the best of a few plain ways on the device at hand, never a figure from a data sheet: clocks, power limits and
neighbours are in it. Every rate is a median over replays of CUDA graphs, and all of them take well under a second.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from grader.model.assignment import Work
from grader.model.result import IMPOSSIBLE

MAX_AGE_SECONDS = 600.0
"""Seconds for which a process keeps its measured roofs: clocks and temperature drift over minutes."""

MEMORY_SHARE = 0.25
"""Of the device's free memory, at most this much is taken at a time, and given back afterwards."""

COPY_BYTES = 256 * 2**20
"""Either side of a copy, the size of the largest timed cases, so that starting and ending weigh in both alike: on an
H200 a copy four times larger is 2 % faster."""
COPY_PER_L2 = 4
"""Either side is at least this many times the L2 cache, so that what is read is never still in it."""

MATMULS = ((1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 4096), (8192, 8192, 8192))
"""(M, N, K) of matrix products, fp16 in and out with fp32 accumulation. Those that do not fit are left out."""

HOST_BYTES = 64 * 2**20

WARM_SECONDS = 0.03
"""An idle device takes some tens of milliseconds of work to raise its clocks."""
SECONDS_A_WAY = 0.06
REPLAYS = 5
MOST_CALLS = 25


class RooflineError(Exception):
    """Roofs cannot be measured: no device, or too little free memory. Never a submission's fault."""


@dataclass(frozen=True)
class Roofline:
    """The best rates seen on one device.

    `copy` counts bytes read and bytes written, one to one, in bytes/s; `matmul` is in FLOP/s, two for a
    multiply-add; `pinned` is in bytes/s from pinned host memory to the device. `copy_how` and `matmul_how` name the way
    that won, `seconds` is what measuring took.
    """

    device: str
    copy: float
    matmul: float
    pinned: float
    copy_how: str
    matmul_how: str
    seconds: float


def share(work: Work, seconds: float, roofline: Roofline) -> tuple[float, str]:
    """How near to the roof a kernel that took `seconds` comes (1 is at it), and which roof bounds it.

    The roof that would take longest bounds the work. Host memory counts at the pinned rate, because a submission may
    stage through pinned memory itself. Raises ValueError if there is no work, or no time.
    """
    at_best = {
        "device copy": work.bytes / roofline.copy,
        "matrix product": work.flop / roofline.matmul,
        "host to device": work.host_bytes / roofline.pinned,
    }
    bound = max(at_best, key=lambda name: at_best[name])
    if not at_best[bound] > 0 or not seconds > 0:
        raise ValueError(f"some work and a positive time expected, got {work} and {seconds}")
    return at_best[bound] / seconds, bound


# What this process has measured last, of each device, and when.
latest: dict[int, tuple[float, Roofline]] = {}


def roofline(device: int = 0, max_age: float = MAX_AGE_SECONDS) -> Roofline:
    """The roofs of a CUDA device, measured now or at most `max_age` seconds ago by this process.

    Call it while no executor is busy. Raises RooflineError.
    """
    measured = latest.get(device)
    if measured is None or time.monotonic() - measured[0] > max_age:
        measured = latest[device] = time.monotonic(), measure(device)
    return measured[1]


def fraction(work: Work, seconds: float) -> tuple[float, str]:
    """`share` of the roofs that this process knows, however old.

    Above IMPOSSIBLE the roofs are measured again: another process may have lowered them, and no student is suspected
    for it. Raises RooflineError.
    """
    known = roofline(max_age=math.inf)
    found = share(work, seconds, known)
    if found[0] > IMPOSSIBLE:
        with suppress(RooflineError):
            again = measure()
            latest[0] = time.monotonic(), replace(
                again, copy=max(known.copy, again.copy), matmul=max(known.matmul, again.matmul),
                pinned=max(known.pinned, again.pinned))
        found = share(work, seconds, roofline(max_age=math.inf))
    return found


def measure(device: int = 0) -> Roofline:
    """Measures the roofs of a CUDA device, which should be otherwise idle. Raises RooflineError."""
    if not torch.cuda.is_available():
        raise RooflineError("no CUDA device")
    start = time.monotonic()
    try:
        with torch.cuda.device(device), torch.no_grad():
            copy, copy_how = _copy(device)
            matmul, matmul_how = _matmul(device)
            pinned = _from_host()
    except torch.OutOfMemoryError as error:
        raise RooflineError(f"too little free memory on the device: {str(error).splitlines()[0]}") from None
    finally:
        # The judge's buffers are allocations outside torch's pool: what the pool keeps, they cannot have.
        torch.cuda.empty_cache()
    name = torch.cuda.get_device_name(device)
    return Roofline(name, copy, matmul, pinned, copy_how, matmul_how, time.monotonic() - start)


def _copy(device: int) -> tuple[float, str]:
    """Bytes/s read and written, and the way."""
    least = COPY_PER_L2 * torch.cuda.get_device_properties(device).L2_cache_size
    size = min(max(COPY_BYTES, least), _room(device) // 2 // 4096 * 4096)
    if size < least:
        needed = 2 * least / MEMORY_SHARE / 1e9
        raise RooflineError(f"{needed:.1f} GB of free device memory expected for a copy past L2")
    source = torch.randn(size // 4, device="cuda")
    target = torch.empty_like(source)
    # The driver's copy and an element-wise kernel differ by some percent, either way round.
    ways: dict[str, Callable[[], object]] = {
        "copy_": lambda: target.copy_(source),
        "neg": lambda: torch.neg(source, out=target),
        "mul": lambda: torch.mul(source, 1.5, out=target),
    }
    _warm(ways["copy_"])
    return max((2 * size / _median_seconds(way), f"{name}, {size / 2**20:.0f} MiB") for name, way in ways.items())


def _matmul(device: int) -> tuple[float, str]:
    """FLOP/s of the best product, and its shape."""
    room = _room(device)
    rates = []
    for m, n, k in MATMULS:
        if 2 * (m * k + k * n + m * n) > room:
            continue
        # Random contents, as in a grading: zeros draw less power and would raise the roof beyond reach.
        a = torch.randn(m, k, device="cuda", dtype=torch.float16)
        b = torch.randn(k, n, device="cuda", dtype=torch.float16)
        out = torch.empty(m, n, device="cuda", dtype=torch.float16)
        seconds = _median_seconds(partial(torch.mm, a, b, out=out))
        rates.append((2.0 * m * n * k / seconds, f"{m}×{n}×{k}"))
    if not rates:
        raise RooflineError(f"{room / MEMORY_SHARE / 1e6:.0f} MB of free device memory hold no matrix product")
    return max(rates)


def _from_host() -> float:
    """Bytes/s of a contiguous copy from pinned host memory."""
    # Filled, because pages never written are all the one page of zeros.
    source = torch.full((HOST_BYTES // 4,), 1.5, pin_memory=True)
    target = torch.empty(HOST_BYTES // 4, device="cuda")
    return HOST_BYTES / _median_seconds(lambda: target.copy_(source, non_blocking=True))


def _room(device: int) -> int:
    return int(torch.cuda.mem_get_info(device)[0] * MEMORY_SHARE)


def _warm(call: Callable[[], object]) -> None:
    until = time.monotonic() + WARM_SECONDS
    while time.monotonic() < until:
        call()
        torch.cuda.synchronize()


def _median_seconds(call: Callable[[], object]) -> float:
    """Seconds of one call of those in a graph: as many as fit into a share of the time that a way has."""
    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        call()
        first = _seconds(call)
        calls = max(1, min(MOST_CALLS, int(SECONDS_A_WAY / (REPLAYS + 1) / first)))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(calls):
                call()
        graph.replay()
        return statistics.median(_seconds(graph.replay) for _ in range(REPLAYS)) / calls


def _seconds(work: Callable[[], object]) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    begin.record()
    work()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000
