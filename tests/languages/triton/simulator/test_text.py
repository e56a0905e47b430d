# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Text that Triton did not write: refused, or run for what it is, soon, and never with an exception."""

import random
import time
from functools import cache
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.text import read_module
from grader.plan.messages import CannotSimulate, Exhausted, Simulated
from grader.plan.plan import Kernel, Plan
from grader.simulation.memory import Result
from tests.languages.triton.simulator.harness import planned, poison
from tests.rows import each_row

SECONDS = 20


@triton.jit
def loop_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(3):
        total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    while tl.max(total, 0) > 1e9:
        total = total / 2
    if n > 3:
        total += tl.sum(total, 0)
    tl.store(out_ptr + offsets, total, mask=offsets < n)


@cache
def own() -> tuple[Plan, list[Any]]:
    return planned(loop_kernel, (4,), torch.ones(50), poison(50), 50, BLOCK=16)


def changed(text: str | None = None, **kernel: str) -> Result:
    """What comes of a kernel whose text has been replaced."""
    plan, memories = own()
    made = plan.kernels[0].model_copy(update={**kernel, **({} if text is None else {"text": text})})
    started = time.process_time()
    result = run(plan.model_copy(update={"kernels": [made]}), memories, operations=1_000_000_000)
    assert time.process_time() - started < SECONDS
    return result


def honest() -> Kernel:
    return own()[0].kernels[0]


def body(*lines: str, before: str = "") -> str:
    """A module of one function with the entry's name and arguments."""
    return "\n".join([
        "module {", before,
        "  tt.func public @loop_kernel(%x_ptr: !tt.ptr<f32>, %out_ptr: !tt.ptr<f32>, %n: i32) {",
        *lines, "    tt.return", "  }", "}"])  # fmt: skip


def test_the_text_itself_is_run() -> None:
    assert isinstance(changed(), Simulated)
    assert isinstance(changed(body()), Simulated)


@each_row("text", [
    "", "module {", "\x00" * 100, "module {\n}", "}" * 1000, "{" * 100_000, "%" * 100_000, "loc(" * 10_000,
    body("    %0 = arith.constant"), body("    %0 = arith.addi %1, %1 : i32"),
    body("    %0 = arith.constant 1 : i33"),
    body("    %0 = arith.constant " + "9" * 10_000 + " : i32"), body('    %0 = "tt.reduce"(%n) <{axis = 0 : i32}> ({'),
    body("    %0 = arith.constant dense<0> : tensor<1048577xi32>"),
    body("    %0 = arith.constant dense<0> : tensor<" + "1x" * 40 + "i32>"),
    body("    %0 = tt.make_range {end = 2000000 : i32, start = 0 : i32} : tensor<2000000xi32>"),
    body("    %0 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<16xi32>"),
    body("    llvm.call @system(%x_ptr) : (!tt.ptr<f32>) -> ()"), body("    nvvm.exit"),
    body("    %0 = tt.load %n : i32"), body("    tt.store %n, %n : i32"),
    body("    %0 = tt.call @missing(%n) : (i32) -> i32"),
    body("    %0 = tt.call @loop_kernel(%x_ptr, %out_ptr, %n) : (!tt.ptr<f32>, !tt.ptr<f32>, i32) -> i32"),
    body("    %0 = tt.extern_elementwise %n {symbol = \"system\"} : (i32) -> i32"),
    body("    %0 = tt.int_to_ptr %n : i32 -> !tt.ptr<f32>"), body("    cf.br ^bb1", "  ^bb1:", "    cf.br ^bb9"),
    body("    %0 = tt.trans %n {order = array<i32: 5, 6>} : i32 -> i32"), body("    %0 = tt.get_program_id w : i32"),
    body("    %0 = tt.addptr %x_ptr, %x_ptr : !tt.ptr<f32>, !tt.ptr<f32>"),
    body("    %0 = tt.splat %n : i32 -> tensor<16xi32>",
         "    %1 = tt.expand_dims %0 {axis = 9 : i32} : tensor<16xi32> -> tensor<16x1xi32>"),
])  # fmt: skip
def test_malformed_text_cannot_be_simulated(text: str) -> None:
    result = changed(text)
    assert isinstance(result, CannotSimulate), result


@pytest.mark.parametrize("text", [
    "#loc = loc(#loc)\n" + body(), body("    %0 = arith.constant 0x" + "f" * 10_000 + " : i32"),
    body("    tt.return", "    %1 = arith.addi %n, %n : tensor<16xi32>"), body("    %0 = math.exp %n : i32"),
])  # fmt: skip
def test_odd_text_that_harms_nobody_is_run(text: str) -> None:
    assert isinstance(changed(text), Simulated)


