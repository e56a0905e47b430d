"""Right values in wrong places: rows and columns swapped, off by one, a block repeated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from grader.judge.explain.evidence import COVERAGE, ENOUGH, SAMPLE_AGREEMENT, Evidence, Finding

SORTED_ELEMENTS = 1 << 23
"""Larger outputs are not sorted: it would take seconds."""


def moved(e: Evidence) -> Finding | None:
    """Right values in the wrong place."""
    if e.count < ENOUGH:
        return None
    flat = e.expected.flatten()
    positions = torch.arange(flat.numel(), device=flat.device)
    for source, finding in _sources(e):
        # The sample spares large outputs from most of the work: few candidates get past it.
        at = source(e.sample)
        defined = _inside(at, flat)
        if bool((e.sample_close(_taken(flat, at)) | ~defined).double().mean() < SAMPLE_AGREEMENT):
            continue
        at = source(positions)
        if e.is_explained_by(_taken(flat, at), _inside(at, flat).reshape(e.got.shape)):
            return replace(finding(), whole=True, pattern="moved")
    return None


def shuffled(e: Evidence) -> Finding | None:
    """All the right values, in some other order."""
    # Any two pictures of the same kind have nearly the same bytes.
    if e.step or e.count < ENOUGH or e.got.numel() > SORTED_ELEMENTS or not bool(e.written.all()):
        return None
    if not math.isclose(float(e.got.square().sum()), float(e.expected.square().sum()), rel_tol=1e-3):
        return None
    got, expected = e.got.flatten().sort().values, e.expected.flatten().sort().values
    slack = e.rounding * expected.abs() + 1e-9 * e.rounding * float(expected.abs().max())
    if not bool(((got - expected).abs() <= slack).double().mean() >= COVERAGE):
        return None
    return Finding(
        "The output holds the right values, but in the wrong places.",
        "Check the offsets: which index is multiplied by which stride, and which block each program writes.",
        pattern="moved",
    )


Source = Callable[[Tensor], Tensor]
"""From positions in the output to those in the right answer whose values they hold; outside it is undefined."""


def _sources(e: Evidence) -> Iterator[tuple[Source, Callable[[], Finding]]]:
    """Rearrangements of the right answer, and what each means."""
    if e.is_matrix:
        rows, columns = e.got.shape
        yield partial(_transposed, rows, columns), lambda: Finding(
            "The output holds the right values with rows and columns swapped.",
            "Element (i, j) of the output lies at i * (its number of columns) + j: check which index is multiplied by "
            "the stride in the store, and which in the load.",
        )
    first_wrong = int(e.wrong.flatten().to(torch.uint8).argmax())
    if 1 < first_wrong <= e.got.numel() // 2:
        yield lambda p: p % first_wrong, lambda: Finding(
            f"The answer for the first {first_wrong:,} elements is repeated all through the output.",
            e.words.first_block + (" (or row * number of columns)." if e.is_matrix else "."),
        )
    steps = {1: "one element"}
    if e.is_matrix:
        steps[e.got.shape[1]] = "one row"
    for step, name in steps.items():
        yield partial(_plus, step), partial(_shifted, name, "after")
        yield partial(_plus, -step), partial(_shifted, name, "before")


def _transposed(rows: int, columns: int, p: Tensor) -> Tensor:
    """Positions in a matrix of the elements that follow each other in its transpose, a matrix of `rows` rows."""
    return p % rows * columns + p // rows


def _plus(step: int, p: Tensor) -> Tensor:
    return p + step


def _shifted(name: str, side: str) -> Finding:
    return Finding(
        f"The output is off by {name}: each element holds the answer of the one {side} it"
        + (" in its column." if name == "one row" else "."),
        "Look for an index that starts at 1, or a stray + 1 or - 1 in the offsets of the load or the store.",
    )


def _inside(at: Tensor, flat: Tensor) -> Tensor:
    return (at >= 0) & (at < flat.numel())


def _taken(flat: Tensor, source: Tensor) -> Tensor:
    return flat[source.clamp(0, flat.numel() - 1)]
