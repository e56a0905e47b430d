"""The reference kernels in the simulator, against Triton's own interpreter. Needs no GPU.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=. python benchmarks/simulator.py

Prints Markdown. Exit status 1 if a kernel gives a wrong answer. Each is run on one thread, as when it is graded, and
times are of the processor, after the kernel's text is read.
"""

from __future__ import annotations

import importlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
from torch import Tensor

from grader.course.cases import Case
from grader.languages.triton.confined.simulator import preparing
from grader.languages.triton.confined.simulator.main import prepare, run
from grader.plan.messages import Simulated
from grader.plan.plan import Plan
from tests.languages.triton.planner.harness import assignment_of, plan_file
from tests.languages.triton.simulator.harness import memory, poison

ROOT = Path(__file__).resolve().parent.parent
EPS = 1e-5
ROUNDS = 7
SIZES: dict[str, list[dict[str, int]]] = {
    "silu": [{"M": 1024, "N": 1024}, {"M": 4096, "N": 4096}],
    "transpose": [{"M": 1024, "N": 1024}],
    "rmsnorm_matrix": [{"rows": 1024, "cols": 1024}],
    "rmsnorm_vector": [{"N": 1 << 20}],
    "gemm": [{"M": 512, "N": 512, "K": 512}, {"M": 1024, "N": 1024, "K": 1024}],
}


def tensors(name: str, sizes: dict[str, int]) -> list[Tensor]:
    """Return inputs, and the output full of poison, in the order of the parameters."""
    torch.manual_seed(1)
    if name == "gemm":
        m, n, k = sizes["M"], sizes["N"], sizes["K"]
        return [torch.randn(m, k).half(), torch.randn(k, n).half(), poison(m, n, dtype=torch.float16)]
    shape = list(sizes.values())
    if name == "silu":
        return [torch.randn(shape), poison(*shape)]
    if name == "transpose":
        return [torch.randn(shape), poison(*shape[::-1])]
    return [torch.randn(shape), torch.randn(shape[-1]), poison(*shape)]


def right(name: str, given: list[Tensor]) -> bool:
    oracle = assignment_of(name).oracle
    inputs: list[Any] = given[:-1] + ([EPS] if name.startswith("rmsnorm") else [])
    tolerance = 1e-2 if name == "gemm" else 1e-4
    return torch.allclose(given[-1].double(), oracle(*inputs), rtol=tolerance, atol=tolerance)


def fastest(call: Callable[[], Any], rounds: int) -> float:
    """Return the processor milliseconds of the fastest round: other programs do not count."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times) * 1e3


def simulated(name: str, sizes: dict[str, int]) -> tuple[float, float, bool]:
    """Return the milliseconds to read the kernels and to run them, and whether the answer was right."""
    case = Case(name="benchmark", sizes=sizes)
    plan = plan_file(ROOT / "reference" / f"{name}.py", assignment_of(name), case)
    assert isinstance(plan, Plan), plan
    given = tensors(name, sizes)
    memories = [memory(tensor) for tensor in given]
    preparing._known.clear()
    reading = fastest(lambda: [preparing.prepare_code(kernel) for kernel in plan.kernels], 1)
    ran = fastest(lambda: run(plan, memories, outputs=["out"]), ROUNDS)
    assert isinstance(run(plan, memories, outputs=["out"]), Simulated)
    return reading, ran, right(name, given)


def interpret(name: str, sizes: dict[str, int]) -> float:
    """Return the milliseconds in Triton's interpreter, in the process that was started for it."""
    module = importlib.import_module(f"reference.{name}")
    given = tensors(name, sizes)
    out = given[-1]
    if name == "rmsnorm_vector":
        n = out.numel()
        sums = torch.empty(module.MAX_PARTS)
        # Its programs run one after another, so that none can wait for the others.
        return fastest(lambda: module._two_launches(*given[:-1], EPS, out, n, sums, False), 1)
    if name == "gemm":
        m, n, k = sizes["M"], sizes["N"], sizes["K"]
        return fastest(lambda: module.pointer_kernel[(triton.cdiv(m, 64) * triton.cdiv(n, 64),)](
            *given, m, n, k, TILE_M=64, TILE_N=64, TILE_K=64, GROUP=8), 1)
    scalars = [EPS] if name.startswith("rmsnorm") else []
    return fastest(lambda: getattr(module, name)(*given[:-1], *scalars, out), 1)


def main() -> int:
    if len(sys.argv) > 1:
        name, *texts = sys.argv[1:]
        print(interpret(name, {key: int(value) for key, value in (text.split("=") for text in texts)}))
        return 0
    prepare()
    model = next((line.split(": ")[1] for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())  # fmt: skip
    print(f"{model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, "
          f"torch {torch.__version__}, triton {triton.__version__}, numpy {np.__version__}\n")
    print("| kernel | sizes | reading ms | simulated ms | Triton's interpreter ms | times faster |")
    print("|---|---|---|---|---|---|")
    good = True
    for name, listed in SIZES.items():
        for sizes in listed:
            reading, ran, correct = simulated(name, sizes)
            good = good and correct
            child = subprocess.run(
                [sys.executable, __file__, name, *(f"{key}={value}" for key, value in sizes.items())], check=True,
                capture_output=True, text=True,
                env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"})
            interpreted = float(child.stdout.split()[-1])
            shape = " × ".join(map(str, sizes.values()))
            verdict = "" if correct else " **wrong**"
            print(f"| {name} | {shape} | {reading:.1f} | {ran:.1f}{verdict} | {interpreted:,.0f} | "
                  f"{interpreted / ran:.0f} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
