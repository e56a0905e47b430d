"""What reads a submission's bytes takes twice as long for twice as many, whatever they are.

A row is a reader, the most that it is given, and hostile texts of any length. Beside each stands a control: what is
linear for certain, on as many bytes, so that a busy machine slows both.
"""

import contextlib
import ctypes
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

from grader.classroom.intake.archive import NAME_BYTES, BrokenArchive, unpack
from grader.classroom.intake.people import names
from grader.course.catalogue import assignments, files
from grader.course.notebooks import CODE_CHARACTERS, read_notebook
from grader.course.submission import printable
from grader.course.workspace import SOURCE_BYTES, meant_assignment, strays
from grader.judging.evidence.inspection import inspection_of
from grader.judging.evidence.streams import unordered
from grader.judging.explain import explain_failure
from grader.judging.explain.wording import line_text
from grader.judging.judge import _blocks
from grader.judging.plans.residency import crowded_kernels, tight_kernels, waits
from grader.judging.plans.rules import check
from grader.judging.repair.trial import without_places
from grader.languages import by_text
from grader.languages.cuda.confined.builder.compiler_messages import compile_failure, link_failure
from grader.languages.cuda.confined.builder.functions import declared_function
from grader.languages.cuda.confined.builder.lines import rows_of
from grader.languages.cuda.confined.builder.main import built_entry
from grader.languages.cuda.source import hidden, kernel_declarations
from grader.languages.cuda.text import EntryText, canonical, split
from grader.languages.numba.confined.error_messages import line_and_sentence
from grader.languages.triton.confined.compiler.main import explained
from grader.languages.triton.confined.simulator import preparing
from grader.languages.triton.confined.simulator.main import run
from grader.languages.triton.confined.simulator.text import read_module
from grader.languages.triton.text import read_text
from grader.pages.inspected import instructions
from grader.pages.text import prose
from grader.plan.compiled import PTX_CHARACTERS, Binary, Facts, Metadata, Problem
from grader.plan.device import TARGETS
from grader.plan.limits import Unsupported
from grader.plan.messages import kernel_key
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
from grader.plan.traffic import LaunchTraffic
from grader.results.text import FIELD_BYTES, clean
from grader.simulation.ptx.program import read_facts, read_program
from grader.simulation.ptx.reader import without_lines
from tests.classroom.intake.made import notebook
from tests.fuzz.texts import (
    CODE,
    CPP,
    FIELDS,
    HEADS,
    LINKED,
    MODULES,
    NOTEBOOKS,
    PLANS,
    PROGRAMS,
    PTX,
    SAID,
    SOURCES,
    TTIR,
    Text,
    in_a_cell,
    many,
)
from tests.languages.outside import HOSTILE, read_all
from tests.rows import beside

DATA = beside(__file__)
MOST = 3.0
"""Times as long for twice the input: a busy machine makes 2.8 of what is linear, and what is quadratic takes 4."""
CLEAR = 2.4
"""What no control has to excuse."""
LEAST = 512
ENOUGH = 0.015
"""Seconds that are out of the noise. A reader that stays below them at the most that it is given is quick enough."""
ATTEMPTS = 12
FURTHER = 4
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""Options of glibc's mallopt."""
LONG = 2 << 20

Reader = Callable[[Any], object]


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


def _on_a_large_tensor(operation: Fill | Copy | Launch) -> Text:
    """As many times the operation on one element as there are pages in its tensor."""
    return lambda size: Plan(
        buffers=[Buffer(bytes=size << 12)], kernels=[_entry(text=DATA["stores"], signature=["*fp32"])],
        first=[operation] * size)


FIRST = View(buffer=0, shape=[1], strides=[1], dtype="float32")
STEPS: dict[str, Text] = {
    "fills of one element": _on_a_large_tensor(Fill(target=FIRST, value=0)),
    "copies of one element": _on_a_large_tensor(Copy(source=FIRST, target=FIRST.model_copy(update={"offset": 4}))),
    "stores of one element": _on_a_large_tensor(_launch(grid=(1, 1, 1), arguments=[Pointer(buffer=0)])),
    "prints of each program": lambda size: Plan(
        buffers=[], kernels=[_entry(text=DATA["prints"], signature=["i32"])], first=[
            _launch(grid=(size, 1, 1), arguments=[Integer(type="i32", value=size)])]),
}


