"""The roofs of this device, measured in the same run: device copy, matrix product, host to device.

A roof is the best rate of a few plain ways on the device at hand, never a figure from a data sheet: it includes clocks,
power limits and neighbours. Each rate is a median over replays of CUDA graphs; together they take less than a second.
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

from grader.course.assignment import Work
from grader.results.result import IMPOSSIBLE

MAX_AGE_SECONDS = 600.0
"""Seconds for which a process keeps its measured roofs: clocks and temperature drift over minutes."""

MEMORY_SHARE = 0.25
"""Share of the device's free memory that is used at a time, and freed afterwards."""

COPY_BYTES = 256 * 2**20
"""Bytes of each side of a copy: as many as in the largest timed cases, so that starting and ending weigh the same. On
an H200 a copy four times larger is 2 % faster."""
COPY_PER_L2 = 4
"""Each side is at least this many times the L2 cache, so that no byte is still in it when it is read."""

MATMULS = ((1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 4096), (8192, 8192, 8192))
"""(M, N, K) of matrix products, fp16 in and out with fp32 accumulation. Products that do not fit are left out."""

HOST_BYTES = 64 * 2**20

WARM_SECONDS = 0.03
"""An idle device needs some tens of milliseconds of work to raise its clocks."""
SECONDS_A_WAY = 0.06
REPLAYS = 5
MOST_CALLS = 25


class RooflineError(Exception):
    """Roofs that cannot be measured: no device, or too little free memory. Never a submission's fault."""


@dataclass(frozen=True)
class Roofline:
    """The best rates seen on a device.

    `copy` is in bytes/s, read and written bytes both counted; `matmul` is in FLOP/s, two for a multiply-add; `pinned`
    is in bytes/s from pinned host memory to the device. `copy_how` and `matmul_how` name the fastest way, `seconds` is
    the time that measuring took.
    """

    device: str
    copy: float
    matmul: float
    pinned: float
    copy_how: str
    matmul_how: str
    seconds: float


def share(work: Work, seconds: float, roofline: Roofline) -> tuple[float, str]:
    """Return the share of the roof that a kernel of `seconds` reaches (1 is the roof), and the name of that roof.

    The roof at which the work would take longest bounds it. Host memory counts at the pinned rate, because a submission
    may stage through pinned memory itself. Raises ValueError if there is no work, or no time.
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


# The last measurement of each device, with its time.
latest: dict[int, tuple[float, Roofline]] = {}


def roofline(device: int = 0, max_age: float = MAX_AGE_SECONDS) -> Roofline:
    """Return the roofs of a CUDA device, measured now or at most `max_age` seconds ago by this process.

    Call it while no executor is busy. Raises RooflineError.
    """
    measured = latest.get(device)
    if measured is None or time.monotonic() - measured[0] > max_age:
        measured = latest[device] = time.monotonic(), measure_roofline(device)
    return measured[1]


def fraction(work: Work, seconds: float) -> tuple[float, str]:
    """Return the `share` of this process's latest roofs, of any age.

    If the share is above IMPOSSIBLE, the roofs are measured again: another process may have lowered them, and no
    student is suspected for it. Raises RooflineError.
    """
    known = roofline(max_age=math.inf)
    reached = share(work, seconds, known)
    if reached[0] > IMPOSSIBLE:
        with suppress(RooflineError):
            again = measure_roofline()
            latest[0] = time.monotonic(), replace(
                again, copy=max(known.copy, again.copy), matmul=max(known.matmul, again.matmul),
                pinned=max(known.pinned, again.pinned))
        reached = share(work, seconds, roofline(max_age=math.inf))
    return reached


def measure_roofline(device: int = 0) -> Roofline:
    """Measure the roofs of a CUDA device, which should be otherwise idle. Raises RooflineError."""
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
        # The judge's buffers are allocations outside torch's pool, which would keep this memory.
        torch.cuda.empty_cache()
    name = torch.cuda.get_device_name(device)
    return Roofline(name, copy, matmul, pinned, copy_how, matmul_how, time.monotonic() - start)


def _copy(device: int) -> tuple[float, str]:
    """Return the bytes/s read and written by the fastest copy, and its name."""
    least = COPY_PER_L2 * torch.cuda.get_device_properties(device).L2_cache_size
    size = min(max(COPY_BYTES, least), _room(device) // 2 // 4096 * 4096)
    if size < least:
        needed = 2 * least / MEMORY_SHARE / 1e9
        raise RooflineError(f"{needed:.1f} GB of free device memory expected for a copy past L2")
    source = torch.randn(size // 4, device="cuda", generator=torch.Generator("cuda"))
    target = torch.empty_like(source)
    # The driver's copy and an element-wise kernel differ by some percent; either may be faster.
    ways: dict[str, Callable[[], object]] = {
        "copy_": lambda: target.copy_(source),
        "neg": lambda: torch.neg(source, out=target),
        "mul": lambda: torch.mul(source, 1.5, out=target),
    }
    _warm(ways["copy_"])
    return max((2 * size / _median_seconds(way), f"{name}, {size / 2**20:.0f} MiB") for name, way in ways.items())


def _matmul(device: int) -> tuple[float, str]:
    """Return the FLOP/s of the fastest product, and its shape."""
    room = _room(device)
    rates, generator = [], torch.Generator("cuda")
    for m, n, k in MATMULS:
        if 2 * (m * k + k * n + m * n) > room:
            continue
        # Random contents as in a grading: zeros draw less power and would raise the roof beyond reach.
        a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=generator)
        b = torch.randn(k, n, device="cuda", dtype=torch.float16, generator=generator)
        out = torch.empty(m, n, device="cuda", dtype=torch.float16)
        seconds = _median_seconds(partial(torch.mm, a, b, out=out))
        rates.append((2.0 * m * n * k / seconds, f"{m}×{n}×{k}"))
    if not rates:
        raise RooflineError(f"{room / MEMORY_SHARE / 1e6:.0f} MB of free device memory hold no matrix product")
    return max(rates)


def _from_host() -> float:
    """Return the bytes/s of a contiguous copy from pinned host memory."""
    # Filled, because all unwritten pages are the same page of zeros.
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
    """Return the median seconds of a call in a graph, which holds as many calls as fit into the time for a way."""
    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        call()
        first = _seconds(call)
        calls = max(1, min(MOST_CALLS, int(SECONDS_A_WAY / (REPLAYS + 1) / first)))
        graph = torch.cuda.CUDAGraph()
        # The capture watches this thread alone. Another thread may be preparing the next assignment: its requests to
        # the device would end the capture, and leave torch's own generator, which a graph takes, useless for all that
        # follows.
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
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
