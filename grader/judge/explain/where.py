"""Facts about where a wrong answer is wrong, and whose right answer its elements hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import torch
from torch import Tensor

from grader.judge.compare import index_of
from grader.judge.explain.evidence import COVERAGE, ENOUGH, EVERY, WEAK, Evidence, Hint, plural, rounding_of

NAN = ("NaN comes from 0 / 0, from infinity less infinity (such as lanes of -inf less a maximum of -inf), and from the "
       "root of a negative number: which may it be here, if the numbers of one element are followed by hand?")
INFINITE = "Which number is divided by 0, or grows past what its type holds?"
OVER = ("exp overflows float32 beyond 88, and inf / inf or inf * 0 is NaN: can the formula take exp of numbers that "
        "are not positive?")
OVER_OR_UNDER = ("exp overflows float32 beyond 88, and below -103 it is 0, as is the sum of a row that lies there: is "
                 "the row's own maximum subtracted first?")
OVER_HALF = "exp overflows float16 beyond 11: is it taken of a float16?"
WITHIN = "Which statement treats these in another way than the others?"
STEP = "What has this length: a block, a tile, a stride, a step of a loop?"
OFFSETS = "Compute the offsets of the load and of the store by hand for one of them: do both mean the same element?"

WARP = 32
ONE_LANE = "one lane"
ONE_NUMBER = "one number of "

LOOKED_UP = 256
"""Elements that are looked up among the right answers."""
FOUND, BY_CHANCE = 0.95, 0.2
"""Shares of them that show an exchange; of other numbers no more than the second may be found there."""
PERIODS = (*range(2, 65), 128, 256, 512, 1024, 2048, 4096)
SHIFTS = tuple(sign << power for power in range(13) for sign in (1, -1))


def where(evidence: Evidence) -> Hint | None:
    """What the wrong elements have in common that no right one shares; None if it is nothing known. Of an answer that
    is NaN or infinite these elements alone are looked at."""
    wrong = evidence.wrong & ~evidence.finite if evidence.broken else evidence.wrong
    right = ~wrong & evidence.written
    state = "Wrong exactly"
    if evidence.broken:
        what = "NaN" if bool(evidence.got[wrong].isnan().any()) else "infinite"
        if not bool(right.any()):
            return Hint(f"Every element is {what}.", NAN if what == "NaN" else INFINITE, pattern="not finite")
        state = f"The output is {what} exactly"
    for name, x in evidence.tensors.items():
        if x.shape == wrong.shape and _one_number(x, wrong, right):
            number = float(x[wrong][0])
            return Hint(f"{state} where {name} is {number:g}.", WITHIN, pattern=f"{ONE_NUMBER}{name}")
    for name, feature in _features(evidence, wrong):
        hint = _beyond(state, name, feature, wrong, right, evidence.broken, evidence.exponential)
        if hint is not None:
            return hint
    # A few right ones among very many wrong ones are so by chance.
    if int(right.sum()) < max(ENOUGH, (1 - COVERAGE) * right.numel()):
        return _one_lane(state, wrong, right)
    return _from_one_on(state, evidence.output, wrong) or _placed(state, wrong)


def _one_number(x: Tensor, wrong: Tensor, right: Tensor) -> bool:
    """Whether an input is one number in all wrong places, and another in all right ones."""
    if int(wrong.sum()) < 2 or not bool(right.any()):
        return False
    number = x[wrong][0]
    return bool((x[wrong] == number).all()) and not bool((x[right] == number).any())


def _one_lane(state: str, wrong: Tensor, right: Tensor) -> Hint | None:
    """Hint for an answer that is right in every 32nd place of its rows alone, where each warp has its first lane."""
    turn = torch.arange(wrong.shape[-1], device=wrong.device) % WARP == 0
    if int(turn.sum()) < 2 or int(right.sum()) < ENOUGH or bool((right != turn.expand_as(right)).any()):
        return None
    unit = "element" if wrong.ndim == 1 else "column"
    return Hint(f"{state} in all {unit}s but every {WARP}nd, from {unit} 0 on.", STEP, pattern=ONE_LANE)


def _features(evidence: Evidence, wrong: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Numbers that may decide which elements are wrong, with their names."""
    same = {name: x for name, x in evidence.tensors.items() if x.shape == wrong.shape}
    by_row = wrong.ndim == 2 and wrong.shape[1] > 1 and float((wrong == wrong[:, :1]).double().mean()) >= COVERAGE
    if evidence.exponential and by_row:
        for name, x in same.items():
            largest = x.amax(1, keepdim=True).expand_as(x)
            yield f"the largest {name} of the row", largest
            yield f"|the largest {name} of the row|", largest.abs()
    yield from same.items()
    yield "the right answer", evidence.expected


