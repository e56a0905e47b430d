# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
# ruff: noqa: E701, SIM108 - kernels with many cases are read more easily so
"""Each finding planted and seen, each with a control that has none."""

from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.languages.triton.confined.simulator.main import run
from grader.plan.findings import Assertion, EmptyGrid, MaskedUse, OutOfBounds, Overflow, Race, Recast, UnwrittenAccess
from grader.plan.messages import EVERYWHERE, Exhausted, Simulated
from grader.plan.plan import Buffer, Fill, Integer, Kernel, Launch, Plan, Pointer, View
from tests.languages.triton.simulator.harness import found, lower, memory, planned, poison, simulate
from tests.rows import each_row


def line(text: str) -> int:
    """The line of this file that holds a text, which stands there once but for where it is asked for."""
    source = Path(__file__).read_text().splitlines()
    lines = [number for number, each in enumerate(source, 1) if text in each and "line(" not in each]
    assert len(lines) == 1, (text, lines)
    return lines[0]


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
    else:
        x = tl.load(x_ptr + offsets)  # reads too far
        tl.store(out_ptr + offsets, x)  # writes too far


def test_lanes_outside_are_told_of_and_masked_off() -> None:
    x, out = torch.randn(100), poison(100)
    first, second = found(simulate(copy_kernel, (4,), x, out, 100, BLOCK=32, MASKED=False))
    assert first == OutOfBounds(
        access="load", kernel="copy_kernel", line=line("reads too far"), tensor="x_ptr", given="x_ptr", elements=100,
        lowest=100, highest=127, lanes=28, active=32, programs=1, program=(3, 0, 0), masked=False)
    assert (second.access, second.line, second.tensor) == ("store", line("writes too far"), "out_ptr")
    assert torch.equal(x, out)
    assert found(simulate(copy_kernel, (4,), x, poison(100), 100, BLOCK=32, MASKED=True)) == []


def test_a_tensor_that_was_allocated_before_the_call_is_told_with_its_line() -> None:
    plan, memories = planned(copy_kernel, (1,), torch.randn(32), poison(8), 32, BLOCK=32, MASKED=False)
    for kept in (True, False):
        own = Buffer(bytes=32, line=7, kept=kept)
        (finding,) = found(run(plan.model_copy(update={"buffers": [plan.buffers[0], own]}), memories[:1]))
        assert isinstance(finding, OutOfBounds) and (finding.elements, finding.kept) == (8, 7 if kept else 0)


@triton.jit
def cast_kernel(x_ptr, out_ptr, TYPE: tl.constexpr):
    lanes = tl.arange(0, 4)
    x = tl.load(x_ptr.to(tl.pointer_type(TYPE)) + lanes)  # takes it as
    tl.store(out_ptr + lanes, x.to(tl.float32))


@pytest.mark.parametrize(("kind", "after"), [(tl.float64, "f64"), (tl.int8, "i8"), (tl.int32, "")])
def test_a_pointer_to_elements_of_another_size_is_told_of(kind: Any, after: str) -> None:
    told = found(simulate(cast_kernel, (1,), torch.randn(8), poison(4), TYPE=kind))
    assert told == [Recast(kernel="cast_kernel", line=line("# takes it as"), tensor="x_ptr", given="x_ptr",
                           before="f32", after=after)][:len(after)]


@triton.jit
def rows_kernel(x_ptr, out_ptr, width, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (row - 1) * width + lanes, mask=lanes <= width)  # before and after
    tl.store(out_ptr + row * width + lanes, x, mask=lanes < width)


def test_an_access_outside_of_its_own_tensor_counts_even_where_it_lands_in_another() -> None:
    (finding,) = found(simulate(rows_kernel, (3,), torch.randn(2, 9), poison(3, 9), 9, BLOCK=16))
    assert (finding.lowest, finding.highest, finding.program, finding.lanes) == (-9, 18, (0, 0, 0), 9)
    assert (finding.active, finding.programs, finding.masked) == (10, 2, True)
    assert finding.line == line("before and after")


