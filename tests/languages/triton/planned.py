"""Files planned and run as a grading does it, without the judge: planner, canonical text, rules, simulator; and once
more as the compiler's text for an older GPU, thread by thread."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from torch import Tensor

from grader.judging.evidence.compiled import TARGET, rounds_alike
from grader.judging.plans.lowered import lowered
from grader.judging.plans.rules import check, check_kernels
from grader.languages.cuda.confined.simulator import main as threads
from grader.languages.triton.confined.compiler.machine_code import canonical
from grader.languages.triton.confined.compiler.main import compile_kernels
from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.state import Mode
from grader.plan.compiled import Binary, Problem
from grader.plan.device import TARGETS
from grader.plan.limits import Budget
from grader.plan.messages import Given, GivenScalar, GivenTensor, Loaded, Simulated, kernel_key
from grader.plan.plan import Plan
from tests.languages.triton.planner.harness import Planner
from tests.languages.triton.simulator.harness import memory

DEVICE = TARGETS["sm_90"]
_COMPILED: TypeAdapter[Binary | Problem] = TypeAdapter(Binary | Problem)


def given_of(values: dict[str, Any], outputs: Sequence[str]) -> list[Given]:
    """The parameters of a function, by the values of a call."""
    given: list[Given] = []
    for name, value in values.items():
        if isinstance(value, Tensor):
            dtype: Any = str(value.dtype).removeprefix("torch.")
            given.append(GivenTensor(name=name, shape=list(value.shape), dtype=dtype, output=name in outputs,
                                     filled=name not in outputs))
        else:
            kind: Any = type(value).__name__
            given.append(GivenScalar(name=name, type=kind, value=value))
    return given


def plan_of(text: str, function: str, values: dict[str, Any], outputs: Sequence[str]) -> Plan:
    """The plan of a call, checked, with kernels in canonical form."""
    given = given_of(values, outputs)
    with Planner() as planner:
        loaded = planner.load(text.encode(), "submission.py", function, given, DEVICE)
        assert isinstance(loaded, Loaded), loaded
        plan = planner.plan(given)
    assert isinstance(plan, Plan), plan
    texts = canonical([kernel.text for kernel in plan.kernels], 90)
    plan = plan.model_copy(update={"kernels": [
        kernel.model_copy(update={"text": text}) for kernel, text in zip(plan.kernels, texts, strict=True)]})
    check_kernels(plan.kernels, "triton")
    assert not check(plan, given, device=DEVICE, copies=False)
    return plan


def _memories(plan: Plan, values: dict[str, Any]) -> list[Any]:
    return [memory(values[buffer.given]) for buffer in plan.buffers if buffer.given]


def simulated(plan: Plan, values: dict[str, Any], outputs: Sequence[str]) -> Simulated:
    """The first call, in place."""
    result = run(plan, _memories(plan, values), outputs=outputs, mode=Mode(device=DEVICE))
    assert isinstance(result, Simulated), result
    return result


def run_as_compiled(plan: Plan, values: dict[str, Any], outputs: Sequence[str]) -> Simulated:
    """The same as the compiler's text for an older GPU, in place."""
    assert all(map(rounds_alike, plan.kernels))
    binaries = {}
    made = compile_kernels(plan.kernels, TARGET, 60, in_all=300.0, text=True)
    for kernel, one in zip(plan.kernels, map(_COMPILED.validate_json, made), strict=True):
        assert isinstance(one, Binary), one
        binaries[kernel_key(kernel)] = one
    machine = lowered(plan, binaries, "cuda")
    found = threads.run(
        machine, _memories(machine, values), outputs=outputs, budget=Budget(10**10, 60), device=DEVICE)
    assert isinstance(found, Simulated), found
    return found
