"""What the judge sees of its own device: how much memory is free, and whether anybody else is at work on it."""

from __future__ import annotations

import importlib.util
import math
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from grader.confine import processes
from grader.judge import health
from grader.plan.device import Device

# Contexts take turns on a GPU, some 2 ms each on an H200: where another has work, every launch of ours waits for the
# end of a turn, and every copy some 0.5 ms. Alone a launch, two copies and the wait for them take some 0.06 ms.
BUSY_SECONDS = 0.3e-3
# Some systems take longer alone.
BUSY_TIMES = 5
# Copies from and to the host are the business of other parts of a GPU than those that compute: of one's own each way it
# shows who is at work there. So many bytes are not sent along with the launch.
COPIED_BYTES = 256 << 10
# How long work may go on that a submission has left on the device.
QUIET_SECONDS = 1.0
# Copies each way in turn leave single looks alone.
LOOKS = 3
# Between two looks, so that whoever else has work gets its turn.
PAUSE_SECONDS = 0.4e-3
# More than a context and what an honest submission's scratch tensors take.
HELD_SHARE = 0.25


def no_gpu() -> str:
    """Why nothing can be graded on a GPU here; "" if it can."""
    if not torch.cuda.is_available():
        return "torch sees no CUDA device; a GPU and a CUDA build of torch expected"
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None:
        return "cuda-bindings is not installed (pip install cuda-bindings)"
    return ""


def properties() -> Device:
    """What a submission is told about this GPU: what its driver says."""
    own: Any = torch.cuda.get_device_properties(0)
    return Device(
        name=own.name, major=own.major, minor=own.minor, multi_processor_count=own.multi_processor_count,
        total_memory=own.total_memory, l2_cache_size=own.L2_cache_size, warp_size=own.warp_size,
        max_threads_per_multi_processor=own.max_threads_per_multi_processor,
        regs_per_multiprocessor=own.regs_per_multiprocessor, shared_memory_per_block=own.shared_memory_per_block,
        shared_memory_per_block_optin=own.shared_memory_per_block_optin,
        shared_memory_per_multiprocessor=own.shared_memory_per_multiprocessor)


@dataclass(frozen=True)
class Memory:
    """Free bytes on the host and on the device (None: there is none), and the size of the last cache before memory."""

    host: int
    device: int | None
    cache: int


def memory(cuda: bool) -> Memory:
    """Of this machine now."""
    # Not what is free: a file cache is given up for whoever needs it.
    fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    host = int(fields["MemAvailable"].split()[0]) * 1024
    if not cuda:
        return Memory(host, None, 0)
    # What torch keeps for later is free.
    torch.cuda.empty_cache()
    return Memory(host, torch.cuda.mem_get_info()[0], torch.cuda.get_device_properties(0).L2_cache_size)


def total_memory() -> int:
    """Bytes of the device."""
    return int(torch.cuda.get_device_properties(0).total_memory)


def hoarded(before: Memory, after: Memory) -> int:
    """The bytes that became free on the device between two looks, if they are more than an honest worker holds; else 0.
    """
    assert before.device is not None and after.device is not None
    freed = after.device - before.device
    return freed if freed > HELD_SHARE * total_memory() else 0


def sane() -> bool:
    """Whether a kernel of the judge's own still answers rightly. After some faults of a device no context of a process
    ever does again."""
    try:
        return int(torch.arange(1024, device="cuda").sum()) == 1023 * 512
    except torch.OutOfMemoryError:
        # Somebody else's memory, for now.
        return True
    except RuntimeError:
        return False


def state() -> health.Snapshot:
    """Clocks, temperature and neighbours now. Processes below this one are ours."""
    return health.take(health.uuid_of(), ours={os.getpid(), *processes.descendants(os.getpid())})


_fastest = math.inf


def quiet(seconds: float = QUIET_SECONDS) -> bool:
    """Waits until no other context is at work on the device; False if one still is after `seconds`."""
    deadline = time.monotonic() + seconds
    calm = 0
    while calm < LOOKS:
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE_SECONDS)
        calm = calm + 1 if at_rest() else 0
    return True


def at_rest() -> bool:
    """Whether no other context is at work on the device, going by one look, which may be wrong in saying no."""
    return _look() < max(BUSY_SECONDS, BUSY_TIMES * _fastest)


def _look() -> float:
    """Seconds that a launch of the judge's takes, with a copy each way."""
    global _fastest
    here, there = _touched()
    started = time.perf_counter()
    there.add_(1)
    there.copy_(here, non_blocking=True)
    here.copy_(there, non_blocking=True)
    torch.cuda.synchronize()
    waited = time.perf_counter() - started
    _fastest = min(_fastest, waited)
    return waited


@cache
def _touched() -> tuple[torch.Tensor, torch.Tensor]:
    here = torch.zeros(COPIED_BYTES, dtype=torch.uint8, pin_memory=True)
    return here, here.cuda()
