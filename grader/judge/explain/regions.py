"""Where an output is bad: the shape of the bad region, and what that shape says about a grid or a mask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from grader import result
from grader.judge.explain.evidence import COVERAGE, WRITTEN, Finding, article

LARGEST_BLOCK = 1 << 20
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

    kind: result.Region
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


def where(bad: Tensor, sizes: Mapping[str, int], state: Bad) -> Finding | None:
    """What the place of the bad elements says; None if it says nothing. `sizes` are those of the case, by name."""
    region = locate(bad, 1.0 if state == "never written" else COVERAGE)
    found = None if region is None else _meaning(region, bad, sizes, state)
    if region is None or found is None:
        return None
    # What the grid covers is asked of all cases together: they need to know the kind of each region.
    if state == "wrong":
        return replace(found, pattern="wrong region")
    return replace(found, pattern=WRITTEN, region=region.kind)


def _meaning(region: Region, bad: Tensor, sizes: Mapping[str, int], state: Bad) -> Finding | None:
    rows, columns = _sides(bad)
    total = bad.numel()
    match region.kind:
        case "everything":
            return _everything() if state == "never written" else None
        case "tail" if rows > 1 and columns > 1 and region.first % columns == 0:
            return _tail(region.first // columns, rows, "row", sizes, state)
        case "tail":
            return _tail(region.first, total, "element", sizes, state)
        case "columns":
            return _tail(region.first, columns, "column", sizes, state)
        case "head":
            return _head(region.first, rows, columns, state)
        case "corner":
            return _corner(region, rows, columns, state)
        case "gaps":
            return _runs(region, rows, columns, state)
        case "box":
            return _box(region, rows, state)
    return None


def block_that_rounds_down(good: int, total: int) -> int | None:
    """The largest block size B, a power of two above 1, with `total // B` whole blocks covering `good` elements."""
    blocks = (LARGEST_BLOCK >> shift for shift in range(LARGEST_BLOCK.bit_length() - 1))
    return next((b for b in blocks if good and total % b and total // b * b == good), None)


def _everything() -> Finding:
    return Finding(
        "Nothing was written to the output.",
        "Is a kernel launched, with at least one program in its grid, and does its tl.store go to the pointer of the "
        "output, with a mask that is true somewhere?",
    )


def _tail(good: int, total: int, unit: str, sizes: Mapping[str, int], state: Bad) -> Finding:
    """The first `good` of `total` elements, rows or columns are good; all after them are bad."""
    left = total - good
    in_rows = " of every row" if unit == "column" else ""
    amount = f"first {good:,} of {total:,} {unit}s" if good > 1 else f"first of {total:,} {unit}s"
    seen = f"Right for the {amount}{in_rows}, wrong after."
    if state == "never written":
        seen = f"Written for the {amount}{in_rows}, and never after."
    block = block_that_rounds_down(good, total)
    named = [name for name, size in sizes.items() if size == good]

    if unit == "row" and good == 1 and state == "wrong":
        return Finding(
            seen,
            "Row 0 begins at 0 whatever the stride is. Every other row begins at row * number of columns, in the load "
            "as in the store, and row is tl.program_id(0) or the loop's counter: what is it multiplied by?",
        )
    if unit == "row" and good == 1:
        return Finding(
            seen,
            "The grid has one program, or every program works on row 0: the row is tl.program_id(0), and it starts "
            "at row * number of columns.",
        )
    if good == 1 and total > 2:
        return Finding(
            seen,
            f"Only offset 0 is {'right' if state == 'wrong' else 'written'}: what is {article(unit)}'s offset "
            "multiplied by, does it contain tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), and what does the mask "
            "compare it with?",
        )
    if left == 1 and good > 1:
        seen = f"Only the last {unit}{in_rows} is {state}."
        rounding = f" or a grid that rounds down ({unit}s // BLOCK in place of triton.cdiv)" if block else ""
        return Finding(seen, f"Look for a mask that ends one too early (`< n - 1`){rounding}.")
    if unit == "element" and named:
        name = named[0]
        return Finding(
            seen,
            f"{good:,} is {name}: the grid or the mask seems to count {name} elements where the output has {total:,}.",
        )
    if _is_power_of_two(good) and total >= 2 * good:
        if unit == "column":
            return Finding(
                seen,
                f"One block of {good:,} columns is all that a program works on: loop over the row in steps of BLOCK, "
                "launch programs along the columns too, or take BLOCK = triton.next_power_of_2(columns).",
            )
        return Finding(
            seen,
            f"That is one block of {good:,}: the grid has one program, or the offsets lack tl.program_id(0) * BLOCK. "
            f"Launch triton.cdiv(number of {unit}s, BLOCK) programs.",
        )
    if block and _is_power_of_two(good):
        return Finding(
            seen,
            f"Either one block of {good:,} is all that is worked on (the grid has one program, or the offsets lack "
            f"tl.program_id(0) * BLOCK), or a size divided with // rounds down and the last, partial block of {left:,} "
            f"is missing. Launch triton.cdiv(number of {unit}s, BLOCK) programs and mask the end.",
        )
    if block:
        return Finding(
            seen,
            f"{good:,} is a whole number of blocks of {block:,}, and the last, partial block of {left:,} is missing, "
            "as when a size is divided with //, which rounds down: use triton.cdiv and mask the end.",
        )
    return Finding(seen, f"Check how many {unit}s the grid covers and where the mask or the loop ends.")


def _head(bad: int, rows: int, columns: int, state: Bad) -> Finding:
    unit, count = "element", bad
    if rows > 1 and columns > 1 and bad % columns == 0:
        unit, count = "row", bad // columns
    return Finding(
        f"Only the first {unit} is {state}." if count == 1 else f"Only the first {count:,} {unit}s are {state}.",
        "Do the offsets begin at 0, with program 0 working on the first block? When several programs write the same "
        "place, the last to do so wins.",
    )


def _corner(region: Region, rows: int, columns: int, state: Bad) -> Finding:
    down, across = region.rows, region.columns
    seen = f"Only the top left {down:,} x {across:,} of {rows:,} x {columns:,} is "
    seen += "written." if state == "never written" else "right."
    one_program = _is_power_of_two(down) and _is_power_of_two(across) and (rows >= 2 * down or columns >= 2 * across)
    if one_program:
        return Finding(
            seen,
            "That looks like one block: the grid has one program, or the row and column offsets lack "
            "tl.program_id(0) * BLOCK_M and tl.program_id(1) * BLOCK_N.",
        )
    return Finding(
        seen,
        "The partial blocks at the right and bottom edges are missing: the grid needs triton.cdiv in both directions, "
        "and a mask for rows and columns.",
    )


def _runs(region: Region, rows: int, columns: int, state: Bad) -> Finding:
    length, step = region.length, region.step
    good = "written" if state == "never written" else "right"
    if rows > 1 and columns > 1 and length % columns == 0 and step % columns == 0:
        length, step, unit = length // columns, step // columns, "row"
    else:
        unit = "element"
    seen = f"Only {length:,} in {step:,} {unit}s {'is' if length == 1 else 'are'} {good}, with gaps between."
    if length == 1 and step == 2:
        seen = f"Only every second {unit} is {good}."
    return Finding(
        seen,
        f"Neighbouring programs (or loop steps) start {step:,} {unit}s apart, but each covers {length:,}: the stride "
        "and the block size must agree.",
    )


def _box(region: Region, rows: int, state: Bad) -> Finding:
    def span(first: int, last: int, unit: str) -> str:
        return f"{unit} {first:,}" if first == last else f"{unit}s {first:,} to {last:,}"

    where = span(region.columns, region.last_column, "column" if rows > 1 else "element")
    if rows > 1:
        where = f"{span(region.rows, region.last_row, 'row')}, {where}"
    one = region.columns == region.last_column and (rows == 1 or region.rows == region.last_row)
    return Finding(
        f"The only element {state} is at {where}." if one else f"All elements {state} lie in one place: {where}.",
        "Which program works on that block, and what are its offsets and mask?",
    )


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


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0
