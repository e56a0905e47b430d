"""Hostile texts of any length, for readers of a submission's bytes: each takes a length to a text."""

from collections.abc import Callable
from typing import Any

Text = Callable[[int], Any]


def in_kernel(line: str) -> str:
    return f"module {{\n  tt.func public @k(%x: !tt.ptr<f32>) {{\n{line}\n    tt.return\n  }}\n}}\n"


def many(part: str, before: str = "", behind: str = "") -> Text:
    """As many copies of a part as make up a length."""
    return lambda size: before + part * (size // len(part)) + behind


def _lines(of: Callable[[int], str], length: int) -> Text:
    return lambda size: in_kernel("".join(of(number) for number in range(size // length)))


def in_a_cell(text: Text) -> Text:
    return lambda size: [f"def silu(x, out): a\n{text(size)}"]


def _kernel(part: str, before: str = "", behind: str = "") -> Text:
    return lambda size: in_kernel(many(part, before, behind)(size))


# For a kernel's text.
TTIR: dict[str, Text] = {
    "a type of one token after another": lambda size: (
        f"module {{\n  tt.func public @k(%x: {'!tt.ptr<f32> ' * (size // 13)}) {{\n    tt.return\n  }}\n}}\n"),
    "parameters": lambda size: (
        f"module {{\n  tt.func public @k({'%x: i32, ' * (size // 9)}%x: i32) {{\n    tt.return\n  }}\n}}\n"),
    "brackets that stay open": _kernel("(", "tt.foo "),
    "types in types": _kernel("!tt.ptr<", "%a = tt.foo %x : i32 -> "),
    "tensors in tensors": _kernel("tensor<", "%a = tt.foo %x : i32 -> "),
    "dimensions": _kernel("1x", "%a = tt.foo %x : i32 -> tensor<", "i32>"),
    "operands": _kernel("%x, ", "tt.foo ", ": i32"),
    "results": _kernel("%a:2, ", "", "%a = tt.foo"),
    "colons": _kernel(" : ", "tt.foo %x"),
    "arrows": _kernel(" -> ", "tt.foo %x"),
    "dots": _kernel(".a", "tt", "!"),
    "quotes": _kernel('"', "tt.foo "),
    "a string that stays open": _kernel("a", 'tt.foo "'),
    "escapes": _kernel("\\22", 'tt.foo "', '"'),
    "places that stay open": _kernel(' loc("a"', "tt.foo %x : i32"),
    "numbered places that stay open": _kernel(" loc(#loc1", "tt.foo %x : i32"),
    "spaces": _kernel(" ", "tt.foo", "!"),
    "attributes": _kernel(" axis", "%r = tt.get_program_id x ", " : i32"),
    "attributes of numbers": _kernel("order = array<i32: ", "tt.foo %x "),
    "branches that stay open": _kernel("^bb1(%a : ", "cf.br "),
    "a loop's variables": _kernel("%a = %x, ", "scf.for %i = %x to %x step %x iter_args(", ") -> (i32) : i32 {"),
    "symbols": _kernel('symbol = "f", ', "tt.extern_elementwise %x {", "}"),
    "assembly": _kernel('tt.elementwise_inline_asm "nop;" '),
    "digits": _kernel("1", "tt.foo %x#"),
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
PTX: dict[str, Text] = {
    "spaces": many(" "), "spaces in a line": many(" ", "add.f32 ", " x"), "tabs": many("\t", "", ".loc"),
    "states of memory": many(".global", "ld"), "asynchronous copies": many("cp.async.ca.shared.global "),
    "copies that stay open": many("cp.async.ca.shared.global [a], ["), "sections": many(".section .debug_a {"),
    "sections of lines": many(".section .debug_a {\n"), "places": many(".loc 1 1 "), "digits": many("1", ".loc 1 "),
    "predicates": many("@%p ", "", "ld.global.b32 x"), "lines": many("ld.global.v4.b32 {%r1};\n"),
    "levels": many(".L1::evict", "ld.global"), "slashes": many("/ "), "words": many("ld "), "vertical": many("\v"),
}
CODE: dict[str, Text] = {
    "instructions": many("add.s32 %r1, %r2, %r3;\n"), "scopes": many("{\n.param .b64 p;\n}\n"),
    "addresses": many("mov.u64 %rd1, s;\nadd.s64 %rd2, %rd1, 1;\n"),
    "addresses that move back": lambda size: "".join(
        f"mov.u64 %rd{n}, %rd{n + 1};\n" for n in range(size // 24)) + f"mov.u64 %rd{size // 24}, s;\n",
    "calls": many("call.uni (r), f, (a, b);\n"), "open calls": many("call (", "", ";"), "labels": many("$L: "),
    "comments": many("/*"), "strings": many("\""), "numbers": many("0f"), "names": many("a.b"),
}
CPP: dict[str, Text] = {
    "kernels": many("__global__ void k(float *x, int n) {}\n"), "comments": many("/*"), "quotes": many("\""),
    "brackets": many("f("), "continued": many("//\\\n"), "directives": many("#\\\n"),
    "parameters": many("int a, ", "__global__ void k(", "int b) {}"), "stubs": many("// not written yet: "),
}
# For the function that a grading calls.
HEADS: dict[str, Text] = {
    "blanks before an attribute": many(" ", "void silu(int n", "[[maybe_unused]]) {"),
    "blanks before a name": many(" ", "void silu(int", "n) {"), "blanks before a body": many(" ", "void silu()", ";"),
    "blanks in a type": many(" ", "void silu(float *x[", "]) {"), "sides": many("[1]", "void silu(int x", ") {"),
    "open sides": many("[", "void silu(int x", ") {"),
    "attributes that stay open": many("[[a", "void silu(int ", ") {"),
    "digits": many("1", "void silu(int x[", ") {"), "stars": many("* ", "void silu(int ", "x) {"),
    "words": many("const ", "void silu(int ", "x) {"), "brackets": many("silu("), "lists": many("silu(int n) "),
    "angles": many("a<", "void silu(", "> x) {"), "defaults": many("=", "void silu(int n ", "1) {"),
    "comments in a raw string": many("/*\n", 'auto s = R"(', ')"; void silu(int n) {'),
}
LINKED: dict[str, Text] = {
    "undefined": many("undefined reference to `f'\n"), "places": many("silu.cu:1: "), "folders": many("/a"),
    "folders that stay open": many("/a/ "), "temporary files": many("/tmp/tmpxft_1-"), "objects": many("a.o"),
    "a word": many("a"), "colons": many(":"), "semicolons": many(";"), "errors": many("silu.cu(1): error: a\n"),
    "blanks": many(" "), "lines of blanks": many("  \n"), "hexadecimal": many("a 0x0f"),
    "numbers": many("_0000000a"),
}
SAID: dict[str, Text] = {
    "digits": many("1"), "registers": many("Used 1"), "spills": many("1 bytes spill stores, "),
    "places": many(":1"), "errors": many(": error: "), "lines of errors": many("a.py:1:1: error: b\n"),
    "brackets": many("("), "unknown": many("<unknown>:1"), "spaces": many(" "),
}
PLANS: dict[str, Text] = {
    "fields": lambda size: '{"first":[]' + "".join(f',"x{n}":0' for n in range(size // 10)) + "}",
    "lists in lists": many("[", '{"first":'), "digits": many("1", '{"buffers":[{"bytes":', "}]}"),
    "wrong operations": many("{},", '{"buffers":[],"kernels":[],"first":[', "0]}"),
    "wrong arguments": lambda size: '{"buffers":[],"kernels":[],"first":[' + ",".join(
        ['{"op":"launch","kernel":0,"grid":[1,1,1],"arguments":[' + ",".join("0" * 60) + "]}"] * (size // 180)) + "]}",
    "escapes": many("\\u0041", '{"buffers":[{"bytes":1,"given":"', '"}]}'), "spaces": many(" "),
}
SOURCES: dict[str, Text] = {
    "spaces": many(" "), "tabs and quotes": many('\t"'), "lines of spaces": many("          \n"),
    "definitions": many("def silu("), "lines of definitions": many("def silu(x):\n"),
    "a long name": many("a", "def "),
    "stubs": many("raise NotImplementedError('silu: not written yet"), "returns": many("\r"),
    "quotes": many('"'),
}
# For a notebook, as its cells.
NOTEBOOKS: dict[str, Text] = {
    "cells that need each other": lambda size: [
        *(f"def f{n}(): f{n + 1}" for n in range(min(size // 20, 1_900))), "def silu(x, out): f0"],
    "cells that need everything": lambda size: [
        *(f"from m{n} import *\nb{n}" for n in range(min(size // 20, 1_900))), "def silu(x, out): f0"],
    "functions of one name": lambda size: ["def silu(x, out): a"] * min(size // 20, 1_900),
    "names": lambda size: ["".join(f"a{n} = b{n}\n" for n in range(size // 20)), "def silu(x, out): a0"],
}
FIELDS: dict[str, Text] = {
    "sequences that stay open": many("\x1b["), "commands that stay open": many("\x1b]0;"),
    "parameters": many(";", "\x1b["),
    "escapes": many("\x1b"), "spaces": many(" ", "\x1b[ "), "one-byte": many("\x9b0"), "hidden": many("\u200b"),
    "backticks": many("`"), "quoted": many("`a` "), "brackets": many("a["), "lines": many("\r\n"),
    "wrapped": many("E('"), "places": many("E: at 1:1:\n\n ^"), "addresses": many(" at 0x1"),
    "allocations": many("tried to allocate 1."), "pointers": many("Pointer argument "), "surrogates": many("\ud800"),
    "words": many("a "), "capitals": many("Ab"), "digits": many("1a"),
}
