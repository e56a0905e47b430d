# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""The process that serves: requests over a channel, memory in files; copies, fills and contents besides launches."""

import base64
import os
import struct
import threading
import time
from typing import Any, Literal

import numpy as np
import torch
import triton
import triton.language as tl

from grader.device import guards
from grader.languages.triton.confined.simulator.main import prepare, run, serve
from grader.plan.findings import UnwrittenAccess
from grader.plan.frames import Channel, socket_pair
from grader.plan.messages import SIMULATOR_REPLY, CannotSimulate, Simulate, Simulated
from grader.plan.plan import CAST, Buffer, Copy, Data, DType, Fill, Launch, Plan, Pointer, View, write_plan
from tests.languages.triton.simulator.harness import memory, planned, poison
from tests.rows import each_row


@triton.jit
def count_kernel(x_ptr, calls_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    calls = tl.load(calls_ptr) + 1
    tl.store(calls_ptr, calls)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes) * calls)


def counting(steady: bool) -> Plan:
    """x times the number of the call, which a temporary keeps."""
    plan, _ = planned(count_kernel, (1,), torch.zeros(16), torch.zeros(1), torch.zeros(16), BLOCK=16)
    buffers = [plan.buffers[0], Buffer(bytes=4), plan.buffers[2]]
    zero = Fill(target=View(buffer=1, shape=[1], strides=[1], dtype="float32"), value=0)
    return Plan(buffers=buffers, kernels=plan.kernels, setup=[zero], first=plan.first,
                steady=plan.first if steady else None)  # fmt: skip


def file(contents: bytes) -> int:
    descriptor = os.memfd_create("simulator")
    os.write(descriptor, contents)
    return descriptor


def test_a_call_is_answered_over_a_channel_and_the_steady_one_finds_what_the_first_left() -> None:
    ours, theirs = socket_pair()
    server = threading.Thread(target=serve, args=(Channel(theirs),))
    server.start()
    channel = Channel(ours)
    text = write_plan(counting(steady=True))
    x = np.arange(16, dtype=np.float32)
    blank = np.full(16, np.nan, np.float32)

    def ask(call: Literal[0, 1], *given: bytes) -> tuple[Any, list[Any]]:
        files = [file(text), *(file(each) for each in given)]
        channel.send(Simulate(seq=call + 5, bytes=len(text), call=call, outputs=["out_ptr"], operations=10**7), files)
        reply = channel.receive(SIMULATOR_REPLY, seq=call + 5, deadline=time.monotonic() + 60)
        left = [np.frombuffer(os.pread(file, 64, 0).ljust(64), np.float32) for file in files[1:]]
        for each in files:
            os.close(each)
        return reply, left

    reply, left = ask(0, x.tobytes(), blank.tobytes())
    assert isinstance(reply, Simulated)
    assert np.array_equal(left[1], x)
    reply, left = ask(1, (x + 1).tobytes(), blank.tobytes(), x.tobytes(), blank.tobytes())
    assert isinstance(reply, Simulated)
    assert np.array_equal(left[1], x + 1)
    assert np.array_equal(left[3], x * 2)
    reply, _ = ask(0, x.tobytes())
    assert isinstance(reply, CannotSimulate)
    reply, _ = ask(0, x.tobytes(), b"short")
    assert isinstance(reply, CannotSimulate)
    ours.close()
    server.join(30)
    assert not server.is_alive()
    theirs.close()


def test_buffers_are_filled_copied_and_given_contents() -> None:
    x, out = torch.arange(12.0), torch.zeros(12)
    contents = base64.b64encode(struct.pack("3h", 5, -6, 7)).decode()
    plan = Plan(
        buffers=[Buffer(bytes=48, given="x"), Buffer(bytes=48, given="out"), Buffer(bytes=64)], kernels=[],
        first=[
            # Every second column of x as three rows, transposed.
            Copy(source=View(buffer=0, shape=[3, 2], strides=[4, 2], dtype="float32"),
                 target=View(buffer=1, shape=[3, 2], strides=[1, 3], dtype="float32")),
            Fill(target=View(buffer=1, offset=24, shape=[2], strides=[1], dtype="int16"), value=-3),
            Fill(target=View(buffer=1, offset=28, shape=[2], strides=[1], dtype="bfloat16"), value=1.01),
            Fill(target=View(buffer=1, offset=32, shape=[2], strides=[1], dtype="float16"), value=1e9),
            Fill(target=View(buffer=1, offset=36, shape=[4], strides=[1], dtype="bool"), value=True),
            Data(buffer=2, contents=contents),
            Copy(source=View(buffer=2, shape=[3], strides=[1], dtype="int16"),
                 target=View(buffer=1, offset=40, shape=[3], strides=[1], dtype="int16")),
        ])  # fmt: skip
    assert isinstance(run(plan, [memory(x), memory(out)]), Simulated)
    assert out[:6].tolist() == [0, 4, 8, 2, 6, 10]
    assert out[6:7].view(torch.int16).tolist() == [-3, -3]
    assert out[7:8].view(torch.bfloat16).tolist() == [1.0078125, 1.0078125]
    assert out[8:9].view(torch.float16).tolist() == [float("inf")] * 2
    assert out[9:10].view(torch.uint8).tolist() == [1] * 4
    assert out[10:].view(torch.int16).tolist() == [5, -6, 7, 0]


