"""Builders of a lane: beside each other, from what is kept, and ended with the lane."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.judging.running.builders import Builders
from grader.judging.running.lane import END_SECONDS, LANE
from grader.judging.running.time_budget import TimeBudget
from grader.languages.cuda.toolkit import problem
from grader.plan import wire
from grader.plan.device import TARGETS
from grader.plan.messages import Build, Failed, GivenTensor

pytestmark = pytest.mark.skipif(problem() != "", reason=f"no nvcc: {problem()}")
LIMITS = wire.Limits(memory_mb=2048, file_mb=64, processes=32, cpu_seconds=60)
TENSOR = GivenTensor(name="x", shape=[4], dtype="float32", output=True)
REQUEST = Build(seq=0, file="f.cu", function="f", device=TARGETS["sm_90"], given=[TENSOR])
RIGHT = b"__global__ void k(float *x) { x[threadIdx.x] = 1; } void f(float *x) { k<<<1, 4>>>(x); }"
# Takes the compiler seconds.
SLOW = b"#include <thrust/sort.h>\n" + RIGHT


@pytest.fixture
def builders(tmp_path: Path) -> Iterator[Builders]:
    made = Builders(LANE.isolation, tmp_path)
    yield made
    made.close()


def _built(builders: Builders, source: bytes) -> object:
    return builders.submit("cuda/builder", REQUEST, source, LIMITS, TimeBudget(60)).result()


def test_files_are_built_and_one_that_does_not_compile_says_so(builders: Builders, tmp_path: Path) -> None:
    futures = [builders.submit("cuda/builder", REQUEST, source, LIMITS, TimeBudget(60))
               for source in (RIGHT, b"void f(float *x) { y = 1; }", RIGHT + b"\n")]
    right, wrong, again = (future.result() for future in futures)
    assert isinstance(right, bytes) and isinstance(again, bytes)
    assert isinstance(wrong, Failed) and wrong.failure == "compile_error" and wrong.line == 1
    assert len(list((tmp_path / "built").iterdir())) == 2


def test_nothing_is_built_while_builders_are_still_even_by_hands_that_come_later(
    builders: Builders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Builders, "_build", lambda *given: b"built")
    with builders.still():
        future = builders.submit("cuda/builder", REQUEST, RIGHT, LIMITS, TimeBudget(60))
        with pytest.raises(TimeoutError):
            future.result(0.2)
    assert future.result() == b"built"


def test_what_is_kept_comes_back_in_another_lane(builders: Builders, tmp_path: Path) -> None:
    first = _built(builders, RIGHT)
    (kept,) = (tmp_path / "built").iterdir()
    before = kept.stat()
    other = Builders(LANE.isolation, tmp_path)
    try:
        assert _built(other, RIGHT) == first
    finally:
        other.close()
    # It was read, and not written again.
    assert kept.stat().st_ino == before.st_ino and kept.stat().st_mtime_ns > before.st_mtime_ns


def test_builders_end_with_their_lane_whatever_they_do(builders: Builders) -> None:
    _built(builders, RIGHT)
    futures = [builders.submit("cuda/builder", REQUEST, SLOW + b"\n" * number, LIMITS, TimeBudget(60))
               for number in range(4)]
    time.sleep(0.5)
    assert not any(future.done() for future in futures)
    started = time.monotonic()
    builders.close()
    # Otherwise the lane is killed. A fork server that does not answer takes 15 seconds of it.
    assert time.monotonic() - started < END_SECONDS
    assert all(future.cancelled() or not isinstance(future.exception() or future.result(), bytes) for future in futures)
