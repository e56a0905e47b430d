"""A plan that cannot write its output shows why: no launch, no program, another tensor."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.judging.explain.operations import explain_unwritten, read_too_early
from grader.plan.findings import Access, UnwrittenAccess
from grader.plan.plan import Argument, Buffer, Copy, Descriptor, Fill, Kernel, Launch, Operation, Plan, Pointer, View
from grader.results.result import Detail
from tests.judging import faults
from tests.judging.toys import LINE, called, explain
from tests.rows import each_row

SOURCE = "\n" * 19 + "    kernel[(n // 64,)](x, out, n)\n"
X, OUT, OWN = 0, 1, 2
BUFFERS = [Buffer(bytes=180, given="x"), Buffer(bytes=180, given="out"), Buffer(bytes=180, line=18)]
TTIR = "module { tt.func public @k(%source: !tt.ptr<f32>, %target: !tt.ptr<f32>) { tt.return } }"
KERNEL = Kernel(language="triton", name="k", symbol="k", text=TTIR, signature=["*fp32", "*fp32"])


def view(buffer: int) -> View:
    return View(buffer=buffer, shape=[45], strides=[1], dtype="float32")


def launch(*arguments: int | Argument, grid: tuple[int, int, int] = (1, 1, 1), line: int = 20) -> Launch:
    made = [Pointer(buffer=argument) if isinstance(argument, int) else argument for argument in arguments]
    return Launch(kernel=0, grid=grid, block=(128, 1, 1), arguments=made, line=line)


def plan(*first: Operation, **more: Any) -> Plan:
    return Plan(buffers=BUFFERS, kernels=[KERNEL], first=list(first), **more)


def unwritten(made: Plan, call: int = 0) -> Detail | None:
    return explain_unwritten(called(LINE, LINE.cases[0], torch.empty(5000), plan=made, call=call, source=SOURCE))


@each_row(
    ("made", "message", "hint", "line"),
    [
        (plan(), "No kernel was launched.", "kernel[(programs,)](arguments)", 0),
        (plan(Fill(target=view(OWN), value=0)), "No kernel was launched", "for all sizes", 0),
        (plan(launch(X, OUT, grid=(0, 1, 1))), "The launch in line 20 starts no program: its grid is 0.",
         "triton.cdiv", 20),
        (plan(launch(X, OUT, grid=(4, 0, 1))), "its grid is 4 x 0.", "rounds down", 20),
        (plan(launch(X, OWN)), "out is passed to no launch.", "Pass out itself", 20),
        (plan(launch(X, OWN), returned="tensor"), "The function returns a new tensor, and nothing writes to out.",
         "Write into out", 20),
        (plan(returned="tensor"), "returns a new tensor", "Write into out", 0),
    ],
)
def test_a_plan_shows_why_nothing_is_written(made: Plan, message: str, hint: str, line: int) -> None:
    detail = unwritten(made)
    assert detail is not None and detail.kind == "unwritten"
    assert detail.message.startswith("out was never written. ") and message in detail.message
    assert hint in detail.hint
    assert (detail.place.line if detail.place else 0) == line


def test_what_an_autograd_function_returns_is_made_by_torch_empty() -> None:
    layer = LINE.model_copy(update={"autograd": "Line"})
    detail = explain_unwritten(called(
        layer, LINE.cases[0], torch.empty(5000), plan=plan(launch(X, OWN)), call=0, source=SOURCE))
    assert detail is not None and "out is passed to no launch." in detail.message
    assert detail.hint == "Pass the tensor that is returned or saved as out to the kernel that stores it."


@pytest.mark.parametrize("first", [
    launch(X, OUT),
    launch(Descriptor(view=view(OUT), block=[16]), X),
    Copy(source=view(X), target=view(OUT)),
    Fill(target=view(OUT), value=0.0),
])
def test_a_plan_that_reaches_its_output_says_nothing(first: Operation) -> None:
    assert unwritten(plan(first)) is None
    # One of two launches that start programs is enough.
    assert unwritten(plan(launch(X, OUT, grid=(0, 1, 1)), first)) is None


def test_each_call_is_looked_at_by_itself() -> None:
    """A cache that answers the second call with the first one's tensor."""
    made = plan(launch(X, OUT), steady=[launch(X, OWN)])
    assert unwritten(made, 0) is None
    detail = unwritten(made, 1)
    assert detail is not None
    assert "out is passed to a launch in the first call, and to none in the second" in detail.message


def test_the_reason_is_told_with_the_figures_of_the_output() -> None:
    case, nothing = LINE.cases[0], faults.writes_nothing
    detail = explain(LINE, case, nothing, plan=plan(launch(X, OUT, grid=(0, 1, 1))), source=SOURCE)
    assert "its grid is 0" in detail.message
    assert (detail.unwritten, detail.total) == (5000, 5000) and detail.error_map is not None
    # Where the output is passed to a launch with programs, what the mask lets through is asked about.
    assert "Nothing was written" in explain(LINE, case, nothing, plan=plan(launch(X, OUT))).hint
    # Another tensor that was stored to explains more.
    assert "wrong pointer" in explain(LINE, case, nothing, plan=plan(launch(X, X)), changed=["x"]).hint


@each_row(("size", "access", "suffix", "said"), [
    (45, "atomic", ".cu", "Line 9 sets 45 of the 180 bytes of `target`, and line 11 reads bytes that it "
     "did not set. cudaMemset"),
    (1, "load", ".cu", "Line 9 sets 1 of the 180 bytes"),
    (180, "load", ".cu", ""), (0, "load", ".cu", ""),
    # What a launch stores to need not be set, and a tensor of PyTorch is filled whole.
    (45, "store", ".cu", ""), (45, "load", ".py", ""),
])
def test_memory_of_which_a_fill_sets_a_part_is_told_with_both_lines(
    size: int, access: Any, suffix: str, said: str
) -> None:
    one = Access(
        access=access, kernel="k", line=11, tensor="target", buffer=OWN, grid=(1, 1, 1), tile=[], first=0,
        lane_strides=[], program_strides=(None, None, None), even=True, loop_stride=None, times=1, live=[], last=[])
    fill = Fill(target=View(buffer=OWN, shape=[size], strides=[1], dtype="uint8"), value=0, line=9)
    made = called(LINE.model_copy(update={"suffix": suffix}), LINE.cases[0], torch.empty(5000),
                  plan=plan(fill, launch(X, OWN)))
    made = replace(made, result=replace(made.result, accesses=(one,)))
    hint = read_too_early(made, UnwrittenAccess(kernel="k", line=11, tensor="target", lanes=1, program=(0, 0, 0)))
    assert (hint.text(made.words) if hint else "").startswith(said) and (hint is None) == (not said)
