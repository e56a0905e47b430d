# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""What atomics order between programs: the clocks alone, and kernels whose loads come early where nothing does."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from grader.languages.triton.confined.simulator.clocks import MOST_PROGRAMS, Clocks
from grader.languages.triton.confined.simulator.pointers import Storage
from grader.plan.findings import Race, UndefinedBehaviour
from grader.plan.messages import EVERYWHERE, NOWHERE, Simulated, Where
from tests.languages.triton.simulator.harness import found, poison, simulate
from tests.rows import each_row

ONE, TWO, THREE = (np.array([number], np.int32) for number in (1, 2, 3))


def buffer(index: int = 0) -> Storage:
    return Storage(index, np.zeros(64, np.uint8), None)


def meet(clocks: Clocks, place: int, owner: np.ndarray, looks: bool = True) -> None:
    clocks.meet(buffer(), np.array([place]), 4, owner, looks=looks)


# Atomics of programs at places, and whether their result is used; whether program 2 then knows of program 1's past.
@each_row(("made", "knows"), [
    ([(0, ONE, True), (0, TWO, True)], True),
    ([(0, ONE, False), (0, TWO, True)], True),
    ([(0, ONE, True), (0, TWO, False)], False),
    ([(0, ONE, True), (4, TWO, True)], False),
    ([(0, TWO, True), (0, ONE, True)], False),
    ([(0, ONE, True), (0, THREE, True), (4, THREE, True), (4, TWO, True)], True),
    ([(0, ONE, True), (4, THREE, True), (0, THREE, True), (4, TWO, True)], False),
])
def test_an_atomic_knows_what_came_before_those_at_its_place(
    made: list[tuple[int, np.ndarray, bool]], knows: bool
) -> None:
    clocks = Clocks(3)
    then = clocks.stamps(ONE)
    for place, owner, looks in made:
        meet(clocks, place, owner, looks)
    assert bool(clocks.ordered(then, TWO)[0]) == knows
    # What the first one does from now on nobody knows.
    assert not clocks.ordered(clocks.stamps(ONE), TWO)[0]


def test_atomics_of_one_operation_come_one_after_another() -> None:
    clocks, owners = Clocks(4), np.array([3, 1, 4, 2], np.int32)
    then = clocks.stamps(owners)
    clocks.meet(buffer(), np.array([0, 0, 8, 0]), 4, owners, looks=True)
    known = [[bool(clocks.ordered(then[[i]], owners[[j]])[0]) for j in range(4)] for i in range(4)]
    assert known == [[True, True, False, True], [False, True, False, True], [False, False, True, False],
                     [False, False, False, True]]


def test_a_load_knows_what_came_before_the_atomics_at_its_place() -> None:
    clocks = Clocks(3)
    then = clocks.stamps(ONE)
    meet(clocks, 4, ONE, looks=False)
    clocks.look(buffer(), np.array([0]), 4, TWO)
    assert not clocks.ordered(then, TWO)[0]
    clocks.look(buffer(), np.array([4]), 4, TWO)
    assert clocks.ordered(then, TWO)[0]
    # One that looks at several, and atomics on several, are taken to be at all of them.
    clocks.look(buffer(), np.array([0, 1]), 4, np.array([3, 3], np.int32))
    assert clocks.ordered(then, THREE)[0]
    then = clocks.stamps(TWO)
    clocks.meet_widely(buffer(), TWO, looks=False)
    meet(clocks, 9, ONE)
    assert clocks.ordered(then, ONE)[0]


