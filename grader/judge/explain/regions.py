"""Where an output is bad: the shape of the region that the bad elements form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from grader.frontends.phrases import Answers
from grader.judge.explain.evidence import COVERAGE, WRITTEN, Finding

FEWEST_IN_ORDER = 8
FEWEST_NEARLY_ALL = 16

Bad = Literal["never written", "wrong"]


@dataclass(frozen=True)
class Region:
    """Where the bad elements lie. Counts are elements, in row-major order where the region has no rows.

    everything; tail: from `first` on; head: before `first`; columns: from column `first` on in every row;
    corner: all but the top left `rows` x `columns`; gaps: good in runs of `length` that start every `step`;
    box: rows `rows`..`last_row`, columns `columns`..`last_column`, and little else.
    """

    kind: Literal["everything", "tail", "head", "columns", "corner", "gaps", "box"]
    first: int = 0
    rows: int = 0
    columns: int = 0
    length: int = 0
    step: int = 0
    last_row: int = 0
    last_column: int = 0


def locate(bad: Tensor, coverage: float = 1.0) -> Region | None:
    """The simplest region that holds every True of a bool tensor and is at least `coverage` True; None if none is."""
    rows, columns = _sides(bad)
    flat = bad.flatten()
    total, count = flat.numel(), int(flat.sum())
    if count == 0:
        return None
    if count == total:
        return Region("everything")
    if count < total and bool(flat[0]) and (head := _first(~flat)) and count >= coverage * head and _last(flat) < head:
        return Region("head", first=head)
    first = _first(flat)
    # A few right elements at the start, among others elsewhere, are right by accident.
    needed = coverage if first >= FEWEST_IN_ORDER else 1.0
    if first and count >= needed * (total - first):
        return Region("tail", first=first)
    matrix = flat.reshape(rows, columns)
    if rows > 1 and columns > 1:
        per_column, per_row = matrix.any(dim=0), matrix.any(dim=1)
        column = _first(per_column)
        if column and count >= coverage * rows * (columns - column):
            return Region("columns", first=column)
        good = ~matrix
        right, below = int(good[0].sum()), int(good[:, 0].sum())
        needed = coverage if right * below >= FEWEST_IN_ORDER else 1.0
        if right and below and not matrix[:below, :right].any() and count >= needed * (total - right * below):
            return Region("corner", rows=below, columns=right)
        if count >= FEWEST_NEARLY_ALL and count >= coverage * total:
            return Region("everything")
        if (runs := _gaps(flat, coverage)) is not None:
            return runs
        top, bottom, left, far = _first(per_row), _last(per_row), column, _last(per_column)
        area = (bottom - top + 1) * (far - left + 1)
        if count >= coverage * area and area <= total // 2:
            return Region("box", rows=top, last_row=bottom, columns=left, last_column=far)
        return None
    if count >= FEWEST_NEARLY_ALL and count >= coverage * total:
        return Region("everything")
    if (runs := _gaps(flat, coverage)) is not None:
        return runs
    last = _last(flat)
    if count >= coverage * (last - first + 1) and last - first < total // 2:
        return Region("box", columns=first, last_column=last)
    return None


LOOK = {
    "never written": "What a launch covers is its grid times the kernel's block: compare that, and the mask of the "
                     "store, with the sizes of the output.",
    "wrong": "Which program works on the first of them, and what are its offsets and masks?",
}


def where(bad: Tensor, state: Bad, words: Answers) -> Finding | None:
    """Where the bad elements lie; None if they form no region."""
    region = locate(bad, 1.0 if state == "never written" else COVERAGE)
    if region is None or (region.kind == "everything" and state == "wrong"):
        return None
    if region.kind == "everything":
        return Finding(
            "Nothing was written to the output.", words.nothing_stored, pattern=WRITTEN)
    good = "written" if state == "never written" else "right"
    seen = _described(region, *_sides(bad), good, state)
    return Finding(seen, LOOK[state], pattern=WRITTEN if state == "never written" else "wrong region")


def _described(region: Region, rows: int, columns: int, good: str, state: Bad) -> str:
    match region.kind:
        case "corner":
            return f"Only the top left {region.rows:,} x {region.columns:,} of {rows:,} x {columns:,} is {good}."
        case "gaps":
            length, step, unit = region.length, region.step, "element"
            if rows > 1 and length % columns == 0 and step % columns == 0:
                length, step, unit = length // columns, step // columns, "row"
            return f"Only {length:,} in {step:,} {unit}s {'is' if length == 1 else 'are'} {good}, with gaps between."
        case "box":
            where = _span(region.columns, region.last_column, "column" if rows > 1 else "element")
            if rows > 1:
                where = f"{_span(region.rows, region.last_row, 'row')}, {where}"
            return f"All elements {state} lie in one place: {where}."
    first, total, unit = region.first, rows * columns, "element"
    if region.kind == "columns":
        total, unit = columns, "column"
    elif rows > 1 and columns > 1 and first % columns == 0:
        first, total, unit = first // columns, rows, "row"
    every = " of every row" if unit == "column" else ""
    if region.kind == "head":
        return f"Only the first {first:,} of {total:,} {unit}s {'is' if first == 1 else 'are'} {state}."
    if first == total - 1:
        return f"Only the last {unit}{every} is {state}."
    return f"The first {first:,} of {total:,} {unit}s{every} {'is' if first == 1 else 'are'} {good}, and none after."


def _span(first: int, last: int, unit: str) -> str:
    return f"{unit} {first:,}" if first == last else f"{unit}s {first:,} to {last:,}"


def _gaps(flat: Tensor, coverage: float) -> Region | None:
    good = ~flat
    if not bool(good.any()):
        return None
    start = _first(good)
    rest = flat[start:]
    if not bool(rest.any()):
        return None
    length = _first(rest)
    if not bool((~rest[length:]).any()):
        return None
    step = length + _first(~rest[length:])
    total = flat.numel()
    if total < 3 * step:
        return None
    position = (torch.arange(total, device=flat.device) - start) % step
    mask = position >= length
    if bool((flat & ~mask).any()) or int(flat.sum()) < coverage * int(mask.sum()):
        return None
    return Region("gaps", length=length, step=step)


def _sides(tensor: Tensor) -> tuple[int, int]:
    """(rows, columns) of a tensor seen as a matrix; a vector is one row."""
    if tensor.ndim < 2:
        return 1, tensor.numel()
    return tensor.numel() // tensor.shape[-1], tensor.shape[-1]


def _first(mask: Tensor) -> int:
    return int(mask.to(torch.uint8).argmax())


def _last(mask: Tensor) -> int:
    return mask.numel() - 1 - _first(mask.flip(0))
