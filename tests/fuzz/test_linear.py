"""What reads a submission's bytes takes twice as long for twice as many, whatever they are.

A row is a reader, the most that it is given, and hostile texts of any length. Beside each stands a control: what is
linear for certain, on as many bytes, so that a busy machine slows both.
"""

from __future__ import annotations

import contextlib
import gc
import io
import math
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.frontends.cuda.source import kernel_declarations
from grader.frontends.cuda.text import canonical
from grader.frontends.triton.compiler.machine_code import without_lines
from grader.frontends.triton.compiler.main import explained
from grader.frontends.triton.simulator import preparing
from grader.frontends.triton.simulator.main import run
from grader.frontends.triton.simulator.text import read_module
from grader.frontends.triton.text import read_text
from grader.intake.archive import NAME_BYTES, BrokenArchive, unpack
from grader.intake.people import names
from grader.judge.explain import explain_failure
from grader.judge.rules import check
from grader.judge.wording import line_text
from grader.model.catalogue import assignments, files
from grader.model.desk import SOURCE_BYTES, meant, strays
from grader.model.notebooks import CODE_CHARACTERS, read_notebook
from grader.model.submission import printable
from grader.model.text import FIELD_BYTES, clean
from grader.plan.compiled import PTX_CHARACTERS, Problem
from grader.plan.device import TARGETS
from grader.plan.limits import Unsupported
from grader.plan.plan import (
    MOST_OPERATIONS,
    PLAN_BYTES,
    TEXT_CHARACTERS,
    Argument,
    Buffer,
    Copy,
    Fill,
    Integer,
    Kernel,
    Launch,
    Malformed,
    Plan,
    Pointer,
    View,
    read_plan,
    write_plan,
)
from grader.ptx.facts import read_facts
from grader.report.ptx import instructions
from grader.report.text import prose
from tests.frontends.outside import HOSTILE, read_all
from tests.intake.made import notebook

MOST = 3.0
"""Times as long for twice the input: a busy machine makes 2.8 of what is linear, and what is quadratic takes 4."""
CLEAR = 2.4
"""What no control has to excuse."""
LEAST = 512
ENOUGH = 0.015
"""Seconds that are out of the noise. A reader that stays below them at the most that it is given is quick enough."""
ATTEMPTS = 12
FURTHER = 4
LONG = 2 << 20

Text = Callable[[int], Any]
Reader = Callable[[Any], object]


def _in_kernel(line: str) -> str:
    return f"module {{\n  tt.func public @k(%x: !tt.ptr<f32>) {{\n{line}\n    tt.return\n  }}\n}}\n"


