"""Kernels in Gluon: what a plan has of them, and what is refused, with what to write."""

from typing import cast

import pytest

from grader.judging.explain import explain_stop
from grader.plan.messages import Failed
from grader.plan.plan import Integer, Launch, Plan
from tests.languages.triton.planner.harness import assignment_of, plan_file
from tests.rows import beside, each_row

DATA = beside(__file__)
HEAD: str = DATA["head"]


def planned(call: str) -> Plan | Failed:
    found = plan_file(f"{HEAD}def silu(x, out):\n    {call}\n", "silu", assignment_of("silu").cases[2])
    assert isinstance(found, Plan | Failed), found
    return found


def test_a_launch_has_what_its_compiler_asks_for() -> None:
    found = planned("kernel[(3,)](x, out, x.numel(), 0.5, BLOCK=256)")
    assert isinstance(found, Plan), found
    (kernel,), (launch,) = found.kernels, cast("list[Launch]", found.first)
    assert (kernel.language, kernel.name, kernel.line) == ("cuda", "kernel", 14)
    assert ".target sm_90a\n" in kernel.text and "submission.py" in kernel.text
    # A word for each warp's sum; then no scratch memory.
    assert (launch.grid, launch.block, launch.shared) == ((3, 1, 1), (128, 1, 1), 16)
    assert launch.arguments[-2:] == [Integer(type="u64", value=0)] * 2 and len(launch.arguments) == 6


@each_row(("call", "said"), DATA["refused"])
def test_what_no_plan_has_is_refused_with_what_to_write(call: str, said: str) -> None:
    found = planned(call)
    assert isinstance(found, Failed) and found.failure == "unsupported", found
    assert said in found.message and found.line, found


@each_row(("line", "said"), DATA["lines"])
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
    (launch,) = cast("list[Launch]", found.first)
    assert launch.arguments[-3] == Integer(type="u16", value={"fp16": 0x3E00, "bf16": 0x3FC0}[dtype])
