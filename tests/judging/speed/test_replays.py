"""Which of two clocks times a replay. What replays take is given: no kernel that forges a clock can be had here."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from grader.course.cases import Case
from grader.course.catalogue import assignments
from grader.judging.running.execution import CapturedCalls, ReplaySeconds
from grader.judging.speed.pool import Pool
from grader.judging.speed.replays import Replays

EMPTY, SLOT = ReplaySeconds(host=40e-6, device=15e-6), 1e-3


@dataclass
class Clocks:
    """An executor's part: `SLOT` seconds a slot. `forged` is the share of it that the device's clock tells. The host's
    adds `noise`, in turn."""

    forged: float = 1.0
    noise: list[float] = field(default_factory=lambda: [0.0])
    replays: int = 0
    captured: list[int] = field(default_factory=list)

    def capture(self, program: int, slots: range, sample: object = None, *, seconds: float) -> CapturedCalls:
        self.captured.append(len(slots))
        return CapturedCalls(len(self.captured) - 1, True)

    def replay(self, captured: CapturedCalls, *, seconds: float) -> ReplaySeconds:
        own = SLOT * self.captured[captured.number]
        self.replays += 1
        late = self.noise[self.replays % len(self.noise)]
        return ReplaySeconds(EMPTY.host + own + late, EMPTY.device + self.forged * own)


@pytest.fixture
def pool() -> Iterator[Pool]:
    case = Case(name="tiny", sizes={"M": 30, "N": 70})
    pool = Pool(assignments()["silu"], case, 8, cuda=False)
    yield pool
    pool.close()


def replays(clocks: Any, pool: Pool) -> Replays:
    found = Replays(clocks, 0, {}, pool, 10.0)
    assert found.prepare() is None
    for _ in range(12):
        found.draw(expect=False)
        assert isinstance(found.replay(), float)
    return found


def test_the_devices_clock_counts_without_what_a_replay_of_nothing_takes(pool: Pool) -> None:
    found = replays(Clocks(noise=[0.0, 30e-6, 2e-3, 5e-6]), pool)
    assert not found.clocks_differ
    assert found.replay() == pytest.approx(SLOT)


def test_a_device_clock_that_says_less_than_the_hosts_is_not_believed(pool: Pool) -> None:
    found = replays(Clocks(forged=0.9, noise=[0.0, 30e-6]), pool)
    assert found.clocks_differ
    found.trust_host()
    assert found.replay() == pytest.approx(SLOT, rel=0.01)


def test_a_replay_has_as_many_slots_as_make_it_long_enough(pool: Pool) -> None:
    clocks = Clocks()
    found = replays(clocks, pool)
    # Nothing, one call, then all.
    assert found.count == 5 and clocks.captured == [0, 1, 5]
