"""Builds and plans files as a grading does: by messages, with memory files beside them, in processes of their own."""

import os
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from grader.languages.cuda.confined.builder import main as builder
from grader.languages.cuda.confined.built import Contents, read_built, write_built
from grader.languages.cuda.confined.planner import main as planner
from grader.plan.device import TARGETS, Device
from grader.plan.messages import (
    BUILDER_REPLY,
    BUILT_BYTES,
    PLANNER_REPLY,
    AbsentName,
    Answers,
    Build,
    Built,
    Failed,
    Given,
    GivenScalar,
    GivenTensor,
    Load,
    Loaded,
    MakeShared,
    PlanCall,
    Planned,
    Refused,
)
from grader.plan.plan import PLAN_BYTES, DType, Place, Plan, read_plan
from tests.languages.served import PartProcess, memory_file

ADDRESS_SPACE = 8 << 30
"""As where submissions are graded."""
DEVICE = TARGETS["sm_90"]


def tensor(
    name: str, *shape: int, output: bool = False, place: Place = "device", dtype: DType = "float32"
) -> GivenTensor:
    return GivenTensor(name=name, shape=list(shape), dtype=dtype, output=output, place=place)


def size(name: str, value: int) -> GivenScalar:
    return GivenScalar(name=name, type="int", value=value)


def elementwise(n: int) -> list[Given]:
    """void f(float *input, float *output, int n)"""
    return [tensor("x", n), tensor("out", n, output=True), size("n", n)]


def column(rows: int, cols: int) -> list[Given]:
    """void f(float *h_A, float *d_A, int rows, int cols)"""
    return [tensor("matrix", rows, cols, place="host"), tensor("out", rows, output=True), size("rows", rows),
            size("cols", cols)]


def build(
    source: str, function: str, given: Sequence[Given], device: Device = DEVICE, *, edited: bool = False
) -> bytes | Failed:
    """Return the builder's result for a file, or for the edited copies of one."""
    text, shared, result = memory_file(source.encode()), memory_file(_shared()), memory_file(room=BUILT_BYTES)
    try:
        with PartProcess(builder.serve, address_space=ADDRESS_SPACE) as part:
            reply = part.ask(Build(seq=0, file=f"{function}.cu", function=function, device=device, given=list(given),
                                   edited=edited), BUILDER_REPLY, text, shared, result)
        return os.pread(result, reply.bytes, 0) if isinstance(reply, Built) else reply
    finally:
        for file in (text, shared, result):
            os.close(file)


@cache
def _shared() -> bytes:
    result = memory_file(room=BUILT_BYTES)
    try:
        with PartProcess(builder.serve, address_space=ADDRESS_SPACE) as part:
            reply = part.ask(MakeShared(seq=0), BUILDER_REPLY, result)
        assert isinstance(reply, Built), reply
        return os.pread(result, reply.bytes, 0)
    finally:
        os.close(result)


def contents_of(built: bytes) -> Contents:
    return read_built(built)[1]


def plan(
    built: bytes, *calls: Sequence[Given], copies: bool = False, seconds: float = 20, answers: Answers | None = None,
    device: Device = DEVICE, text: str = "//",
) -> list[Plan | Refused | Failed | AbsentName]:
    """Plans several calls in one planner, which is given `text` as the file's."""
    found: list[Plan | Refused | Failed | AbsentName] = []
    source, library, result = memory_file(text.encode()), memory_file(built), memory_file(room=PLAN_BYTES)
    try:
        with PartProcess(planner.serve, address_space=ADDRESS_SPACE) as part:
            loaded = part.ask(Load(seq=0, file="silu.cu", function="silu", device=device, given=list(calls[0])),
                              PLANNER_REPLY, source, library)
            assert isinstance(loaded, Loaded), loaded
            for call in calls:
                reply = part.ask(PlanCall(seq=0, given=list(call), copies=copies, seconds=seconds,
                                          answers=answers or Answers()), PLANNER_REPLY, result)
                assert not isinstance(reply, Loaded)
                found.append(read_plan(os.pread(result, reply.bytes, 0)) if isinstance(reply, Planned) else reply)
    finally:
        for file in (source, library, result):
            os.close(file)
    return found


class File:
    """A file of host code beside these tests, `name.cu`, built when it is first asked for, by its `function`."""

    def __init__(self, name: str, function: str, given: Sequence[Given]) -> None:
        self.text = Path(__file__).with_name(f"{name}.cu").read_text(encoding="utf-8")
        self._function, self._given = function, given

    @cached_property
    def built(self) -> bytes:
        made = build(self.text, self._function, self._given)
        assert isinstance(made, bytes), made
        return made

    def plans(self, symbol: str, *calls: Sequence[Given], **options: Any) -> list[Plan | Refused | Failed | AbsentName]:
        """Plans calls of another function of the file in one planner."""
        lines, contents = read_built(self.built)
        library = self.built[: int.from_bytes(self.built[-24:-16], "little")]
        return plan(write_built(library, lines, contents.model_copy(update={"symbol": symbol})), *calls, **options)

    def plan(self, symbol: str, given: Sequence[Given] = (), **options: Any) -> Plan | Refused | Failed | AbsentName:
        (found,) = self.plans(symbol, given or self._given, **options)
        return found

    def line(self, text: str, function: str = "") -> int:
        """The line in which a text stands first, in a function or anywhere."""
        begin = self.text.index(f"void {function}(") if function else 0
        return self.text.count("\n", 0, self.text.index(text, begin)) + 1