@triton.jit
def helper(x_ptr, offsets):
    return tl.load(x_ptr + offsets)  # in a helper


@triton.jit
def nested_kernel(x_ptr, out_ptr, SHIFT: tl.constexpr):
    offsets = tl.arange(0, 16)
    tl.store(out_ptr + offsets, helper(x_ptr, offsets + SHIFT) + tl.max(offsets, 0))


def test_the_innermost_frame_in_the_students_file_is_named() -> None:
    (finding,) = found(simulate(nested_kernel, (1,), torch.randn(16), poison(16), SHIFT=1))
    assert (finding.line, finding.tensor, finding.lanes) == (line("in a helper"), "x_ptr", 1)
    assert found(simulate(nested_kernel, (1,), torch.randn(16), poison(16), SHIFT=0)) == []


@triton.jit
def chosen_kernel(x_ptr, y_ptr, out_ptr, n):
    if tl.program_id(0) % 2 == 0:
        source = x_ptr
    else:
        source = y_ptr
    tl.store(out_ptr + tl.program_id(0), tl.load(source + n + tl.program_id(0)))  # either


def test_a_pointer_into_one_of_two_tensors_is_judged_by_its_own() -> None:
    x, y, out = torch.arange(4.0), torch.arange(4.0) + 10, poison(4)
    assert found(simulate(chosen_kernel, (4,), x, y, out, 0)) == []
    assert out.tolist() == [0, 11, 2, 13]
    findings = found(simulate(chosen_kernel, (4,), x, torch.randn(8), poison(4), 2))
    assert [(finding.given, finding.highest, finding.line) for finding in findings] == [("x_ptr", 4, line("# either"))]


@triton.jit
def atomic_outside_kernel(out_ptr, n):
    tl.atomic_add(out_ptr + n, 1.0)  # one beyond


def test_an_atomic_outside() -> None:
    (finding,) = found(simulate(atomic_outside_kernel, (3,), torch.zeros(4), 4))
    assert (finding.access, finding.line, finding.highest) == ("atomic", line("one beyond"), 4)
    assert found(simulate(atomic_outside_kernel, (3,), torch.zeros(4), 3)) == []


@triton.jit
def add_kernel(x_ptr, out_ptr, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if FIRST:
        tl.store(out_ptr + offsets, tl.zeros((BLOCK,), tl.float32))
    tl.store(out_ptr + offsets, tl.load(out_ptr + offsets) + tl.load(x_ptr + offsets))


def test_an_output_that_is_read_before_it_is_written() -> None:
    (finding,) = found(simulate(add_kernel, (1,), torch.randn(16), poison(16), FIRST=False, BLOCK=16))
    assert isinstance(finding, UnwrittenAccess)
    assert (finding.tensor, finding.given, finding.lanes) == ("out_ptr", "out_ptr", 16)
    assert found(simulate(add_kernel, (1,), torch.randn(16), poison(16), FIRST=True, BLOCK=16)) == []


@triton.jit
def poisoned_kernel(out_ptr):
    lanes = tl.arange(0, 8)
    tl.store(out_ptr + lanes, tl.full((8,), 0x7FC05EED, tl.int32).to(tl.float32, bitcast=True))
    tl.store(out_ptr + 8 + lanes, tl.load(out_ptr + lanes))


def test_what_a_kernel_wrote_is_written_whatever_its_bits() -> None:
    assert found(simulate(poisoned_kernel, (1,), poison(16))) == []


def test_a_temporary_is_unwritten_until_it_is_filled() -> None:
    text = lower(copy_kernel, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 16, "MASKED": False},
                 debug=True)
    kernel = Kernel(language="triton", name="copy_kernel", symbol="copy_kernel", text=text,
                    signature=["*fp32", "*fp32", "i32"])
    view = View(buffer=1, shape=[8], strides=[2], dtype="float32")
    launch = Launch(kernel=0, grid=(1, 1, 1), block=(128, 1, 1),
                    arguments=[Pointer(buffer=1), Pointer(buffer=0), Integer(type="i32", value=16)])
    out = poison(16)
    plan = Plan(buffers=[Buffer(bytes=64, given="out"), Buffer(bytes=64)], kernels=[kernel],
                first=[Fill(target=view, value=2.5), launch])
    (finding,) = found(run(plan, [memory(out)], outputs=["out"]))
    assert isinstance(finding, UnwrittenAccess)
    assert (finding.tensor, finding.given, finding.lanes) == ("x_ptr", "", 8)
    assert out[::2].tolist() == [2.5] * 8
    assert out[1::2].isnan().all()


