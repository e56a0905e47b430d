"""Facts about a wrong answer that nothing seen of its kernels explains: what its values are, by the right answer, by
the inputs, or by the right answer to other inputs.

A fact says what was seen, for all wrong elements that it speaks of, and then asks where it may come from. One of few
elements, or one that many answers show, is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from grader.judge.explain.evidence import AGREEMENT, COVERAGE, ENOUGH, EVERY, LEVELS, WEAK, Evidence, Hint, rounding_of
from grader.judge.explain.where import ONE_NUMBER, of_another, where

# Smaller shares of an output are no precision.
ROUNDED_SHARE = 0.05
# Relative error that one conversion to 16 bits and a few sums leave at most.
HELD = 2.0**-6
# Relative error that arithmetic of a lower precision leaves: between what float32 itself may do after sums, and a few
# units of float16's or TF32's last place (2^-11). A factor that is wrong for all elements mostly leaves more.
ROUNDED_FROM, ROUNDED_TO = 2.0**-18, 2.0**-8

_DIGITS = {torch.float64: 9, torch.float32: 6, torch.float16: 3, torch.uint8: 2}


def _digits(dtype: torch.dtype) -> int:
    """Digits of a factor or difference that the numbers of a dtype show."""
    return _DIGITS.get(dtype, 2 if dtype.is_floating_point else 6)


BYTES = ("What is kept in a byte loses what lies beyond 255, and its fraction: are sums and products in a larger type, "
         "and numbers between 0 and 1 multiplied by 255?")
CUT_OFF = "Is each part cut to a whole number before they are added? Add them with their fractions, and round once."
MINUS = "Is a minus missing, or one too many?"
UNSIGNED = "Where is an absolute value taken, a square, or a root of one?"
WHOLE = "Is something converted to an integer on the way, or divided with //?"
LOWER = "Is something converted to {} on the way? Keep loads, sums and results in float32."
NEARLY_ONE = 1e-3
DIGITS = "Is a constant, such as ln 2 or log2(e), written with too few digits?"
TWICE = "Is a factor, or an operation, there twice, or missing?"
PLACE = "Which element does the load's offset give, and which one is meant? Compute both for one lane by hand."
FOR_ALL = ("What is computed once for {}, such as a sum, a mean or a maximum? Look at which elements it takes, at what "
           "it starts from, and at what it is divided by.")
OF_COLUMN = ("What belongs to a column, such as a weight or an element of a second input? Is it loaded from that "
             "column's place, and taken once?")

# What every value is, as a function of the right one.
OF_RIGHT: Sequence[tuple[str, str, Callable[[Tensor], Tensor]]] = (
    ("the right one with the other sign", MINUS, torch.neg),
    ("the right one without its sign", UNSIGNED, torch.abs),
    ("1 divided by the right one", "Is a division upside down, or a root where its reciprocal is meant?",
     torch.reciprocal),
    ("the right one of the place that is as far from the other end", PLACE, lambda right: right.flip(-1)),
    ("the right one of the row that is as far from the other end", PLACE, lambda right: right.flip(0)),
    ("the right one of the place with row and column exchanged", PLACE, lambda right: _turned(right)),
    ("the square of the right one", "Is a root missing, or a factor there twice?", torch.square),
    ("the right one without its fraction", WHOLE, torch.trunc),
    ("the right one rounded down", WHOLE, torch.floor),
    ("the right one rounded to a whole number", WHOLE, torch.round),
)
# As a function of the right one and an input.
WITH_INPUT: Sequence[tuple[str, str, Callable[[Tensor, Tensor], Tensor]]] = (
    ("{} itself", "Does the kernel store the value that it loaded, in place of the one that it computed?",
     lambda right, x: x.expand_as(right)),
    ("half of {}", "Is a part of the formula 0, as 1 // 2 is in whole numbers, or a term lost?",
     lambda right, x: x.expand_as(right) / 2),
    ("the right one times {}", "Is {} multiplied once too often, or a division by it missing?",
     lambda right, x: right * x),
    ("the right one divided by {}", "Does {} take part as a factor, or is a division by it one too many?",
     lambda right, x: right / x),
    ("the right one divided by {} twice", "Is it divided by {} where a product is meant?",
     lambda right, x: right / x / x),
    ("what it is with {} added in place of multiplied", "Is there a plus where a product is meant?",
     lambda right, x: right / x + x),
    ("the right one plus {}", "Is {} added where it has no place?", lambda right, x: right + x),
    ("the right one minus {}", "Is {} subtracted where it has no place, or its addition missing?",
     lambda right, x: right - x),
)
# The inputs to which every value is the right answer.
OTHER_INPUTS: Sequence[tuple[str, str, Callable[[Tensor], Tensor]]] = (
    ("{} rounded to float16", LOWER.format("float16"), lambda x: x.half().double()),
    ("{} rounded to bfloat16", LOWER.format("bfloat16"), lambda x: x.bfloat16().double()),
    ("{} with the other sign", MINUS, torch.neg),
    ("{} without its sign", UNSIGNED, torch.abs),
    ("{} without its fraction", WHOLE, torch.trunc),
    ("{} times ln 2", "Is exp2 called, which takes powers of 2, where exp is meant?", lambda x: x * math.log(2)),
    ("{} divided by ln 2", "Is it multiplied by log2(e), which is for exp2 alone?", lambda x: x / math.log(2)),
    ("twice {}", TWICE, lambda x: x * 2),
    ("half of {}", TWICE, lambda x: x / 2),
    ("the square of {}", TWICE, torch.square),
    ("ones in place of {}", "Does {} reach the answer: is it loaded, and multiplied?", torch.ones_like),
    ("{} read by columns in place of rows", PLACE, lambda x: _turned(x)),
    ("{} one element further on", PLACE, lambda x: x.roll(-1, -1)),
    ("{} one element further back", PLACE, lambda x: x.roll(1, -1)),
    ("the first element of {} in place of all", PLACE, lambda x: x[..., :1].expand_as(x)),
    ("the first row of {} in place of all", PLACE, lambda x: x[:1].expand_as(x)),
)


def explain_values(evidence: Evidence) -> Hint | None:
    """What the wrong elements have in common, by their values and by their places; None if it is nothing known."""
    if evidence.count == 0:
        return None
    if evidence.broken:
        return where(evidence)
    evidence = evidence.of_numbers()
    placed, found = where(evidence), _values(evidence) or of_another(evidence)
    if placed is None or found is None or placed.pattern in WEAK:
        return placed or found
    # One number of an input says more than that the output is 0.
    told = placed if found.pattern in WEAK and placed.pattern.startswith(ONE_NUMBER) else found
    return replace(found, seen=f"{placed.seen} {found.seen}", pattern=told.pattern)


def _turned(x: Tensor) -> Tensor:
    """A matrix with its elements in the order of its columns."""
    return x.mT.reshape(x.shape) if x.ndim > 1 else x


def _values(evidence: Evidence) -> Hint | None:
    if evidence.dtype == torch.bool:
        # Each wrong one is the opposite of the right one.
        return None
    if not bool(evidence.got[evidence.wrong].any()):
        every = f"Every {'' if evidence.count == evidence.got.numel() else 'wrong '}element is 0"
        if not bool(evidence.expected[evidence.wrong].any()):
            return Hint(f"{every} where -0 is right.", "Is something added to it? 0 + -0 is 0.",
                        pattern="sign of zero")
        if evidence.dtype == torch.uint8:
            return Hint(f"{every}.", BYTES, pattern="zero")
        return Hint(
            f"{every}.",
            "Does the kernel store the result that it computed? A load whose mask is false gives 0, and so do an "
            "accumulator that nothing is added to, and a division by infinity.", pattern="zero")
    if evidence.count < ENOUGH:
        return None
    if (hint := _replaced(evidence) or _whole_difference(evidence)) is not None or evidence.large:
        return hint
    if evidence.dtype == torch.uint8 and _nearly_black(evidence):
        return Hint(f"{EVERY} is less than {LEVELS}.", BYTES, pattern="zero")
    if evidence.dtype == torch.uint8 and _few_too_small(evidence):
        return Hint(f"{EVERY} is a few levels too small.", CUT_OFF, pattern="cut off")
    for found in (_of_right, _scaled, _of_other_inputs, _scaled_by_line, _alike, _precision):
        if (hint := found(evidence)) is not None:
            return hint
    return None


def _replaced(evidence: Evidence) -> Hint | None:
    """For a tensor that is updated: the right answer if it had held zeros."""
    name, x = evidence.output, evidence.inputs.get(evidence.output)
    if x is None or not evidence.is_explained_by(evidence.right(**{**evidence.inputs, name: torch.zeros_like(x)})):
        return None
    return Hint(f"{EVERY} is the right answer to zeros in place of {name}.",
                f"{name} is updated: does what it held before the call take part in what is stored there?",
                pattern="replaced")


def _whole_difference(evidence: Evidence) -> Hint | None:
    """One difference for all whole numbers."""
    if not evidence.whole:
        return None
    apart = (evidence.comparison.got.to(torch.int64) - evidence.comparison.expected.to(torch.int64))[evidence.wrong]
    if not bool((apart == apart[0]).all()):
        return None
    return Hint(f"{EVERY} is {abs(int(apart[0])):,} too {'large' if int(apart[0]) > 0 else 'small'}.",
                FOR_ALL.format("all elements"), pattern="difference")


def _nearly_black(evidence: Evidence) -> bool:
    """Whether wrong values are of few levels, and all that should be of more are wrong."""
    light = evidence.expected > LEVELS
    return float(evidence.got[evidence.wrong].max()) < LEVELS and (
        int((evidence.wrong & light).sum()) >= max(ENOUGH, COVERAGE * int(light.sum())))


def _few_too_small(evidence: Evidence) -> bool:
    less = (evidence.expected - evidence.got)[evidence.wrong]
    return float(less.min()) > 0 and float(less.max()) < LEVELS


def _of_right(evidence: Evidence) -> Hint | None:
    right = evidence.expected
    for words, look, of in OF_RIGHT:
        if evidence.is_explained_by(of(right)):
            return Hint(f"{EVERY} is {words}.", look, pattern=words)
    for name, x in evidence.tensors.items():
        if x.ndim > right.ndim or x.shape != right.shape[right.ndim - x.ndim:] or torch.equal(x, right):
            continue
        for words, look, with_input in WITH_INPUT:
            if evidence.is_explained_by(with_input(right, x)):
                words = words.format(name)
                every = "The output" if words.endswith("itself") else EVERY
                return Hint(f"{every} is {words}.", look.format(name), pattern=words)
    return None


def _scaled(evidence: Evidence) -> Hint | None:
    return _by(evidence, None, "")


def _scaled_by_line(evidence: Evidence) -> Hint | None:
    if evidence.expected.ndim != 2:
        return None
    return _by(evidence, 1, "row") or _by(evidence, 0, "column")


def _by(evidence: Evidence, dim: int | None, of: str) -> Hint | None:
    """One factor, or one difference, for all elements, or for those along a dimension, of a row or column."""
    if dim is not None and (evidence.expected.shape[dim] < ENOUGH or evidence.expected.shape[1 - dim] == 1):
        return None
    # Bytes that are nearly right fit any factor near 1.
    if not evidence.dtype.is_floating_point and not evidence.whole and float(
        evidence.comparison.error[evidence.wrong].median()
    ) < LEVELS:
        return None
    known = evidence.finite & (evidence.comparison.wrong | (evidence.expected != 0))
    got, right = (torch.where(known, one, 0.0) for one in (evidence.got, evidence.expected))
    dims = tuple(range(right.ndim)) if dim is None else (dim,)
    factor = (got * right).sum(dims, keepdim=True) / (right * right).sum(dims, keepdim=True)
    apart = torch.where(known, evidence.got - evidence.expected, 0.0)
    more = apart.sum(dims, keepdim=True) / known.sum(dims, keepdim=True)
    if evidence.is_explained_by(factor * right):
        return _by_factors(of, factor) if of else _by_factor(evidence, float(factor))
    if evidence.is_explained_by(evidence.expected + more):
        seen = f"The values of each {of} are off by a number of the {of}'s own."
        if not of:
            digits = _digits(evidence.dtype)
            side = "large" if float(more) > 0 else "small"
            seen = f"{EVERY} is {abs(float(more)):.{digits}g} too {side}."
        return Hint(seen, _look(of), pattern="difference")
    return None


def _look(of: str) -> str:
    return OF_COLUMN if of == "column" else FOR_ALL.format(f"a {of}" if of else "all elements")


def _by_factors(of: str, factors: Tensor) -> Hint:
    nearly = bool(((factors - 1).abs() < ROUNDED_TO).all())
    return Hint(f"The values of each {of} are the right ones times a factor of the {of}'s own.",
                _look(of) + (" Or is it computed in a lower precision?" if nearly else ""),
                pattern=f"factor of a {of}")


def _by_factor(evidence: Evidence, factor: float) -> Hint:
    near = max(2.0**-16, rounding_of(evidence.dtype) / 2)
    names = [name for value, name in _factors(evidence) if abs(factor / value - 1) < near]
    said = f"{factor:.{_digits(evidence.dtype)}g}{f' ({names[0]})' if len(names) == 1 else ''}"
    simple = any(abs(part * times - round(part * times)) < near for part in (abs(factor), 1 / abs(factor))
                 for times in (1, 3, 10)) and abs(factor - 1) > 0.01
    look = DIGITS if abs(factor - 1) < NEARLY_ONE else TWICE if simple or names else FOR_ALL.format("all elements")
    if len(names) == 1:
        size = names[0].removeprefix("1 / ")
        look = (f"Is it divided by {size} once too often, or under a root where it is not meant?" if "1 / " in names[0]
                else f"Is a division by {size} missing, as where a sum is taken for a mean?")
    return Hint(
        f"{EVERY} is {said} times the right one.", look, pattern=f"factor {factor:.6g}",
        fits=(*(f"factor {name}" for name in names), f"factor {factor:.6g}", "factor of a row"))


def _factors(evidence: Evidence) -> Iterator[tuple[float, str]]:
    """Factors with a name: sizes, their roots, and their reciprocals."""
    sizes = {size: str(name) for name, size in evidence.sizes.items() if size > 4}
    for size, name in sizes.items():
        yield from ((size, name), (math.sqrt(size), f"√{name}"), (1 / size, f"1 / {name}"),
                    (1 / math.sqrt(size), f"1 / √{name}"))
    yield from ((math.log(2), "ln 2"), (1 / math.log(2), "1 / ln 2"))


def _of_other_inputs(evidence: Evidence) -> Hint | None:
    for name, x in evidence.tensors.items():
        # An oracle takes no fractions for indices.
        given = evidence.inputs[name].dtype
        for words, look, change in OTHER_INPUTS if given.is_floating_point or given == torch.uint8 else ():
            if (x.ndim == 1 and "row" in words) or torch.equal(changed := change(x), x):
                continue
            # Of these a shift of the answer says more.
            if "further" in words and x.numel() == evidence.expected.numel():
                continue
            answer = evidence.right(**{**evidence.inputs, name: changed})
            if bool((answer != answer.flatten()[0]).any()) and evidence.is_explained_by(answer):
                pattern = "precision" if "rounded" in words else words.format(name)
                return Hint(f"{EVERY} is the right answer to {words.format(name)}.", look.format(name),
                            pattern=pattern)
    return None


def _alike(evidence: Evidence) -> Hint | None:
    """All the same, the same all along a row or down a column, or whole numbers, where the right ones are not."""
    got, right = evidence.got[evidence.wrong], evidence.expected[evidence.wrong]
    if bool((got == got[0]).all()) and bool((right != right[0]).any()):
        return Hint(f"{EVERY} is {float(got[0]):.6g}.",
                    "Does what is stored depend on what is loaded?", pattern="one value")
    if evidence.got.ndim == 2 and evidence.count >= COVERAGE * evidence.got.numel():
        for dim, of in ((1, "row"), (0, "column")):
            first = evidence.got.narrow(dim, 0, 1)
            if evidence.got.shape[dim] >= ENOUGH and bool((evidence.got == first).all()):
                return Hint(f"All values of a {of} are the same.",
                            "Is a sum, or a maximum, stored in place of what is computed with it? Does the offset of "
                            "the load move along?", pattern=f"one value for a {of}")
    if evidence.dtype.is_floating_point and bool((got == got.round()).all()) and bool(
        ((right - right.round()).abs() > 0.1).any()
    ):
        return Hint(f"{EVERY} is a whole number.", WHOLE, pattern="whole numbers")
    return None


def _precision(evidence: Evidence) -> Hint | None:
    """Right to a few digits: arithmetic in half precision, bfloat16 or TF32."""
    written = evidence.got[evidence.written]
    if evidence.dtype != torch.float32 or evidence.count < ROUNDED_SHARE * written.numel():
        return None
    relative = ((evidence.got - evidence.expected).abs() / _scale(evidence.expected))[evidence.wrong]
    if float(relative.max()) > HELD:
        return None
    # How many leading digits most elements have right.
    most = float(relative.kthvalue(max(1, int(0.9 * relative.numel()))).values)
    digits = max(1, math.floor(-math.log10(max(most, 1e-16))))
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        if float((written == written.to(dtype).to(torch.float64)).double().mean()) >= AGREEMENT:
            return Hint(f"Every value is one that {name} can hold: right to about {digits} digits.",
                        LOWER.format(name), pattern="precision")
    # Where no error is allowed, numbers are copied, and what is near is another of them.
    copied = evidence.exact or not bool(evidence.comparison.allowed.any())
    if copied or float(relative.median()) < ROUNDED_FROM or float(relative.max()) > ROUNDED_TO:
        return None
    return Hint(
        f"The values are right to only about {digits} digits, where float32 gives 7.",
        "Is something computed in a lower precision (float16, bfloat16, TF32), with a constant of few digits, or with "
        "an approximation?", pattern="precision")


def _scale(expected: Tensor) -> Tensor:
    """The size of the numbers around each element: its own, or its row's root mean square if that is larger."""
    around = (expected * expected).mean(dim=-1, keepdim=True).sqrt() if expected.ndim == 2 else expected.abs()
    return torch.maximum(expected.abs(), around).clamp_min(1e-300)
