"""Work on the device as one launch, recorded beforehand as a graph; without a device, just as it stands.

Between launches a device would turn to whoever else has work, for milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch


def recorded(work: Callable[[], None], *, cuda: bool) -> Callable[[], None]:
    """What does `work`."""
    if not cuda:
        return work
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph.replay


def timed(work: Callable[[], None], *, cuda: bool) -> Callable[[], float]:
    """What does `work`, waits for it, and returns its seconds: by the device's clock, if there is one."""
    if not cuda:
        return lambda: _on_host(work)
    # Within the launch: what the host takes to get it to the device is not in them.
    begun, ended = (
        torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))  # type: ignore[no-untyped-call]

    def between() -> None:
        begun.record()
        work()
        ended.record()

    replay = recorded(between, cuda=True)

    def seconds() -> float:
        replay()
        torch.cuda.synchronize()
        return float(begun.elapsed_time(ended)) / 1000

    return seconds


def _on_host(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