@triton.jit
def last_kernel(x_ptr, out_ptr, SAME: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets) + (0 if SAME else pid)
    tl.store(out_ptr + offsets, x)  # all to one place


@pytest.mark.parametrize("block", [16, 1 << 16])
def test_two_programs_that_store_different_values_to_one_element(block: int) -> None:
    x, out = torch.zeros(block), poison(block)
    (finding,) = found(simulate(last_kernel, (3,), x, out, SAME=False, BLOCK=block))
    assert isinstance(finding, Race)
    assert (finding.certain, finding.element, finding.tensor) == (True, 0, "out_ptr")
    assert finding.line == line("all to one place")
    assert len(set(finding.programs)) == 2
    assert found(simulate(last_kernel, (3,), x, poison(block), SAME=True, BLOCK=block)) == []


@triton.jit
def total_kernel(x_ptr, parts_ptr, out_ptr, EARLY: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(parts_ptr + pid, tl.sum(tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK)), 0))
    if EARLY:
        tl.store(out_ptr + pid, tl.sum(tl.load(parts_ptr + tl.arange(0, 4)), 0))  # before the others are done
    else:
        tl.store(out_ptr + pid, tl.load(parts_ptr + pid))


def test_a_total_that_is_read_too_early_is_a_race_but_no_verdict() -> None:
    x = torch.randn(4, 16)
    finding = found(simulate(total_kernel, (4,), x, torch.zeros(4), poison(4), EARLY=True, BLOCK=16))[0]
    assert isinstance(finding, Race)
    assert (finding.certain, finding.tensor) == (False, "parts_ptr")
    assert finding.line == line("before the others are done")
    assert found(simulate(total_kernel, (4,), x, torch.zeros(4), poison(4), EARLY=False, BLOCK=16)) == []


@triton.jit
def mirrored_kernel(x_ptr, n):
    tl.store(x_ptr + n - 1 - tl.program_id(0), tl.load(x_ptr) + 1)  # all have read what the last one stores


@triton.jit
def cleared_kernel(x_ptr, n):
    tl.atomic_add(x_ptr, 1 - tl.load(x_ptr), mask=tl.program_id(0) == n - 1)  # all have read what the last one adds to


@each_row("kernel", [mirrored_kernel, cleared_kernel])
def test_a_race_between_many_readers_and_one_of_them_names_another(kernel: Any) -> None:
    (finding,) = found(simulate(kernel, (8,), torch.zeros(8), 8))
    assert isinstance(finding, Race)
    (reader, *_), (writer, *_) = finding.programs
    assert writer == 7 and reader != 7 and not finding.certain


@triton.jit
def ticket_kernel(x_ptr, parts_ptr, tickets_ptr, out_ptr, BLOCK: tl.constexpr, ORDERED: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(parts_ptr + pid, tl.sum(tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK)), 0))
    last = tl.num_programs(0) - 1
    ticket = tl.atomic_add(tickets_ptr, 1) if ORDERED else pid
    if ticket == last:
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, 8)), 0))


