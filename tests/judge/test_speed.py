"""A submission's speed as its result tells it: real workers on the CPU, cases of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from grader.assignment import Assignment, Case, TimedCase
from grader.catalogue import ROOT, assignments
from grader.course import read_course
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge import speed
from grader.judge.attempt import Attempt
from grader.judge.baselines import Baselines
from grader.judge.device import Memory
from grader.judge.ring import slot_bytes
from grader.judge.speed import FEWEST_SLOTS, MOST_SLOTS, plan
from grader.submission import Source

GIB = 1 << 30
TIMED = TimedCase(name="48x64", sizes={"M": 48, "N": 64})
CASE = Case(name="5x9", sizes={"M": 5, "N": 9})
KERNEL = (ROOT / "reference" / "silu.py").read_bytes()


@pytest.fixture(scope="module")
def silu() -> Assignment:
    return assignments()["silu"].model_copy(update={"cases": (CASE,), "timed": (TIMED,)})


@pytest.fixture(scope="module")
def baselines() -> Iterator[Baselines]:
    one = Baselines(cuda=False)
    yield one
    one.close()


@pytest.fixture
def attempt(
    zygote: Zygote, baselines: Baselines, silu: Assignment, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Attempt]:
    # Interpreted kernels take their time.
    monkeypatch.setattr(speed, "MOST_SLOTS", FEWEST_SLOTS)
    source = getattr(request, "param", KERNEL)
    one = Attempt(
        lambda: zygote, silu, Source(source), read_course(ROOT / "course.toml", frozenset(assignments())),
        b"k" * 32, baselines=lambda: baselines)
    yield one
    one.close()


def test_a_right_submission_is_timed(attempt: Attempt) -> None:
    assert attempt.read().outcome == "passed"
    assert attempt.check(CASE).outcome == "passed"
    assert attempt.record().outcome == "passed"
    check = attempt.time(TIMED)
    assert (check.id, check.stage, check.outcome) == ("speed-48x64", "speed", "passed"), check.detail
    timing = check.timing
    assert timing is not None and timing.sizes == TIMED.sizes and timing.slots == FEWEST_SLOTS
    assert len(timing.ratios) >= 6
    assert timing.speedup.low <= timing.speedup.median <= timing.speedup.high
    assert timing.student_us > 0 and timing.baseline_us > 0 and timing.speedup.median > 0
    assert timing.roof == "" and timing.compiled_us is None


@pytest.mark.parametrize("attempt", [KERNEL + b"\n\ndef silu(x, out):\n    pass\n"], indirect=True, ids=[""])
def test_a_wrong_submission_is_not(attempt: Attempt) -> None:
    attempt.read()
    assert attempt.check(CASE).outcome == "failed"
    check = attempt.time(TIMED)
    assert check.outcome == "not_run" and check.timing is None


SLEEPER = KERNEL + b"""

_right, _seen = silu, set()


def silu(x, out):
    _seen.add(tuple(x.shape))
    if len(_seen) > 1:
        return
    _right(x, out)
"""


@pytest.mark.parametrize("attempt", [SLEEPER], indirect=True, ids=[""])
def test_who_works_only_while_nobody_looks_at_the_time_is_wrong(attempt: Attempt) -> None:
    attempt.read()
    assert attempt.check(CASE).outcome == "passed"
    check = attempt.time(TIMED)
    assert check.outcome == "failed" and check.detail is not None
    assert check.detail.kind == "wrong_values" and check.detail.unwritten == check.detail.total
    assert check.detail.message.startswith("In a timed call 3,072 of 3,072 elements are wrong")


def test_baselines_are_loaded_once_and_kept(baselines: Baselines, silu: Assignment) -> None:
    first, again = baselines.side(silu), baselines.side(silu)
    assert first.session is again.session and first.which == again.which
    transpose = baselines.side(assignments()["transpose"])
    assert transpose.session is first.session and transpose.which != first.which


def test_a_baseline_that_does_not_load_is_a_failure_of_ours(silu: Assignment) -> None:
    own = Baselines(cuda=False)
    try:
        with pytest.raises(InfrastructureError, match="the baseline of silu cannot be had: ModuleNotFoundError"):
            own.side(silu, b"import nothing_of_the_kind")
        assert not own.alive
    finally:
        own.close()


SMALLER = TimedCase(name="8192x8192", sizes={"M": 8192, "N": 8192}, smaller=({"M": 2048, "N": 2048},))
MEMORY = Memory(host=64 * GIB, device=128 * GIB, cache=50 << 20)


def test_a_ring_is_several_caches_and_no_larger_than_it_need_be(silu: Assignment) -> None:
    case, least, slots = plan(silu, SMALLER, MEMORY)
    assert case.name == "8192x8192" and slots * slot_bytes(silu, case) == 16 * GIB and least == FEWEST_SLOTS
    vector = assignments()["rmsnorm_vector"]
    case, least, slots = plan(vector, TimedCase(name="1048576", sizes={"n": 1 << 20, "N": 1 << 20}), MEMORY)
    assert slots == MOST_SLOTS and least * slot_bytes(vector, case) >= 3 * MEMORY.cache


def test_a_small_card_gets_a_smaller_case_and_a_smaller_one_none(silu: Assignment) -> None:
    # 10 GiB: 512 MiB a slot and 256 more for the baseline's output; 0.4 of it holds five, one of them to warm up.
    case, _, slots = plan(silu, SMALLER, replace(MEMORY, device=10 * GIB))
    assert (case.name, slots) == ("8192x8192", FEWEST_SLOTS)
    case, _, slots = plan(silu, SMALLER, replace(MEMORY, device=9 * GIB))
    assert case.name == "2048x2048" and slots >= FEWEST_SLOTS
    with pytest.raises(InfrastructureError, match="no size of it fits"):
        plan(silu, SMALLER, replace(MEMORY, device=1 << 20))


def test_a_host_matrix_takes_host_memory() -> None:
    column = assignments()["copy_first_column"]
    case = TimedCase(name="8192x32768", sizes={"rows": 8192, "cols": 32768})
    assert plan(column, case, MEMORY)[1:] == (4, 7)
    with pytest.raises(InfrastructureError):
        plan(column, case, replace(MEMORY, host=8 * GIB))
