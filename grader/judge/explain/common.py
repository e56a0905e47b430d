"""What the sizes of failed cases have in common, and no passed case shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from math import prod
from operator import lt
from typing import Literal

from grader.model.assignment import Assignment
from grader.model.parameters import Tensor, extents
from grader.model.result import CheckResult

FEWEST_CASES = 3
"""Fewer cases than this have something in common by chance."""

FEWEST_PASSED = 2
"""A claim about a bound on a size needs this many passed cases of more than one element."""

BLOCKS = tuple(1 << power for power in range(10, 0, -1))

FEWEST_ENDINGS = 2
"""A claim about a word of the cases' names, such as -extreme, needs this many failed cases."""

Kind = Literal["contents", "shape", "blocks", "bound"]
"""What the name of a case says of its inputs; how sizes compare with each other, with powers of two, with a number."""
Test = Callable[[CheckResult], bool]


def in_common(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult], kinds: frozenset[Kind]
) -> str:
    """The simplest condition of these kinds that every failed case meets and no passed one: "M and N differ". "" if
    there is none."""
    telling = [c for c in passed if max(c.sizes.values(), default=0) > 1]
    if not telling or len(failed) + len(passed) < FEWEST_CASES:
        return ""
    for kind, text, test in _candidates(assignment, failed, passed):
        enough = FEWEST_PASSED if kind in ("bound", "contents") else 1
        if kind in kinds and len(telling) >= enough and _separates(test, failed, passed):
            return text
    return ""


def _candidates(
    assignment: Assignment, failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> Iterator[tuple[Kind, str, Test]]:
    names = list(failed[0].sizes)
    if len(failed) >= FEWEST_ENDINGS:
        for word in failed[0].case.split("-")[1:]:
            yield "contents", f"the name says -{word}", partial(_says, word)
    shape = [str(extent) for extent in assignment.output.shape]
    of_matrix = [(shape[0], shape[1])] if len(shape) == 2 and set(shape) <= set(names) else []
    for one, other in (*of_matrix, *(combinations(names, 2) if len(passed) > FEWEST_PASSED else ())):
        if any(c.sizes[one] == c.sizes[other] > 1 for c in passed):
            yield "shape", f"{one} and {other} differ", partial(_differ, one, other)
    subject, test = _blamed(names, lambda size: size & (size - 1) != 0, failed, passed)
    yield "blocks", f"{subject} is not a power of two", test
    yield from _multiples(assignment, names, failed, passed)
    for name in names:
        right = sorted(c.sizes[name] for c in passed)
        # Sizes of 1 say nothing about blocks.
        if sum(size > 1 for size in right) >= FEWEST_PASSED:
            yield "bound", f"{name} is larger than {right[-1]:,}", partial(_has, [name], partial(lt, right[-1]))
    # Where one size alone tells the cases apart, how it compares with the other is chance.
    for one, other in (*of_matrix, *((across, down) for down, across in of_matrix)):
        yield "bound", f"{one} is larger than {other}", partial(_larger, one, other)


def _multiples(
    assignment: Assignment, names: Sequence[str], failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> Iterator[tuple[Kind, str, Test]]:
    """That a size, or the number of elements, is not whole blocks. Of several blocks that fit the cases only one that
    the kernels have is named: the cases alone cannot tell which it is."""
    tests = {block: _blamed(names, partial(_leaves_a_rest, block), failed, passed) for block in BLOCKS}
    fitting = [block for block, (_, test) in tests.items() if _separates(test, failed, passed)]
    theirs = [block for block in BLOCKS if any(block in check.blocks for check in failed)]
    for block in theirs:
        if block in fitting:
            yield "blocks", f"{tests[block][0]} is not a multiple of {block:,}", tests[block][1]
    for block in theirs:
        yield ("blocks", f"the number of elements is not a multiple of {block:,}",
               partial(_leaves_elements, assignment.output, block))
    if fitting:
        subject, test = tests[fitting[0]]
        what = f"multiple of {fitting[0]:,}" if len(fitting) == 1 else "whole number of blocks"
        yield "blocks", f"{subject} is not a {what}", test


def _blamed(
    names: Sequence[str], bad: Callable[[int], bool], failed: Sequence[CheckResult], passed: Sequence[CheckResult]
) -> tuple[str, Test]:
    """The size to blame, and the test that it is bad: a single one that tells the cases apart, or else any of them."""
    separating = [n for n in names if _separates(partial(_has, [n], bad), failed, passed)]
    blamed = separating if len(separating) == 1 else names
    return blamed[0] if len(blamed) == 1 else "a size", partial(_has, blamed, bad)


def _differ(one: str, other: str, check: CheckResult) -> bool:
    return check.sizes[one] != check.sizes[other]


def _larger(one: str, other: str, check: CheckResult) -> bool:
    return check.sizes[one] > check.sizes[other]


def _says(word: str, check: CheckResult) -> bool:
    return word in check.case.split("-")[1:]


def _leaves_a_rest(block: int, size: int) -> bool:
    return size % block != 0


def _leaves_elements(output: Tensor, block: int, check: CheckResult) -> bool:
    return prod(extents(output, check.sizes)) % block != 0


def _separates(test: Test, failed: Sequence[CheckResult], passed: Sequence[CheckResult]) -> bool:
    return all(map(test, failed)) and not any(map(test, passed))


def _has(names: Sequence[str], bad: Callable[[int], bool], check: CheckResult) -> bool:
    return any(bad(check.sizes.get(name, 0)) for name in names)
