"""What the reader makes of PTX as compilers write it."""

import pytest

from grader.plan.plan import Malformed
from grader.simulation.ptx.code import kernel_code
from grader.simulation.ptx.program import read_facts, read_program, split_operands
from tests.rows import beside
from tests.simulation.ptx.launching import HEAD

TEXT = HEAD + beside(__file__)["text"]


def test_a_module() -> None:
    module = read_program(TEXT, ".cu")
    assert list(module.functions) == ["k"]
    table, numbers, more = (module.variables[name] for name in ("table", "numbers", "more"))
    assert (table.size, table.align, table.initial) == (8, 4, b"\1\0\0\0\xff\0\0\0")
    assert numbers.size == 16 and numbers.initial[:4] == b"\0\0\x80\x3f"
    assert (more.space, more.size, more.align) == ("shared", 0, 16)
    function = module.functions["k"]
    assert [(parameter.name, parameter.size, parameter.align) for parameter in function.parameters] == [
        ("param_0_x", 8, 8), ("param_1_pair", 24, 8)]
    assert function.variables["tile"].size == 1024
    assert function.targets == {"$targets": ("$L1", "$L2")}
    assert function.labels["$L2"] == len(function.code) - 1


def test_instructions_and_their_lines() -> None:
    code = read_program(TEXT, ".cu").functions["k"].code
    instruction, wide, added, moved, called = code[:5]
    assert (instruction.name, instruction.modifiers, instruction.operands, instruction.line) == ("ld", ("param", "u64"),
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
    assert [line.line for line in read_facts(text, "").lines] == [10_000_000]


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
