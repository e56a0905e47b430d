"""NVIDIA's own tools, run on a kernel: Nsight Compute for counters, Compute Sanitizer for memory errors.

Both run our program `grader.grading.replay`, which makes the plan's call: no process of a submission lives beside it. A
tool that is missing, or that the driver refuses, is reported in a line.
"""

from __future__ import annotations

import csv
import os
import re
import secrets
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch

from grader import temporary
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.cases import Case, TimedCase
from grader.course.course import Course
from grader.course.parameters import Scalar
from grader.course.submission import Source
from grader.device.guards import torch_dtype
from grader.device.messages import ProgramText
from grader.errors import InfrastructureError
from grader.grading import sweep
from grader.grading.job import Job, JobOutcome
from grader.grading.replay import RecordedCall
from grader.home import ROOT
from grader.judging.plans.planning import RequestedCall, given_tensor
from grader.judging.prepared import PreparedTask, Task
from grader.judging.running import device
from grader.judging.running.buffers import NoRoomError
from grader.judging.running.lane import LANE
from grader.judging.running.machine import GpuMachine
from grader.judging.speed.measure import largest_fitting
from grader.judging.speed.speed import SPEED_SECONDS
from grader.judging.speed.tuning import tuned
from grader.plan import children
from grader.plan.plan import Plan
from grader.results.profile import NO_GPU, KernelProfile, LaunchProfile
from grader.sandbox.forkserver import clock

SECONDS = 120
# The most bytes of output that are read, from the tool and from kernels that print.
MOST_SAID = 16 << 20
# Names from `ncu --query-metrics`. A device has only some of the counters for tensor cores; the highest one is
# reported.
DRAM, OCCUPANCY = "dram__throughput.avg.pct_of_peak_sustained_elapsed", (
    "sm__warps_active.avg.pct_of_peak_sustained_active")
READ, WRITTEN, TIME = "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
# The section that counts for which reasons warps wait, and its metrics.
STALLS = "WarpStateStats"
_STALL = re.compile(r"smsp__average_warps?_(?:latency_)?issue_stalled_(\w+?)(?:_per_issue_active)?\.ratio")
MOST_LAUNCHES, MOST_REPORT = 16, 8 << 20
"""The most launches that are profiled, and the most bytes of a report."""
TENSOR = tuple(f"sm__{name}.avg.pct_of_peak_sustained_active" for name in (
    "pipe_tensor_cycles_active", "pipe_tensor_op_hmma_cycles_active", "inst_executed_pipe_tensor",
    "pipe_tensor_op_gmma_cycles_active"))
REFUSED = "ERR_NVGPUCTRPERM"
KERNEL = "Kernel Name"
RAW = ("--csv", "--page", "raw", "--print-units", "base")
NO_NCU = "ncu is not installed (Nsight Compute): no counters"


@dataclass(frozen=True)
class ToolFailure:
    """The reason why a tool has no result, in a line."""

    message: str


@contextmanager
def recorded(assignment: Assignment, case: Case, source: Source, course: Course) -> Iterator[Path | ToolFailure]:
    """Yield a file with the plan of a case, in which each autotuner uses its fastest configuration. Raises
    InfrastructureError."""
    prepared = PreparedTask(Task(assignment, source, course, secrets.token_bytes(32), "cuda").of(case))
    with closing(GpuMachine(prepared)) as gpu:
        plan: object = prepared.plan().plans.get(case.name)
        try:
            if isinstance(plan, Plan) and plan.tuners:
                _, slots = largest_fitting(assignment, TimedCase(**case.model_dump()), device.memory())
                plan = tuned(prepared, plan, RequestedCall(case, prepared.draws.scalars(case)), gpu.runner, slots=slots,
                              until=clock.now() + SPEED_SECONDS)
        except NoRoomError as error:
            raise InfrastructureError(str(error)) from None
        code = prepared.code(plan) if isinstance(plan, Plan) else None
    if not isinstance(plan, Plan) or not isinstance(code, list):
        yield ToolFailure(f"{case.name}: there is no machine code to run; kernelmark check says why")
        return
    given = [given_tensor(p, case) for p in assignment.parameters if not isinstance(p, Scalar)]
    with temporary.folder("bench") as folder:
        path, contents = folder / "recorded.json", folder / "contents"
        whole = [parameter.name for parameter in given
                 if parameter.filled and not torch_dtype(parameter.dtype).is_floating_point]
        if whole:
            drawn = prepared.draws.inputs(case, 0)
            torch.save({name: drawn[name].cpu() for name in whole}, contents)
        call = RecordedCall(program=ProgramText(plan=plan, binaries=code), given=given,
                            contents=str(contents) if whole else "")
        path.write_text(call.model_dump_json(), encoding="utf-8")
        yield path


def profiled(job: Job, outcome: JobOutcome) -> JobOutcome:
    """Return a job's outcome with the profile of its only assignment, if that is right. A failure costs the profile
    alone, and is in the log."""
    try:
        return replace(outcome, profile=_profile(job, outcome))
    except Exception as error:
        return replace(outcome, profile=KernelProfile(trouble="Not profiled: the grader failed; ask your course."),
                       log=f"{outcome.log}\nnot profiled: {type(error).__name__}: {error}\n")
    finally:
        LANE.end_workers()


