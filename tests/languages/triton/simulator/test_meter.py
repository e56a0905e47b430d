# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Bytes moved and needed, of kernels whose traffic follows from arithmetic; who stored an element; what is touched."""

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.state import Mode
from grader.plan.messages import RunOptions, Simulated
from grader.plan.traffic import AccessTraffic, Watch
from tests.languages.triton.simulator.harness import planned


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x, mask=at < n)


@triton.jit
def shifted(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at + 1))


@triton.jit
def column(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + rows, tl.load(x_ptr + rows * stride))


@triton.jit
def rows_to_columns(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at * M + row, tl.load(x_ptr + row * N + at))


@triton.jit
def tiles(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r[:, None] * N + c[None, :])
    tl.store(out_ptr + c[:, None] * M + r[None, :], tl.trans(x))


@triton.jit
def looped(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + tl.arange(0, BLOCK))
    tl.atomic_add(out_ptr + tl.arange(0, BLOCK) * 0, total)


@triton.jit
def two_stores(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 1.0, mask=at < n)
    tl.store(out_ptr + at, 2.0, mask=(at < n) & (at % 2 == 1))


def seen(function: Any, grid: tuple[int, ...], *values: Any, watch: Watch, **constants: Any) -> Simulated:
    plan, memories = planned(function, grid, *values, **constants)
    found = run(plan, memories, outputs=["out_ptr"], mode=Mode(options=RunOptions(watch=watch)))
    assert isinstance(found, Simulated), found
    return found


def counted(function: Any, grid: tuple[int, ...], *values: Any, programs: int = 1 << 20, **constants: Any) -> Any:
    (launch,) = seen(function, grid, *values, watch=Watch(programs=programs), **constants).launched
    return {access.access: access for access in launch.accesses}


def figures(one: AccessTraffic) -> tuple[int, int]:
    return one.needed, one.moved


def test_a_coalesced_copy_moves_what_it_needs() -> None:
    x = torch.ones(4096)
    found = counted(copy, (4,), x, torch.empty(4096), 4096, BLOCK=1024)
    assert figures(found["load"]) == figures(found["store"]) == (4 * 4096, 4 * 4096)
    assert (found["load"].lanes, found["load"].masked) == (4096, 0)


def test_masked_lanes_move_nothing() -> None:
    found = counted(copy, (4,), torch.ones(3100), torch.empty(3100), 3100, BLOCK=1024)
    # 3,100 floats end in the middle of a sector: 387.5 of them.
    assert figures(found["load"]) == (4 * 3100, 32 * 388)
    assert (found["store"].lanes, found["store"].masked) == (4096, 996)


def test_a_load_that_begins_within_a_sector_moves_one_more_for_each_program() -> None:
    found = counted(shifted, (4,), torch.ones(4097), torch.empty(4096), BLOCK=1024)
    assert figures(found["load"]) == (4 * 4096, 4 * (1024 * 4 + 32))
    assert figures(found["store"]) == (4 * 4096, 4 * 4096)


@pytest.mark.parametrize(("stride", "sectors"), [(2, 256), (4, 512), (8, 1024), (100, 1024)])
def test_a_strided_column_moves_a_sector_for_each_element_from_a_stride_of_eight_floats_on(
    stride: int, sectors: int
) -> None:
    found = counted(column, (2,), torch.ones(1024 * stride), torch.empty(1024), stride, BLOCK=512)
    assert figures(found["load"]) == (4 * 1024, 32 * sectors)
    assert figures(found["store"]) == (4 * 1024, 4 * 1024)


def test_a_transposed_store_of_rows_moves_eight_times_what_it_needs_and_one_of_tiles_does_not() -> None:
    x, out = torch.ones(64, 64), torch.empty(64, 64)
    rows = counted(rows_to_columns, (64,), x, out, 64, 64, BLOCK=64)
    assert figures(rows["load"]) == (4 * 4096, 4 * 4096)
    assert figures(rows["store"]) == (4 * 4096, 32 * 4096)
    by_tile = counted(tiles, (2, 2), x, out, 64, 64, BLOCK=32)
    assert figures(by_tile["load"]) == figures(by_tile["store"]) == (4 * 4096, 4 * 4096)
    small = counted(tiles, (16, 16), x, out, 64, 64, BLOCK=4)
    assert figures(small["store"]) == (4 * 4096, 2 * 4 * 4096)


