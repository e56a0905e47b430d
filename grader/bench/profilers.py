"""What NVIDIA's own tools say of a kernel: Nsight Compute's counters, Compute Sanitizer's findings.

Both run a program of ours that makes the plan's call (`grader.bench.replay`), and each may be missing or refused by the
driver, which is told in a line.
"""

from __future__ import annotations

import csv
import math
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from grader.bench.replay import Recorded
from grader.engine.executor.messages import Program
from grader.engine.forkserver.handle import InfrastructureError
from grader.judge import device
from grader.judge.buffers import NoRoomError
from grader.judge.machine import Gpu
from grader.judge.planning import Wanted, given_tensor
from grader.judge.prepared import Prepared, Task
from grader.judge.timing.measure import fitting
from grader.judge.timing.speed import SPEED_SECONDS
from grader.judge.timing.tuning import tuned
from grader.model.assignment import Assignment, Case, Scalar, TimedCase
from grader.model.catalogue import ROOT
from grader.model.course import Course
from grader.model.submission import Source
from grader.plan import children
from grader.plan.plan import Plan

SECONDS = 180
# A tool's own lines, and what kernels print.
MOST_SAID = 16 << 20
# Names of the counters: `ncu --query-metrics`. A device has some of those for tensor cores, and the busiest is told.
DRAM, OCCUPANCY = "dram__throughput.avg.pct_of_peak_sustained_elapsed", (
    "sm__warps_active.avg.pct_of_peak_sustained_active")
READ, WRITTEN, TIME = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
TENSOR = tuple(f"sm__{name}.avg.pct_of_peak_sustained_active" for name in (
    "pipe_tensor_cycles_active", "pipe_tensor_op_hmma_cycles_active", "inst_executed_pipe_tensor",
    "pipe_tensor_op_gmma_cycles_active"))
REFUSED = "ERR_NVGPUCTRPERM"


@dataclass(frozen=True)
class Counters:
    """One launch: the shares are in percent of what the device can sustain, `moved` in bytes from and to its memory."""

    kernel: str
    microseconds: float
    dram: float
    occupancy: float
    tensor: float
    moved: float


@dataclass(frozen=True)
class Trouble:
    """Why a tool says nothing, in a line."""

    message: str


@contextmanager
def recorded(assignment: Assignment, case: Case, source: Source, course: Course) -> Iterator[Path | Trouble]:
    """A file with the plan of a case, each autotuner at what is fastest here. Raises InfrastructureError."""
    prepared = Prepared(Task(assignment, source, course, secrets.token_bytes(32), "cuda").of(case))
    with closing(Gpu(prepared)) as gpu:
        found: object = prepared.plan().plans.get(case.name)
        try:
            if isinstance(found, Plan) and found.tuners:
                _, slots = fitting(assignment, TimedCase(**case.model_dump()), device.memory())
                found = tuned(prepared, found, Wanted(case, prepared.draws.scalars(case)), gpu.launching, slots=slots,
                              until=time.monotonic() + SPEED_SECONDS)
        except NoRoomError as error:
            raise InfrastructureError(str(error)) from None
        code = prepared.code(found) if isinstance(found, Plan) else None
    if not isinstance(found, Plan) or not isinstance(code, list):
        yield Trouble(f"{case.name}: there is no machine code to run; kernelmark check says why")
        return
    given = [given_tensor(p, case) for p in assignment.parameters if not isinstance(p, Scalar)]
    with tempfile.TemporaryDirectory(prefix="kernelmark-bench-") as folder:
        path = Path(folder) / "recorded.json"
        path.write_text(
            Recorded(program=Program(plan=found, binaries=code), given=given).model_dump_json(), encoding="utf-8")
        yield path


def counters(path: Path) -> list[Counters] | Trouble:
    """What Nsight Compute counts of each launch of the plan's kernels."""
    tool = shutil.which("ncu")
    if tool is None:
        return Trouble("ncu is not installed (Nsight Compute): no counters")
    names = {kernel.symbol for kernel in Recorded.model_validate_json(path.read_bytes()).program.plan.kernels}
    done = _run([
        # The machine's clocks are somebody else's.
        tool, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
        "--metrics", ",".join((DRAM, OCCUPANCY, READ, WRITTEN, TIME, *TENSOR)),
        "--kernel-name", f"regex:^({'|'.join(sorted(names))})$"], path)
    if isinstance(done, Trouble):
        return done
    if REFUSED in done.stdout:
        return Trouble(f"ncu: the driver shows counters to administrators alone ({REFUSED})")
    return read_counters(done.stdout) or Trouble(f"ncu: {_last(done.stdout + done.stderr)}")


def read_counters(text: str) -> list[Counters]:
    """What ncu prints with `--csv --page raw`: its own lines, then a header, a row of units, a row a launch."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    rows = list(csv.DictReader(lines[start:]))[1:]

    def value(row: dict[str, str], name: str) -> float:
        try:
            return float(row.get(name, "").replace(",", ""))
        except ValueError:
            return math.nan

    found = []
    for row in rows:
        tensor = [share for name in TENSOR if not math.isnan(share := value(row, name))]
        found.append(Counters(
            row.get("Kernel Name", ""), value(row, TIME) / 1000, value(row, DRAM), value(row, OCCUPANCY),
            max(tensor, default=math.nan), value(row, READ) + value(row, WRITTEN)))
    return found


def findings(path: Path) -> list[str] | Trouble:
    """What Compute Sanitizer finds wrong with accesses to memory, the first of each kind; nothing where all is well."""
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        return Trouble("compute-sanitizer is not installed: memory was not checked")
    done = _run(
        [tool, "--tool", "memcheck", "--padding", "32", "--print-limit", "20", "--report-api-errors", "no"], path)
    return done if isinstance(done, Trouble) else read_findings(done.stdout)


def read_findings(text: str) -> list[str] | Trouble:
    said = [line.removeprefix("=========").strip() for line in text.splitlines() if line.startswith("=========")]
    end = next((line for line in said if line.startswith("ERROR SUMMARY:")), None)
    if end is None:
        return Trouble(f"compute-sanitizer: {_last(text)}")
    if end.startswith("ERROR SUMMARY: 0 "):
        return []
    kinds = [line for line in said if line.startswith("Invalid ")]
    return [*dict.fromkeys(kinds), end.lower()]


class _Said(NamedTuple):
    stdout: str
    stderr: str


def _run(words: Sequence[str], path: Path) -> _Said | Trouble:
    # Without a pool every tensor is an allocation of its own, so that one's end is seen.
    environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "PYTHONPATH": os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    try:
        done = children.run([*words, sys.executable, "-m", "grader.bench.replay", str(path)], most=MOST_SAID,
                            seconds=SECONDS, env=environment)
    except TimeoutError:
        return Trouble(f"{Path(words[0]).name}: no end within {SECONDS} s")
    except children.TooMuchError:
        return Trouble(f"{Path(words[0]).name}: says more than {MOST_SAID >> 20} MiB: does a kernel print?")
    return _Said(done.output.decode(errors="replace"), done.errors.decode(errors="replace"))


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "it said nothing")[:300]