def _beyond(
    state: str, name: str, feature: Tensor, wrong: Tensor, right: Tensor, broken: bool, exponential: bool
) -> Hint | None:
    """Hint for wrong elements on one side of 0, or beyond what exp takes; of NaN and infinity beyond any number."""
    for sign in (1, -1):
        signed = sign * feature
        least = float(signed[wrong].min())
        inside = right & (signed >= least)
        rest = signed[right & ~inside]
        few = rest.numel() < max(ENOUGH, (1 - COVERAGE) * right.numel())
        if int(wrong.sum()) < ENOUGH or int(inside.sum()) > (1 - COVERAGE) * int(wrong.sum()):
            continue
        most, look, pattern = float(rest.max()) if rest.numel() else -math.inf, WITHIN, "where"
        # An answer near 0 may be right by tolerance.
        by_sign = least > 0 and int((rest > 0).sum()) <= (1 - COVERAGE) * int(wrong.sum())
        if few and not broken:
            continue
        if exponential and most <= 90 and 84 <= least <= 1000:
            look, pattern = OVER_OR_UNDER if "row" in name else OVER, "not finite"
        elif exponential and not few and most <= 11.1 and 11 <= least <= 16:
            look, pattern = OVER_HALF, "not finite"
        elif few or "row" in name or not (broken or by_sign):
            continue
        side = f"above {least:.3g}" if sign > 0 else f"below {-least:.3g}"
        if pattern == "where" and by_sign:
            side = "positive" if sign > 0 else "negative"
        pattern = pattern if pattern in WEAK else f"{pattern} {name}"
        return Hint(f"{state} where {name} is {side}.", look, pattern=pattern)
    return None


def _from_one_on(state: str, name: str, wrong: Tensor) -> Hint | None:
    """Wrong elements of a tensor of three dimensions or more, from one to the end."""
    first = int(wrong.flatten().int().argmax())
    right = int(wrong.flatten()[first:].logical_not().sum())
    if wrong.ndim < 3 or not first or int(wrong.sum()) < ENOUGH or right > (1 - COVERAGE) * (wrong.numel() - first):
        return None
    at = ", ".join(map(str, index_of(first, tuple(wrong.shape))))
    seen = f"{state.replace(' exactly', '')} from {name}[{at}] on, but for {plural(right, 'element')}." if right else (
        f"{state} from {name}[{at}] on.")
    return Hint(seen,
                "How does the kernel come from the number of a program to each index, and by what does it divide?",
                pattern="from one on")


def _placed(state: str, wrong: Tensor) -> Hint | None:
    """Wrong in some rows, columns or elements, from one on or in turn."""
    lines: list[tuple[str, Tensor, Tensor]] = []
    if wrong.ndim == 2:
        # Two or three that agree everywhere tell as much as more that nearly do.
        lines = [(unit, wrong.any(dim), wrong.double().mean(dim)) for dim, unit in ((1, "row"), (0, "column"))
                 if wrong.shape[dim] >= ENOUGH
                 or (wrong.shape[dim] > 1 and torch.equal(wrong.any(dim), wrong.all(dim)))]
    if wrong.numel() >= 4 * ENOUGH:
        lines.append(("element", wrong.flatten(), wrong.flatten().double()))
    for unit, bad, share in lines:
        if len(bad) < ENOUGH or bool(bad.all()):
            continue
        found = _stretch(unit, bad, share) or _in_turn(unit, bad, share)
        if found is not None:
            where, look, pattern = found
            if unit == "element" and wrong.ndim == 2:
                # A few rows are no pattern of their own.
                whole = _stretch("row", wrong.any(1), wrong.double().mean(1))
                where, look, pattern = whole or (f"{where}, counted through the rows", look, pattern)
            return Hint(f"{state} in {where}.", look, pattern=pattern)
    return None