def _profile(job: Job, outcome: JobOutcome) -> KernelProfile:
    (name,) = job.only
    assignment = catalogue.assignments()[name]
    sizes = sweep.cases(assignment)
    if job.device != "cuda" or not sizes:
        return KernelProfile(trouble=NO_GPU if sizes else f"{name} has no timed case, so there is no profile.")
    if outcome.result is None or outcome.wrong:
        return KernelProfile(trouble="Only a right kernel is profiled.")
    case, source = sizes[-1], job.handed_in.sources[name]
    if shutil.which("ncu") is None:
        return KernelProfile(trouble=f"Not profiled: {NO_NCU}.")
    with recorded(assignment, case, source, job.course) as path, temporary.folder("profile") as folder:
        # The planner has ended; whatever else is confined ends now.
        LANE.end_workers()
        report = folder / "profile.ncu-rep"
        launches = path if isinstance(path, ToolFailure) else counters(path, report)
        if isinstance(launches, ToolFailure):
            return KernelProfile(case=case.name, trouble=f"Not profiled: {launches.message}.")
        small = report.is_file() and report.stat().st_size <= MOST_REPORT
        return KernelProfile(case=case.name, launches=launches, report=report.read_bytes() if small else b"")


def counters(path: Path, report: Path | None = None) -> list[LaunchProfile] | ToolFailure:
    """Return Nsight Compute's counters for each launch of the plan's kernels. With `report` it counts everything that
    it knows, and writes that to the file."""
    rows = metric_rows(path, (DRAM, OCCUPANCY, READ, WRITTEN, TIME, SM, *TENSOR), report)
    return rows if isinstance(rows, ToolFailure) else [counted(row) for row in rows]


def metric_rows(path: Path, metrics: Sequence[str], report: Path | None = None) -> list[dict[str, str]] | ToolFailure:
    """Return a row of Nsight Compute's metrics, in base units and as text, for each launch of the plan's kernels; the
    column KERNEL has the kernel's name in the file."""
    tool = shutil.which("ncu")
    if tool is None:
        return ToolFailure(NO_NCU)
    plan = RecordedCall.model_validate_json(path.read_bytes()).program.plan
    names = {kernel.symbol: kernel.name for kernel in plan.kernels}
    done = _run([
        # Leave the machine's clocks as they are.
        tool, "--clock-control", "none", "--launch-count", str(MOST_LAUNCHES), "--section", STALLS,
        "--metrics", ",".join(metrics), "--kernel-name-base", "mangled",
        *(RAW if report is None else ("--set", "full", "--force-overwrite", "--export", str(report))),
        "--kernel-name", f"regex:^({'|'.join(sorted(names))})$"], path)
    if isinstance(done, ToolFailure):
        return done
    if REFUSED in done.stdout:
        return ToolFailure(f"ncu: the driver shows counters to administrators alone ({REFUSED})")
    if report is not None:
        written = _run([tool, *RAW, "--import", str(report)])
        if isinstance(written, ToolFailure):
            return written
        done = written if written.stdout.strip() else done
    rows = read_rows(done.stdout)
    for row in rows:
        shown = row.get(KERNEL) or ""
        row[KERNEL] = names.get(shown, shown.partition("(")[0])
    return rows or ToolFailure(f"ncu: {_last(done.stdout + done.stderr)}")


def read_rows(text: str) -> list[dict[str, str]]:
    """Read the output of ncu with `--csv --page raw`: messages, then a header, a row of units, a row for each
    launch."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return list(csv.DictReader(lines[start:]))[1:]


def value(row: Mapping[str, str], name: str) -> float | None:
    """Return a metric of a row; None if the device has none of this name."""
    try:
        return float(row[name].replace(",", ""))
    except (KeyError, ValueError, AttributeError):
        return None


def counted(row: Mapping[str, str]) -> LaunchProfile:
    """Return the counters of a launch from its row."""
    time, read, written = (value(row, name) for name in (TIME, READ, WRITTEN))
    waits = {match[1]: share for name in row if (match := _STALL.fullmatch(name or ""))
             and (share := value(row, name)) and match[1] != "selected"}
    return LaunchProfile(
        kernel=row.get(KERNEL, ""), microseconds=None if time is None else time / 1000,
        moved=None if read is None or written is None else read + written, dram=value(row, DRAM),
        sm=value(row, SM), occupancy=value(row, OCCUPANCY),
        tensor=max((share for name in TENSOR if (share := value(row, name)) is not None), default=None),
        stalls={name.replace("_", " "): 100 * waits[name] / sum(waits.values())
                for name in sorted(waits, key=lambda name: -waits[name])})


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


class _ProcessOutput(NamedTuple):
    stdout: str
    stderr: str


def _run(words: Sequence[str], path: Path | None = None) -> _ProcessOutput | ToolFailure:
    """Run a tool, on our program if there is a plan's `path`, and end it with all that it started."""
    # Without PyTorch's pool every tensor is an allocation of its own, so the tool sees accesses beyond its end.
    environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1", "PYTHONPATH": os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    try:
        program = () if path is None else (sys.executable, "-m", "grader.grading.replay", str(path))
        # A kernel may run for ever, and must not go on beside the next grading: `timeout` kills its whole group.
        with device.working(alone=True) if program else nullcontext():
            end = children.run(["timeout", "--signal=KILL", str(SECONDS), *words, *program], most=MOST_SAID,
                               seconds=SECONDS + 10, env=environment)
        if end.status == -signal.SIGKILL:
            raise TimeoutError
    except TimeoutError:
        return ToolFailure(f"{Path(words[0]).name}: no end within {SECONDS} s")
    except children.TooMuchError:
        return ToolFailure(f"{Path(words[0]).name}: prints more than {MOST_SAID >> 20} MiB: does a kernel print?")
    return _ProcessOutput(end.output.decode(errors="replace"), end.errors.decode(errors="replace"))


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else "it printed nothing")[:300]
