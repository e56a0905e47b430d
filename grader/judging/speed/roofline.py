"""The roofs of this device, measured in the same run: device copy, matrix product, host to device.

A roof is the best rate of a few plain ways on the device at hand, never a figure from a data sheet: it includes clocks,
power limits and neighbours. Each rate is a median over replays of CUDA graphs; together they take less than a second.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from grader.course.assignment import Work
from grader.judging.running.device import working
from grader.results.result import IMPOSSIBLE

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
    is in bytes/s from pinned host memory to the device.
    """

    copy: float
    matmul: float
    pinned: float


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
        raise ValueError(f"a share of the roof needs some work and positive time, not {work} in {seconds} s")
    return at_best[bound] / seconds, bound


latest: list[Roofline] = []
"""The roofs that this process has measured, none before the first measurement."""


def fraction(work: Work, seconds: float) -> tuple[float, str]:
    """Return the `share` of this process's roofs. Call it while no executor is busy.

    If the share is above IMPOSSIBLE, the roofs are measured again: another process may have lowered them, and no
    student is suspected for it. Raises RooflineError.
    """
    if not latest:
        latest.append(measure_roofline())
    reached = share(work, seconds, latest[0])
    if reached[0] > IMPOSSIBLE:
        with suppress(RooflineError):
            known, again = latest[0], measure_roofline()
            latest[0] = replace(again, copy=max(known.copy, again.copy), matmul=max(known.matmul, again.matmul),
                                pinned=max(known.pinned, again.pinned))
        reached = share(work, seconds, latest[0])
    return reached


@working(alone=True)
def measure_roofline() -> Roofline:
    """Measure the roofs of the CUDA device, which should be otherwise idle. Raises RooflineError."""
    if not torch.cuda.is_available():
        raise RooflineError("no CUDA device")
    try:
        with torch.no_grad():
            return Roofline(_copy(), _matmul(), _from_host())
    except torch.OutOfMemoryError as error:
        raise RooflineError(f"too little free memory on the device: {str(error).splitlines()[0]}") from None
    finally:
        # The judge's buffers are allocations outside torch's pool, which would keep this memory.
        torch.cuda.empty_cache()


def _copy() -> float:
    """Return the bytes/s read and written by the fastest copy."""
    least = COPY_PER_L2 * torch.cuda.get_device_properties(0).L2_cache_size
    size = min(max(COPY_BYTES, least), _room() // 2 // 4096 * 4096)
    if size < least:
        needed = 2 * least / MEMORY_SHARE / 1e9
        raise RooflineError(f"a copy past L2 needs {needed:.1f} GB of free device memory")
    source = torch.randn(size // 4, device="cuda", generator=torch.Generator("cuda"))
    target = torch.empty_like(source)
    # The driver's copy and an element-wise kernel differ by some percent; either may be faster.
    ways: tuple[Callable[[], object], ...] = (
        lambda: target.copy_(source), lambda: torch.neg(source, out=target), lambda: torch.mul(source, 1.5, out=target))
    _warm(ways[0])
    return 2 * size / min(map(_median_seconds, ways))


def _matmul() -> float:
    """Return the FLOP/s of the fastest product."""
    room = _room()
    rates, generator = [], torch.Generator("cuda")
    for m, n, k in MATMULS:
        if 2 * (m * k + k * n + m * n) > room:
            continue
        # Random contents as in a grading: zeros draw less power and would raise the roof beyond reach.
        a = torch.randn(m, k, device="cuda", dtype=torch.float16, generator=generator)
        b = torch.randn(k, n, device="cuda", dtype=torch.float16, generator=generator)
        out = torch.empty(m, n, device="cuda", dtype=torch.float16)
        seconds = _median_seconds(partial(torch.mm, a, b, out=out))
        rates.append(2.0 * m * n * k / seconds)
    if not rates:
        raise RooflineError(f"{room / MEMORY_SHARE / 1e6:.0f} MB of free device memory hold no matrix product")
    return max(rates)


def _from_host() -> float:
    """Return the bytes/s of a contiguous copy from pinned host memory."""
    # Filled, because all unwritten pages are the same page of zeros.
    source = torch.full((HOST_BYTES // 4,), 1.5, pin_memory=True)
    target = torch.empty(HOST_BYTES // 4, device="cuda")
    return HOST_BYTES / _median_seconds(lambda: target.copy_(source, non_blocking=True))


def _room() -> int:
    return int(torch.cuda.mem_get_info()[0] * MEMORY_SHARE)


def _warm(call: Callable[[], object]) -> None:
    until = time.monotonic() + WARM_SECONDS
    while time.monotonic() < until:
        call()
        torch.cuda.synchronize()


def _median_seconds(call: Callable[[], object]) -> float:
    """Return the median seconds of a call in a graph, which holds the calls that fit into the time for a way."""
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
