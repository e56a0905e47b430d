"""Contents put in place, with a GPU's answers to "is anybody at work" given by the test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest

from grader.assignment import Case
from grader.catalogue import assignments
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.judge import health
from grader.judge.compare import unwritten
from grader.judge.placing import ALARMS, BASELINE, PASSES, STUDENT, TRIES, Placing
from grader.judge.ring import Ring
from grader.judge.session import Refused, Session
from grader.plan import wire

SILU = assignments()["silu"]
CASE = Case(name="48x64", sizes={"M": 48, "N": 64})
LIMITS = wire.Limits(memory_mb=512, file_mb=8, processes=32, cpu_seconds=120)
SOURCE = b"def silu(x, out):\n    pass\n"
SLOTS = 3
PASS_SECONDS = 10e-3


class Gpu:
    """What is asked of a device: `busy(student_is_there)` tells whether anybody is at work on it."""

    def __init__(self, session: Session) -> None:
        self.busy: Callable[[bool], bool] = lambda there: False
        self.asked = 0
        # Work that ends only with the submission.
        self.stuck = False
        self.waited: list[str] = []
        self._session = session

    def at_rest(self) -> bool:
        self.asked += 1
        self.waited.append("look")
        return not self.busy(not self._session.over)

    def quiet(self) -> bool:
        self.waited.append("quiet")
        return not self.stuck or self._session.over


@pytest.fixture
def placing(zygote: Zygote) -> Iterator[Placing]:
    session = Session(zygote, SILU, SOURCE, LIMITS, 1000, 10, math.inf)
    ring = Ring(SILU, CASE, SLOTS, (STUDENT, BASELINE), cuda=False)
    try:
        assert session.load() is None
        yield Placing(ring, session, cuda=True)
    finally:
        session.close()
        ring.close()


@pytest.fixture
def gpu(placing: Placing, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    gpu = Gpu(placing.student)
    for name in ("at_rest", "quiet"):
        monkeypatch.setattr(f"grader.judge.device.{name}", getattr(gpu, name))
    monkeypatch.setattr("grader.judge.device.state", lambda: health.Snapshot(unavailable="no GPU here"))
    passes(placing.ring, monkeypatch, lambda side: PASS_SECONDS * placing.ring.count / SLOTS)
    placing.first()
    return gpu


def passes(ring: Ring, monkeypatch: pytest.MonkeyPatch, seconds: Callable[[str], float]) -> None:
    """The device's clock is the test's: a processor's would be too noisy to be strict about."""
    inner = Ring.turn

    def turn(self: Ring, side: str) -> float:
        inner(self, side)
        return seconds(side)

    monkeypatch.setattr(Ring, "turn", turn)


def drawn(placing: Placing) -> int:
    return placing.ring._drawn


def test_alone_contents_are_drawn_once(placing: Placing, gpu: Gpu) -> None:
    before = drawn(placing)
    assert placing.for_student() > 0
    assert drawn(placing) == before + 1 and gpu.asked == 1
    assert all(bool(unwritten(shared.tensor).all()) for shared in placing.ring._outputs[STUDENT])


def test_contents_that_somebody_was_at_work_on_are_not_used(placing: Placing, gpu: Gpu) -> None:
    before = drawn(placing)
    gpu.busy = lambda there: gpu.asked < 3
    placing.for_student()
    assert drawn(placing) == before + 3 and not placing.student.over


