"""NVIDIA's own tools, run on a kernel: Nsight Compute for counters, Compute Sanitizer for memory errors.

Both run our program `grader.bench.replay`, which makes the plan's call. A tool that is missing, or that the driver
refuses, is reported in a line.
"""

from __future__ import annotations

import csv
import math
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch

from grader import temporary
from grader.bench.replay import Recorded
from grader.engine.executor.guards import torch_dtype
from grader.engine.executor.messages import ProgramText
from grader.engine.forkserver.handle import InfrastructureError
from grader.home import ROOT
from grader.judge import device
from grader.judge.buffers import NoRoomError
from grader.judge.machine import GpuMachine
from grader.judge.planning import Wanted, given_tensor
from grader.judge.prepared import Prepared, Task
from grader.judge.timing.measure import largest_fitting
from grader.judge.timing.speed import SPEED_SECONDS
from grader.judge.timing.tuning import tuned
from grader.model.assignment import Assignment
from grader.model.cases import Case, TimedCase
from grader.model.course import Course
from grader.model.parameters import Scalar
from grader.model.submission import Source
from grader.plan import children
from grader.plan.plan import Plan

SECONDS = 180
# The most bytes of output that are read, from the tool and from kernels that print.
MOST_SAID = 16 << 20
# Names from `ncu --query-metrics`. A device has only some of the counters for tensor cores; the highest one is
# reported.
DRAM, OCCUPANCY = "dram__throughput.avg.pct_of_peak_sustained_elapsed", (
    "sm__warps_active.avg.pct_of_peak_sustained_active")
READ, WRITTEN, TIME = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
TENSOR = tuple(f"sm__{name}.avg.pct_of_peak_sustained_active" for name in (
    "pipe_tensor_cycles_active", "pipe_tensor_op_hmma_cycles_active", "inst_executed_pipe_tensor",
    "pipe_tensor_op_gmma_cycles_active"))
REFUSED = "ERR_NVGPUCTRPERM"


@dataclass(frozen=True)
class Counters:
    """A launch's counters: shares in percent of the device's sustained peak; `moved` are the bytes read from and
    written to device memory."""

    kernel: str
    microseconds: float
    dram: float
    occupancy: float
    tensor: float
    moved: float


@dataclass(frozen=True)
class ToolFailure:
    """The reason why a tool has no result, in a line."""

    message: str


@contextmanager
def recorded(assignment: Assignment, case: Case, source: Source, course: Course) -> Iterator[Path | ToolFailure]:
    """Yield a file with the plan of a case, in which each autotuner uses its fastest configuration. Raises
    InfrastructureError."""
    prepared = Prepared(Task(assignment, source, course, secrets.token_bytes(32), "cuda").of(case))
    with closing(GpuMachine(prepared)) as gpu:
        plan: object = prepared.plan().plans.get(case.name)
        try:
            if isinstance(plan, Plan) and plan.tuners:
                _, slots = largest_fitting(assignment, TimedCase(**case.model_dump()), device.memory())
                plan = tuned(prepared, plan, Wanted(case, prepared.draws.scalars(case)), gpu.launching, slots=slots,
                              until=time.monotonic() + SPEED_SECONDS)
        except NoRoomError as error:
            raise InfrastructureError(str(error)) from None
        code = prepared.code(plan) if isinstance(plan, Plan) else None
    if not isinstance(plan, Plan) or not isinstance(code, list):
        yield ToolFailure(f"{case.name}: there is no machine code to run; kernelmark check says why")
        return
    given = [given_tensor(p, case) for p in assignment.parameters if not isinstance(p, Scalar)]
    with temporary.folder("bench") as folder:
        path, contents = folder / "recorded.json", folder / "contents"
        whole = [one.name for one in given if one.filled and not torch_dtype(one.dtype).is_floating_point]
        if whole:
            drawn = prepared.draws.inputs(case, 0)
            torch.save({name: drawn[name].cpu() for name in whole}, contents)
        made = Recorded(program=ProgramText(plan=plan, binaries=code), given=given,
                            contents=str(contents) if whole else "")
        path.write_text(made.model_dump_json(), encoding="utf-8")
        yield path


