"""The steps of one timed case, on the host: an executor's part is played by the oracle, in times that are given."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from grader.course.assignment import Assignment
from grader.course.catalogue import assignments, right_answer
from grader.course.course import Threshold
from grader.judging.running.execution import CapturedCalls, GpuFailure, ReplaySeconds
from grader.judging.running.lane import LANE
from grader.judging.speed.baselines import scalars
from grader.judging.speed.measure import Bounds, MeasuredCase, Measurement, TimedCall
from grader.judging.speed.pool import Pool, ReplayFault
from grader.judging.speed.replays import Replays
from tests.assignments.tiny import tiny

SLOTS = 4
STUDENT, BASELINE = 1e-3, 2e-3


@dataclass
class Oracle:
    """An executor that answers rightly, each slot in so many seconds, up to replay number `wrong_at`. `forged` is the
    share of its time that the device's clock tells."""

    assignment: Assignment
    pool: Pool
    seconds: float
    wrong_at: float = math.inf
    forged: float = 1.0
    bound: int = 0
    replays: int = 0
    captured: list[Sequence[int]] = field(default_factory=list)

    def bind(self, slots: Sequence[Any], sample: Any) -> None:
        self.bound += 1

    def run(self, program: int, slot: int, *, seconds: float, compiles: bool) -> list[int]:
        self._answer([slot])
        return []

    def capture(self, program: int, slots: Sequence[int], sample: Any, *, seconds: float) -> CapturedCalls:
        self.captured.append(slots)
        return CapturedCalls(len(self.captured) - 1, True)

    def replay(self, captured: CapturedCalls, *, seconds: float) -> ReplaySeconds:
        slots = self.captured[captured.number]
        self._answer(slots)
        self.replays += 1
        if slots and self.replays >= self.wrong_at:
            self.pool.slots()[slots[-1]]["out"].tensor.add_(1)
        self._look()
        took = self.seconds * len(slots)
        return ReplaySeconds(took, self.forged * took)

    def _answer(self, slots: Sequence[int]) -> None:
        numbers = scalars(self.assignment, tiny(self.assignment))
        for slot in (self.pool.slots()[number] for number in slots):
            inputs = {name: piece.tensor for name, piece in slot.items() if name != "out"}
            slot["out"].tensor.copy_(right_answer(self.assignment, {**inputs, **numbers}))

    def _look(self) -> None:
        one = self.pool.sample
        target = one.target.tensor
        whole = one.source.memory[: len(one.source.memory) // target.itemsize * target.itemsize].view(target.dtype)
        torch.index_select(whole, 0, one.positions.tensor, out=target)


@pytest.fixture(params=["silu", "gemm"])
def assignment(request: pytest.FixtureRequest) -> Assignment:
    return assignments()[request.param]


@pytest.fixture
def pool(assignment: Assignment) -> Iterator[Pool]:
    pool = Pool(assignment, tiny(assignment), SLOTS, cuda=False)
    yield pool
    pool.close()


def measurement(
    assignment: Assignment, pool: Pool, *, until: float = math.inf, wrong_at: float = math.inf, forged: float = 1.0,
) -> tuple[Measurement, Any]:
    case = tiny(assignment)
    numbers = scalars(assignment, case)
    ours = Oracle(assignment, pool, BASELINE)
    baselines: Any = SimpleNamespace(counts={}, compiled_seconds={}, warm_until=0.0, program=lambda *names: 1)
    theirs: Any = Oracle(assignment, pool, STUDENT, wrong_at, forged)
    plan: Any = None
    return Measurement(
        TimedCall(assignment, case, SLOTS, plan, [], numbers), Replays(theirs, 0, numbers, pool, 10.0),
        Replays(ours, 0, numbers, pool, 10.0), baselines,  # type: ignore[arg-type]
        Bounds(Threshold(floor=0.5, target=1.5), 10.0, until)), baselines


def test_a_case_is_measured_step_by_step(assignment: Assignment, pool: Pool) -> None:
    case, baselines = measurement(assignment, pool)
    found = case.take()
    assert isinstance(found, MeasuredCase) and found.notes == [] and found.slots == SLOTS
    assert (*found.blocks.ratios, found.compiled_baseline / STUDENT) == pytest.approx(
        (BASELINE / STUDENT,) * (len(found.blocks.ratios) + 1))
    name = assignment.name, tiny(assignment).name
    assert baselines.counts == {name: 3} and baselines.compiled_seconds == {name: found.compiled_baseline}
    # A power-bound device is at its pace afterwards.
    assert (baselines.warm_until > 0) == (name[0] == "gemm")


def test_only_a_baseline_finds_contents_again(
    assignment: Assignment, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, draw = [], pool.draw

    def noted(count: int, scalars: Any, *, expect: bool = True, again: bool = False) -> None:
        drawn.append((expect, again))
        draw(count, scalars, expect=expect, again=again)

    monkeypatch.setattr(pool, "draw", noted)
    case, _ = measurement(assignment, pool)
    assert isinstance(case.take(), MeasuredCase)
    # A product's numbers take power, and so time.
    assert {(True, False)} < {*drawn} and (True, True) not in drawn
    assert ((False, True) in drawn) == (assignment.name == "silu")


def test_a_wrong_answer_in_any_replay_ends_it(assignment: Assignment, pool: Pool) -> None:
    case, _ = measurement(assignment, pool, wrong_at=14)
    found = case.take()
    assert isinstance(found, ReplayFault) and found.what == "values" and found.count > 0


def test_without_time_there_is_no_result(assignment: Assignment, pool: Pool) -> None:
    case, _ = measurement(assignment, pool, until=-math.inf)
    found = case.take()
    assert isinstance(found, GpuFailure) and found.kind == "time_limit"


def test_where_the_devices_clock_says_less_the_hosts_counts(
    assignment: Assignment, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stills: list[str] = []

    @contextmanager
    def noted() -> Iterator[float]:
        stills.append("still")
        yield 0.0

    monkeypatch.setattr(LANE, "still", noted)
    case, _ = measurement(assignment, pool, forged=0.5)
    found = case.take()
    assert isinstance(found, MeasuredCase) and stills == ["still"]
    assert found.blocks.ratios == pytest.approx([BASELINE / STUDENT] * len(found.blocks.ratios))
    assert found.notes == ["Measured by the host's clock: the device's clock said less."]
