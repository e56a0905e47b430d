"""The simulator against a GPU, case by case: the same plans of the corpus's files in CUDA C++ on the same inputs.

    python -m benchmarks.simulator_on_gpu [PART OF]     (one part of the members; results are printed as Markdown rows)

A case is right, wrong (another answer, an input changed), or stopped (a fault, a limit); of the simulator also where a
finding fails it whatever its answer is. Needs a GPU and nvcc. `cat` of all parts goes to benchmarks/results.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case
from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.course.parameters import Inputs, Scalar
from grader.home import ROOT
from grader.judging.answers.answers import compared
from grader.judging.answers.inputs import draw
from grader.judging.explain import explain_findings
from grader.judging.plans.planning import RequestedCall
from grader.judging.plans.toolchain import Toolchain, kernels_of
from grader.judging.running import device
from grader.judging.running.gpu_runner import GpuRunner
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import CallResult, Simulation
from grader.plan.compiled import Binary
from grader.plan.plan import Plan
from tests.graded import FILES
from tests.members import select

SUFFIX = ".cu"
# Endless loops need not be waited for as long as for an honest student.
LIMITS = LimitsTable(call_seconds=3)
SEED = 5


def members() -> list[Path]:
    """Return the files of the corpus and the references, in order."""
    folders = [*(member.folder() for member in select()), ROOT / "reference/cuda"]
    return sorted(path for folder in folders for path in folder.glob(f"*{SUFFIX}"))


def outcomes(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield case, outcome of the simulator and outcome of the GPU, for each case that both can run."""
    assignment = assignments()[FILES[path.name]].written(path.name)
    toolchain = Toolchain(assignment, path.read_bytes(), LIMITS, device.properties())
    drawn = {case.name: draw(assignment, case, SEED, cuda=False) for case in assignment.cases_for("cpu")}
    scalars = [p.name for p in assignment.parameters if isinstance(p, Scalar)]
    wanted = [RequestedCall(case, {name: float(drawn[case.name][name]) for name in scalars})
              for case in assignment.cases_for("cpu")]
    simulation = Simulation(toolchain, seconds=LIMITS.call_seconds)
    runner = GpuRunner(assignment, LANE.executors, seconds=LIMITS.call_seconds)
    try:
        for call, plan in zip(wanted, toolchain.plan(wanted).outcomes, strict=True):
            if not isinstance(plan, Plan):
                continue
            binaries = toolchain.binaries(kernels_of([plan]))
            inputs = drawn[call.case.name]
            seen = _seen(assignment, call.case, simulation.run(assignment, call.case, plan, [inputs]), inputs)
            code = [binary for binary in binaries if isinstance(binary, Binary)] if isinstance(binaries, list) else []
            if len(code) < len(plan.kernels):
                continue
            ran = runner.run(call.case, plan, code, [_on_device(assignment, inputs)])
            yield call.case.name, seen, _answer(assignment, ran, inputs) if isinstance(ran, CallResult) else "stopped"
    finally:
        simulation.end()
        runner.end()


def _seen(assignment: Assignment, case: Case, ran: object, inputs: Inputs) -> str:
    if not isinstance(ran, CallResult):
        return "not simulated" if type(ran).__name__ == "CannotSimulate" else "stopped"
    explained = explain_findings(assignment, "", ran.findings)
    return f"finding: {explained.kind}" if explained is not None else _answer(assignment, ran, inputs)


def _answer(assignment: Assignment, result: CallResult, inputs: Inputs) -> str:
    right = compared(assignment, result, inputs).passed
    return "right" if right and not result.changed and not result.overruns else "wrong"


def _on_device(assignment: Assignment, inputs: Inputs) -> Inputs:
    places = {p.name: p.place for p in assignment.parameters if p.kind == "input"}
    return {name: value.cuda() if isinstance(value, torch.Tensor) and places[name] == "device" else value
            for name, value in inputs.items()}


def main(part: int, of: int) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    try:
        for path in members()[part::of]:
            name = f"{path.parent.parent.name}/{path.parent.name}"
            try:
                for case, seen, left in outcomes(path):
                    counts[seen, left] += 1
                    if (seen == "right") != (left == "right"):
                        print(f"| {name} | {case} | {seen} | {left} |", flush=True)
            except Exception as error:
                print(f"| {name} | | {type(error).__name__}: {error} | |"[:200], flush=True)
                LANE.close()
    finally:
        for (seen, left), count in sorted(counts.items()):
            print(f"# {count} {seen} / {left}", flush=True)
        LANE.close()


if __name__ == "__main__":
    main(*(map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1)))
