"""Plans with a launch of each kind, and slots on the GPU to run them on."""

from collections.abc import Mapping
from typing import Any

import torch

from grader.judging.running.arena import Arena, Piece
from grader.judging.running.execution import GpuFailure
from grader.plan.compiled import Binary
from grader.plan.messages import GivenTensor
from grader.plan.plan import Buffer, Copy, Descriptor, Fill, Float, Kernel, Plan
from tests.device import kernels
from tests.device.kernels import buffer, built, given, i32, launch, plan_of, whole

N = 1000
BLOCK = 128
SECONDS = 20.0
Slots = list[dict[str, Piece]]


def slots_of(inputs: list[GivenTensor], outputs: list[GivenTensor], number: int) -> tuple[Slots, Arena, Arena]:
    """Slots, the arena of their inputs, full of random numbers, and that of their outputs, full of NaN."""
    read, written = Arena(inputs * number), Arena(outputs * number, guard="secret")
    for piece in read.pieces:
        piece.tensor.copy_(torch.randn(piece.tensor.shape))
    for piece in written.pieces:
        piece.tensor.fill_(float("nan"))
    read.guard()
    written.guard()
    slots = [
        {tensor.name: piece for tensor, piece in zip(
            [*inputs, *outputs],
            [*read.pieces[i * len(inputs) : (i + 1) * len(inputs)],
             *written.pieces[i * len(outputs) : (i + 1) * len(outputs)]], strict=True)}
        for i in range(number)]
    return slots, read, written


def done(answer: Any) -> Any:
    assert not isinstance(answer, GpuFailure), answer
    return answer


def scaled() -> tuple[Plan, list[Binary]]:
    kernel, binary = built(
        kernels.scale, {"x": "*fp32", "out": "*fp32", "n": "i32", "factor": "fp32"}, {"BLOCK": BLOCK})
    x, out = given("x", N), given("out", N, output=True)
    return plan_of([kernel], [buffer(x), buffer(out)], [launch(0, (8,), 0, 1, i32(N), Float(value=2.0))]), [binary]


def descriptors(n: int) -> list[Descriptor]:
    return [Descriptor(view=whole(i, n, n, dtype="float16"), block=[64, 64]) for i in range(2)]


def kinds() -> Mapping[str, tuple[list[tuple[Kernel, Binary]], list[GivenTensor], list[Buffer], list[Any], Any]]:
    """Plans by name: kernels, given tensors, temporaries, operations, and the right answer."""
    n, pointer, tile = 256, "*fp16", "tensordesc<fp16[64, 64]>"
    square = [given("x", n, n, dtype="float16"), given("out", n, n, dtype="float16", output=True)]
    line = [given("x", N), given("out", N, output=True)]
    temporary = Buffer(bytes=4 * N)
    scale = {"x": "*fp32", "out": "*fp32", "n": "i32", "factor": "fp32"}
    return {
        "plain": ([built(kernels.scale, scale, {"BLOCK": BLOCK})], line, [],
                  [launch(0, (8,), 0, 1, i32(N), Float(value=2.0))], lambda x: x * 2),
        "a copy that converts": (
            [built(kernels.scale, scale, {"BLOCK": BLOCK})],
            [given("x", N), given("out", N, dtype="float16", output=True)], [temporary],
            [launch(0, (8,), 0, 2, i32(N), Float(value=2.0)),
             Copy(source=whole(2, N), target=whole(1, N, dtype="float16"))], lambda x: (x * 2).half()),
        "host descriptors": (
            [built(kernels.host_descriptor, dict.fromkeys(("x", "out"), tile), {"BLOCK": 64})],
            square, [], [launch(0, (4, 4), *descriptors(n))], lambda x: x * 2),
        "device descriptors": (
            [built(kernels.device_descriptor, {"x": pointer, "out": pointer, "rows": "i32", "columns": "i32"},
                   {"BLOCK": 64})],
            square, [], [launch(0, (4, 4), 0, 1, i32(n), i32(n))], lambda x: x * 2),
        "programmatic": (
            [built(kernel, {a: "*fp32", b: "*fp32", "n": "i32"}, {"BLOCK": BLOCK}, launch_pdl=True)
             for kernel, a, b in ((kernels.produce, "x", "middle"), (kernels.consume, "middle", "out"))],
            line, [temporary], [launch(0, (8,), 0, 2, i32(N)), launch(1, (8,), 2, 1, i32(N))], lambda x: (x + 1) * 2),
        "cooperative": (
            [built(kernels.meet, {"x": "*fp32", "out": "*fp32", "total": "*fp32", "counter": "*i32", "n": "i32",
                                  "programs": "i32"}, {"BLOCK": BLOCK}, launch_cooperative_grid=True)],
            line, [Buffer(bytes=4), Buffer(bytes=4)],
            [Fill(target=whole(2, 1), value=0.0), Fill(target=whole(3, 1, dtype="int32"), value=0),
             launch(0, (8,), 0, 1, 2, 3, i32(N), i32(8))], lambda x: x.sum().expand_as(x)),
        "clusters": ([built(kernels.scale, scale, {"BLOCK": BLOCK}, num_ctas=2)], line, [],
                     [launch(0, (8,), 0, 1, i32(N), Float(value=2.0))], lambda x: x * 2),
        "shared memory": (
            [built(kernels.matmul, {"a": pointer, "b": pointer, "out": pointer},
                   {"K": n, "BLOCK": 128, "DEPTH": 64}, num_stages=4, num_warps=8)],
            square, [], [launch(0, (2, 2), 0, 0, 1)], lambda x: (x.float() @ x.float()).half()),
    }  # fmt: skip
