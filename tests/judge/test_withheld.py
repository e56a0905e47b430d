"""What is held back of contents on the host until the clock starts, and pages that are other ones each time."""

from __future__ import annotations

import fcntl
import mmap
import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest
import torch
from torch import Tensor

from grader.assignment import Case
from grader.catalogue import assignments
from grader.judge.buffers import HostTensor
from grader.judge.ring import Ring

COLUMN = assignments()["copy_first_column"]
SLOTS = 3
# As many as a pipe holds pages, and each on one of its own.
ROWS = 16
COLS = mmap.PAGESIZE // 4
CASE = Case(name="tall", sizes={"rows": ROWS, "cols": COLS})
TIMES = 40
MARK = -7777.0


@pytest.fixture
def ring() -> Iterator[Ring]:
    """Contents have been written once, for everybody to see."""
    ring = Ring(COLUMN, CASE, SLOTS, ("student",), cuda=False)
    ring.fill()
    yield ring
    ring.close()


def column(ring: Ring, slot: int) -> Tensor:
    return ring._inputs[slot]["matrix"].tensor[:, 0]


def right(ring: Ring, slot: int) -> Tensor:
    """For each element, whether the answer that the judge expects has it."""
    expected, _ = ring._expected[slot]
    return column(ring, slot).double() == expected


def test_one_element_of_each_slot_is_another_until_the_last_moment(ring: Ring) -> None:
    ring.complete()
    assert all(bool(right(ring, slot).all()) for slot in range(SLOTS))
    places = set()
    for _ in range(TIMES):
        # What a submission has marked everything with is nowhere to be seen.
        for slot in range(SLOTS):
            column(ring, slot).fill_(MARK)
        ring.fill()
        for slot in range(SLOTS):
            wrong = ~right(ring, slot)
            assert wrong.sum() == 1 and not bool((column(ring, slot) == MARK).any())
            places.add((slot, int(wrong.nonzero())))
        rest = [ring._inputs[slot]["matrix"].tensor[:, 1:].clone() for slot in range(SLOTS)]
        ring.complete()
        assert all(bool(right(ring, slot).all()) for slot in range(SLOTS))
        assert all(torch.equal(ring._inputs[slot]["matrix"].tensor[:, 1:], rest[slot]) for slot in range(SLOTS))
    # Of 48 pairs of a slot and a place, drawn 120 times.
    assert len(places) > 30


def test_not_for_a_moment_does_what_is_held_back_stand_there(ring: Ring) -> None:
    ring.complete()
    old, looks, whole = dict(ring._expected), [0], list[str]()

    def look(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code is HostTensor._replace.__code__:
            # Looking brings a page back that has just been taken away.
            return look
        looks[0] += 1
        new = [slot for slot in range(SLOTS) if ring._expected[slot] is not old[slot]]
        if any(bool(right(ring, slot).all()) for slot in new):
            whole.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}")
        return look

    # Between any two lines of whatever runs meanwhile.
    sys.settrace(look)
    try:
        ring.fill()
    finally:
        sys.settrace(None)
    assert not whole and looks[0] > 20 * SLOTS
    ring.complete()
    assert all(bool(right(ring, slot).all()) for slot in range(SLOTS))


def test_nothing_is_held_back_of_a_slot_that_has_calls_before_the_clock_starts(ring: Ring) -> None:
    ring.use(1, warm=1)
    ring.fill()
    assert ring.count == 2 and right(ring, 0).sum() == ROWS - 1 and bool(right(ring, 1).all())


def test_what_was_held_back_of_contents_that_were_not_used_is_forgotten(ring: Ring) -> None:
    ring.fill()
    ring.use(1)
    ring.fill()
    others = [column(ring, slot).clone() for slot in range(1, SLOTS)]
    ring.complete()
    assert bool(right(ring, 0).all())
    assert all(torch.equal(column(ring, slot), was) for slot, was in enumerate(others, 1))


@pytest.mark.parametrize("replaced", [True, False])
def test_who_holds_the_pages_of_an_earlier_call_has_one_too_few(
    ring: Ring, replaced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not replaced:
        monkeypatch.setattr(HostTensor, "replace_page", lambda self, offset: None)
    moved = set()
    for _ in range(TIMES):
        shared = ring._inputs[0]["matrix"]
        assert isinstance(shared, HostTensor)
        reader, writer = os.pipe()
        try:
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, ROWS * mmap.PAGESIZE)
            # A pipe refers to pages of a file, as a device's driver does: nothing is copied yet.
            column(ring, 0).fill_(MARK)
            assert os.splice(shared._descriptor, writer, shared.tensor.nbytes, offset_src=0) == shared.tensor.nbytes
            ring.fill()
            ring.complete()
            held = torch.frombuffer(bytearray(os.read(reader, shared.tensor.nbytes)), dtype=torch.float32)
        finally:
            os.close(reader)
            os.close(writer)
        stale = held.view(ROWS, COLS)[:, 0] != column(ring, 0)
        # Of one page the old contents, which tell nothing either.
        assert stale.sum() == replaced and not bool((held == MARK).any())
        assert torch.equal(held.view(ROWS, COLS)[:, 1:], shared.tensor[:, 1:])
        moved |= {int(row) for row in stale.nonzero()}
    assert len(moved) > 8 if replaced else not moved


@pytest.mark.parametrize(("rows", "cols"), [(1, 1), (5, 3), (3, mmap.PAGESIZE // 4 + 1)])
def test_memory_of_every_size_has_its_pages_replaced_and_keeps_the_rest(rows: int, cols: int) -> None:
    case = Case(name="odd", sizes={"rows": rows, "cols": cols})
    ring = Ring(COLUMN, case, 1, ("student",), cuda=False)
    try:
        ring.fill()
        for _ in range(2 * rows):
            rest = ring._inputs[0]["matrix"].tensor[:, 1:].clone()
            ring.fill()
            ring.complete()
            assert bool(right(ring, 0).all()) and torch.equal(ring._inputs[0]["matrix"].tensor[:, 1:], rest)
    finally:
        ring.close()
