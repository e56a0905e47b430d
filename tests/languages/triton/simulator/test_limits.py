# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""What costs too much ends, soon and with a reason; what looks as if it did is run."""

import time
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.languages.triton.confined.simulator.main import run
from grader.plan.messages import CannotSimulate, Exhausted, Simulated
from grader.plan.plan import Buffer, Plan
from tests.languages.triton.simulator.harness import memory, planned, poison, simulate

OPERATIONS = 200_000_000
SECONDS = 20
"""Of processor time: far more than any of these takes."""


@triton.jit
def endless_kernel(out_ptr):
    count = 0
    while count >= 0:
        count = (count + 1) % 1000
    tl.store(out_ptr, count)


@triton.jit
def long_kernel(out_ptr, n):
    count = tl.program_id(0)
    for step in range(n):
        count = (count * 5 + step) & 1023
    tl.store(out_ptr + tl.program_id(0), count)


@triton.jit
def empty_kernel(out_ptr, n):
    for _ in range(n):
        pass
    tl.store(out_ptr, 1)


@triton.jit
def spin_kernel(out_ptr):
    while tl.load(out_ptr, volatile=True) == 0:
        pass


@triton.jit
def still_kernel(out_ptr, n):
    at, seen = 0, 0
    while at < n:
        tl.store(out_ptr + seen % 8, at)
        seen += 1


@triton.jit
def once_kernel(out_ptr, n):
    goes = n > 0
    while goes:
        tl.store(out_ptr, 1)
        goes = n < 0


@triton.jit
def one_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.load(x_ptr + tl.program_id(0)))


@pytest.mark.parametrize(("kernel", "grid", "values", "what"), [
    (endless_kernel, (1,), (), "operations"),
    (endless_kernel, (100_000,), (), "operations"),
    (long_kernel, (1,), (2**31 - 1,), "operations"),
    (empty_kernel, (1,), (2**31 - 1,), "operations"),
    (spin_kernel, (1,), (), "stalled"),
    (spin_kernel, (1000,), (), "stalled"),
    (still_kernel, (8,), (3,), "endless"),
])  # fmt: skip
def test_a_loop_without_an_end(kernel: Any, grid: tuple[int, ...], values: tuple[int, ...], what: str) -> None:
    out = torch.zeros(grid[0], dtype=torch.int32)
    started = time.process_time()
    result = simulate(kernel, grid, out, *values, debug=False, operations=OPERATIONS)
    assert time.process_time() - started < SECONDS
    assert isinstance(result, Exhausted), result
    assert (result.what, result.kernel) == (what, kernel.__name__)
    assert kernel.starting_line_number <= result.line <= kernel.starting_line_number + 6
    assert (result.rounds > 1000) == (what == "operations")


def test_a_loop_that_takes_too_long_is_told_with_its_rounds() -> None:
    plan, memories = planned(endless_kernel, (1,), torch.zeros(1, dtype=torch.int32))
    result = run(plan, memories, seconds=0.2)
    assert isinstance(result, Exhausted) and result.what == "time" and result.rounds > 0
    assert result.line == endless_kernel.starting_line_number + 3


@pytest.mark.parametrize(("kernel", "n"), [(still_kernel, -1), (once_kernel, 5)])
def test_a_loop_that_is_not_entered_again_ends(kernel: Any, n: int) -> None:
    assert isinstance(simulate(kernel, (1,), torch.zeros(8, dtype=torch.int32), n, debug=False), Simulated)


def test_a_loop_that_ends_late_is_run() -> None:
    out = torch.zeros(100, dtype=torch.int32)
    result = simulate(long_kernel, (100,), out, 20_000, debug=False, operations=10 * OPERATIONS)
    assert isinstance(result, Simulated)
    count = 7
    for step in range(20_000):
        count = (count * 5 + step) & 1023
    assert int(out[7]) == count


def test_many_programs_of_one_element_are_run_and_far_too_many_are_not() -> None:
    x, out = torch.randn(1 << 20), poison(1 << 20)
    assert isinstance(simulate(one_kernel, (1 << 20,), x, out, operations=OPERATIONS), Simulated)
    assert torch.equal(x, out)
    far = simulate(one_kernel, (2**31 - 1, 60_000), x, out, operations=OPERATIONS)
    assert isinstance(far, Exhausted)
    assert far.what == "operations"


def test_many_launches_are_counted_together() -> None:
    plan, memories = planned(one_kernel, (1,), torch.zeros(1), poison(1))
    many = plan.model_copy(update={"first": plan.first * 10_000})
    result = run(many, memories, operations=50_000_000)
    assert isinstance(result, Exhausted)
    assert result.what == "operations"
    few = run(plan, memories, operations=50_000_000)
    assert isinstance(few, Simulated)
    assert 0 < few.operations < 50_000


def test_temporaries_beyond_memory() -> None:
    plan, memories = planned(one_kernel, (1,), torch.zeros(1), poison(1))
    large = plan.model_copy(update={"buffers": [*plan.buffers, Buffer(bytes=1 << 40)]})
    assert run(large, memories) == Exhausted(seq=0, what="memory")
    small = plan.model_copy(update={"buffers": [*plan.buffers, Buffer(bytes=1 << 10)]})
    assert isinstance(run(small, memories), Simulated)


@triton.jit
def assembly_kernel(x_ptr, out_ptr):
    lanes = tl.arange(0, 16)
    x = tl.load(x_ptr + lanes)
    y = tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)  # PTX
    tl.store(out_ptr + lanes, y)


def test_inline_assembly_needs_a_gpu() -> None:
    result = simulate(assembly_kernel, (1,), torch.zeros(16), poison(16))
    assert isinstance(result, CannotSimulate)
    assert (result.operation, result.kernel) == ("inline assembly", "assembly_kernel")
    assert result.line == assembly_kernel.starting_line_number + 4


def test_memory_of_another_size_than_the_plans() -> None:
    plan, _ = planned(one_kernel, (1,), torch.zeros(4), poison(4))
    result = run(plan, [memory(torch.zeros(4)), memory(poison(5))])
    assert isinstance(result, CannotSimulate)
    assert isinstance(plan, Plan)
