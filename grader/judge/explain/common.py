"""What the sizes of failed cases have in common, and no passed case shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import gt, lt
from typing import Literal

from grader.model.assignment import Assignment
from grader.model.result import CheckResult

FEWEST_CASES = 3
"""Fewer cases than this have something in common by chance."""

FEWEST_PASSED = 2
"""A claim about a bound on a size, or about the numbers, needs this many passed cases of more than one element."""

# Programs rarely work on fewer than 16: of several that fit, a usual block size comes first.
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 8, 4, 2)

PARTIAL = (
    "Look at what the last, partial block does: its mask, what lanes beyond the end hold, and what a result is divided "
    "by."
)

Kind = Literal["shape", "blocks", "bound", "values"]
Test = Callable[[CheckResult], bool]


@dataclass(frozen=True)
class Condition:
    """What every failed case meets and no passed one: "M and N differ", and what to do about it.

    shape: how sizes compare with each other; blocks: with powers of two; bound: with a number; values: no size at all.
    """

    kind: Kind
    text: str
    advice: str


def conditions(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> list[Condition]:
    """All conditions that tell failed cases from passed ones, the simplest first."""
    telling = [c for c in passed if max(c.sizes.values(), default=0) > 1]
    if not telling or len(failed) + len(passed) < FEWEST_CASES:
        return []
    found = []
    for condition, holds in _candidates(assignment, failed, passed):
        enough = FEWEST_PASSED if condition.kind in ("bound", "values") else 1
        if len(telling) >= enough and _separates(holds, failed, passed):
            found.append(condition)
    return found


def _candidates(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> Iterator[tuple[Condition, Test]]:
    if len(assignment.output.shape) == 2:
        yield from _shapes(assignment, passed)
    names = list(failed[0].sizes)
    for what, bad in _size_tests():
        separating = [n for n in names if _separates(partial(_has, [n], bad), failed, passed)]
        # A single size that tells them apart is named; otherwise any of them may be to blame.
        blamed = separating if len(separating) == 1 else names
        subject = blamed[0] if len(blamed) == 1 else "a size"
        yield Condition("blocks", f"{subject} {what}", PARTIAL), partial(_has, blamed, bad)
    for name in names:
        right = sorted(c.sizes[name] for c in passed)
        # Sizes of 1 say nothing about blocks.
        if sum(size > 1 for size in right) >= FEWEST_PASSED:
            yield (Condition("bound", f"{name} is larger than {right[-1]:,}",
                             f"Look at what a second block along {name} changes: the loop over the blocks, or how "
                             "programs combine their results."),
                   partial(_has, [name], partial(lt, right[-1])))
        yield (Condition("bound", f"{name} is smaller than {right[0]:,}",
                         f"Look at what lanes beyond the end of a small {name} hold."),
               partial(_has, [name], partial(gt, right[0])))
    values = {case.name: case.values for case in assignment.cases}
    kinds = {values[c.case] for c in failed if c.case in values}
    yield (Condition("values", f"the inputs are {' or '.join(repr(k) for k in sorted(kinds))}",
                     "The numbers tell them apart, not the sizes: look at what overflows where they are large, and at "
                     "what is added where they are small."),
           lambda c: values.get(c.case) in kinds)


def _shapes(assignment: Assignment, passed: Sequence[CheckResult]) -> Iterator[tuple[Condition, Test]]:
    down, across = assignment.output.shape
    mixed = (f"Something is right only where {down} is {across}: compare each stride, each mask and the grid with the "
             "sizes of the very tensor that they are for.")
    if any(c.sizes[down] == c.sizes[across] > 1 for c in passed):
        yield (Condition("shape", f"{down} and {across} differ", mixed),
               lambda c: c.sizes[down] != c.sizes[across])
        yield (Condition("shape", f"{down} and {across} differ and neither is 1", mixed),
               lambda c: c.sizes[down] != c.sizes[across] and min(c.sizes[down], c.sizes[across]) > 1)
    for a, b in ((down, across), (across, down)):
        yield (Condition("shape", f"{a} is larger than {b}",
                         f"Look at what bounds {a}: the grid, a mask, a loop's end."),
               partial(_is_larger, a, b))


def _size_tests() -> Iterator[tuple[str, Callable[[int], bool]]]:
    yield "is not a power of two", lambda size: size & (size - 1) != 0
    for block in BLOCKS:
        yield f"is not a multiple of {block}", partial(_leaves_a_rest, block)


def _separates(test: Test, failed: Sequence[CheckResult], passed: Sequence[CheckResult]) -> bool:
    return all(map(test, failed)) and not any(map(test, passed))


def _has(names: Sequence[str], bad: Callable[[int], bool], check: CheckResult) -> bool:
    return any(bad(check.sizes.get(name, 0)) for name in names)


def _is_larger(a: str, b: str, check: CheckResult) -> bool:
    return check.sizes[a] > check.sizes[b]


def _leaves_a_rest(block: int, size: int) -> bool:
    return size % block != 0
