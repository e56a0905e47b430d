"""The GPUs of this machine, as CUDA numbers them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from grader import home
from grader.errors import UserError

# Seconds to wait for the driver. If it does not answer, the machine counts as one without a GPU.
SECONDS = 60

# Files that NVIDIA's driver makes if there is a GPU, on Linux and in WSL.
TRACES = ("dev/nvidia[0-9]*", "usr/lib/wsl/lib/nvidia-smi")
UNUSED = "speed is not measured: torch is the build for CPUs, which does not use this machine's GPU"

# This text runs in a process of its own: a process that has called CUDA keeps the driver and its threads.
_NAMES = """
import json
from cuda.bindings import driver

def done(result):
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        raise SystemExit(1)
    return values[0] if values else None

done(driver.cuInit(0))
names = [done(driver.cuDeviceGetName(256, done(driver.cuDeviceGet(i)))) for i in range(done(driver.cuDeviceGetCount()))]
print(json.dumps([name.split(b"\\0")[0].decode() for name in names]))
"""


@dataclass(frozen=True)
class GpuCard:
    """A GPU: its number in this process, its name, and the environment that makes a process see only this GPU."""

    number: int
    name: str
    environment: dict[str, str]


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
            [sys.executable, "-c", _NAMES], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return []
    names = json.loads(result.stdout) if result.returncode == 0 else []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    shown = given.split(",") if given else [str(number) for number in range(len(names))]
    return [GpuCard(number, name, {"CUDA_VISIBLE_DEVICES": visible.strip()})
            for number, (name, visible) in enumerate(zip(names, shown, strict=False))]


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
