"""What this device can do at best, measured in the same run: device copy, matrix product, host to device.

A roof is the best of a few plain ways on the device at hand, never a figure from a data sheet: clocks, power limits and
neighbours are in it. Every rate is a median over calls timed by CUDA events, and all of them take well under a second.
"""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import torch

from grader.assignment import Work
from grader.result import IMPOSSIBLE

MAX_AGE_SECONDS = 600.0
"""How long a process takes its roofs to hold: clocks and temperature drift over minutes, not over seconds."""

MEMORY_SHARE = 0.25
"""Of the device's free memory, at most this much is taken at a time, and given back afterwards."""

COPY_BYTES = 256 * 2**20
"""Either side of a copy, the size of the largest timed cases, so that starting and ending weigh in both alike: on an
H200 a copy four times larger is 2 % faster."""
COPY_PER_L2 = 4
"""Either side is at least this many times the L2 cache, so that what is read is never still in it."""

PRODUCTS = ((1024, 1024, 1024), (4096, 4096, 4096), (8192, 8192, 4096), (8192, 8192, 8192))
"""(M, N, K) of the matrix products, fp16 in and out with fp32 accumulation. Those that do not fit are left out."""

HOST_BYTES = 64 * 2**20

WARM_SECONDS = 0.03
"""An idle device takes some tens of milliseconds of work to raise its clocks."""
SECONDS_A_WAY = 0.06
FEWEST_CALLS, MOST_CALLS = 3, 25


class RoofsError(Exception):
    """The roofs cannot be measured: no device, or too little free memory. Never a submission's fault."""


@dataclass(frozen=True)
class Roofs:
    """The best rates seen on one device.

    `copy` counts bytes read and bytes written, one to one, in bytes/s; `product` is in FLOP/s, two for a
    multiply-add; `pinned` and `pageable` are bytes/s from host memory of that kind to the device. `copy_how` and
    `product_how` name the way that won, `seconds` is what measuring took.
    """

    device: str
    copy: float
    product: float
    pinned: float
    pageable: float
    copy_how: str
    product_how: str
    seconds: float


def share(work: Work, seconds: float, roofs: Roofs) -> tuple[float, str]:
    """How near to the roof a kernel that took `seconds` comes (1 is at it), and which roof bounds it.

    The roof that would take longest bounds the work. Host memory counts at the pinned rate, because a submission may
    stage through pinned memory itself. Raises ValueError if there is no work, or no time.
    """
    at_best = {
        "device copy": work.bytes / roofs.copy,
        "matrix product": work.flop / roofs.product,
        "host to device": work.host_bytes / roofs.pinned,
    }
    bound = max(at_best, key=lambda name: at_best[name])
    if not at_best[bound] > 0 or not seconds > 0:
        raise ValueError(f"some work and a positive time expected, got {work} and {seconds}")
    return at_best[bound] / seconds, bound


_known: dict[int, tuple[float, Roofs]] = {}
_one_at_a_time = threading.Lock()


def roofs(device: int = 0, max_age: float = MAX_AGE_SECONDS) -> Roofs:
    """The roofs of a CUDA device, measured now or at most `max_age` seconds ago by this process.

    Call it while no worker is busy. Raises RoofsError.
    """
    with _one_at_a_time:
        measured = _known.get(device)
        if measured is None or time.monotonic() - measured[0] > max_age:
            measured = (time.monotonic(), measure(device))
            _known[device] = measured
        return measured[1]


def nearness(work: Work, seconds: float) -> tuple[float, str]:
    """`share` of the roofs that this process knows, however old. Where that is impossible they are measured again:
    whoever was at work when they were measured has lowered them, and no student is to be suspected for it. Raises
    RoofsError."""
    known = roofs(max_age=math.inf)
    found = share(work, seconds, known)
    if found[0] <= IMPOSSIBLE:
        return found
    # A submission may be alive, and hold memory or keep the device busy: that must neither hide what is impossible nor
    # lower what others are compared with.
    with suppress(RoofsError), _one_at_a_time:
        again = measure()
        _known[0] = time.monotonic(), replace(
            again, copy=max(known.copy, again.copy), product=max(known.product, again.product),
            pinned=max(known.pinned, again.pinned), pageable=max(known.pageable, again.pageable))
    return share(work, seconds, roofs(max_age=math.inf))


