"""CUDA C++ compiled to PTX, and PTX run on arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.plan.findings import Finding
from grader.plan.limits import Budget
from grader.plan.plan import Argument, Float, Integer, Kernel, Launch, Pointer
from grader.simulation.findings import Findings
from grader.simulation.memory import BufferMemory
from grader.simulation.ptx.lanes import Array
from grader.simulation.ptx.launch import LaunchSettings, run_launch
from tests.languages.cuda.compiling import ptx

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def compiled(source: str) -> str:
    """A source as PTX for sm_90a. Its lines count from 1."""
    return ptx(source, "-arch=sm_90a")


class Tensor(BufferMemory):
    """A buffer of a launch."""

    def values(self, dtype: str) -> Array:
        return self.raw.view(dtype)


def tensor(values: Array, given: str = "", *, fresh: bool = False) -> Tensor:
    raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8).copy()
    return Tensor(0, raw, np.zeros(raw.size, np.uint8) if fresh else None, given)


def empty(count: int, given: str = "out", dtype: str = "f4") -> Tensor:
    return tensor(np.full(count * np.dtype(dtype).itemsize, 0xFF, np.uint8), given, fresh=True)


@dataclass
class Outcome:
    findings: list[Finding]
    printed: str
    operations: int
    seen: Findings = field(repr=False, default_factory=Findings)


def entries(text: str) -> list[str]:
    return [line.split(".entry ")[1].split("(")[0].strip() for line in text.splitlines() if ".entry " in line]


def run(
    text: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Tensor | int | float | Argument,
    **options: Any,
) -> Outcome:
    """Launches a text's first entry, or that of the option `entry`. Other options: those of a launch, `operations`,
    `settings`. Numbers are 32 bits long."""
    buffers = [argument for argument in arguments if isinstance(argument, Tensor)]
    buffers += [one for one in options.pop("beside", ()) if isinstance(one, Tensor)]
    given: list[Argument] = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            given.append(Pointer(buffer=buffers.index(argument)))
        elif isinstance(argument, bool | int):
            given.append(Integer(type="i32", value=argument))
        else:
            given.append(Float(value=argument) if isinstance(argument, float) else argument)
    symbol = options.pop("entry", None) or entries(text)[0]
    findings, budget = Findings(), Budget(options.pop("operations", 1 << 36), options.pop("seconds", 60.0))
    settings = options.pop("settings", LaunchSettings(".cu"))
    launch = Launch(kernel=0, grid=_three(grid), block=_three(block), arguments=given, **options)
    kernel = Kernel(language="cuda", name="kernel", symbol=symbol, text=text, signature=[])
    run_launch(launch, kernel, buffers, budget, findings, settings)
    return Outcome(findings.list(), findings.printed, budget.used, findings)


def _three(size: int | Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*((size,) if isinstance(size, int) else size), 1, 1)[:3]
    return x, y, z
