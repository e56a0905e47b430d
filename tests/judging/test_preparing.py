"""What comes before a call runs: the time that planning has, and compiling more kernels than one plan may hold."""

import time
from collections.abc import Iterator

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.home import ROOT
from grader.judging.answers.inputs import draw
from grader.judging.plans.planning import Wanted
from grader.judging.plans.preparing import Preparing
from grader.judging.running.allowance import NOT_COMPILED, USED_UP, Allowance
from grader.judging.running.lane import LANE
from grader.judging.running.simulation import Ran, Simulation
from grader.plan.compiled import Problem
from grader.plan.device import TARGETS
from grader.plan.plan import MOST_KERNELS, Plan
from tests.languages.triton import kernels

SILU = assignments()["silu"]
LIMITS = LimitsTable(call_seconds=10, assignment_seconds=30)


@pytest.fixture
def preparing() -> Iterator[Preparing]:
    yield Preparing(SILU, (ROOT / "reference" / SILU.file).read_bytes(), LIMITS, TARGETS["sm_90"])
    LANE.close()


def test_what_lies_between_two_plannings_takes_nothing_of_their_time(
    preparing: Preparing, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [Wanted(SILU.cases[0], {})]
    now, later = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now() + later)
    for _ in range(2):
        assert isinstance(preparing.plan(wanted).outcomes[0], Plan)
        # A neighbour is judged meanwhile.
        later += 10 * LIMITS.assignment_seconds


def test_more_kernels_than_a_plan_may_have_are_compiled(preparing: Preparing) -> None:
    kernel = kernels.copy()
    # A text that is none: compiling takes no time.
    many = [kernel.model_copy(update={"text": f"none {number}"}) for number in range(MOST_KERNELS + 6)]
    found = preparing.binaries(many)
    assert isinstance(found, list) and len(found) == len(many)
    assert all(isinstance(one, Problem) and one.why == "malformed" for one in found)


ASKING = b"""
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)

def silu(x, out):
    kept = kernel.warmup(x, out, x.numel(), BLOCK=64, grid=(1,))
    if kept.metadata.shared:
        raise RuntimeError("no sum, and yet shared memory")
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
"""


def test_a_call_that_fails_by_what_it_was_told_is_planned_again_with_the_answer() -> None:
    preparing = Preparing(SILU, ASKING, LIMITS, TARGETS["sm_90"])
    found = preparing.plan([Wanted(case, {}) for case in SILU.cases[:2]])
    LANE.close()
    assert [type(one) for one in found.outcomes] == [Plan, Plan]


LONG = b"""
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x_ptr, out_ptr, n, rounds, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    for _ in range(rounds):
        x = x * 1.0
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)

def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), 1_000_000 if x.numel() > 1 else 1, BLOCK=1024)
"""


def test_an_attempt_has_a_time_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call alone is within its limit: planning and simulating end together. Compiling has its own."""
    cases = SILU.cases[:4]
    plans = [plan for plan in Preparing(SILU, LONG, LIMITS, TARGETS["sm_90"]).plan(
        [Wanted(case, {}) for case in cases]).outcomes if isinstance(plan, Plan)]
    allowance = Allowance(3.0)
    preparing = Preparing(SILU, LONG, LIMITS, TARGETS["sm_90"], allowance)
    simulation = Simulation(preparing, operations=1 << 40, seconds=60, allowance=allowance)
    found = [simulation.run(SILU, case, plan, [draw(SILU, case, 1, cuda=False)])
             for case, plan in zip(cases, plans, strict=True)]
    left = allowance.left
    fits = preparing.fit(plans[0].kernels, ())
    monkeypatch.setattr("grader.judging.plans.preparing.COMPILE_SECONDS", 0.01)
    late = Preparing(SILU, LONG, LIMITS, TARGETS["sm_90"], Allowance(60)).fit(plans[0].kernels, ())
    LANE.close()
    assert isinstance(found[0], Ran) and found[-1] == USED_UP and fits is None and late == NOT_COMPILED
    assert left == allowance.left > -10