def measure(device: int = 0) -> Roofs:
    """Measures the roofs of a CUDA device, which should be otherwise idle. Raises RoofsError."""
    if not torch.cuda.is_available():
        raise RoofsError("no CUDA device")
    start = time.monotonic()
    try:
        with torch.cuda.device(device), torch.no_grad():
            copy, copy_how = _copy(device)
            product, product_how = _product(device)
            pinned, pageable = _from_host(pinned=True), _from_host(pinned=False)
    except torch.OutOfMemoryError as error:
        raise RoofsError(f"too little free memory on the device: {str(error).splitlines()[0]}") from None
    finally:
        # The judge's buffers are allocations outside torch's pool: what the pool keeps, they cannot have.
        torch.cuda.empty_cache()
    name = torch.cuda.get_device_name(device)
    return Roofs(name, copy, product, pinned, pageable, copy_how, product_how, time.monotonic() - start)


def _copy(device: int) -> tuple[float, str]:
    """Bytes/s read and written, and the way."""
    least = COPY_PER_L2 * torch.cuda.get_device_properties(device).L2_cache_size
    size = min(max(COPY_BYTES, least), _room(device) // 2 // 4096 * 4096)
    if size < least:
        raise RoofsError(f"{2 * least / MEMORY_SHARE / 1e9:.1f} GB of free device memory expected for a copy past L2")
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


def _product(device: int) -> tuple[float, str]:
    """FLOP/s of the best product, and its shape."""
    room = _room(device)
    rates = []
    for m, n, k in PRODUCTS:
        if 2 * (m * k + k * n + m * n) > room:
            continue
        # Random contents, as in a grading: zeros draw less power and would raise the roof beyond reach.
        a = torch.randn(m, k, device="cuda", dtype=torch.float16)
        b = torch.randn(k, n, device="cuda", dtype=torch.float16)
        out = torch.empty(m, n, device="cuda", dtype=torch.float16)
        seconds = _median_seconds(partial(torch.mm, a, b, out=out))
        rates.append((2.0 * m * n * k / seconds, f"{m}×{n}×{k}"))
    if not rates:
        raise RoofsError(f"{room / MEMORY_SHARE / 1e6:.0f} MB of free device memory hold no matrix product")
    return max(rates)


def _from_host(*, pinned: bool) -> float:
    """Bytes/s of a contiguous copy from host memory."""
    # Filled, because pages never written are all the one page of zeros.
    source = torch.full((HOST_BYTES // 4,), 1.5, pin_memory=pinned)
    target = torch.empty(HOST_BYTES // 4, device="cuda")
    return HOST_BYTES / _median_seconds(lambda: target.copy_(source, non_blocking=pinned))


def _room(device: int) -> int:
    return int(torch.cuda.mem_get_info(device)[0] * MEMORY_SHARE)


def _warm(call: Callable[[], object]) -> None:
    until = time.monotonic() + WARM_SECONDS
    while time.monotonic() < until:
        call()
        torch.cuda.synchronize()


def _median_seconds(call: Callable[[], object]) -> float:
    """Seconds of one call on the current stream; as many calls as fit into the time that a way has."""
    call()
    first = _events(call, 1)[0]
    return statistics.median(_events(call, max(FEWEST_CALLS, min(MOST_CALLS, int(SECONDS_A_WAY / first)))))


def _events(call: Callable[[], object], calls: int) -> list[float]:
    """Seconds of each of `calls` calls. They are queued ahead, so that launching them is not in the time."""
    pairs = [(_event(), _event()) for _ in range(calls)]
    for begin, end in pairs:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) / 1000 for begin, end in pairs]


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
