"""PTX that no compiler wrote: it is refused, or ends by its limits, and never takes long."""

import time
from typing import Any

import numpy as np
import pytest

from grader.plan.findings import OutOfBounds
from grader.plan.limits import LaunchStopped, Limit, Unsupported
from grader.plan.plan import Malformed
from grader.simulation.ptx.program import read_program
from tests.rows import beside, each_row
from tests.simulation.ptx.launching import HEAD, empty, run, tensor

DATA = beside(__file__)
ENTRY = ".visible .entry k(.param .u64 k_0, .param .u32 k_1)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n" \
    ".reg .b64 %rd<9>;\n"


def _stopped(body: str, before: str = "", **options: Any) -> Exception:
    started = time.process_time()
    try:
        run(HEAD + before + ENTRY + body + "\n}\n", options.pop("grid", 1), options.pop("block", 32),
            tensor(np.zeros(64, "f4"), "x"), 64, operations=1 << 26, seconds=2.0, **options)
    except LaunchStopped as stopped:
        assert time.process_time() - started < 5
        return stopped.cause
    raise AssertionError("it ran to its end")


@each_row("body", DATA["instructions"])
def test_instructions_that_there_are_not(body: str) -> None:
    assert isinstance(_stopped(f"{body}\nret;"), Malformed | Unsupported)


@each_row("text", [
    "",
    ".entry", ".entry k", ".entry k {", ".entry k() }", "{", "}", ";;;;", ".version 9.0\n.foo bar;", "mov.u32 %r1, 1;",
    ".global .b8 x[999999999];", ".global .b8 x[2] = {a, b};", ".visible .entry k() { .reg .f32 %f<999999999>; }",
    ".visible .entry k() { .reg .what %f<2>; }", ".visible .entry k() { .loc nowhere\n }", ".section x",
    ".visible .entry k() { ret; } .visible .entry k() { ret; }", ".visible .entry k() { L: L: ret; }",
    ".visible .entry k(.param .u64 x .param) { ret; }", ".visible .entry k(.reg .u64 x) { ret; }",
    ".global .align 3 .b8 x[4];", ".global .b8 x[0", ".visible .entry k() { @%p bra }", "\0", "{" * 1000,
    ".visible .entry k() {" + "{" * 1000 + "}" * 1001,
])  # fmt: skip
def test_texts_that_are_none(text: str) -> None:
    try:
        module = read_program(HEAD + text)
    except Malformed:
        return
    assert "k" not in module.functions or not module.functions["k"].code


LOOP = "L:\n{}\nbra L;\nret;"


@pytest.mark.parametrize(("body", "what"), [
    (LOOP.format(""), {"endless"}),
    (LOOP.format("mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1;"), {"endless"}),
    (LOOP.format("add.s32 %r1, %r1, 1;"), {"operations", "time", "endless"}),
    (LOOP.format("ld.param.u64 %rd1, [k_0]; st.global.b32 [%rd1], %r1;"), {"operations", "time"}),
    ("ld.param.u64 %rd1, [k_0];\nL: ld.volatile.global.b32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra L; ret;",
     {"stalled"}),
    (".shared .b32 s;\nL: ld.volatile.shared.b32 %r1, [s]; setp.ne.s32 %p1, %r1, 7; @%p1 bra L; ret;", {"unmet"}),
    ("mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0;\n@%p1 bra L; bar.sync 0; ret;\nL: ld.param.u64 %rd1, [k_0];\n"
     "M: ld.acquire.gpu.b32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra M; bar.sync 0; ret;", {"stalled"}),
])
def test_loops_without_an_end(body: str, what: set[str]) -> None:
    stopped = _stopped(body)
    assert isinstance(stopped, Limit) and stopped.what in what


def test_recursion_without_an_end() -> None:
    before = ".func f(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a];\n" \
        "{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }\nret; }\n"
    stopped = _stopped("{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }\nret;", before)
    assert isinstance(stopped, Limit) and stopped.what == "memory"


def test_memory_without_an_end() -> None:
    before = ".func f(.param .b32 a) { .local .b8 depot[500000]; .reg .b64 %rd<2>; ret; }\n"
    body = "{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }\nret;"
    stopped = _stopped(body, before, grid=8, block=1024)
    assert isinstance(stopped, Limit) and stopped.what == "memory"
    assert isinstance(_stopped(".shared .b8 s[400000];\nret;"), Malformed)


def test_a_barrier_that_never_opens() -> None:
    text = HEAD + ENTRY + "bar.sync 1, 64;\nld.param.u64 %rd1, [k_0];\nst.global.b32 [%rd1], 7;\nret;\n}\n"
    out = empty(8)
    outcome = run(text, 1, 32, out, 64)
    assert [(one.kind, getattr(one, "what", "")) for one in outcome.findings] == [("undefined", "divergent")]


def test_other_arguments() -> None:
    for arguments in ((), (1,), (1, 2, 3), (empty(1), empty(1))):
        with pytest.raises(LaunchStopped):
            run(HEAD + ENTRY + "ret;\n}\n", 1, 32, *arguments)


def test_branches_everywhere() -> None:
    """A basic block for each instruction, and branches to all of them."""
    count = 3000
    body = "mov.u32 %r1, %tid.x;\nL0:\n" + "\n".join(
        f"L{n}: setp.eq.s32 %p1, %r1, {n}; @%p1 bra L{(n * 7919) % count};" for n in range(1, count))
    started = time.process_time()
    run(HEAD + ENTRY + body + "\nret;\n}\n", 1, 1, empty(1), 1)
    assert time.process_time() - started < 5


def test_a_thread_without_local_memory_is_outside_alone() -> None:
    text = (HEAD + ENTRY + "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 5;\nmov.u64 %rd1, 0;\n"
            "@%p1 st.local.u32 [%rd1], %r1;\nret;\n}\n")
    (found,) = run(text, 1, 32, tensor(np.zeros(64, "f4"), "x"), 64).findings
    assert isinstance(found, OutOfBounds) and (found.lanes, found.active) == (1, 1)
