"""Two operations that nothing orders are named where the answer hangs on their order, and nowhere else."""

import random
from collections.abc import Sequence

import pytest

from grader.judging.evidence.streams import MOST_STREAMS, unordered
from grader.plan.findings import UndefinedBehaviour
from grader.plan.plan import Buffer, Copy, Fill, Operation, Place, Plan, View

OUT = 0
Step = tuple[int | float, int, list[int] | None]
"""The buffer or the number that is written, where to, and what it follows."""


def plan(steps: Sequence[Step], places: Sequence[Place] = ()) -> Plan:
    def view(number: int) -> View:
        return View(buffer=number, shape=[1], strides=[1], dtype="float32")

    operations: list[Operation] = [
        Fill(target=view(target), value=source, line=line, after=after) if isinstance(source, float) else
        Copy(source=view(source), target=view(target), line=line, after=after)
        for line, (source, target, after) in enumerate(steps, 1)]
    buffers = [Buffer(bytes=4, given="out"), *(Buffer(bytes=4, place=place) for place in places),
               *[Buffer(bytes=4)] * 8]
    return Plan(buffers=buffers, kernels=[], first=operations)


def answer(of: Plan) -> list[float]:
    values = [-1.0] * len(of.buffers)
    for one in of.first:
        assert isinstance(one, Fill | Copy)
        values[one.target.buffer] = one.value if isinstance(one, Fill) else values[one.source.buffer]
    return values


def found(of: Plan) -> tuple[UndefinedBehaviour | None, int]:
    """The finding, and the number of runs that it took."""
    runs: list[Plan] = []

    def wrong(other: Plan) -> bool:
        assert sorted(map(repr, other.first)) == sorted(map(repr, of.first))
        runs.append(other)
        return answer(other)[OUT] != answer(of)[OUT]

    return unordered(of, 0, (), wrong), len(runs)


@pytest.mark.parametrize(("steps", "lines"), [
    ([(1.0, 1, None), (1, OUT, [])], (1, 2)),
    ([(1.0, 1, None), (2.0, 2, []), (1, OUT, [1])], (1, 3)),
    # A temporary that is filled again before its copy has ended; each later fill does the same.
    ([(1.0, 1, None), (1, OUT, None), (2.0, 1, [0]), (1, 3, [1, 2]), (3.0, 1, [2]), (1, 4, [3, 4])], (2, 3)),
    ([(0.0, OUT, None), (1.0, OUT, [])], (1, 2)),
    # Only one of what it does not follow decides.
    ([(1.0, 1, None), (2.0, 2, []), (2.0, 3, []), (2, 4, [1]), (2, OUT, [])], (2, 5)),
    ([(1.0, 1, None), *((float(n), 2, [0]) for n in range(MOST_STREAMS + 2)), (2, OUT, [0])], (7, 8)),
])
def test_the_first_two_whose_order_decides_are_named(steps: list[Step], lines: tuple[int, int]) -> None:
    finding, runs = found(plan(steps))
    assert finding is not None and (finding.earlier, finding.line, finding.what) == (*lines, "streams") and runs <= 12


@pytest.mark.parametrize(("steps", "runs"), [
    ([(1.0, 1, None), (1, OUT, None)], 0),
    # Both only read, or use other memory.
    ([(1.0, 1, None), (1, OUT, [0]), (1, 2, [0])], 0),
    ([(1.0, 1, None), (2.0, OUT, [])], 0),
    # The answer is the same: this is tried.
    ([(1.0, 1, None), (1.0, 1, []), (1, OUT, [1])], 1),
    # Operations that follow go along: the second is asked for behind all that the first comes before.
    ([(1.0, 1, None), (1, 2, [0]), (2, OUT, [1]), (3.0, 3, [])], 0),
])
def test_what_the_answer_does_not_hang_on_is_not(steps: list[Step], runs: int) -> None:
    assert found(plan(steps)) == (None, runs)


def test_host_code_that_does_not_wait_is_told_by_its_memory() -> None:
    finding, _ = found(plan([(1.0, 1, None), (1, OUT, None), (2.0, 1, [0])], ["pinned"]))
    assert finding is not None and (finding.earlier, finding.line, finding.what, finding.given) == (2, 3, "pinned", "")


def test_no_order_that_is_tried_breaks_another() -> None:
    chance = random.Random(0)
    for _ in range(200):
        steps: list[Step] = [
            (chance.randrange(5), chance.randrange(5),
             sorted(chance.sample(range(number), chance.randrange(min(3, number) + 1)))) for number in range(12)]
        of = plan(steps)
        follows: list[set[int]] = []
        for _, _, after in steps:
            follows.append(set().union(*({one} | follows[one] for one in after or ())))

        def wrong(other: Plan, follows: list[set[int]] = follows) -> bool:
            order = [operation.line - 1 for operation in other.first]
            assert sorted(order) == list(range(12))
            assert all(not follows[one] & set(order[at:]) for at, one in enumerate(order))
            return chance.random() < 0.7

        unordered(of, 0, (), wrong)
