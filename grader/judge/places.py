"""Right values in wrong places: rows and columns swapped, strides mixed up, off by one, a block repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from grader.judge.evidence import COVERAGE, ENOUGH, Evidence, Finding

SORTED_ELEMENTS = 1 << 23
"""Larger outputs are not sorted: it would take seconds."""


def moved(e: Evidence) -> Finding | None:
    """Right values in the wrong place."""
    if e.count < ENOUGH:
        return None
    for candidate, where, finding in _places(e):
        if e.is_explained_by(candidate, where):
            return replace(finding(), whole=True)
    return None


def shuffled(e: Evidence) -> Finding | None:
    """All the right values, in some other order."""
    if e.count < ENOUGH or e.got.numel() > SORTED_ELEMENTS or not bool(e.written.all()):
        return None
    got, expected = e.got.flatten().sort().values, e.expected.flatten().sort().values
    slack = e.rounding * expected.abs() + 1e-9 * e.rounding * float(expected.abs().max())
    if not bool(((got - expected).abs() <= slack).double().mean() >= COVERAGE):
        return None
    return Finding(
        "The output holds the right values, but in the wrong places.",
        "Check the offsets: which index is multiplied by which stride, and which block each program writes.",
    )


def _places(e: Evidence) -> Iterator[tuple[Tensor, Tensor | None, Callable[[], Finding]]]:
    """Candidates of `moved`: the answer rearranged, where that is defined, and what it means."""
    flat = e.expected.flatten()
    total = flat.numel()
    position = torch.arange(total, device=flat.device)
    if e.is_matrix:
        rows, columns = e.got.shape
        yield e.expected.t().reshape(rows, columns), None, lambda: Finding(
            "The output holds the right values with rows and columns swapped.",
            "Element (i, j) of the output lies at i * (its number of columns) + j: check which index is multiplied by "
            "the stride in the store, and which in the load.",
        )
        if rows != columns:
            i, j = position // columns, position % columns
            for source in (i * rows + j, j * columns + i):
                yield _taken(flat, source), (source < total).reshape(rows, columns), lambda: _stride("read", e)
            source = i + j * rows
            swapped = e.expected.t().flatten()
            for at in (i * rows + j, i + j * columns):
                defined = (at < total) & (at != source)
                yield _taken(swapped, at), defined.reshape(rows, columns), lambda: _stride("read", e)
            for target in (i * rows + j, i + j * columns):
                for last_wins in (True, False):
                    stored, anything = _scattered(flat, target, last_wins)
                    yield (stored.reshape(rows, columns), anything.reshape(rows, columns),
                           lambda: _stride("written", e))
    first_wrong = int(e.wrong.flatten().to(torch.uint8).argmax())
    if 1 < first_wrong <= total // 2:
        yield flat[position % first_wrong], None, lambda: Finding(
            f"The answer for the first {first_wrong:,} elements is repeated all through the output.",
            "Every program loads the first block: the offsets of the load lack tl.program_id(0) * BLOCK"
            + (" (or row * number of columns)." if e.is_matrix else "."),
        )
    steps = {1: "one element"}
    if e.is_matrix:
        steps[e.got.shape[1]] = "one row"
    for step, name in steps.items():
        for shift in (step, -step):
            source = position + shift
            inside = (source >= 0) & (source < total)
            side = "after" if shift > 0 else "before"
            yield _taken(flat, source), inside.reshape(e.got.shape), partial(_shifted, name, side)


def _shifted(name: str, side: str) -> Finding:
    return Finding(
        f"The output is off by {name}: each element holds the answer of the one {side} it"
        + (" in its column." if name == "one row" else "."),
        "Look for an index that starts at 1, or a stray + 1 or - 1 in the offsets of the load or the store.",
    )


def _stride(verb: str, e: Evidence) -> Finding:
    rows, columns = e.got.shape
    return Finding(
        f"The right values are {verb} with the wrong row stride ({rows:,} rows, {columns:,} columns).",
        "A row is as far from the next as the matrix has columns; the numbers of rows and columns are mixed up, which "
        "does not show in a square matrix.",
    )


def _taken(flat: Tensor, source: Tensor) -> Tensor:
    return flat[source.clamp(0, flat.numel() - 1)]


def _scattered(flat: Tensor, target: Tensor, last_wins: bool) -> tuple[Tensor, Tensor]:
    """`flat` stored at the positions `target`, those beyond the end left out; and where anything was stored.

    Where several elements meet, the one with the highest index wins, or the one with the lowest.
    """
    inside = target < flat.numel()
    source = torch.arange(flat.numel(), device=flat.device)[inside]
    winner = torch.full_like(target, -1).scatter_reduce_(
        0, target[inside], source, "amax" if last_wins else "amin", include_self=False)
    return _taken(flat, winner), winner >= 0