def test_a_loop_counts_each_time_and_lanes_of_one_element_need_it_once() -> None:
    found = counted(looped, (3,), torch.ones(1024), torch.zeros(8), 1024, BLOCK=128)
    assert figures(found["load"]) == (3 * 4 * 1024, 3 * 4 * 1024)
    assert figures(found["atomic"]) == (3 * 4, 3 * 32)


def test_of_many_programs_some_are_counted_and_the_others_not_run() -> None:
    out = torch.zeros(1 << 16)
    simulated = seen(copy, (1024,), torch.ones(1 << 16), out, 1 << 16, watch=Watch(programs=16), BLOCK=64)
    (launch,) = simulated.launched
    assert launch.programs == 16 and launch.grid == (1024, 1, 1)
    assert [figures(access) for access in launch.accesses] == [(16 * 256, 16 * 256)] * 2
    assert int(out.sum()) == 16 * 64
    # Spread over the grid: of each quarter some.
    assert all(int(part.sum()) for part in out.chunk(4))


@triton.jit
def arrived(x_ptr, count_ptr, out_ptr, programs):
    tl.atomic_add(count_ptr, 1)
    while tl.atomic_add(count_ptr, 0) < programs:
        pass
    tl.store(out_ptr + tl.program_id(0), tl.load(x_ptr + tl.program_id(0)))


def test_programs_that_wait_for_each_other_are_all_run() -> None:
    values = torch.ones(8), torch.zeros(1, dtype=torch.int32), torch.empty(8), 8
    (launch,) = seen(arrived, (8,), *values, watch=Watch(programs=2)).launched
    assert launch.programs == 8 and not launch.cut
    touched = seen(arrived, (8,), *values, watch=Watch(chosen=[[3]], touched="all")).touched
    assert [one.runs for one in touched if one.given == "x_ptr"] == [[(4 * 3, 4, 0, 1)]]


def test_a_launch_that_takes_too_long_is_cut() -> None:
    plan, memories = planned(looped, (3,), torch.ones(1 << 20), torch.zeros(8), 1 << 20, BLOCK=128)
    found = run(plan, memories, outputs=["out_ptr"], operations=10_000_000,
                mode=Mode(options=RunOptions(watch=Watch(programs=2))))
    assert isinstance(found, Simulated), found
    (launch,) = found.launched
    (load,) = launch.accesses
    assert launch.cut and 0 < load.needed == load.moved < 2 * (1 << 22)
    assert not isinstance(run(plan, memories, outputs=["out_ptr"], operations=10_000_000), Simulated)


def test_the_last_store_of_an_element_is_known_by_line_and_program() -> None:
    watch = Watch(stores=[4 * element for element in (0, 62, 63, 65, 70, 99, 101)])
    found = seen(two_stores, (2,), torch.ones(1), torch.empty(100), 100, watch=watch, BLOCK=64).stored
    first = two_stores.starting_line_number
    assert [(one.line - first, one.elements, one.byte // 4, one.program[0], one.last[0]) for one in found] == [
        (3, 3, 0, 0, 1), (4, 3, 63, 0, 1)]


def test_one_program_touches_its_rows_and_columns() -> None:
    x, out = torch.ones(64, 64), torch.empty(64, 64)
    found = seen(tiles, (4, 4), x, out, 64, 64, watch=Watch(chosen=[[1]], touched="all"), BLOCK=16).touched
    runs = {one.given: one.runs for one in found}
    # Program 1 of a grid of 4 by 4 is (1, 0): rows 16 to 31 and the first 16 columns of x.
    assert runs["x_ptr"] == [(4 * 64 * 16, 4 * 16, 4 * 64, 16)]
    assert runs["out_ptr"] == [(4 * 16, 4 * 16, 4 * 64, 16)]
    (one,) = (each for each in seen(
        column, (2,), torch.ones(80), torch.empty(8), 10, watch=Watch(chosen=[[1]], touched="all"), BLOCK=4).touched
        if each.given == "x_ptr")
    assert one.runs == [(4 * 40, 4, 4 * 10, 4)]
