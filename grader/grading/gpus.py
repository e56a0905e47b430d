"""The GPUs of this machine, as CUDA numbers them, and the lanes on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from grader import home
from grader.errors import UserError
from grader.judging.running.gpu_lock import GPU_LOCK

# Seconds to wait for the driver. If it does not answer, the machine counts as one without a GPU.
SECONDS = 60

PROCESSORS, MEMORY = 16, 60 << 30
"""Processors for each GPU, and bytes of its memory, with which it has two lanes: one prepares and checks while the
other one times. With less memory a timed call's slots would depend on the other lane."""

# Files that NVIDIA's driver makes if there is a GPU, on Linux and in WSL.
TRACES = ("dev/nvidia[0-9]*", "usr/lib/wsl/lib/nvidia-smi")
UNUSED = "speed is not measured: torch is the build for CPUs, which does not use this machine's GPU"

# This text runs in a process of its own: a process that has called CUDA keeps the driver and its threads.
_DEVICES = """
import json
from cuda.bindings import driver

def done(result):
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        raise SystemExit(1)
    return values[0] if values else None

done(driver.cuInit(0))
devices = [done(driver.cuDeviceGet(number)) for number in range(done(driver.cuDeviceGetCount()))]
print(json.dumps([(done(driver.cuDeviceGetName(256, device)).split(b"\\0")[0].decode(),
                   done(driver.cuDeviceTotalMem(device))) for device in devices]))
"""


@dataclass(frozen=True)
class GpuCard:
    """A GPU: its number in this process, its name, the environment that makes a process see only this GPU, and its
    memory in bytes."""

    number: int
    name: str
    environment: dict[str, str]
    memory: int = 0


def remedy_of_unused(root: Path = Path("/")) -> str:
    """Return the command that helps if torch cannot use this machine's GPU (UNUSED), "" if it can. Does not import
    torch."""
    try:
        version, _, build = metadata.version("torch").partition("+")
    except metadata.PackageNotFoundError:
        return ""
    there = build == "cpu" and any(any(root.glob(trace)) for trace in TRACES)
    return home.with_gpu(version) if there else ""


def unused() -> str:
    """Return UNUSED with its remedy; "" if torch can use the GPU or there is none."""
    return f"{UNUSED}; {remedy}" if (remedy := remedy_of_unused()) else ""


def present() -> list[GpuCard]:
    """Return the GPUs in CUDA_VISIBLE_DEVICES, by default all; none if there is no driver."""
    try:
        result = subprocess.run(
            [sys.executable, "-c", _DEVICES], stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return []
    devices = json.loads(result.stdout) if result.returncode == 0 else []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    shown = given.split(",") if given else [str(number) for number in range(len(devices))]
    return [GpuCard(number, name, {"CUDA_VISIBLE_DEVICES": visible.strip()}, memory)
            for number, ((name, memory), visible) in enumerate(zip(devices, shown, strict=False))]


def lanes(cards: Sequence[GpuCard], locks: Path) -> list[dict[str, str]]:
    """Return the environment of each lane on these GPUs: the first lane of each GPU, then the second of those that have
    two. The lanes of a GPU share a lock in the folder `locks`: the others' work waits while one times a replay."""
    single = [card.environment for card in cards]
    roomy = [card for card in cards if card.memory >= MEMORY]
    if not roomy or len(os.sched_getaffinity(0)) < PROCESSORS * len(cards):
        return single
    shared = {card.number: card.environment | {GPU_LOCK: str(locks / str(card.number))} for card in roomy}
    return [shared.get(card.number, card.environment) for card in (*cards, *roomy)]


def select(option: str) -> list[GpuCard]:
    """Return the GPUs that `option` names: "all" or numbers such as "0,2". Raises UserError."""
    cards = present()
    if option == "all":
        return cards
    try:
        numbers = list(dict.fromkeys(int(word) for word in option.split(",")))
    except ValueError:
        raise UserError(f"--gpus: {option!r}; give all, or numbers such as 0,2") from None
    if not cards:
        raise UserError(f"--gpus {option}: CUDA sees no GPU on this machine; run kernelmark doctor")
    for number in numbers:
        if not 0 <= number < len(cards):
            raise UserError(f"--gpus: no GPU {number}; this machine has {len(cards)}, numbered from 0")
    return [cards[number] for number in numbers]


def unlike(gpus: list[GpuCard]) -> str:
    """Return a sentence if the GPUs are of several models; "" if all are of one."""
    if len({gpu.name for gpu in gpus}) < 2:
        return ""
    return ("GPUs are unlike: " + ", ".join(f"{gpu.number} is {gpu.name}" for gpu in gpus) +
            "; each result names its device, and --gpus chooses some of them")