def _many(part: str, before: str = "", behind: str = "") -> Text:
    """As many copies of a part as make up a length."""
    return lambda size: before + part * (size // len(part)) + behind


def _lines(of: Callable[[int], str], length: int) -> Text:
    return lambda size: _in_kernel("".join(of(number) for number in range(size // length)))


def _in_a_cell(text: Text) -> Text:
    return lambda size: [f"def silu(x, out): a\n{text(size)}"]


def _kernel(part: str, before: str = "", behind: str = "") -> Text:
    return lambda size: _in_kernel(_many(part, before, behind)(size))


# Of a kernel's text.
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
        f"#loc{number} = loc(#loc{number + 1})\n" for number in range(size // 24)) + _in_kernel("tt.foo loc(#loc0)"),
}
# Of a module, whose lines are counted.
MODULES: dict[str, Text] = {
    "constants": _lines(lambda n: f"    %a{n} = arith.constant 1 : i32\n", 33),
    "blocks": _lines(lambda n: f"  ^bb{n}(%a{n}: i32):\n    cf.br ^bb{n}(%a{n} : i32)\n", 48),
    "regions": lambda size: _in_kernel(
        "    scf.if %x {\n" * 20 + "    %a = arith.constant 1 : i32\n" * (size // 32) + "    }\n" * 20),
    "sides of a condition": lambda size: _in_kernel(
        "    scf.if %x {\n" + "    } else {\n" * (size // 13) + "    }"),
    "functions that call the next": lambda size: "module {\n" + "".join(
        f"  tt.func private @f{n}(%x: !tt.ptr<f32>) {{\n    tt.call @f{n + 1}(%x) : (!tt.ptr<f32>) -> ()\n"
        "    tt.return\n  }\n" for n in range(size // 110)) + (
        f"  tt.func public @f{size // 110}(%x: !tt.ptr<f32>) {{\n    %c = tt.load %x : !tt.ptr<f32>\n"
        "    tt.return\n  }\n}\n"),
}
PTX: dict[str, Text] = {
    "spaces": _many(" "), "spaces in a line": _many(" ", "add.f32 ", " x"), "tabs": _many("\t", "", ".loc"),
    "states of memory": _many(".global", "ld"), "asynchronous copies": _many("cp.async.ca.shared.global "),
    "copies that stay open": _many("cp.async.ca.shared.global [a], ["), "sections": _many(".section .debug_a {"),
    "sections of lines": _many(".section .debug_a {\n"), "places": _many(".loc 1 1 "), "digits": _many("1", ".loc 1 "),
    "predicates": _many("@%p ", "", "ld.global.b32 x"), "lines": _many("ld.global.v4.b32 {%r1};\n"),
    "levels": _many(".L1::evict", "ld.global"), "slashes": _many("/ "), "words": _many("ld "), "vertical": _many("\v"),
}
CODE: dict[str, Text] = {
    "instructions": _many("add.s32 %r1, %r2, %r3;\n"), "scopes": _many("{\n.param .b64 p;\n}\n"),
    "addresses": _many("mov.u64 %rd1, s;\nadd.s64 %rd2, %rd1, 1;\n"),
    "addresses that move back": lambda size: "".join(
        f"mov.u64 %rd{n}, %rd{n + 1};\n" for n in range(size // 24)) + f"mov.u64 %rd{size // 24}, s;\n",
    "calls": _many("call.uni (r), f, (a, b);\n"), "open calls": _many("call (", "", ";"), "labels": _many("$L: "),
    "comments": _many("/*"), "strings": _many("\""), "numbers": _many("0f"), "names": _many("a.b"),
}
CPP: dict[str, Text] = {
    "kernels": _many("__global__ void k(float *x, int n) {}\n"), "comments": _many("/*"), "quotes": _many("\""),
    "brackets": _many("f("), "continued": _many("//\\\n"), "directives": _many("#\\\n"),
    "parameters": _many("int a, ", "__global__ void k(", "int b) {}"), "stubs": _many("// not written yet: "),
}
SAID: dict[str, Text] = {
    "digits": _many("1"), "registers": _many("Used 1"), "spills": _many("1 bytes spill stores, "),
    "places": _many(":1"), "errors": _many(": error: "), "lines of errors": _many("a.py:1:1: error: b\n"),
    "brackets": _many("("), "unknown": _many("<unknown>:1"), "spaces": _many(" "),
}
PLANS: dict[str, Text] = {
    "fields": lambda size: '{"first":[]' + "".join(f',"x{n}":0' for n in range(size // 10)) + "}",
    "lists in lists": _many("[", '{"first":'), "digits": _many("1", '{"buffers":[{"bytes":', "}]}"),
    "wrong operations": _many("{},", '{"buffers":[],"kernels":[],"first":[', "0]}"),
    "wrong arguments": lambda size: '{"buffers":[],"kernels":[],"first":[' + ",".join(
        ['{"op":"launch","kernel":0,"grid":[1,1,1],"arguments":[' + ",".join("0" * 60) + "]}"] * (size // 180)) + "]}",
    "escapes": _many("\\u0041", '{"buffers":[{"bytes":1,"given":"', '"}]}'), "spaces": _many(" "),
}
SOURCES: dict[str, Text] = {
    "spaces": _many(" "), "tabs and quotes": _many('\t"'), "lines of spaces": _many("          \n"),
    "definitions": _many("def silu("), "lines of definitions": _many("def silu(x):\n"),
    "a long name": _many("a", "def "),
    "stubs": _many("raise NotImplementedError('silu: not written yet"), "returns": _many("\r"),
    "quotes": _many('"'),
}
# Of a notebook, as its cells.
NOTEBOOKS: dict[str, Text] = {
    "cells that need each other": lambda size: [
        *(f"def f{n}(): f{n + 1}" for n in range(min(size // 20, 1_900))), "def silu(x, out): f0"],
    "cells that need everything": lambda size: [
        *(f"from m{n} import *\nb{n}" for n in range(min(size // 20, 1_900))), "def silu(x, out): f0"],
    "functions of one name": lambda size: ["def silu(x, out): a"] * min(size // 20, 1_900),
    "names": lambda size: ["".join(f"a{n} = b{n}\n" for n in range(size // 20)), "def silu(x, out): a0"],
}
FIELDS: dict[str, Text] = {
    "sequences that stay open": _many("\x1b["), "commands that stay open": _many("\x1b]0;"),
    "parameters": _many(";", "\x1b["),
    "escapes": _many("\x1b"), "spaces": _many(" ", "\x1b[ "), "one-byte": _many("\x9b0"), "hidden": _many("\u200b"),
    "backticks": _many("`"), "quoted": _many("`a` "), "brackets": _many("a["), "lines": _many("\r\n"),
    "wrapped": _many("E('"), "places": _many("E: at 1:1:\n\n ^"), "addresses": _many(" at 0x1"),
    "allocations": _many("tried to allocate 1."), "pointers": _many("Pointer argument "), "surrogates": _many("\ud800"),
    "words": _many("a "), "capitals": _many("Ab"), "digits": _many("1a"),
}


def _tar(size: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.PAX_FORMAT,
                      pax_headers={f"key{number}": "" for number in range(200)}) as archive:
        for number in range(size >> 10):
            info = tarfile.TarInfo(f"{number}.py")
            info.pax_headers = {"comment": "x"}
            archive.addfile(info)
    return packed.getvalue()


def _zip(size: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(size >> 10):
            archive.writestr(f"{'a/' * 30}{number}.py", b"")
    return packed.getvalue()


def _long_name(size: int) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("a/" * (size // 2) + "b"))
    return packed.getvalue()


def _entry(*, text: str, signature: Sequence[str], symbol: str = "k") -> Kernel:
    return Kernel(language="triton", name="k", symbol=symbol, text=text, signature=list(signature))


def _launch(*, grid: tuple[int, int, int], arguments: Sequence[Argument], line: int = 0) -> Launch:
    return Launch(kernel=0, grid=grid, block=(128, 1, 1), arguments=list(arguments), line=line)


PACKED: dict[str, Text] = {"entries of a tar": _tar, "entries of a zip": _zip, "a name": _long_name}
OWN = [Buffer(bytes=64)] * 1_000
VIEW = View(buffer=2, shape=[1], strides=[1], dtype="float32")
IDLE = "module {\n  tt.func public @k(%x: !tt.ptr<f32>) {\n    tt.return\n  }\n}\n"
OPERATIONS: dict[str, Text] = {
    "fills": lambda size: Plan(buffers=OWN, kernels=[], first=[Fill(target=VIEW, value=0)] * size),
    "launches": lambda size: Plan(
        buffers=OWN, kernels=[_entry(text=IDLE, signature=["*fp32"])], first=[
            _launch(grid=(1 << 40, 1, 1), arguments=[Pointer(buffer=2)], line=line) for line in range(size)]),
}
STORES = """module {
  tt.func public @k(%x: !tt.ptr<f32>) {
    %zero = arith.constant 0.0 : f32
    tt.store %x, %zero : !tt.ptr<f32>
    tt.return
  }
}
"""
PRINTS = """module {
  tt.func public @k(%n: i32) {
    %none = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %i = %none to %n step %one : i32 {
      tt.print " turn " {hex = false, isSigned = array<i32>}
    }
    tt.return
  }
}
"""


def _on_a_large_tensor(operation: Fill | Copy | Launch) -> Text:
    """As many times the operation on one element as there are pages in its tensor."""
    return lambda size: Plan(
        buffers=[Buffer(bytes=size << 12)], kernels=[_entry(text=STORES, signature=["*fp32"])],
        first=[operation] * size)


FIRST = View(buffer=0, shape=[1], strides=[1], dtype="float32")
STEPS: dict[str, Text] = {
    "fills of one element": _on_a_large_tensor(Fill(target=FIRST, value=0)),
    "copies of one element": _on_a_large_tensor(Copy(source=FIRST, target=FIRST.model_copy(update={"offset": 4}))),
    "stores of one element": _on_a_large_tensor(_launch(grid=(1, 1, 1), arguments=[Pointer(buffer=0)])),
    "prints of each program": lambda size: Plan(
        buffers=[], kernels=[_entry(text=PRINTS, signature=["i32"])], first=[
            _launch(grid=(size, 1, 1), arguments=[Integer(type="i32", value=size)])]),
}
SILU = assignments()["silu"]
LOST = Problem(why="compiler", message="")


def _read_text(text: str) -> None:
    read_text.cache_clear()
    read_text(text)


def _read_code(text: str) -> None:
    # Never the same text twice, since kernels are remembered.
    canonical(f"// {time.monotonic_ns()}\n.version 9.0\n.target sm_90\n.address_size 64\n"
              f".global .align 1 .b8 s[2] = {{1, 2}};\n.visible .entry k()\n{{\n{text}\n}}\n")


def _prepare(text: str) -> None:
    # Never the same text twice, since programs are remembered.
    text += f"// {time.monotonic_ns()}\n"
    preparing.prepare_code(
        _entry(symbol="f0" if "@f0(" in text else "k", text=text, signature=[]))


def _stray(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "notes.py").write_text(text)
        strays(Path(folder), files())


def _unpacked(packed: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "packed").write_bytes(packed)
        unpack(Path(folder, "packed"), Path(folder, "out"))


# A reader, the most that it is given, and texts for it.
READERS: dict[str, tuple[Reader, int, dict[str, Text]]] = {
    "frontends.triton.text": (_read_text, TEXT_CHARACTERS, TTIR),
    "simulator.text": (read_module, TEXT_CHARACTERS, {**TTIR, **MODULES}),
    "simulator.program": (_prepare, TEXT_CHARACTERS // 2, MODULES),
    "plan.plan": (lambda text: read_plan(text.encode()), PLAN_BYTES, PLANS),
    "plan.plan, and back": (lambda plan: read_plan(write_plan(plan)), MOST_OPERATIONS, OPERATIONS),
    "judge.rules": (lambda plan: check(plan, [], device=TARGETS["sm_90"], copies=True), MOST_OPERATIONS, OPERATIONS),
    "simulator.main": (lambda plan: run(plan, []), MOST_OPERATIONS, STEPS),
    "ptx.facts, of code": (lambda text: read_facts(text, "", 0), LONG, PTX),
    "ptx.facts, of words": (lambda text: read_facts("", text, 0), LONG, SAID),
    "frontends.cuda.text": (_read_code, TEXT_CHARACTERS, {**PTX, **CODE}),
    "frontends.phrases": (read_all, SOURCE_BYTES, {**SOURCES, **CPP, **{
        name: _many(text, begin, end) for name, (begin, text, end) in HOSTILE.items()}}),
    "frontends.cuda.source": (kernel_declarations, SOURCE_BYTES, {**SOURCES, **CPP}),
    "compiler.machine_code": (without_lines, LONG, PTX),
    "compiler.main": (lambda text: explained(LOST, text), LONG, SAID),
    "report.ptx": (lambda text: list(instructions(text)), PTX_CHARACTERS, PTX),
    "report.text": (prose, FIELD_BYTES, FIELDS),
    "model.text": (clean, LONG, FIELDS),
    "model.text, whole": (lambda text: clean(text, LONG), LONG, FIELDS),
    "model.desk, a file": (_stray, SOURCE_BYTES, SOURCES),
    "model.desk, a name": (lambda text: meant(f"{text}.py", files()), NAME_BYTES, FIELDS),
    "model.notebooks": (lambda cells: read_notebook(notebook(*cells).encode(), files()), 9 * CODE_CHARACTERS // 10, {
        **NOTEBOOKS, **{f"{name} in a cell": _in_a_cell(text) for name, text in {
            **SOURCES, "magics": _many(" %"), "values": _many("= ")}.items()}}),
    "model.submission": (printable, LONG, {name: of for name, of in FIELDS.items() if name != "surrogates"}),
    "intake.people": (names, FIELD_BYTES, FIELDS),
    "intake.archive": (_unpacked, 3_000 << 10, PACKED),
    "judge.explain": (
        lambda text: explain_failure(SILU, "compile_error", text, line=1, text=line_text(text, 1)), 8_000, FIELDS),
    "judge.explain.lines": (lambda text: line_text(text, 1), SOURCE_BYTES, SOURCES),
}


def _seconds(reader: Reader, text: Any) -> float:
    gc.collect()
    began = time.process_time()
    with contextlib.suppress(Malformed, Unsupported, BrokenArchive, preparing.Located):
        reader(text)
    return time.process_time() - began


def _control(terms: int) -> float:
    return _seconds(sum, range(terms))


@pytest.mark.parametrize(("name", "shape"), [pytest.param(name, shape, marks=[pytest.mark.full] * (number > 0))
                                             for name, row in READERS.items() for number, shape in enumerate(row[2])])
def test_twice_the_input_takes_twice_the_time(name: str, shape: str) -> None:
    reader, most, texts = READERS[name]
    gc.disable()
    gc.freeze()
    try:
        size = min(LEAST, most // 2)
        while 2 * size < most and _seconds(reader, texts[shape](size)) < ENOUGH:
            size *= 2
        # Further on, where what is quadratic outweighs what is linear.
        size = min(size * FURTHER, most // 2)
        half, whole = texts[shape](size), texts[shape](2 * size)
        # The least of several is what a busy machine disturbs least.
        small = large = one = two = math.inf
        for _ in range(ATTEMPTS):
            large = min(large, _seconds(reader, whole))
            if large < ENOUGH:
                return
            small = min(small, _seconds(reader, half))
            if large / small <= CLEAR:
                return
            one, two = min(one, _control(2_000_000)), min(two, _control(4_000_000))
            if (ratio := large / small * (2 * one / two)) <= MOST:
                return
    finally:
        gc.enable()
        gc.unfreeze()
    pytest.fail(f"{name} takes {ratio:.1f} times as long for twice the {shape}, at {size:,}")
