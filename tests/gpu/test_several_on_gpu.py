"""Timing of an assignment of several outputs on a GPU, both sides by executors: dtypes, an update, wrong answers."""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.course.assignment import Assignment
from grader.course.cases import Case, TimedCase
from grader.course.course import Threshold
from grader.course.parameters import DType, Input
from grader.judging.plans.planning import RequestedCall, parameters_of
from grader.judging.running.execution import Executor
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.lane import executor_server
from grader.judging.speed.baselines import scalars
from grader.judging.speed.measure import Bounds, MeasuredCase, Measurement, TimedCall
from grader.judging.speed.pool import Pool, ReplayFault
from grader.judging.speed.replays import Replays
from grader.kit.inputs import Distribution, Spread
from grader.kit.whole import Bools, Distinct, Fixed, Indices, Offsets, OneOf, Whole
from tests.gpu.plans import done
from tests.judging.speed.several import BASELINE, SEVERAL, TIMED

pytestmark = [pytest.mark.gpu, pytest.mark.alone, pytest.mark.timeout(300)]

SECONDS, SLOTS = 20.0, 12


@pytest.fixture(scope="module")
def other_fork_server() -> Iterator[LaneForkServer]:
    fork_server = LaneForkServer(executor_server)
    yield fork_server
    fork_server.close()


def measured(executor: Executor, other: Executor, function: str) -> MeasuredCase | ReplayFault | Any:
    numbers = scalars(SEVERAL, TIMED)
    given = parameters_of(SEVERAL, RequestedCall(TIMED, numbers))

    def loaded(at: Executor, name: str) -> int:
        number: int = done(at.load_baseline(BASELINE, f"{name}.py", name, given))
        return number

    pool, plan = Pool(SEVERAL, TIMED, SLOTS, cuda=True), SimpleNamespace()
    baselines = SimpleNamespace(
        counts={}, compiled_seconds={}, warm_until=0.0, program=lambda assignment, case, name: loaded(other, name))
    case: Any = TimedCall(SEVERAL, TIMED, SLOTS, plan, [], numbers)  # type: ignore[arg-type]
    try:
        return Measurement(
            case, Replays(executor, loaded(executor, function), numbers, pool, SECONDS),
            Replays(other, loaded(other, "eager"), numbers, pool, SECONDS), baselines,  # type: ignore[arg-type]
            Bounds(Threshold(floor=0.5, target=1.5), SECONDS, time.monotonic() + 60)).take()
    finally:
        executor.unbind()
        other.unbind()
        pool.close()


@pytest.fixture
def other(other_fork_server: LaneForkServer, tmp_path: Path) -> Iterator[Executor]:
    executor = Executor(other_fork_server, tmp_path)
    yield executor
    executor.close()


@pytest.mark.parametrize(("function", "output"), [
    ("eager", ""), ("unpicked", "picked"), ("unsummed", "total"), ("unchanged", "state"), ("into_input", "labels")])
def test_each_output_of_each_replay_is_checked(
    executor: Executor, other: Executor, function: str, output: str
) -> None:
    found = measured(executor, other, function)
    if not output:
        assert isinstance(found, MeasuredCase) and math.isclose(found.estimate.median, 1, rel_tol=0.2)
        return
    assert isinstance(found, ReplayFault) and found.name == output
    assert found.what == ("input" if output == "labels" else "values")


def test_a_baseline_may_return_its_answers(executor: Executor) -> None:
    numbers, pool = scalars(SEVERAL, TIMED), Pool(SEVERAL, TIMED, 2, cuda=True)
    given = parameters_of(SEVERAL, RequestedCall(TIMED, numbers))
    program = done(executor.load_baseline(BASELINE, "returned.py", "returned", given))
    try:
        pool.draw(1, numbers)
        done(executor.bind(pool.slots(), pool.sample))
        done(executor.run(program, 0, seconds=SECONDS))
        assert pool.check(1, sampled=False) is None
    finally:
        executor.unbind()
        pool.close()


DRAWN: dict[str, tuple[Distribution, DType]] = {
    "float64": (Spread(), "float64"), "fp8": (Spread(), "float8_e4m3fn"), "bf16": (Spread(offset=1.0), "bfloat16"),
    "int8": (Whole(-128, 127), "int8"), "labels": (Indices("N"), "int64"), "bools": (Bools(), "bool"),
    "permutation": (Distinct("N", each_row=True), "int32"), "offsets": (Offsets(100_000), "int64"),
    "one of": (OneOf((-1.0, 0.0, 2.0)), "float32"), "fixed": (Fixed(3), "int16")}


@pytest.mark.parametrize("name", DRAWN)
def test_contents_of_every_kind_can_be_had_again(name: str) -> None:
    distribution, dtype = DRAWN[name]
    case: Case = TimedCase(name="x", sizes={"M": 33, "N": 500})
    assignment: Assignment = SEVERAL.model_copy(update={
        "parameters": (Input(name="x", shape=("M", "N"), dtype=dtype), SEVERAL.outputs[1]),
        "oracle": lambda x: x.double(), "answers": {}, "rows": lambda inputs, index: {"x": inputs["x"][index]},
        "distributions": lambda case: {"x": distribution}})
    pool = Pool(assignment, case, 3, cuda=True)
    try:
        tensors = []
        for _ in range(2):
            pool.draw(3, {})
            pieces = [slot["x"].tensor for slot in pool.slots()]
            before = [piece.view(torch.uint8).clone() for piece in pieces]
            assert pool.contents is not None
            for number in (1, 0, 2):
                pieces[number].view(torch.uint8).zero_()
                pool.contents.rewrite(number)
            assert all(torch.equal(piece.view(torch.uint8), one) for piece, one in zip(pieces, before, strict=True))
            tensors += before
        apart = not any(torch.equal(tensor, two) for tensor in tensors for two in tensors if tensor is not two)
        assert apart == (name != "fixed")
        least, most = (float(f(tensors[0].view(pieces[0].dtype).double())) for f in (torch.amin, torch.amax))
        assert (name != "labels" or (least, most) == (0, 499)) and (name != "int8" or (least, most) == (-128, 127))
    finally:
        pool.close()
