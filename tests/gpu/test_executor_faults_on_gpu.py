"""A kernel that fails on the GPU costs its executor, which says how it failed; the judge and the next one live on."""

import time
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.judging.running.execution import Executor, Executors, GpuFailure
from grader.judging.running.fork_servers import LaneForkServer
from grader.judging.running.lane import executor_server
from grader.plan.compiled import Binary
from grader.plan.plan import Buffer, Float, Integer, Launch, Plan, Pointer
from tests.device import kernels
from tests.device.kernels import buffer, built, given, launch, plan_of
from tests.gpu.plans import N, done, kinds, scaled, slots_of

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(120)]


def wild(where: int) -> tuple[Plan, list[Binary]]:
    kernel, binary = built(kernels.wild, {"out": "*fp32", "where": "i64"})
    return plan_of([kernel], [buffer(given("out", N, output=True))], [
        launch(0, (1,), 0, Integer(type="i64", value=where))]), [binary]


def misaligned() -> tuple[Plan, list[Binary]]:
    plan, binaries = scaled()
    moved = plan.first[0]
    assert isinstance(moved, Launch)
    arguments = [Pointer(buffer=0, offset=1), *moved.arguments[1:]]
    return plan.model_copy(update={"first": [moved.model_copy(update={"arguments": arguments})]}), binaries


def failing() -> tuple[Plan, list[Binary]]:
    kernel, binary = built(kernels.failing, {"out": "*fp32"}, {"BLOCK": 128}, debug=True)
    return plan_of([kernel], [buffer(given("out", N, output=True))], [launch(0, (1,), 0)]), [binary]


def endless() -> tuple[Plan, list[Binary]]:
    kernel, binary = built(kernels.endless, {"out": "*fp32"})
    return plan_of([kernel], [buffer(given("out", N, output=True))], [launch(0, (1,), 0)]), [binary]


def too_large_to_meet() -> tuple[Plan, list[Binary]]:
    (compiled, tensors, temporaries, operations, _) = kinds()["cooperative"]
    *fills, start = operations
    plan = plan_of([compiled[0][0]], [*map(buffer, tensors), *temporaries], [
        *fills, start.model_copy(update={"grid": (1 << 20, 1, 1)})])
    return plan, [compiled[0][1]]


def too_much_memory() -> tuple[Plan, list[Binary]]:
    plan, binaries = scaled()
    return plan.model_copy(update={"buffers": [*plan.buffers, Buffer(bytes=1 << 44)]}), binaries


def other_arguments() -> tuple[Plan, list[Binary]]:
    plan, binaries = scaled()
    moved = plan.first[0]
    assert isinstance(moved, Launch)
    arguments = [*moved.arguments[:3], Float(type="fp64", value=2.0)]
    return plan.model_copy(update={"first": [moved.model_copy(update={"arguments": arguments})]}), binaries


@pytest.mark.parametrize(("make", "kind"), [
    (lambda: wild(1 << 40), "illegal_address"), (misaligned, "misaligned_address"), (failing, "launch_failure"),
    (too_large_to_meet, "out_of_resources"), (too_much_memory, "out_of_memory"), (other_arguments, "other"),
    (endless, "time_limit"),
], ids=["illegal", "misaligned", "assertion", "cooperative", "memory", "arguments", "endless"])  # fmt: skip
def test_what_cuda_reports_is_told_and_the_judge_lives_on(executor: Executor, make: Any, kind: str) -> None:
    plan, binaries = make()
    slots, read, _ = slots_of([given("x", N)], [given("out", N, output=True)], 1)
    kept = slots[0]["x"].tensor.clone()
    program = done(executor.load(plan, binaries))
    done(executor.bind(slots))
    started = time.monotonic()
    # The device may be busy with other tests; a kernel without end is not waited for.
    lost = executor.run(program, 0, seconds=1.0 if make is endless else 30.0)
    print(f"{kind}: {time.monotonic() - started:.2f} s, {lost}")
    assert isinstance(lost, GpuFailure)
    assert lost.kind == kind
    if kind not in ("time_limit", "out_of_memory"):
        assert (lost.kernel, lost.line) == (plan.kernels[0].name, 7)
    assert executor.over
    assert torch.equal(slots[0]["x"].tensor, kept)
    assert read.overruns() == []


def test_a_kernel_that_needs_more_shared_memory_than_there_is_is_not_loaded(executor: Executor) -> None:
    n = 1024
    kernel, binary = built(
        kernels.matmul, {"a": "*fp16", "b": "*fp16", "out": "*fp16"}, {"K": n, "BLOCK": 128, "DEPTH": 128},
        num_stages=6, num_warps=8)
    tensors = [given("x", n, n, dtype="float16"), given("out", n, n, dtype="float16", output=True)]
    lost = executor.load(plan_of([kernel], list(map(buffer, tensors)), [launch(0, (8, 8), 0, 0, 1)]), [binary])
    assert isinstance(lost, GpuFailure)
    assert (lost.kind, lost.kernel) == ("out_of_resources", "matmul")
    assert f"{binary.facts.shared:,}" in lost.message


def test_the_next_executor_is_ready_when_one_is_lost(tmp_path: Path) -> None:
    fork_servers = [LaneForkServer(executor_server) for _ in range(2)]
    executors = Executors(tmp_path, fork_servers)
    try:
        for make in (endless, scaled, scaled):
            began = time.monotonic()
            executor = executors.take()
            plan, binaries = make()
            slots, *_ = slots_of([given("x", N)], [given("out", N, output=True)], 1)
            program = done(executor.load(plan, binaries))
            done(executor.bind(slots))
            print(f"ready after {time.monotonic() - began:.2f} s")
            answer = executor.run(program, 0, seconds=1.0)
            assert isinstance(answer, GpuFailure) == (make is endless)
    finally:
        executors.close()
        for fork_server in fork_servers:
            fork_server.close()
