# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""What Triton leaves undefined: each planted and seen, with what another order makes of it, and a control without."""

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.state import Mode
from grader.plan.device import TARGETS
from grader.plan.findings import UndefinedBehaviour
from grader.plan.messages import EVERYWHERE, NOWHERE, PROGRAMS, Exhausted, RunOptions, Where
from grader.plan.plan import Buffer, Launch, Plan
from tests.languages.triton.simulator.harness import close, found, memory, planned, poison, right, simulate
from tests.languages.triton.simulator.test_findings import barrier_kernel, ticket_kernel, total_kernel
from tests.rows import each_row

HOPPER = TARGETS["sm_90"]
N = 64
ORDERS = (NOWHERE, EVERYWHERE)
"""As written, and all in another order."""


@triton.jit
def first(a, b):
    return a


@triton.jit
def added(a, b):
    return a + b


@triton.jit
def pair(a, b, c, d):
    return a + c, tl.maximum(b, d)


@triton.jit
def chances_kernel(x_ptr, out_ptr, n, WHICH: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if WHICH == "two lanes":
        tl.store(out_ptr + tl.arange(0, 2 * N) % N, tl.cat(x, x, can_reorder=True) * 0 + tl.arange(0, 2 * N))
    elif WHICH == "two lanes alike":
        tl.store(out_ptr + tl.arange(0, 2 * N) % N, tl.arange(0, 2 * N) % N)
    elif WHICH == "reshape":
        tl.store(out_ptr + i, tl.ravel(tl.reshape(x, (N // 2, 2), can_reorder=True)))
    elif WHICH == "reshape in order":
        tl.store(out_ptr + i, tl.ravel(tl.reshape(x, (N // 2, 2))))
    elif WHICH == "reshape of a sum":
        tl.store(out_ptr + i, x * 0 + tl.sum(tl.reshape(x, (N // 2, 2))))
    elif WHICH == "first of a reduction":
        tl.store(out_ptr + i, x * 0 + tl.reduce(x, 0, first))
    elif WHICH == "reduction":
        tl.store(out_ptr + i, x * 0 + tl.reduce(x, 0, added) + tl.max(x, 0, return_indices=True)[1])
    elif WHICH == "reduction of two":
        tl.store(out_ptr + i, x * 0 + tl.reduce((x, x), 0, pair)[0])
    elif WHICH == "scan":
        tl.store(out_ptr + i, tl.associative_scan(x, 0, added))
    elif WHICH == "gather outside":
        tl.store(out_ptr + i, tl.gather(x, i + 1, 0))
    elif WHICH == "gather":
        tl.store(out_ptr + i, tl.gather(x, (i + 1) % N, 0))
    elif WHICH == "gather outside and masked":
        tl.store(out_ptr + i, tl.where(i + 1 < N, tl.gather(x, i + 1, 0), 0.0))
    elif WHICH == "hint of a mask":
        tl.store(out_ptr + i, x, mask=i < tl.multiple_of(n + 0, 16))
    elif WHICH == "hint of pointers":
        tl.store(out_ptr + tl.max_contiguous(i * 3 % N, 8), x)
    elif WHICH == "hint of masked pointers":
        tl.store(out_ptr + tl.max_contiguous(i * 3 % N, 8), x, mask=i < n)
    elif WHICH == "true hint":
        tl.store(out_ptr + tl.multiple_of(tl.max_contiguous(i, 8), 8), x)
    else:
        tl.static_assert(False)


# What a first run says, and whether another order leaves something else.
@each_row(("which", "what", "differs"), [
    ("two lanes", {"lanes"}, True), ("two lanes alike", set(), False),
    ("reshape", {"reorder"}, False), ("reshape in order", set(), False), ("reshape of a sum", set(), False),
    ("first of a reduction", {"reduction"}, True), ("reduction", set(), False),
    ("reduction of two", {"reduction"}, False), ("scan", set(), False),
    ("gather outside", {"index"}, True), ("gather", set(), False), ("gather outside and masked", {"index"}, False),
    ("hint of a mask", {"hint"}, True), ("hint of pointers", {"hint"}, True),
    ("hint of masked pointers", set(), False), ("true hint", set(), False),
])
def test_what_may_come_out_otherwise(which: str, what: set[str], differs: bool) -> None:
    outputs = []
    for order in ORDERS:
        x, out = torch.randperm(N, generator=torch.Generator().manual_seed(1)).float(), torch.zeros(N)
        seen = simulate(chances_kernel, (1,), x, out, 45, order=order, WHICH=which, N=N)
        outputs.append(out)
        assert not found(seen)
        assert {one.what for one in found(seen, open=True)} - {"reorder"} == what - {"reorder"}
    assert torch.equal(*outputs) != differs or which == "reshape"


def test_another_order_is_taken_where_it_is_asked_for() -> None:
    x = torch.arange(N).float()
    line = found(simulate(chances_kernel, (1,), x, torch.zeros(N), 45, WHICH="gather outside", N=N), open=True)[0].line
    lasts = []
    for order in (EVERYWHERE, Where(lines=[line]), Where(lines=[line + 1]), PROGRAMS):
        out = torch.zeros(N)
        simulate(chances_kernel, (1,), x, out, 45, order=order, WHICH="gather outside", N=N)
        lasts.append(float(out[-1]))
    assert lasts == [0, 0, N - 1, N - 1]


@triton.jit
def rounds_kernel(x_ptr, scratch_ptr, out_ptr, ROUNDS: tl.constexpr, STAGES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(scratch_ptr + i, tl.load(x_ptr + i))
    for number in tl.range(0, ROUNDS, num_stages=STAGES):
        at = number * BLOCK + i
        x = tl.load(scratch_ptr + at)
        tl.store(scratch_ptr + at + BLOCK, x + 1)
        tl.store(out_ptr + at, x)


@pytest.mark.parametrize(("stages", "sees"), [(1, [0, 1, 2, 3]), (2, [0, -1, -1, -1])])
def test_a_pipelined_loop_loads_before_it_stores(stages: int, sees: list[int]) -> None:
    """With more than one stage a load finds what was there when the round before began."""
    for order, expected in zip(ORDERS, ([0, 1, 2, 3], sees), strict=True):
        scratch, out = torch.full((80,), -1.0), torch.zeros(64)
        seen = simulate(rounds_kernel, (1,), torch.zeros(16), scratch, out, order=order, ROUNDS=4, STAGES=stages,
                        BLOCK=16)
        assert out[::16].tolist() == expected
        assert [one.what for one in found(seen, open=True)] == ["pipeline"] * (stages > 1)


@triton.jit
def turned_kernel(x_ptr, scratch_ptr, out_ptr, BARRIER: tl.constexpr, TURNED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(scratch_ptr + i, tl.load(x_ptr + i))
    if BARRIER:
        tl.debug_barrier()
    tl.store(out_ptr + i, tl.load(scratch_ptr + (BLOCK - 1 - i if TURNED else i)))


@pytest.mark.parametrize(("barrier", "turned", "warps", "told"), [
    (False, True, 4, ["barrier"]), (False, True, 1, ["warp"]), (True, True, 4, []), (False, False, 4, [])])
def test_what_another_lane_has_stored_is_there_behind_a_barrier(
    barrier: bool, turned: bool, warps: int, told: list[str]
) -> None:
    """On an H200 32 of 256 elements were not, of another warp's."""
    x, out = torch.randn(N), poison(N)
    seen = found(simulate(turned_kernel, (1,), x, torch.zeros(N), out, options={"num_warps": warps}, BARRIER=barrier,
                          TURNED=turned, BLOCK=N))
    assert [one.what for one in seen] == told
    assert torch.equal(out, x.flip(0) if turned else x)


@triton.jit
def relaxed_kernel(parts_ptr, tickets_ptr, out_ptr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    tl.store(parts_ptr + tl.program_id(0), 1.0)
    if tl.atomic_add(tickets_ptr, 1, sem=SEM, scope=SCOPE) == 7:
        tl.store(out_ptr, tl.sum(tl.load(parts_ptr + tl.arange(0, 8)), 0))


@pytest.mark.parametrize(("sem", "scope"), [("relaxed", "gpu"), ("acq_rel", "cta"), ("acquire", "gpu"),
                                            ("acq_rel", "gpu"), ("acq_rel", "sys")])
def test_atomics_that_order_nothing_are_told_of_where_they_are_relied_on(sem: str, scope: str) -> None:
    tickets = torch.zeros(1, dtype=torch.int32)
    seen = found(simulate(relaxed_kernel, (8,), torch.zeros(8), tickets, poison(1), SEM=sem, SCOPE=scope))
    assert [one.what for one in seen] == ["relaxed"] * ((sem, scope) not in (("acq_rel", "gpu"), ("acq_rel", "sys")))


def test_programs_run_in_another_order_where_they_share_memory() -> None:
    x, out, other = torch.randn(32, 16), poison(32), poison(32)
    simulate(total_kernel, (32,), x, torch.zeros(32), out, EARLY=True, BLOCK=16)
    simulate(total_kernel, (32,), x, torch.zeros(32), other, order=EVERYWHERE, EARLY=True, BLOCK=16)
    # All read what the first four store: these come last in the other order.
    close(out, x[:4].sum().expand(32))
    assert (other[8:] == 0).all()
    tickets, out = torch.zeros(1, dtype=torch.int32), poison(1)
    seen = simulate(ticket_kernel, (8,), x[:8], torch.zeros(8), tickets, out, order=PROGRAMS, BLOCK=16, ORDERED=True)
    right(seen)
    close(out[0], x[:8].sum())
    assert [one.what for one in found(seen, open=True)] == ["ticket"]


@pytest.mark.parametrize(("programs", "warps", "fit"), [(16, 4, True), (2112, 4, True), (2113, 4, False)])
def test_programs_that_wait_for_more_than_fit_do_not_end(programs: int, warps: int, fit: bool) -> None:
    arrivals = torch.zeros(1, dtype=torch.int32)
    result = simulate(barrier_kernel, (programs,), torch.zeros(programs), arrivals, poison(programs, 16), device=HOPPER,
                      options={"num_warps": warps}, ALL=programs, BLOCK=16)
    if fit:
        right(result)
    else:
        assert isinstance(result, Exhausted) and (result.what, result.resident) == ("stalled", 2112)


@triton.jit
def described_kernel(x_ptr, out_ptr, stride, skipped, USED: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr + skipped, [4, 8], [stride, 1], [4, 8])
    x = tl.zeros((4, 8), tl.float32)
    if USED:
        x = source.load([0, 0])
    tl.store(out_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :], x)


@each_row(("stride", "skipped", "used", "device", "taken"), [
    (8, 0, True, "sm_90", True), (9, 0, True, "sm_90", False), (8, 4, True, "sm_90", True),
    (8, 3, True, "sm_90", False), (9, 0, False, "sm_90", True), (9, 0, True, "sm_80", True)])
def test_a_descriptor_that_no_device_takes(stride: int, skipped: int, used: bool, device: str, taken: bool) -> None:
    seen = found(simulate(described_kernel, (1,), torch.zeros(80), poison(4, 8), stride, skipped,
                          device=TARGETS[device], USED=used))
    assert [one.what for one in seen] == ["descriptor"] * (not taken)


@triton.jit
def dependent_kernel(x_ptr, out_ptr, WAITS: tl.constexpr, AHEAD: tl.constexpr, N: tl.constexpr):
    if WAITS:
        tl.inline_asm_elementwise("griddepcontrol.wait; // dummy $0", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    if AHEAD:
        tl.inline_asm_elementwise("griddepcontrol.launch_dependents; // dummy $0", "=r", [], dtype=tl.int32,
                                  is_pure=False, pack=1)
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + 1)


@pytest.mark.parametrize(("waits", "ahead", "programmatic", "what"), [
    (False, True, True, ["unwaited"]), (False, False, True, ["visible"]), (True, True, True, []),
    (False, True, False, [])])
def test_a_launch_ahead_of_the_one_before_has_to_wait(
    waits: bool, ahead: bool, programmatic: bool, what: list[str]
) -> None:
    x, out = torch.zeros(N), poison(N)
    one, memories = planned(dependent_kernel, (1,), x, out, WAITS=False, AHEAD=ahead, N=N)
    other, _ = planned(dependent_kernel, (1,), x, out, WAITS=waits, AHEAD=False, N=N)
    launch: Any = one.first[0]
    x_ptr, out_ptr = launch.arguments
    between = out_ptr.model_copy(update={"buffer": 2})
    plan = Plan(buffers=[*one.buffers, Buffer(bytes=4 * N)], kernels=[*one.kernels, *other.kernels], first=[
        launch.model_copy(update={"arguments": [x_ptr, between]}),
        Launch(kernel=1, grid=(1, 1, 1), block=launch.block, programmatic=programmatic, arguments=[between, out_ptr])])
    seen = run(plan, memories, outputs=["out_ptr"], mode=Mode(device=HOPPER))
    assert [each.what for each in found(seen)] == what
    assert (out == 2).all() and memories[1] is not memory(x)


@pytest.mark.parametrize("twice", [(), (0,)])
def test_a_launch_is_made_twice_where_that_is_asked_for(twice: tuple[int, ...]) -> None:
    x = torch.zeros(N)
    plan, memories = planned(dependent_kernel, (1,), x, x, WAITS=False, AHEAD=False, N=N)
    launch: Any = plan.first[0]
    plan = plan.model_copy(update={"buffers": plan.buffers[:1], "first": [
        launch.model_copy(update={"arguments": [launch.arguments[0]] * 2})]})
    run(plan, memories[:1], mode=Mode(options=RunOptions(twice=list(twice))))
    assert (x == 1 + len(twice)).all()


@triton.jit
def waiting_kernel(arrived_ptr, out_ptr, n, HOW: tl.constexpr):
    tl.atomic_add(arrived_ptr, 1)
    if HOW == "plain":
        while tl.load(arrived_ptr) < n:
            pass
    elif HOW == "volatile":
        while tl.load(arrived_ptr, volatile=True) < n:
            pass
    else:
        at = 0
        while tl.load(arrived_ptr + at) > n:
            at += 1
    tl.assume(n > 4)
    tl.store(out_ptr + tl.program_id(0), 1.0)


@pytest.mark.parametrize(("how", "n", "told"), [
    ("plain", 8, ["spin"]), ("volatile", 8, []), ("search", 8, []), ("volatile", 4, ["assume"])])
def test_a_loop_that_a_compiler_takes_out_and_what_does_not_hold(how: str, n: int, told: list[str]) -> None:
    arrived = torch.zeros(8, dtype=torch.int32)
    seen = found(simulate(waiting_kernel, (n,), arrived, poison(8), n, HOW=how))
    assert [one.what for one in seen if isinstance(one, UndefinedBehaviour)] == told