def test_the_last_program_at_a_counter_may_read_what_the_others_wrote() -> None:
    x, out = torch.randn(8, 16), poison(1)
    tickets = torch.zeros(1, dtype=torch.int32)
    assert found(simulate(ticket_kernel, (8,), x, torch.zeros(8), tickets, out, BLOCK=16, ORDERED=True)) == []
    assert int(tickets) == 8
    torch.testing.assert_close(out[0], x.sum())
    racy = found(simulate(ticket_kernel, (8,), x, torch.zeros(8), tickets, poison(1), BLOCK=16, ORDERED=False))
    assert [getattr(each, "what", each.kind) for each in racy] == ["race", "barrier"]


@triton.jit
def locked_kernel(x_ptr, out_ptr, lock_ptr, BLOCK: tl.constexpr, LOCKED: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + lanes)
    if LOCKED:
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
    tl.store(out_ptr + lanes, tl.load(out_ptr + lanes) + x)
    if LOCKED:
        tl.debug_barrier()
        tl.atomic_xchg(lock_ptr, 0)


def test_a_lock_is_waited_for_program_by_program() -> None:
    x, out = torch.rand(300, 16), torch.zeros(16)
    lock = torch.zeros(1, dtype=torch.int32)
    assert found(simulate(locked_kernel, (300,), x, out, lock, BLOCK=16, LOCKED=True)) == []
    torch.testing.assert_close(out, x.sum(0))
    assert int(lock) == 0
    findings = found(simulate(locked_kernel, (300,), x, torch.zeros(16), lock, BLOCK=16, LOCKED=False))
    assert any(isinstance(finding, Race) and finding.certain for finding in findings)


@triton.jit
def barrier_kernel(parts_ptr, arrivals_ptr, out_ptr, ALL: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(parts_ptr + pid, pid + 1.0)
    tl.debug_barrier()
    tl.atomic_add(arrivals_ptr, 1, sem="acq_rel")
    while tl.atomic_add(arrivals_ptr, 0, sem="acquire") < ALL:
        pass
    total = tl.sum(tl.load(parts_ptr + tl.arange(0, 16)), 0)
    tl.store(out_ptr + pid * BLOCK + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32) + total)


def test_programs_that_all_wait_for_each_other_meet() -> None:
    out = poison(16, 1 << 14)
    arrivals = torch.zeros(1, dtype=torch.int32)
    result = simulate(barrier_kernel, (16,), torch.zeros(16), arrivals, out, ALL=16, BLOCK=1 << 14)
    assert found(result) == []
    assert (out == 136).all()


def test_programs_that_wait_for_what_never_comes_have_stalled() -> None:
    arrivals = torch.zeros(1, dtype=torch.int32)
    result = simulate(barrier_kernel, (16,), torch.zeros(16), arrivals, poison(16, 16), ALL=17, BLOCK=16)
    assert isinstance(result, Exhausted)
    assert (result.what, result.kernel, result.line) == ("stalled", "barrier_kernel", line("while tl.atomic_add(arr"))


