"""CUDA kernels in an executor: shared memory beside what they declare, structures, variables of the file, and all
blocks at the same time."""

import base64
import time
from typing import Any

import pytest
import torch

from grader.judging.running.device import properties
from grader.judging.running.execution import Executor, GpuFailure
from grader.languages.cuda.confined.compiler.main import compile_kernel
from grader.plan.compiled import Binary
from grader.plan.plan import Buffer, Data, Fill, InnerPointer, Launch, Plan, Pointer, Structure
from tests.device.kernels import buffer, given, i32, whole
from tests.gpu.plans import SECONDS, N, done, slots_of
from tests.languages.cuda.compiling import kernels_of, needs_nvcc

pytestmark = [needs_nvcc, pytest.mark.gpu, pytest.mark.alone, pytest.mark.timeout(120)]

SOURCE = """#include <cooperative_groups.h>
struct Pair { const float *from; float *to; int n; };
__constant__ float factor;
__device__ int arrived;
__global__ void shared(const float *x, float *out, int n, int words) {
  extern __shared__ float more[];
  __shared__ float own[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  own[t] = i < n ? x[i] : 0.f;
  more[words - 1 - t] = own[t];
  __syncthreads();
  if (i < n)
    out[i] = own[t] + more[words - 1 - t];
}
__global__ void structure(Pair p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n)
    p.to[i] = p.from[i] * factor;
}
__global__ void together(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    atomicAdd(&arrived, 1);
  cooperative_groups::this_grid().sync();
  if (i < n)
    out[i] = x[i] * (arrived == gridDim.x ? 2.f : 0.f);
}
"""
WORDS = 25_600
BLOCKS = (8, 1, 1)


@pytest.fixture(scope="module")
def compiled() -> dict[str, tuple[Any, Binary]]:
    target = properties().target
    found = {}
    for name, kernel in kernels_of(SOURCE).items():
        binary = compile_kernel(kernel, target, 60, time.monotonic() + 60)
        assert isinstance(binary, Binary), binary
        found[name] = kernel, binary
    return found


def _launch(*arguments: Any, **more: Any) -> Launch:
    return Launch(kernel=0, grid=BLOCKS, block=(128, 1, 1), arguments=list(arguments), line=7, **more)


def _pair() -> Structure:
    contents = bytes(16) + N.to_bytes(4, "little") + bytes(4)
    return Structure(contents=base64.b64encode(contents).decode(), pointers=[
        InnerPointer(at=0, buffer=0), InnerPointer(at=8, buffer=1)])


X, OUT, VARIABLE = Pointer(buffer=0), Pointer(buffer=1), Pointer(buffer=2)
TWO = base64.b64encode(b"\0\0\0\x40").decode()
CASES: dict[str, tuple[list[Buffer], list[Any]]] = {
    "shared": ([], [_launch(X, OUT, i32(N), i32(WORDS), shared=4 * WORDS)]),
    "structure": ([Buffer(bytes=4)], [Data(buffer=2, contents=TWO), _launch(_pair(), VARIABLE)]),
    "together": ([Buffer(bytes=4)], [
        Fill(target=whole(2, 1, dtype="int32"), value=0), _launch(X, OUT, i32(N), VARIABLE, cooperative=True)]),
}


def _plan(kernel: Any, buffers: list[Buffer], operations: list[Any]) -> Plan:
    tensors = [given("x", N), given("out", N, output=True)]
    return Plan(buffers=[*map(buffer, tensors), *buffers], kernels=[kernel], first=operations)


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_run_and_replayed(
    name: str, executor: Executor, compiled: dict[str, tuple[Any, Binary]],
) -> None:
    kernel, binary = compiled[name]
    slots, read, written = slots_of([given("x", N)], [given("out", N, output=True)], 2)
    program = done(executor.load(_plan(kernel, *CASES[name]), [binary]))
    done(executor.bind(slots))
    for number in range(2):
        assert done(executor.run(program, number, seconds=SECONDS)) == []
    captured = done(executor.capture(program, [1, 0], seconds=SECONDS))
    assert done(executor.replay(captured, seconds=SECONDS)).device > 0
    for slot in slots:
        torch.testing.assert_close(slot["out"].tensor, slot["x"].tensor * 2)
    assert read.overruns() == written.overruns() == []


def test_a_launch_that_asks_for_more_shared_memory_than_there_is_fails(
    executor: Executor, compiled: dict[str, tuple[Any, Binary]],
) -> None:
    kernel, binary = compiled["shared"]
    slots, _, _ = slots_of([given("x", N)], [given("out", N, output=True)], 1)
    words = 64 << 10
    program = done(executor.load(
        _plan(kernel, [], [_launch(X, OUT, i32(N), i32(words), shared=4 * words)]), [binary]))
    done(executor.bind(slots))
    failure = executor.run(program, 0, seconds=SECONDS)
    assert isinstance(failure, GpuFailure) and failure.kind == "out_of_resources" and failure.line == 7
    assert f"{4 * words:,} bytes of shared memory" in failure.message