def test_regions_and_calls_without_end() -> None:
    deep = [f"{'  ' * level}scf.if %true {{" for level in range(5000)] + ["}"] * 5000
    assert isinstance(changed(body("    %true = arith.constant true", *deep)), CannotSimulate)
    calls = "".join(
        f"  tt.func private @f{n}(%n: i32) -> i32 {{\n    %0 = tt.call @f{n + 1}(%n) : (i32) -> i32\n"
        f"    %1 = tt.call @f{n + 1}(%0) : (i32) -> i32\n    tt.return %1 : i32\n  }}\n" for n in range(20))
    last = "  tt.func private @f20(%n: i32) -> i32 {\n    tt.return %n : i32\n  }\n"
    tree = changed(body("    %0 = tt.call @f0(%n) : (i32) -> i32", before=calls + last))
    assert isinstance(tree, Exhausted)
    assert tree.what == "operations"
    call = "    %0 = tt.call @f(%n) : (i32) -> i32"
    around = f"  tt.func private @f(%n: i32) -> i32 {{\n{call}\n    tt.return %0 : i32\n  }}\n"
    assert isinstance(changed(body(call, before=around)), CannotSimulate)
    back = changed(body("    cf.br ^bb1", "  ^bb1:", "    cf.br ^bb1", "  ^bb2:"))
    assert isinstance(back, Exhausted)


def test_text_of_many_operations_and_of_large_ones() -> None:
    lines = ["    %big = arith.constant dense<1.0> : tensor<1024x1024xf32>"]
    lines += ["    %v0 = arith.addf %big, %big : tensor<1024x1024xf32>"]
    lines += [f"    %v{n} = arith.addf %v{n - 1}, %big : tensor<1024x1024xf32>" for n in range(1, 200)]
    assert isinstance(changed(body(*lines)), Simulated)
    alive = [f"    %v{n} = tt.make_range {{end = 1048576 : i32, start = {n} : i32}} : tensor<1048576xi32>"
             for n in range(1, 3000)]  # fmt: skip
    assert isinstance(changed(body(*alive)), CannotSimulate)
    long = changed(body(*[f"    %v{n} = arith.addi %n, %n : i32" for n in range(100_000)]))
    assert isinstance(long, CannotSimulate)
    kept = [f"    %v{n} = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1048576x!tt.ptr<f32>>" for n in range(300)]
    used = [f"    %w{n} = tt.load %v{n} : tensor<1048576x!tt.ptr<f32>>" for n in range(300)]
    much = changed(body(*kept, *used))
    assert isinstance(much, Exhausted)
    assert much.what == "memory"


def test_lines_that_patterns_could_stumble_over() -> None:
    for line in (
        "    scf.for %i = %n to %n step %n iter_args(" + ") -> (" * 100_000 + " : i32 {",
        "    scf.while " + "(" * 100_000 + " {", "    cf.cond_br %n, " + "^a(" * 100_000, "    %0 = " + "a.b" * 100_000,
        "    %0 = tt.load " + "<" * 100_000, "    %0 = tt.x {" + "axis = " * 50_000 + "}",
    ):
        assert isinstance(changed(body(line)), CannotSimulate), line[:60]


def test_a_module_with_lines_missing_or_doubled_ends_well() -> None:
    text = honest().text
    lines = text.split("\n")
    draw = random.Random(5)
    for _ in range(60):
        mutated = list(lines)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(mutated))
            kind = draw.randrange(4)
            if kind == 0:
                del mutated[at]
            elif kind == 1:
                mutated.insert(draw.randrange(len(mutated)), mutated[at])
            elif kind == 2:
                mutated[at] = mutated[at].replace("16x", "32x").replace("i32", "i64", 1)
            else:
                cut = draw.randrange(len(mutated[at]) + 1)
                mutated[at] = mutated[at][:cut]
        assert isinstance(changed("\n".join(mutated)), Simulated | CannotSimulate | Exhausted)


def test_names_come_from_the_table_of_locations() -> None:
    functions = read_module(honest().text)
    assert functions["loop_kernel"].names == ["x_ptr", "out_ptr", "n"]
    file, line = functions["loop_kernel"].place.frames[0]
    assert (file, line) == (__file__, loop_kernel.starting_line_number + 1)
