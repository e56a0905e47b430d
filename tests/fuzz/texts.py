"""Hostile texts of any length, for readers of a submission's bytes: each takes a length to a text."""

from collections.abc import Callable
from typing import Any

from tests.rows import beside

Text = Callable[[int], Any]
DATA = beside(__file__)


def in_kernel(line: str) -> str:
    return f"module {{\n  tt.func public @k(%x: !tt.ptr<f32>) {{\n{line}\n    tt.return\n  }}\n}}\n"


def many(part: str, before: str = "", behind: str = "") -> Text:
    """As many copies of a part as make up a length."""
    return lambda size: before + part * (size // len(part)) + behind


def _repeated(table: str) -> dict[str, Text]:
    return {name: many(*parts) for name, parts in DATA[table].items()}


def _lines(of: Callable[[int], str], length: int) -> Text:
    return lambda size: in_kernel("".join(of(number) for number in range(size // length)))


def in_a_cell(text: Text) -> Text:
    return lambda size: [f"def silu(x, out): a\n{text(size)}"]


def _kernel(part: str, before: str = "", behind: str = "") -> Text:
    return lambda size: in_kernel(many(part, before, behind)(size))


# For a kernel's text.
TTIR: dict[str, Text] = {name: _kernel(*parts) for name, parts in DATA["ttir"].items()} | {
    "a type of one token after another": lambda size: (
        f"module {{\n  tt.func public @k(%x: {'!tt.ptr<f32> ' * (size // 13)}) {{\n    tt.return\n  }}\n}}\n"),
    "parameters": lambda size: (
        f"module {{\n  tt.func public @k({'%x: i32, ' * (size // 9)}%x: i32) {{\n    tt.return\n  }}\n}}\n"),
    "places behind places": lambda size: "".join(
        f"#loc{number} = loc(#loc{number + 1})\n" for number in range(size // 24)) + in_kernel("tt.foo loc(#loc0)"),
}
# For a module, whose lines are counted.
MODULES: dict[str, Text] = {
    "constants": _lines(lambda n: f"    %a{n} = arith.constant 1 : i32\n", 33),
    "blocks": _lines(lambda n: f"  ^bb{n}(%a{n}: i32):\n    cf.br ^bb{n}(%a{n} : i32)\n", 48),
    "regions": lambda size: in_kernel(
        "    scf.if %x {\n" * 20 + "    %a = arith.constant 1 : i32\n" * (size // 32) + "    }\n" * 20),
    "sides of a condition": lambda size: in_kernel(
        "    scf.if %x {\n" + "    } else {\n" * (size // 13) + "    }"),
    "functions that call the next": lambda size: "module {\n" + "".join(
        f"  tt.func private @f{n}(%x: !tt.ptr<f32>) {{\n    tt.call @f{n + 1}(%x) : (!tt.ptr<f32>) -> ()\n"
        "    tt.return\n  }\n" for n in range(size // 110)) + (
        f"  tt.func public @f{size // 110}(%x: !tt.ptr<f32>) {{\n    %c = tt.load %x : !tt.ptr<f32>\n"
        "    tt.return\n  }\n}\n"),
}
PTX: dict[str, Text] = _repeated("ptx")
# For a module, and for the body of an entry.
PROGRAMS: dict[str, Text] = _repeated("programs") | {
    f"{name} in an entry": many(part, ".visible .entry k(.param .u64 k_0)\n{\n.reg .b32 %r<9>;\n")
    for name, (part,) in DATA["programs"].items()}
CODE: dict[str, Text] = _repeated("code") | {
    "addresses that move back": lambda size: "".join(
        f"mov.u64 %rd{n}, %rd{n + 1};\n" for n in range(size // 24)) + f"mov.u64 %rd{size // 24}, s;\n",
}
CPP: dict[str, Text] = _repeated("cpp")
# For the function that a grading calls.
HEADS: dict[str, Text] = _repeated("heads")
LINKED: dict[str, Text] = _repeated("linked")
SAID: dict[str, Text] = _repeated("said")
PLANS: dict[str, Text] = _repeated("plans") | {
    "fields": lambda size: '{"first":[]' + "".join(f',"x{n}":0' for n in range(size // 10)) + "}",
    "wrong arguments": lambda size: '{"buffers":[],"kernels":[],"first":[' + ",".join(
        ['{"op":"launch","kernel":0,"grid":[1,1,1],"arguments":[' + ",".join("0" * 60) + "]}"] * (size // 180)) + "]}",
}
SOURCES: dict[str, Text] = _repeated("sources")
# For a notebook, as its cells.
NOTEBOOKS: dict[str, Text] = {
    "cells that need each other": lambda size: [
        *(f"def f{n}(): f{n + 1}" for n in range(min(size // 20, 1_900))), "def silu(x, out): f0"],
    "cells that need everything": lambda size: [
        *(f"from m{n} import *\nb{n}" for n in range(min(size // 20, 1_900))), "def silu(x, out): f0"],
    "functions of one name": lambda size: ["def silu(x, out): a"] * min(size // 20, 1_900),
    "names": lambda size: ["".join(f"a{n} = b{n}\n" for n in range(size // 20)), "def silu(x, out): a0"],
}
FIELDS: dict[str, Text] = _repeated("fields") | {
    "surrogates": many("\ud800"),
}