@each_row("of", sorted(CAST))
@each_row("to", sorted(CAST))
def test_a_copy_converts_as_pytorch_does(of: DType, to: DType) -> None:
    # Numbers between two of a shorter type, some of which rounding twice takes to another.
    torch.manual_seed(0)
    numbers = torch.cat([torch.randn(500, dtype=torch.float64) * 10.0 ** torch.randint(-9, 9, (500,)), torch.tensor(
        [0.0, -0.0, 1 + 2**-11 + 2**-40, 65_519.0, 65_520.0, 1e300, float("inf"), float("nan")], dtype=torch.float64)])
    given = numbers.to(guards.torch_dtype(of))
    right = given.to(guards.torch_dtype(to))
    out = torch.zeros_like(right)
    view = View(buffer=0, shape=[len(given)], strides=[1], dtype=of)
    plan = Plan(
        buffers=[Buffer(bytes=given.nbytes, given="x"), Buffer(bytes=out.nbytes, given="out")], kernels=[],
        first=[Copy(source=view, target=view.model_copy(update={"buffer": 1, "dtype": to}))])
    assert isinstance(run(plan, [memory(given), memory(out)]), Simulated)
    assert torch.equal(out.nan_to_num(7.5), right.nan_to_num(7.5)) and torch.equal(out.isnan(), right.isnan())


def test_a_copy_that_converts_keeps_what_is_unwritten() -> None:
    out = torch.zeros(2, dtype=torch.float16)
    whole = View(buffer=1, shape=[2], strides=[1], dtype="float32")
    plan = Plan(
        buffers=[Buffer(bytes=4, given="out"), Buffer(bytes=8)], kernels=[],
        first=[Fill(target=whole.model_copy(update={"shape": [1]}), value=2.5),
               Copy(source=whole, target=View(buffer=0, shape=[2], strides=[1], dtype="float16"), line=3)])
    found = run(plan, [memory(out)], outputs=["out"])
    assert isinstance(found, Simulated)
    assert [(one.line, one.lanes) for one in found.findings if isinstance(one, UnwrittenAccess)] == [(3, 1)]
    assert out[0] == 2.5 and out[1].isnan()


def test_a_view_that_reaches_out_of_its_buffer_is_refused() -> None:
    for strides, offset in (([5, 1], 0), ([4, 1], 4), ([1 << 60, 1], 0)):
        view = View(buffer=0, offset=offset, shape=[3, 4], strides=strides, dtype="float32")
        plan = Plan(buffers=[Buffer(bytes=48, given="x")], kernels=[], first=[Fill(target=view, value=1)])
        x = torch.zeros(12)
        assert isinstance(run(plan, [memory(x)]), CannotSimulate)
        assert not x.any()


def test_prepare_starts_no_thread() -> None:
    before = threading.active_count()
    prepare()
    assert threading.active_count() == before
    assert torch.get_num_threads() == 1


def test_a_launch_on_a_view_of_a_buffer() -> None:
    plan, _ = planned(count_kernel, (1,), torch.zeros(16), torch.zeros(1), torch.zeros(16), BLOCK=16)
    launch = plan.first[0]
    assert isinstance(launch, Launch)
    moved = launch.model_copy(update={"arguments": [Pointer(buffer=0, offset=64), Pointer(buffer=0, offset=128),
                                                    Pointer(buffer=1, offset=4)]})
    x, out = torch.arange(40.0), poison(17)
    made = Plan(
        buffers=[Buffer(bytes=160, given="x"), Buffer(bytes=68, given="out")], kernels=plan.kernels, first=[moved])
    assert isinstance(run(made, [memory(x), memory(out)]), Simulated)
    assert torch.equal(out[1:], torch.arange(16.0, 32.0) * 33)
    assert out[0].isnan()
