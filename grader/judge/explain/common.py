"""What the sizes of failed cases have in common, and no passed case shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import gt, lt
from typing import Literal

from grader.assignment import Assignment, Input, Scalar
from grader.judge.explain.evidence import COVERAGE
from grader.result import CheckResult

FEWEST_CASES = 3
"""Fewer cases than this have something in common by chance."""

FEWEST_PASSED = 2
"""A claim about a bound on a size, or about the numbers, needs this many passed cases of more than one element."""

# Programs rarely work on fewer than 16: of several that fit, a usual block size comes first.
BLOCKS = (16, 32, 64, 128, 256, 512, 1024, 8, 4, 2)

IN_THE_SUM = (
    "The whole output is wrong, not only its edges, so the sums are wrong: elements beyond the end of {size} must add "
    "0. Mask both loads by comparing the index along {size} with {size} itself, and give them other=0.0."
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
    # Where all of the output is wrong, the sizes that are summed over are suspected first.
    for name in _summed(assignment) if all(map(_is_all_wrong, failed)) else []:
        for what, _, bad in _size_tests():
            yield (Condition("blocks", f"{name} {what}", IN_THE_SUM.replace("{size}", name)),
                   partial(_has, [name], bad))
    for what, advice, bad in _size_tests():
        separating = [n for n in names if _separates(partial(_has, [n], bad), failed, passed)]
        # A single size that tells them apart is named; otherwise any of them may be to blame.
        blamed = separating if len(separating) == 1 else names
        subject = blamed[0] if len(blamed) == 1 else "a size"
        yield Condition("blocks", f"{subject} {what}", advice), partial(_has, blamed, bad)
    for name in names:
        right = sorted(c.sizes[name] for c in passed)
        # Sizes of 1 say nothing about blocks.
        if sum(size > 1 for size in right) >= FEWEST_PASSED:
            yield (Condition("bound", f"{name} is larger than {right[-1]:,}",
                             f"It seems that one block along {name} is right and several are not: look at the loop "
                             "over the blocks, or at how programs combine their results."),
                   partial(_has, [name], partial(lt, right[-1])))
        yield (Condition("bound", f"{name} is smaller than {right[0]:,}",
                         f"Lanes beyond the end of a small {name} enter the answer: mask them."),
               partial(_has, [name], partial(gt, right[0])))
    values = {case.name: case.values for case in assignment.cases}
    kinds = {values[c.case] for c in failed if c.case in values}
    yield (Condition("values", f"the inputs are {' or '.join(repr(k) for k in sorted(kinds))}",
                     "The numbers may matter more than the sizes: large ones overflow, and beside small ones eps, or "
                     "padding that is not 0, weighs more."),
           lambda c: values.get(c.case) in kinds)


def _shapes(assignment: Assignment, passed: Sequence[CheckResult]) -> Iterator[tuple[Condition, Test]]:
    down, across = assignment.output.shape
    lie = " and ".join(
        f"{p.name} lies at i * {p.shape[1]} + j" for p in assignment.parameters
        if not isinstance(p, Scalar) and len(p.shape) == 2)
    mixed = ("Rows and columns are mixed up in a stride, a mask or the grid, which does not show in a square matrix. "
             f"Element (i, j) of {lie}: compare the strides of each tl.load and tl.store with that.")
    if any(c.sizes[down] == c.sizes[across] > 1 for c in passed):
        yield (Condition("shape", f"{down} and {across} differ", mixed),
               lambda c: c.sizes[down] != c.sizes[across])
        yield (Condition("shape", f"{down} and {across} differ and neither is 1", mixed),
               lambda c: c.sizes[down] != c.sizes[across] and min(c.sizes[down], c.sizes[across]) > 1)
    for a, b in ((down, across), (across, down)):
        yield (Condition("shape", f"{a} is larger than {b}",
                         f"Something meant for {a} uses {b}: a grid, a mask, a loop's end or a stride."),
               partial(_is_larger, a, b))


def _size_tests() -> Iterator[tuple[str, str, Callable[[int], bool]]]:
    yield ("is not a power of two",
           "Blocks are powers of two and sizes are not: mask loads and stores, give loads other=0.0, and divide by "
           "the real size.",
           lambda size: size & (size - 1) != 0)
    for block in BLOCKS:
        yield (f"is not a multiple of {block}",
               "The last, partial block is lost or read beyond the end: use triton.cdiv and masks, in every dimension.",
               partial(_leaves_a_rest, block))


def _summed(assignment: Assignment) -> list[str]:
    """Sizes that inputs have and the output has not: those that are summed over."""
    inputs = [p for p in assignment.parameters if isinstance(p, Input)]
    return sorted({name for p in inputs for name in p.size_names} - set(assignment.output.shape))


def _is_all_wrong(check: CheckResult) -> bool:
    detail = check.detail
    return detail is not None and bool(detail.total) and not detail.unwritten and (
        (detail.wrong or 0) >= COVERAGE * (detail.total or 0))


def _separates(test: Test, failed: Sequence[CheckResult], passed: Sequence[CheckResult]) -> bool:
    return all(map(test, failed)) and not any(map(test, passed))


def _has(names: Sequence[str], bad: Callable[[int], bool], check: CheckResult) -> bool:
    return any(bad(check.sizes.get(name, 0)) for name in names)


def _is_larger(a: str, b: str, check: CheckResult) -> bool:
    return check.sizes[a] > check.sizes[b]


def _leaves_a_rest(block: int, size: int) -> bool:
    return size % block != 0