@triton.jit
def meeting_kernel(x_ptr, parts_ptr, flags_ptr, out_ptr, WHICH: tl.constexpr, EARLY: tl.constexpr, P: tl.constexpr):
    pid, k = tl.program_id(0), tl.arange(0, P)
    x = tl.load(x_ptr + pid)
    if WHICH == "ticket":
        if EARLY:
            ticket = tl.atomic_add(flags_ptr, 1)
            tl.store(parts_ptr + pid, x)
        else:
            tl.store(parts_ptr + pid, x)
            ticket = tl.atomic_add(flags_ptr, 1)
        if ticket == P - 1:
            tl.store(out_ptr, tl.sum(tl.load(parts_ptr + k)))
    elif WHICH == "sum":
        if EARLY:
            ticket = tl.atomic_add(flags_ptr, 1)
            tl.atomic_add(parts_ptr, x)
        else:
            tl.atomic_add(parts_ptr, x)
            ticket = tl.atomic_add(flags_ptr, 1)
        if ticket == P - 1:
            tl.store(out_ptr, tl.load(parts_ptr))
    elif WHICH == "lock":
        old = tl.load(parts_ptr)
        while tl.atomic_cas(flags_ptr, 0, 1) == 1:
            pass
        if not EARLY:
            old = tl.load(parts_ptr)
        tl.store(parts_ptr, old + x)
        tl.atomic_xchg(flags_ptr, 0)
        if tl.atomic_add(flags_ptr + 1, 1) == P - 1:
            tl.store(out_ptr, tl.load(parts_ptr))
    elif WHICH == "locks":
        lock = flags_ptr + (pid % 2 if EARLY else 0)
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(parts_ptr, tl.load(parts_ptr) + x)
        tl.atomic_xchg(lock, 0)
        if tl.atomic_add(flags_ptr + 2, 1) == P - 1:
            tl.store(out_ptr, tl.load(parts_ptr))
    elif WHICH == "count":
        old = tl.load(flags_ptr + 1)
        while tl.atomic_cas(flags_ptr, 0, 1) == 1:
            pass
        if not EARLY:
            old = tl.load(flags_ptr + 1)
        tl.store(parts_ptr, x if old == 0 else x + tl.load(parts_ptr))
        tl.atomic_xchg(flags_ptr + 1, 1)
        tl.atomic_xchg(flags_ptr, 0)
        if tl.atomic_add(flags_ptr + 2, 1) == P - 1:
            tl.store(out_ptr, tl.load(parts_ptr))
    elif WHICH == "flag":
        if EARLY:
            tl.atomic_xchg(flags_ptr + pid, 1)
            tl.store(parts_ptr + pid, x)
        else:
            tl.store(parts_ptr + pid, x)
            tl.atomic_xchg(flags_ptr + pid, 1)
        if pid == P - 1:
            total = 0.0
            for number in range(P):
                while tl.load(flags_ptr + number, volatile=True) == 0:
                    pass
                total += tl.load(parts_ptr + number)
            tl.store(out_ptr, total)
    elif WHICH == "barrier":
        if EARLY:
            tl.atomic_add(flags_ptr, 1)
            tl.store(parts_ptr + pid, x)
        else:
            tl.store(parts_ptr + pid, x)
            tl.atomic_add(flags_ptr, 1)
        seen = 0
        while seen < P:
            seen = tl.load(flags_ptr)
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + k)))
    elif WHICH == "largest":
        # A first look that may be old.
        if not EARLY or x > tl.load(out_ptr):
            tl.atomic_max(out_ptr, x)
    else:
        tl.static_assert(False)


RUNS = ((NOWHERE, None), (EVERYWHERE, None), (NOWHERE, False), (NOWHERE, True))
"""Where the order is another, and whether atomics come early beside the loads that nothing orders."""


# What is right in each order, and shows where loads come early if the other program may not have stored.
@pytest.mark.parametrize(("which", "wrong"), [
    ("ticket", True), ("sum", True), ("lock", True), ("locks", True), ("count", True), ("flag", True),
    ("barrier", True), ("largest", False)])
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("programs", [2, 16, pytest.param(128, marks=pytest.mark.full)])
def test_a_load_that_nothing_orders_may_come_early(which: str, wrong: bool, early: bool, programs: int) -> None:
    answers = []
    lines: list[int] = []
    x = torch.arange(1, programs + 1).float()
    for order, atomics in RUNS:
        out = torch.zeros(1) if which == "largest" else poison(1)
        seen = simulate(meeting_kernel, (programs,), x, torch.zeros(programs), torch.zeros(128, dtype=torch.int32), out,
                        order=order, early=NOWHERE if atomics is None else Where(lines=lines, programs=atomics),
                        WHICH=which, EARLY=early, P=programs)
        if not isinstance(seen, Simulated):
            # In the other order the last one would wait for ever for others that have not begun.
            assert (which, order) == ("flag", EVERYWHERE)
            continue
        assert early or not [finding for finding in seen.findings if isinstance(finding, Race) and finding.certain]
        lines = lines or [
            one.line for one in seen.findings if isinstance(one, UndefinedBehaviour) and one.what == "unordered"]
        answers.append(float(out) == (x.max() if which == "largest" else x.sum()))
    # Two programs with a lock each do not even wait for each other.
    assert all(answers[:2]) or (which, early, programs) == ("locks", True, 2)
    assert all(answers) != (wrong and early)


@pytest.mark.parametrize("programs", [MOST_PROGRAMS, 2 * MOST_PROGRAMS])
def test_clocks_are_kept_for_so_many_programs(programs: int) -> None:
    x = torch.ones(programs)
    seen = simulate(meeting_kernel, (programs,), x, torch.zeros(1), torch.zeros(1, dtype=torch.int32), poison(1),
                    WHICH="sum", EARLY=True, P=programs)
    told = [one.what for one in found(seen, open=True)]
    assert told == ["ticket"] + ["unordered"] * (programs == MOST_PROGRAMS)