def counters(path: Path) -> list[Counters] | ToolFailure:
    """Return Nsight Compute's counters for each launch of the plan's kernels."""
    rows = asked(path, (DRAM, OCCUPANCY, READ, WRITTEN, TIME, *TENSOR))
    return rows if isinstance(rows, ToolFailure) else [_counters(row) for row in rows]


def asked(path: Path, metrics: Sequence[str]) -> list[dict[str, str]] | ToolFailure:
    """Return a row of Nsight Compute's metrics, in base units and as text, for each launch of the plan's kernels."""
    tool = shutil.which("ncu")
    if tool is None:
        return ToolFailure("ncu is not installed (Nsight Compute): no counters")
    names = {kernel.symbol for kernel in Recorded.model_validate_json(path.read_bytes()).program.plan.kernels}
    done = _run([
        # Leave the machine's clocks as they are.
        tool, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
        "--metrics", ",".join(metrics), "--kernel-name-base", "mangled",
        "--kernel-name", f"regex:^({'|'.join(sorted(names))})$"], path)
    if isinstance(done, ToolFailure):
        return done
    if REFUSED in done.stdout:
        return ToolFailure(f"ncu: the driver shows counters to administrators alone ({REFUSED})")
    return read_rows(done.stdout) or ToolFailure(f"ncu: {_last(done.stdout + done.stderr)}")


def read_rows(text: str) -> list[dict[str, str]]:
    """Read the output of ncu with `--csv --page raw`: messages, then a header, a row of units, a row for each
    launch."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return list(csv.DictReader(lines[start:]))[1:]


def value(row: Mapping[str, str], name: str) -> float:
    """Return a metric of a row; NaN if the device has none of this name."""
    try:
        return float(row.get(name, "").replace(",", ""))
    except ValueError:
        return math.nan


def _counters(row: Mapping[str, str]) -> Counters:
    tensor = [share for name in TENSOR if not math.isnan(share := value(row, name))]
    return Counters(
        row.get("Kernel Name", ""), value(row, TIME) / 1000, value(row, DRAM), value(row, OCCUPANCY),
        max(tensor, default=math.nan), value(row, READ) + value(row, WRITTEN))


def findings(path: Path) -> list[str] | ToolFailure:
    """Return Compute Sanitizer's memory errors, the first of each kind; empty if there are none."""
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        return ToolFailure("compute-sanitizer is not installed: memory was not checked")
    done = _run(
        [tool, "--tool", "memcheck", "--padding", "32", "--print-limit", "20", "--report-api-errors", "no"], path)
    return done if isinstance(done, ToolFailure) else read_findings(done.stdout)


def read_findings(text: str) -> list[str] | ToolFailure:
    said = [line.removeprefix("=========").strip() for line in text.splitlines() if line.startswith("=========")]
    end = next((line for line in said if line.startswith("ERROR SUMMARY:")), None)
    if end is None:
        return ToolFailure(f"compute-sanitizer: {_last(text)}")
    if end.startswith("ERROR SUMMARY: 0 "):
        return []
    kinds = [line for line in said if line.startswith("Invalid ")]
    return [*dict.fromkeys(kinds), end.lower()]


class _Said(NamedTuple):
    stdout: str
    stderr: str


def _run(words: Sequence[str], path: Path) -> _Said | ToolFailure:
    # Without PyTorch's pool every tensor is an allocation of its own, so the tool sees accesses beyond its end.
    environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "PYTHONPATH": os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    try:
        done = children.run([*words, sys.executable, "-m", "grader.bench.replay", str(path)], most=MOST_SAID,
                            seconds=SECONDS, env=environment)
    except TimeoutError:
        return ToolFailure(f"{Path(words[0]).name}: no end within {SECONDS} s")
    except children.TooMuchError:
        return ToolFailure(f"{Path(words[0]).name}: prints more than {MOST_SAID >> 20} MiB: does a kernel print?")
    return _Said(done.output.decode(errors="replace"), done.errors.decode(errors="replace"))


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "it printed nothing")[:300]
