"""Kernels in Gluon: what a plan has of them, and what is refused, with what to write."""

from __future__ import annotations

from typing import cast

import pytest

from grader.judging.explain import explain_stop
from grader.plan.messages import Failed
from grader.plan.plan import Integer, Launch, Plan
from tests.languages.triton.planner.harness import assignment_of, plan_file
from tests.rows import each_row

HEAD = """
import torch
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

# Triton 3.9 has another name for it.
async_load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared

@gluon.jit
def kernel(x_ptr, out_ptr, n, scale, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    x = gl.load(x_ptr + offsets, mask=offsets < n)
    gl.store(out_ptr + offsets, x * gl.sum(x, axis=0) * scale, mask=offsets < n)

@gluon.jit
def described(x_desc, out_ptr):
    gl.store(out_ptr, 0.0)

@gluon.jit
def describes(x_ptr, out_ptr):
    described = tma.make_tensor_descriptor(x_ptr, [64, 64], [64, 1], [16, 64], gl.NVMMASharedLayout(128, 32, 2))
    tile = gl.allocate_shared_memory(gl.float32, [16, 64], described.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, 4096)
    async_load(described, [0, 0], bar, tile)
    mbarrier.wait(bar, 0)

@triton.jit
def in_triton(out_ptr):
    tl.store(out_ptr, 0.0)

"""


def planned(call: str) -> Plan | Failed:
    found = plan_file(f"{HEAD}def silu(x, out):\n    {call}\n", "silu", assignment_of("silu").cases[2])
    assert isinstance(found, Plan | Failed), found
    return found


def test_a_launch_has_what_its_compiler_asks_for() -> None:
    found = planned("kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256)")
    assert isinstance(found, Plan), found
    (kernel,), (launch,) = found.kernels, cast(list[Launch], found.first)
    assert (kernel.language, kernel.name, kernel.line) == ("cuda", "kernel", 14)
    assert ".target sm_90a\n" in kernel.text and "submission.py" in kernel.text
    # A word for each warp's sum; then no scratch memory.
    assert (launch.grid, launch.block, launch.shared) == ((3, 1, 1), (128, 1, 1), 16)
    assert launch.arguments[-2:] == [Integer(type="u64", value=0)] * 2 and len(launch.arguments) == 6


@each_row(("call", "said"), [
    ("kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256, num_ctas=2)", "leave num_ctas and launch_pdl out"),
    ("kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256, launch_pdl=True)", "leave num_ctas and launch_pdl out"),
    ("described[(1,)](TensorDescriptor.from_tensor(torch.empty(16, 64, device='cuda'), [16, 64], "
     "gl.NVMMASharedLayout.get_default_for([16, 64], gl.float32)), out)", "pass the tensor, and load with gl.load"),
    ("describes[(1,)](x, out)", "load with gl.load or async_copy"),
    ("kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256); in_triton[(1,)](out)", "write all of them in one language"),
    ("in_triton[(1,)](out); kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256)", "write all of them in one language"),
])
def test_what_no_plan_has_is_refused_with_what_to_write(call: str, said: str) -> None:
    found = planned(call)
    assert isinstance(found, Failed) and found.failure == "unsupported", found
    assert said in found.message and found.line, found


@each_row(("line", "said"), [
    ("y = gl.dot(x, x)", "Gluon has no dot: multiply tiles with mma_v2 of triton.experimental.gluon"),
    ("y = gl.trans(x)", "Gluon has no trans: gl.permute(tile, (1, 0)) transposes a tile."),
    ("gl.debug_barrier()", "Gluon has no debug_barrier: its barrier is gl.thread_barrier()"),
    ("y = dot(x, x)", "Gluon has no dot"),
    ("y = torch.exp(x)", "use Gluon only (gl.exp, gl.sum, gl.where ...)"),
    ("y = ordinary(x)", "put @gluon.jit above ordinary"),
    ("y = x[0]", "load with gl.load(pointer + offsets, mask)"),
])
def test_a_kernel_that_does_not_compile_has_a_hint_in_gluons_words(line: str, said: str) -> None:
    source = HEAD.replace("    gl.store(out_ptr + offsets", f"    {line}\n    gl.store(out_ptr + offsets", 1)
    source += ("def ordinary(x):\n    return x\n\n"
               "def silu(x, out):\n    kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256)\n")
    assignment = assignment_of("silu")
    failed = plan_file(source, "silu", assignment.cases[2])
    assert isinstance(failed, Failed), failed
    assert said in (hint := explain_stop(assignment, source, failed).hint) and "tl." not in hint, hint


def test_a_program_with_more_shared_memory_than_the_gpu_has_does_not_start() -> None:
    source = HEAD.replace("    x = gl.load", "    tile = gl.allocate_shared_memory(gl.float32, [1 << 16], "
                          "gl.SwizzledSharedLayout(1, 1, 1, [0]))\n    tile.store(gl.full([1 << 16], 0.0, gl.float32, "
                          "layout))\n    gl.store(out_ptr + gl.arange(0, 1 << 16, layout=layout), tile.load(layout))\n"
                          "    x = gl.load")
    found = plan_file(f"{source}def silu(x, out):\n    kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256)\n", "silu")
    assert isinstance(found, Failed) and "out of resource: shared memory, Required: 262" in found.message, found


@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
def test_narrow_numbers_are_passed_as_their_bits(dtype: str) -> None:
    source = HEAD.replace("n, scale,", f'n, scale: "{dtype}",')
    found = plan_file(f"{source}def silu(x, out):\n    kernel[(3,)](x, out, x.numel(), 1.5, BLOCK=256)\n", "silu")
    assert isinstance(found, Plan), found
    (launch,) = cast(list[Launch], found.first)
    assert launch.arguments[-3] == Integer(type="u16", value={"fp16": 0x3E00, "bf16": 0x3FC0}[dtype])