def _stretch(unit: str, bad: Tensor, share: Tensor) -> tuple[str, str, str] | None:
    places = bad.nonzero().flatten()
    first, last = int(places[0]), int(places[-1])
    if float(share[first : last + 1].mean()) < COVERAGE or (first > 0 and last < len(bad) - 1):
        return None
    if first == 0:
        which = f"the first {unit}" if last == 0 else f"the first {plural(last + 1, unit)}"
        return which, "Where does the first index, or the first step of a loop, begin?", f"first {unit}s"
    if first == last:
        return f"the last {unit}", "Where does the mask, or the last step of a loop, end?", f"last {unit}s"
    return (f"{unit}s {first:,} to {last:,}", f"What ends at {unit} {first:,}: a block, a loop, another size?",
            f"last {unit}s")


def _in_turn(unit: str, bad: Tensor, share: Tensor) -> tuple[str, str, str] | None:
    for period in PERIODS:
        if 3 * period > len(bad):
            return None
        turn = torch.arange(len(bad), device=bad.device) % period
        turns = sorted(set(turn[bad].tolist()))
        inside = torch.isin(turn, torch.tensor(turns, device=bad.device))
        if len(turns) == period or float(share[inside].mean()) < COVERAGE or int((~inside).sum()) < ENOUGH:
            continue
        if len(turns) == 1:
            return f"every {period}th {unit}, from {unit} {turns[0]} on".replace(" 2th", " second"), STEP, "in turn"
        # So many fit nearly any answer nearly.
        if len(turns) > WARP and not bool((share[inside] == 1).all()):
            continue
        right = [one for one in range(period) if one not in turns]
        if len(right) == 1:
            return f"all {unit}s but every {period}th, from {unit} {right[0]} on", STEP, "in turn"
        return f"{len(turns)} of every {period} {unit}s, from {unit} {turns[0]} on", STEP, "in turn"
    return None


def of_another(evidence: Evidence) -> Hint | None:
    """Wrong elements that hold the right answers of others."""
    right, total = evidence.expected.flatten(), evidence.expected.numel()
    columns = right.numel() if evidence.expected.ndim == 1 else evidence.expected.shape[-1]
    if evidence.count < ENOUGH or evidence.large or evidence.dtype == torch.bool:
        return None
    at = evidence.wrong.flatten().nonzero().flatten()
    at = at[:: max(1, len(at) // LOOKED_UP)]
    got = evidence.got.flatten()[at]
    found, where, known = _found(evidence, right, got, at)
    common = [shift for shift, many in Counter((where - at)[found].tolist()).most_common(2) if many >= ENOUGH]
    places = torch.arange(total, device=right.device)
    for shift in dict.fromkeys([*common, *(columns * one for one in (1, -1) if columns > 1), *SHIFTS]):
        among = ((places + shift >= 0) & (places + shift < total)).reshape(evidence.got.shape)
        moved = right.roll(-shift).reshape(evidence.got.shape)
        if int((evidence.wrong & among).sum()) >= ENOUGH and evidence.is_explained_by(moved, among=among):
            rows, rest = divmod(abs(shift), columns)
            far = plural(rows, "row") if rows and not rest else plural(abs(shift), "element")
            side = "after" if shift > 0 else "before"
            return Hint(f"{EVERY} is the right one {far} {side} it.",
                        f"Is something added to an index, or the number of a program or block one off? {OFFSETS}",
                        pattern=f"{side} by {far.split()[-1].rstrip('s')}s")
    by_chance = _found(evidence, right, got * 1.0037, at)[0]
    if int(known.sum()) < 2 * ENOUGH or not evidence.dtype.is_floating_point or (
        int(found.sum()) < FOUND * int(known.sum()) or int(by_chance.sum()) > BY_CHANCE * len(at)
    ):
        return None
    name, shape = evidence.output, tuple(evidence.got.shape)
    at, where = at[found], where[found]
    (first, of), (second, of_second) = ((index_of(int(at[n]), shape), index_of(int(where[n]), shape))
                                        for n in (0, len(at) - 1))
    return Hint(
        f"{EVERY} is the right one of another element: {name}{list(first)} holds that of {list(of)}, and "
        f"{name}{list(second)} that of {list(of_second)}.", OFFSETS, pattern="other elements")


def _found(evidence: Evidence, right: Tensor, numbers: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which numbers are among the right answers in one place alone; where; and which are not there in several."""
    values, order = right.sort()
    slack = 0.0 if evidence.exact else rounding_of(evidence.dtype) * numbers.abs()
    first = torch.searchsorted(values, numbers - slack)
    count = torch.searchsorted(values, numbers + slack, right=True) - first
    return count == 1, order[first.clamp(max=len(values) - 1)], count <= 1