def test_nor_are_those_that_took_longer_to_reveal(
    placing: Placing, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn(placing)
    left = iter([2.0, 1.25, 1.2])
    passes(placing.ring, monkeypatch, lambda side: PASS_SECONDS * next(left))
    placing.for_student()
    assert drawn(placing) == before + 3 and next(left, None) is None


def test_fewer_slots_take_less(placing: Placing, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    placing.ring.use(1)
    before = drawn(placing)
    # Usual is a third.
    left = iter([PASS_SECONDS / 2, PASS_SECONDS / 2.8])
    passes(placing.ring, monkeypatch, lambda side: next(left))
    placing.for_student()
    assert drawn(placing) == before + 2


def test_who_is_at_work_whenever_there_are_new_contents_is_ended(placing: Placing, gpu: Gpu) -> None:
    before = drawn(placing)
    gpu.busy = lambda there: there
    with pytest.raises(Refused) as refused:
        placing.for_student()
    assert refused.value.lost.kind == "late_write" and "again and again" in refused.value.lost.message
    assert drawn(placing) == before + TRIES and placing.student.over


def test_nor_may_it_be_so_in_many_batches(placing: Placing, gpu: Gpu) -> None:
    gpu.busy = lambda there: there and gpu.asked % 4 != 0
    with pytest.raises(Refused):
        for _ in range(ALARMS):
            placing.for_student()
    # Three alarms, and contents that are used.
    assert gpu.asked == ALARMS * 4 // 3 + PASSES


def test_contents_are_written_and_revealed_when_the_device_is_quiet(
    placing: Placing, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, turn = Ring.fill, Ring.turn

    def fill(self: Ring) -> None:
        gpu.waited.append("fill")
        inner(self)

    def turned(self: Ring, side: str) -> float:
        gpu.waited.append("turn")
        return turn(self, side)

    monkeypatch.setattr(Ring, "fill", fill)
    monkeypatch.setattr(Ring, "turn", turned)
    gpu.waited.clear()
    placing.for_student()
    assert gpu.waited == ["quiet", "fill", "quiet", "turn", "look"]


@pytest.mark.parametrize("first", [True, False])
def test_work_that_ends_with_the_submission_was_its_own(placing: Placing, gpu: Gpu, first: bool) -> None:
    gpu.stuck = True
    placing._pass_seconds = None if first else placing._pass_seconds
    with pytest.raises(Refused) as refused:
        (placing.first if first else placing.for_student)()
    assert refused.value.lost.kind == "late_write" and "still running" in refused.value.lost.message


def test_if_somebody_still_is_when_it_is_gone_the_failure_is_ours(placing: Placing, gpu: Gpu) -> None:
    gpu.busy = lambda there: True
    with pytest.raises(InfrastructureError, match="another program keeps the GPU, or the processor, busy"):
        placing.for_student()


def test_an_answer_that_is_written_before_the_call_is_found(
    placing: Placing, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    def writes(side: str) -> float:
        placing.ring._outputs[STUDENT][1].tensor.zero_()
        return PASS_SECONDS

    passes(placing.ring, monkeypatch, writes)
    with pytest.raises(Refused) as refused:
        placing.for_student()
    assert refused.value.lost.kind == "late_write" and "before the call was made" in refused.value.lost.message


def test_the_baseline_has_the_students_inputs(placing: Placing, gpu: Gpu) -> None:
    placing.for_student()
    before, kept = drawn(placing), placing.ring._inputs[0]["x"].tensor.clone()
    placing.ring._outputs[BASELINE][0].tensor.zero_()
    placing.for_baseline()
    assert drawn(placing) == before and bool((placing.ring._inputs[0]["x"].tensor == kept).all())
    assert bool(unwritten(placing.ring._outputs[BASELINE][0].tensor).all())


def test_but_not_if_they_have_been_changed(placing: Placing, gpu: Gpu) -> None:
    placing.for_student()
    before = drawn(placing)
    placing.ring._inputs[2]["x"].tensor[:, 5] = 0
    placing.for_baseline()
    assert drawn(placing) == before + 1 and placing.ring.unchanged()


def test_nor_slots_that_the_student_has_not_had(placing: Placing, gpu: Gpu) -> None:
    placing.ring.use(1)
    placing.for_student()
    placing.ring.use(SLOTS)
    before = drawn(placing)
    placing.for_baseline()
    assert drawn(placing) == before + 1 and placing.ring.unchanged()
