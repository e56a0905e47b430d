"""Explanation of a wrong answer by its values and by the places where it is wrong: mistakes that its assignment knows,
then facts.

A fact states an observation about wrong elements, and then asks for its cause. A claim about
few elements, or one that many answers fit, is no fact.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import torch
from torch import Tensor

from grader.course.assignment import Assignment, Mistake
from grader.judging.answers.other_rows import answers_of_others
from grader.judging.explain.accesses import SHARES
from grader.judging.explain.evidence import AGREEMENT, ASKED, COVERAGE, ENOUGH, LEVELS, Evidence, Hint
from grader.judging.explain.wording import join
from grader.languages.phrases import Fact, fact

EXACT_AGREEMENT = 0.9999
"""Share of the wrong elements that a mistake must account for. It distinguishes two mistakes whose answers differ in
the last few elements. Sums in float16 and bytes are exempt: float16 differs here and there with the order of a sum, and
kernels round bytes or cut them off."""

PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
OF_RIGHT: Sequence[tuple[Fact, Fact, Callable[[Tensor], Tensor]]] = (
    (fact("value.negated"), fact("value.minus"), torch.neg),
    (fact("value.truncated"), fact("value.whole"), torch.trunc),
    (fact("value.rounded", dtype="float16"), fact("value.narrow", dtype="float16"), Tensor.half),
)

# Most mistakes whose pairs are tried, and most elements of an answer on which they are tried.
MOST_MISTAKES, MOST_PAIRED = 24, 1 << 14


def known_mistakes(assignment: Assignment, evidence: Evidence) -> list[Mistake]:
    """Return the known mistakes whose answer accounts for the wrong output, one of each name.

    The list is empty for an output of one element, which any mistake may fit.
    """
    # Bytes that are all 0 have many causes.
    if evidence.count == 0 or evidence.got.numel() == 1 or (
            evidence.dtype == torch.uint8 and not bool(evidence.got[evidence.wrong].any())):
        return []
    agreement = EXACT_AGREEMENT if evidence.dtype == torch.float32 and not evidence.exact else AGREEMENT
    fitting: dict[str, Mistake] = {}
    for mistake in assignment.mistakes:
        takes = inspect.signature(mistake.answer).parameters
        answered = {evidence.output: evidence.comparison.got} if evidence.output in takes else {}
        # A mistake that takes the output fits more easily: it says less than an earlier one that fits without.
        if mistake.name in fitting or (answered and fitting):
            continue
        answer = mistake.answer(**{**evidence.inputs, **answered})
        if answer is not None and evidence.is_explained_by(answer, agreement):
            fitting[mistake.name] = mistake
    return list(fitting.values())


def known_pair(assignment: Assignment, evidence: Evidence) -> tuple[Mistake, Mistake] | None:
    """Return the only pair of known mistakes that together account for the output: their differences from the right
    answer add up, or their factors multiply, also where a tensor is added afterwards. None if several pairs do, for an
    output of one element or of more than MOST_PAIRED, and for one that is no float or has to be exact."""
    if not evidence.dtype.is_floating_point or evidence.exact or not 1 < evidence.got.numel() <= MOST_PAIRED:
        return None
    right, answers = evidence.expected, list[tuple[Mistake, Tensor]]()
    for mistake in assignment.mistakes:
        if evidence.output not in inspect.signature(mistake.answer).parameters and (
                answer := mistake.answer(**evidence.inputs)) is not None:
            answers.append((mistake, answer.to(right).reshape(right.shape)))
    added = [x for x in evidence.tensors.values() if x.shape == right.shape[right.ndim - x.ndim:]]
    pairs = dict[tuple[str, str], tuple[Mistake, Mistake]]()
    for (first_mistake, first), (second_mistake, second) in combinations(answers[:MOST_MISTAKES], 2):
        both = [first + second - right, *((first - x) * (second - x) / (right - x) + x for x in (0 * right, *added))]
        if first_mistake.name != second_mistake.name and any(
                evidence.is_explained_by(answer, EXACT_AGREEMENT) for answer in both):
            pairs[first_mistake.name, second_mistake.name] = first_mistake, second_mistake
    return next(iter(pairs.values())) if len(pairs) == 1 else None


def explain_values(evidence: Evidence) -> Hint | None:
    """Return what the wrong elements have in common, by their values and by their places; None if it is nothing
    known."""
    if evidence.count == 0 or evidence.broken:
        return _common_trait(evidence) if evidence.count else None
    evidence = evidence.of_numbers()
    placed, hint = _common_trait(evidence), _values(evidence)
    return replace(hint, seen=join(placed.seen, hint.seen)) if placed and hint else placed or hint


def _values(evidence: Evidence) -> Hint | None:
    got, right = evidence.got[evidence.wrong], evidence.expected[evidence.wrong]
    if evidence.dtype == torch.bool:
        # A wrong bool is always the opposite of the right one.
        return None
    if not bool(got.any()):
        every = "all" if evidence.count == evidence.got.numel() else "wrong"
        question = "negative" if not bool(right.any()) else "bytes" if evidence.dtype == torch.uint8 else "advice"
        return Hint(fact(f"zero.{every}{'_negative' if question == 'negative' else ''}"), fact(f"zero.{question}"),
                    pattern="zero")
    if evidence.count < ENOUGH:
        return None
    if evidence.whole:
        got, right = (tensor[evidence.wrong].to(torch.int64) for tensor in (
            evidence.comparison.got, evidence.comparison.expected))
        if bool(((apart := got - right) == apart[0]).all()):
            side = "large" if int(apart[0]) > 0 else "small"
            return Hint(fact(f"value.too_{side}", more=f"{abs(int(apart[0])):,}"),
                        fact("value.for_all", of="all elements"), pattern="difference")
    if evidence.dtype == torch.uint8:
        light, less = evidence.expected > LEVELS, right - got
        if float(got.max()) < LEVELS and (
                int((evidence.wrong & light).sum()) >= max(ENOUGH, COVERAGE * int(light.sum()))):
            return Hint(fact("value.less", levels=LEVELS), fact("zero.bytes"), pattern="zero")
        if 0 < float(less.min()) <= float(less.max()) < LEVELS:
            return Hint(fact("value.cut_off.seen"), fact("value.cut_off.advice"), pattern="cut off")
    for seen, advice, answer in _answers(evidence):
        if evidence.is_explained_by(answer):
            return Hint(seen, advice, pattern=ASKED)
    return _digits(got, right) if evidence.dtype == torch.float32 else None


def _digits(got: Tensor, right: Tensor) -> Hint | None:
    """Return a hint for float32 numbers that are right to as many digits as a narrower type has: rounding makes some
    of them too large and some too small."""
    off = (got - right) / right.abs()
    if bool(((off > 0).double().mean() - 0.5).abs() > 0.3):
        return None
    for dtype, step in (("float16 or TF32", 2**-10), ("bfloat16", 2**-7)):
        if bool((off.abs() <= 2 * step).double().mean() >= COVERAGE and off.abs().median() >= step / 16):
            return Hint(fact("value.digits", dtype=dtype), fact("value.narrow", dtype=dtype), pattern=ASKED)
    return None


def _answers(evidence: Evidence) -> Iterator[tuple[Fact, Fact, Tensor]]:
    """Yield candidate answers: what every wrong value is, a question about the cause, and the answer, of the output's
    shape."""
    right, x = evidence.expected, evidence.inputs.get(evidence.output)
    if x is not None:
        yield (fact("value.updated.seen", name=evidence.output), fact("value.updated.advice", name=evidence.output),
               evidence.right(**{**evidence.inputs, evidence.output: torch.zeros_like(x)}))
    if evidence.large:
        return
    for seen, advice, answer in OF_RIGHT:
        yield seen, advice, answer(right)
    for of_one, step in (("element", 1), ("row", right.shape[-1])) if right.ndim else ():
        for side, shift in (("after", -step), ("before", step)):
            yield (fact("value.neighbour", unit=of_one, side=side), fact("value.place"),
                   right.flatten().roll(shift).reshape(right.shape))
    for seen, moved in answers_of_others(evidence.got, right):
        yield seen, fact("value.another"), moved
    for name, x in evidence.tensors.items():
        if x.shape == right.shape[right.ndim - x.ndim:]:
            yield fact("value.itself", name=name), fact("value.loaded"), x.expand_as(right)
            yield fact("value.times.seen", name=name), fact("value.times.advice", name=name), right * x
    # One difference or factor for all elements, or a factor for each row. Bytes that are nearly right fit any factor.
    known = evidence.finite & (evidence.comparison.wrong | (right != 0))
    got, among = (torch.where(known, tensor, 0.0) for tensor in (evidence.got, right))
    for dims, of in (((*range(right.ndim),), "all elements"), ((-1,), "a row")) if (
            evidence.dtype.is_floating_point or evidence.whole) else ():
        factor = (got * among).sum(dims, keepdim=True) / (among * among).sum(dims, keepdim=True)
        if of == "all elements":
            more = float((got - among).sum() / known.sum())
            advice = fact("value.for_all", of=of)
            yield fact(f"value.too_{'large' if more > 0 else 'small'}", more=f"{abs(more):.6g}"), advice, right + more
            yield fact("value.factor", factor=float(factor)), advice, factor * right
        elif right.ndim == 2 and right.shape[1] >= ENOUGH and right.shape[0] > 1:
            yield fact("value.rows"), fact("value.for_all", of=of), factor * right
    for name, x in evidence.tensors.items():
        # An oracle takes no indices of another sign.
        if evidence.inputs[name].dtype.is_floating_point:
            for sign, changed in (("without", x.abs()), ("other", -x)):
                yield (fact(f"value.sign.{sign}", name=name), fact("value.minus"),
                       evidence.right(**{**evidence.inputs, name: changed}))


def _common_trait(evidence: Evidence) -> Hint | None:
    """Return what the wrong elements have in common and the right ones have not; None if that is nothing known. If most
    wrong elements are NaN or infinite, only these count as wrong."""
    wrong = evidence.wrong & ~evidence.finite if evidence.broken else evidence.wrong
    right = ~wrong & evidence.written
    state = "wrong"
    if evidence.broken:
        state = "nan" if bool(evidence.got[wrong].isnan().any()) else "infinite"
        if not bool(right.any()):
            return Hint(fact(f"where.every.{state}"), fact("where.not_numbers"), pattern="not finite")
    if int(wrong.sum()) < 2 or not bool(right.any()):
        return None
    features = [(name, x) for name, x in evidence.tensors.items() if x.shape == wrong.shape]
    if evidence.dtype.is_floating_point:
        features.append(("", evidence.expected))
    most, enough = (1 - COVERAGE) * int(wrong.sum()), max(ENOUGH, (1 - COVERAGE) * right.numel())
    for given, feature in features if int(wrong.sum()) >= ENOUGH else ():
        name = given or fact("where.right_answer")
        for signed, side in ((feature, "positive"), (-feature, "negative")):
            least = float(signed[wrong].min())
            rest = signed[right & (signed < least)]
            if int(right.sum()) - len(rest) > most:
                continue
            # The bound is below 88, since a product after exp overflows sooner.
            if evidence.broken and evidence.exponential and least >= 84:
                return Hint(fact(f"where.far.{side}", state=fact(f"where.{state}"), name=name), fact("where.over"),
                            pattern="not finite")
            # An answer near 0 may be right by tolerance.
            if len(rest) >= enough and least > 0 and int((rest > 0).sum()) <= most:
                return Hint(fact(f"where.{side}", state=fact(f"where.{state}"), name=name), fact("where.within"),
                            pattern=f"where {given or 'the right answer'}")
    return _of_groups(wrong, right)


def _of_groups(wrong: Tensor, right: Tensor) -> Hint | None:
    """Return a hint for elements that are wrong at one place of each group that a thread takes at once."""
    at = wrong.flatten().nonzero().flatten()
    for share in SHARES:
        place, alike = int(at[0]) % share, (wrong | right).flatten()[int(at[0]) % share::share]
        if bool((at % share == place).all()) and len(at) >= max(ENOUGH, COVERAGE * int(alike.sum())):
            return Hint(fact("group.seen", place=PLACES[place], each=share), fact("group.advice"), pattern="of groups")
    return None
