"""What the reader makes of PTX as compilers write it."""

import pytest

from grader.plan.plan import Malformed
from grader.simulation.ptx.code import kernel_code
from grader.simulation.ptx.facts import read_facts
from grader.simulation.ptx.program import read_program, split_operands
from tests.simulation.ptx.launching import HEAD

TEXT = HEAD + """
.file 1 "/work/kernel.cu" // a comment
.file 2 "/usr/include/library.h"
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.global .align 4 .b8 table[8] = {1, 0, 0, 0, 0xFF};
.global .f32 numbers[2][2] = {{0f3F800000, 0d4000000000000000}, {1, -1}};
.extern .shared .align 16 .b8 more[];
.visible .entry k(.param .u64 .ptr .global .align 4 param_0_x, .param .align 8 .b8 param_1_pair[24])
.maxntid 256, 1, 1
{
    .shared .align 16 .b8 tile[1024];
    .reg .pred %p<3>; /* a
    longer comment */ .reg .f32 %f<4>, %g;
    .reg .b64 %rd<9>;
    .loc 1 10 5
    ld.param.u64 %rd1, [param_0_x];
    .loc 1 11 5
    .loc 2 90 1, function_name $info, inlined_at 1 11 5
    .loc 2 40 1, function_name $info, inlined_at 2 90 1
    @!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];
    .loc 2 7 1
    add.rn.f32 %f3, %f1, 0f3F800000;
    { .reg .f32 %f1; .param .b32 r; mov.f32 %f1, %f2;
    call.uni (r), helper, (param0, param1); ld.param.f32 %g, [r+0]; }
$L1: .loc 1 14 3
    @%p1 bra $L1;
    brx.idx %rd2, $targets;
$targets: .branchtargets $L1, $L2;
$L2: ret;
}
.section .debug_str { .b8 1, 2 }
"""


def test_a_module() -> None:
    module = read_program(TEXT, ".cu")
    assert list(module.functions) == ["k"]
    table, numbers, more = (module.variables[name] for name in ("table", "numbers", "more"))
    assert (table.size, table.align, table.initial) == (8, 4, b"\1\0\0\0\xff\0\0\0")
    assert numbers.size == 16 and numbers.initial[:4] == b"\0\0\x80\x3f"
    assert (more.space, more.size, more.align) == ("shared", 0, 16)
    function = module.functions["k"]
    assert [(one.name, one.size, one.align) for one in function.parameters] == [
        ("param_0_x", 8, 8), ("param_1_pair", 24, 8)]
    assert function.variables["tile"].size == 1024
    assert function.targets == {"$targets": ("$L1", "$L2")}
    assert function.labels["$L2"] == len(function.code) - 1


def test_instructions_and_their_lines() -> None:
    code = read_program(TEXT, ".cu").functions["k"].code
    loaded, wide, added, moved, called = code[:5]
    assert (loaded.name, loaded.modifiers, loaded.operands, loaded.line) == ("ld", ("param", "u64"),
                                                                            ("%rd1", "[param_0_x]"), 10)
    assert (wide.guard, wide.operands) == (("%p1", True), ("{%f1, %f2}", "[%rd1+8]"))
    assert (wide.line, wide.library) == (11, True) and (added.line, added.library) == (0, True)
    # The inner %f1 is another register than the outer one.
    assert moved.operands[0].startswith("%f1@") and moved.operands[1] == "%f2"
    assert called.operands[1:] == ("helper", "(param0, param1)")
    assert str(wide) == "ld.global.v2.f32" and code[-3].line == 14


def test_lines_of_another_file() -> None:
    assert read_program(TEXT, ".h").functions["k"].code[1].line == 40
    assert read_program(TEXT).functions["k"].code[0].line == 10


def test_a_line_that_no_file_has_is_the_last_of_a_plan() -> None:
    text = TEXT.replace("1 11 5", "1 999999999 5")
    assert read_program(text, ".cu").functions["k"].code[1].line == 10_000_000
    assert [one.line for one in read_facts(text, "").lines] == [10_000_000]


def test_the_layout_of_a_kernel() -> None:
    code = kernel_code(TEXT, "k", ".cu")
    assert code.places == [0, 8] and code.parameter_bytes == 32
    arrays, size = code.arrays(512)
    (begin, end, name), (more, last, _) = arrays
    assert (name, end - begin, last - more) == ("tile", 1024, 512) and more >= end + 256 and size >= last
    with pytest.raises(Malformed):
        kernel_code(TEXT, "other", ".cu")


@pytest.mark.parametrize(("text", "parts"), [
    ("", ()), ("%r1", ("%r1",)), ("{%r1, %r2}, [%rd1+4], 5", ("{%r1, %r2}", "[%rd1+4]", "5")),
    ("(a, b), f, (c)", ("(a, b)", "f", "(c)")), ("a, , b", ("a", "", "b")),
])
def test_operands(text: str, parts: tuple[str, ...]) -> None:
    assert split_operands(text) == parts