@triton.jit
def atomics_kernel(x_ptr, out_ptr, old_ptr, WHICH: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + lanes)
    if WHICH == "add": old = tl.atomic_add(out_ptr + lanes // 2, x)
    elif WHICH == "max": old = tl.atomic_max(out_ptr + lanes // 2, x)
    elif WHICH == "min": old = tl.atomic_min(out_ptr + lanes // 2, x)
    elif WHICH == "xchg": old = tl.atomic_xchg(out_ptr + lanes // 2, x)
    tl.store(old_ptr + tl.program_id(0) * BLOCK + lanes, old)


@each_row("which", ["add", "max", "min", "xchg"])
@each_row("dtype", [torch.float32, torch.int32])
def test_atomics_are_made_one_after_another_and_are_no_race(which: str, dtype: torch.dtype) -> None:
    x = torch.randint(-50, 50, (7, 16)).to(dtype)
    out, old = torch.zeros(8, dtype=dtype), torch.empty(7, 16, dtype=dtype)
    assert found(simulate(atomics_kernel, (7,), x, out, old, WHICH=which, BLOCK=16)) == []
    change: Any = {"add": torch.add, "max": torch.maximum, "min": torch.minimum, "xchg": lambda a, b: b}[which]
    kept, before = torch.zeros(8, dtype=dtype), torch.empty_like(x)
    for program in range(7):
        for lane in range(16):
            before[program, lane] = kept[lane // 2]
            kept[lane // 2] = change(kept[lane // 2], x[program, lane])
    assert torch.equal(out, kept)
    if dtype == torch.int32 or which in ("add", "xchg"):
        # Triton makes a maximum of floats of two of integers: positive numbers of all lanes first.
        assert torch.equal(old, before)


@triton.jit
def masked_kernel(x_ptr, out_ptr, n, OTHER: tl.constexpr):
    lanes = tl.arange(0, 16)
    if OTHER:
        x = tl.load(x_ptr + lanes, mask=lanes < n, other=0.0)
    else:
        x = tl.load(x_ptr + lanes, mask=lanes < n)  # without other
    tl.store(out_ptr, tl.sum(x, 0))


def test_lanes_that_a_mask_switched_off_are_zero_or_nan_as_asked_for() -> None:
    x, out = torch.ones(9), poison(1)
    assert found(simulate(masked_kernel, (1,), x, out, 9, OTHER=False)) == []
    assert float(out) == 9
    (finding,) = found(simulate(masked_kernel, (1,), x, out, 9, masked=EVERYWHERE, OTHER=False))
    assert finding == MaskedUse(kernel="masked_kernel", line=line("# without other"), tensor="x_ptr")
    assert out.isnan().all()
    assert found(simulate(masked_kernel, (1,), x, out, 9, masked=EVERYWHERE, OTHER=True)) == []
    assert float(out) == 9


@triton.jit
def checked_kernel(out_ptr, n):
    pid = tl.program_id(0)
    tl.device_assert(pid < n, 'more than "n" programs, zu früh')
    tl.store(out_ptr + pid, pid)


def test_an_assertion_that_does_not_hold() -> None:
    out = poison(8).view(torch.int32)
    (finding,) = found(simulate(checked_kernel, (8,), out, 5))
    assert finding == Assertion(kernel="checked_kernel", line=line("device_assert"), program=(5, 0, 0),
                                message='more than "n" programs, zu früh')
    assert found(simulate(checked_kernel, (8,), out, 8)) == []
    assert found(simulate(checked_kernel, (8,), out, 5, debug=False)) == []


@triton.jit
def large_kernel(out_ptr, n):
    tl.store(out_ptr + tl.program_id(0), (tl.program_id(0) + 1) * n)  # too large


def test_an_integer_that_passes_its_range() -> None:
    out = torch.empty(4, dtype=torch.int32)
    (finding,) = found(simulate(large_kernel, (4,), out, 2**30))
    assert finding == Overflow(kernel="large_kernel", line=line("# too large"), type="int32", operation="mul",
                               program=(1, 0, 0))
    assert out.tolist() == [2**30, -(2**31), -(2**30), 0]
    assert found(simulate(large_kernel, (4,), out, 2**20)) == []


@triton.jit
def printing_kernel(x_ptr):
    tl.device_print('x\\y "is"', tl.load(x_ptr + tl.program_id(0)))


def test_what_a_kernel_prints_is_shown_and_capped() -> None:
    result = simulate(printing_kernel, (2,), torch.tensor([1.5, 2.5]))
    assert isinstance(result, Simulated)
    assert result.printed == 'pid (0, 0, 0) x\\y "is": 1.5\npid (1, 0, 0) x\\y "is": 2.5\n'
    long = simulate(printing_kernel, (5000,), torch.zeros(5000))
    assert isinstance(long, Simulated)
    assert 7_900 < len(long.printed) <= 8_000


def test_a_grid_of_no_program() -> None:
    (finding,) = found(simulate(copy_kernel, (0,), torch.zeros(4), poison(4), 4, BLOCK=16, MASKED=True))
    assert finding == EmptyGrid(kernel="copy_kernel", line=1, grid=(0, 1, 1))
