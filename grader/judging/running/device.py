"""The GPU of this machine: whether it can be used, the properties that submissions see, locks, and its free memory."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grader import home
from grader.judging.running.gpu_lock import held_among_lanes
from grader.plan.device import Device

_LOCK = threading.RLock()
# Whether the thread that holds _LOCK works on the GPU, and whether it does so alone.
_working = _alone = False


@contextmanager
def working(*, alone: bool = False) -> Iterator[None]:
    """Hold the GPU for the block's work: no other thread of this process works there, and no other lane times a replay
    there. With `alone`, for a replay, no other lane works there, though one may start or end an executor, or compile a
    baseline. A block inside another adds nothing. The GPU has finished the block's work when the block ends."""
    global _working, _alone
    with _LOCK:
        before = _working, _alone
        assert _alone or not (alone and _working), "a replay is timed inside a block of other work"
        with nullcontext() if _working else held_among_lanes(alone=alone):
            _working, _alone = True, alone or _alone
            try:
                yield
            finally:
                _working, _alone = before
                if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
                    torch.cuda.synchronize()


def no_gpu() -> str:
    """Return the reason why this machine cannot grade on a GPU; "" if it can."""
    if not torch.cuda.is_available():
        return "torch sees no CUDA device: there is no GPU, or torch is no CUDA build"
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None:
        return f"cuda-bindings is not installed ({home.PIP} cuda-bindings)"
    return ""


def properties() -> Device:
    """Return the GPU's properties as its driver states them, and as host code of submissions sees them."""
    own: Any = torch.cuda.get_device_properties(0)
    return Device(
        name=own.name, major=own.major, minor=own.minor, multi_processor_count=own.multi_processor_count,
        total_memory=own.total_memory, l2_cache_size=own.L2_cache_size, warp_size=own.warp_size,
        max_threads_per_multi_processor=own.max_threads_per_multi_processor,
        regs_per_multiprocessor=own.regs_per_multiprocessor, shared_memory_per_block=own.shared_memory_per_block,
        shared_memory_per_block_optin=own.shared_memory_per_block_optin,
        shared_memory_per_multiprocessor=own.shared_memory_per_multiprocessor)


@dataclass(frozen=True)
class FreeMemory:
    """Free bytes on the host and on the device, and the size of the device's last cache before memory."""

    host: int
    device: int
    cache: int


def memory() -> FreeMemory:
    """Return the free memory of this machine now."""
    # MemFree would leave out file caches, which the kernel gives up when memory is needed.
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    # Memory in torch's cache counts as free.
    torch.cuda.empty_cache()
    return FreeMemory(
        int(fields["MemAvailable"].split()[0]) * 1024, torch.cuda.mem_get_info()[0],
        torch.cuda.get_device_properties(0).L2_cache_size)


@working()
def sane() -> bool:
    """Return whether a kernel of the judge's still gives the right answer. After some faults of a device, no context of
    the process works any more."""
    try:
        return int(torch.arange(1024, device="cuda").sum()) == 1023 * 512
    except torch.OutOfMemoryError:
        # Another process holds the memory for the moment.
        return True
    except RuntimeError:
        return False