def _long_kernel(language: str, line: str) -> Text:
    """As many launches as sixty characters of their kernel's text."""
    return lambda size: Plan(
        buffers=[Buffer(bytes=4)], kernels=[Kernel(
            language=language, name="k", symbol="k", text=line * (size * 60 // len(line)), signature=["u64"])],
        first=[_launch(grid=(number, 1, 1), arguments=[Pointer(buffer=0)], line=number).model_copy(
            update={"after": []}) for number in range(size)])


LONG_KERNELS: dict[str, Text] = {
    "launches of a long Triton kernel": _long_kernel(
        "triton", "%0 = tt.fp_to_fp %1 : tensor<128xf8E> -> tensor<128xf32>\n"),
    "launches of a long CUDA kernel": _long_kernel("cuda", "\tadd.s64 %r1, %r2, 1;\n")}
SILU = assignments()["silu"]
LOST = Problem(why="compiler", message="")


FOLDER = Path("/tmp/folder")
_MODULE = (".version 9.0\n.target sm_90\n.address_size 64\n.global .align 1 .b8 s[2] = {1, 2};\n"
           ".visible .entry k()\n{\n")


def _survey(plan: Plan) -> None:
    """Ask all that the judge asks about a plan's launches."""
    device, facts = TARGETS["sm_90"], Facts(registers=64, spills=0, shared=0)
    tight_kernels(plan, device)
    waits(plan, device, {0: facts})
    crowded_kernels(plan, device, {0: facts})
    _blocks(plan)
    binary = Binary(cubin="", facts=facts, metadata=Metadata(name="k", shared=0, operands=[]))
    launched = [LaunchTraffic(kernel=0, line=one.line, grid=one.grid, threads=128, programs=0, accesses=[])
                for one in plan.first if isinstance(one, Launch)]
    inspection_of(SILU, SILU.timed[0], plan, launched, {kernel_key(plan.kernels[0]): binary}, "sm_90")
    unordered(plan, 0, [], lambda other: True)


def _built_entry(text: str) -> None:
    built_entry(EntryText(symbol="k", name="k", line=1, text=text, signature=(), variables=()))


def _read_text(text: str) -> None:
    read_text.cache_clear()
    read_text(text)


def _read_code(text: str) -> None:
    # Never the same text twice, since kernels are remembered.
    canonical(f"// {time.monotonic_ns()}\n{_MODULE}{text}\n}}\n")


def _read_program(text: str) -> None:
    # Likewise.
    read_program(f"// {time.monotonic_ns()}\n{text}")


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
    "languages.triton.text": (_read_text, TEXT_CHARACTERS, TTIR),
    "simulator.text": (read_module, TEXT_CHARACTERS, {**TTIR, **MODULES}),
    "simulator.program": (_prepare, TEXT_CHARACTERS // 2, MODULES),
    "plan.plan": (lambda text: read_plan(text.encode()), PLAN_BYTES, PLANS),
    "plan.plan, and back": (lambda plan: read_plan(write_plan(plan)), MOST_OPERATIONS, OPERATIONS),
    "judge.rules": (lambda plan: check(plan, [], device=TARGETS["sm_90"], copies=True), MOST_OPERATIONS, OPERATIONS),
    "judging, of launches": (_survey, MOST_OPERATIONS, LONG_KERNELS),
    "simulator.main": (lambda plan: run(plan, []), MOST_OPERATIONS, STEPS),
    "ptx.program, facts of code": (lambda text: read_facts(text, "", 0), LONG, PTX),
    "ptx.program, facts of words": (lambda text: read_facts("", text, 0), LONG, SAID),
    "languages.cuda.text": (_read_code, TEXT_CHARACTERS, {**PTX, **CODE}),
    "languages.cuda.slices": (lambda text: split(f"{_MODULE}{text}\n}}\n", text), TEXT_CHARACTERS, {**PTX, **CODE}),
    "cuda.builder.functions": (
        lambda text: declared_function(hidden(text), "silu"), SOURCE_BYTES, {**SOURCES, **CPP, **HEADS}),
    "cuda.builder.compiler_messages, a compiler": (
        lambda text: compile_failure(text, 1, FOLDER, "silu.cu", 1), LONG, {**SAID, **LINKED}),
    "cuda.builder.compiler_messages, a linker": (
        lambda text: link_failure(text, FOLDER, "silu.cu", 1), LONG, {**SAID, **LINKED}),
    "cuda.builder.lines": (rows_of, LONG, LINKED),
    "cuda.builder.main": (
        _built_entry, TEXT_CHARACTERS // 2, {**CODE, **LINKED, "shared": many(".shared .b8 a[1];\n")}),
    "languages.phrases": (read_all, SOURCE_BYTES, {**SOURCES, **CPP, **{
        name: many(text, begin, end) for name, (begin, text, end) in HOSTILE.items()}}),
    "languages.cuda.source": (kernel_declarations, SOURCE_BYTES, {**SOURCES, **CPP}),
    "languages, by the text": (lambda text: by_text(".py", text), SOURCE_BYTES, SOURCES),
    "numba.error_messages": (lambda text: line_and_sentence(text, "silu.py", [text]), LONG, {**SAID, **SOURCES}),
    "judging.repair.trial": (without_places, LONG, {
        **TTIR, **PTX, "a place that does not end": many("a", "loc("), "brackets": many("a", "loc(b("),
        "places in places": many("loc(a "), "lines": many("\n")}),
    "ptx.reader, without lines": (without_lines, LONG, PTX),
    "ptx.program": (_read_program, LONG, PROGRAMS),
    "compiler.main": (lambda text: explained(LOST, text), LONG, SAID),
    "report.ptx": (lambda text: list(instructions(text)), PTX_CHARACTERS, PTX),
    "report.text": (prose, FIELD_BYTES, FIELDS),
    "model.text": (clean, LONG, FIELDS),
    "model.text, whole": (lambda text: clean(text, LONG), LONG, FIELDS),
    "course.workspace, a file": (_stray, SOURCE_BYTES, SOURCES),
    "course.workspace, a name": (lambda text: meant_assignment(f"{text}.py", files()), NAME_BYTES, FIELDS),
    "model.notebooks": (lambda cells: read_notebook(notebook(*cells).encode(), files()), 9 * CODE_CHARACTERS // 10, {
        **NOTEBOOKS, **{f"{name} in a cell": in_a_cell(text) for name, text in {
            **SOURCES, "magics": many(" %"), "values": many("= ")}.items()}}),
    "model.submission": (printable, LONG, {name: of for name, of in FIELDS.items() if name != "surrogates"}),
    "intake.people": (names, FIELD_BYTES, FIELDS),
    "intake.archive": (_unpacked, 3_000 << 10, PACKED),
    "judge.explain": (
        lambda text: explain_failure(SILU, "compile_error", text, line=1, source=text), 8_000, FIELDS),
    "judge.explain.lines": (lambda text: line_text(text, 1), SOURCE_BYTES, SOURCES),
}


@pytest.fixture(autouse=True, scope="module")
def _kept_memory() -> None:
    """Keep freed memory in this process: glibc gives large blocks back to the kernel, and the pages that are then new
    each time look like a reader that is not linear."""
    glibc = ctypes.CDLL(None)
    for option, value in ((M_TRIM_THRESHOLD, 1 << 30), (M_MMAP_MAX, 0)):
        assert glibc.mallopt(option, value)


def _seconds(reader: Reader, text: Any) -> float:
    gc.collect()
    began = time.process_time()
    with contextlib.suppress(Malformed, Unsupported, BrokenArchive, preparing.LocatedError):
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
