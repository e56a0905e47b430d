"""The GPUs of this machine, as CUDA counts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from grader.run.preflight import PlanError

# A driver that does not answer is no GPU.
SECONDS = 60

# In a process of its own: what has asked CUDA once holds on to a driver and its threads.
_NAMES = """
import json
from cuda.bindings import driver

def done(result):
    error, *found = result
    if error != driver.CUresult.CUDA_SUCCESS:
        raise SystemExit(1)
    return found[0] if found else None

done(driver.cuInit(0))
names = [done(driver.cuDeviceGetName(256, done(driver.cuDeviceGet(i)))) for i in range(done(driver.cuDeviceGetCount()))]
print(json.dumps([name.split(b"\\0")[0].decode() for name in names]))
"""


@dataclass(frozen=True)
class Gpu:
    """`number` is CUDA's for it here. With `environment` a process sees this GPU alone."""

    number: int
    name: str
    environment: dict[str, str]


def present() -> list[Gpu]:
    """All that CUDA_VISIBLE_DEVICES shows, or that there are; none without a driver."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _NAMES], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return []
    names = json.loads(done.stdout) if done.returncode == 0 else []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    shown = given.split(",") if given else [str(number) for number in range(len(names))]
    return [Gpu(number, name, {"CUDA_VISIBLE_DEVICES": one.strip()})
            for number, (name, one) in enumerate(zip(names, shown, strict=False))]


def chosen(asked: str) -> list[Gpu]:
    """Those of `asked`: all, or numbers such as 0,2. Raises PlanError."""
    there = present()
    if asked == "all":
        return there
    try:
        numbers = list(dict.fromkeys(int(word) for word in asked.split(",")))
    except ValueError:
        raise PlanError(f"--gpus: {asked!r}; all, or numbers such as 0,2 expected") from None
    if not there:
        raise PlanError(f"--gpus {asked}: CUDA sees no GPU on this machine; kernelmark doctor says more")
    for number in numbers:
        if not 0 <= number < len(there):
            last = f"0 to {len(there) - 1}" if len(there) > 1 else "0 alone"
            raise PlanError(f"--gpus: {number}; {last} expected")
    return [there[number] for number in numbers]


def unlike(gpus: list[Gpu]) -> str:
    """What there is to say of GPUs of several models; "" of one."""
    if len({gpu.name for gpu in gpus}) < 2:
        return ""
    return ("GPUs are unlike: " + ", ".join(f"{gpu.number} is {gpu.name}" for gpu in gpus) +
            "; each result names its device, and --gpus grades on some alone")
