"""The steps before a call runs: the time that planning has, and compiling more kernels than one plan may hold."""

import time
from collections.abc import Iterator

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.home import ROOT
from grader.judging.answers.inputs import draw
from grader.judging.plans.planning import RequestedCall
from grader.judging.plans.toolchain import Toolchain
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import CallResult, Simulation
from grader.judging.running.time_budget import NOT_COMPILED, USED_UP, TimeBudget
from grader.plan.compiled import Problem
from grader.plan.device import TARGETS
from grader.plan.plan import MOST_KERNELS, Plan
from tests.languages.triton import kernels

SILU = assignments()["silu"]
LIMITS = LimitsTable(call_seconds=10, assignment_seconds=30)


@pytest.fixture
def toolchain() -> Iterator[Toolchain]:
    yield Toolchain(SILU, (ROOT / "reference" / SILU.file).read_bytes(), LIMITS, TARGETS["sm_90"])
    LANE.close()


def test_what_lies_between_two_plannings_takes_nothing_of_their_time(
    toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [RequestedCall(SILU.cases[0], {})]
    now, later = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now() + later)
    for _ in range(2):
        assert isinstance(toolchain.plan(wanted).outcomes[0], Plan)
        # A neighbour is judged meanwhile.
        later += 10 * LIMITS.assignment_seconds


def test_more_kernels_than_a_plan_may_have_are_compiled(toolchain: Toolchain) -> None:
    kernel = kernels.copy()
    # A text that is none: compiling takes no time.
    many = [kernel.model_copy(update={"text": f"none {number}"}) for number in range(MOST_KERNELS + 6)]
    found = toolchain.binaries(many)
    assert isinstance(found, list) and len(found) == len(many)
    assert all(isinstance(one, Problem) and one.why == "malformed" for one in found)


def test_a_call_that_fails_by_what_it_was_told_is_planned_again_with_the_answer(text: str) -> None:
    toolchain = Toolchain(SILU, text.encode(), LIMITS, TARGETS["sm_90"])
    planning = toolchain.plan([RequestedCall(case, {}) for case in SILU.cases[:2]])
    LANE.close()
    assert [type(outcome) for outcome in planning.outcomes] == [Plan, Plan]


def test_an_attempt_has_a_time_in_all(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call alone is within its limit: planning and simulating end together. Compiling has its own."""
    cases = SILU.cases[:4]
    plans = [plan for plan in Toolchain(SILU, text.encode(), LIMITS, TARGETS["sm_90"]).plan(
        [RequestedCall(case, {}) for case in cases]).outcomes if isinstance(plan, Plan)]
    budget = TimeBudget(3.0)
    toolchain = Toolchain(SILU, text.encode(), LIMITS, TARGETS["sm_90"], budget)
    simulation = Simulation(toolchain, operations=1 << 40, seconds=60, budget=budget)
    found = [simulation.run(SILU, case, plan, [draw(SILU, case, 1, cuda=False)])
             for case, plan in zip(cases, plans, strict=True)]
    left = budget.left
    fits = toolchain.fit(plans[0].kernels, ())
    monkeypatch.setattr("grader.judging.plans.toolchain.COMPILE_SECONDS", 0.01)
    late = Toolchain(SILU, text.encode(), LIMITS, TARGETS["sm_90"], TimeBudget(60)).fit(plans[0].kernels, ())
    LANE.close()
    assert isinstance(found[0], CallResult) and found[-1] == USED_UP and fits is None and late == NOT_COMPILED
    assert left == budget.left > -10
