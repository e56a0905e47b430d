"""An assignment that asks for a torch.autograd.Function: its names, its signature, and what its parameters may say."""

import pytest
from pydantic import ValidationError

from grader.course.assignment import Assignment
from grader.course.catalogue import assignments
from grader.course.forms import file_of, function_of
from grader.course.parameters import Input, Output, Parameter, Scalar, Update, directions
from grader.home import ROOT
from grader.languages.python import outline
from tests.rows import each_row

COURSE = ROOT / "examples/llm"
NAME = "flash_attention_backward"
X, DOUT = Input(name="x", shape=("N",)), Input(name="dout", shape=("N",), gradient_of="out")
OUT, DX = Output(shape=("N",)), Output(name="dx", shape=("N",), gradient_of="x")
SCALE, TOTAL = Scalar(name="scale"), Output(name="total", shape=(1,), saved=True)


def test_the_file_has_the_assignments_name_and_defines_the_class() -> None:
    assert file_of(NAME, root=COURSE) == f"{NAME}.py" and function_of(NAME, ".py", COURSE) == "FlashAttention"
    assignment = assignments(COURSE)[NAME]
    assert (assignment.file, assignment.function) == (f"{NAME}.py", "FlashAttention")
    assert assignment.signature == (
        "FlashAttention(torch.autograd.Function): forward(ctx, Q, K, V, is_causal), backward(ctx, dO)")
    found = outline((COURSE / "student_template" / assignment.file).read_text(encoding="utf-8"))
    assert "FlashAttention" in found.defined and found.stubs == {"FlashAttention"}


def test_what_each_direction_takes() -> None:
    forward = {"forward": ["ctx", "x", "scale"]}
    assert directions([X, SCALE, OUT, TOTAL]) == forward
    assert directions([X, DOUT, SCALE, OUT, TOTAL, DX]) == forward | {"backward": ["ctx", "dout"]}


@each_row("parameters, autograd, said", [
    ([X, DOUT, OUT, DX], "", "autograd: missing; gradient_of and saved need it"),
    ([X, OUT, TOTAL], "", "autograd: missing; gradient_of and saved need it"),
    ([X, DOUT, OUT, DX.model_copy(update={"gradient_of": "y"})], "F", "gradient_of: y is neither an input"),
    ([X, DOUT, OUT, DX.model_copy(update={"gradient_of": "dout"})], "F", "gradient_of: dout is neither an input"),
    ([X, DOUT.model_copy(update={"gradient_of": "dx"}), OUT, DX], "F", "gradient_of: dx is neither an input"),
    ([X, DOUT.model_copy(update={"gradient_of": "x"}), OUT, DX], "F", "gradient_of: x is neither an input"),
    ([X, OUT, DX], "F", "autograd: give an Output that forward returns"),
    ([X, DOUT, OUT], "F", "autograd: give an Output that forward returns"),
    ([X, TOTAL], "F", "autograd: give an Output that forward returns"),
    ([X, DOUT, OUT, OUT.model_copy(update={"name": "y"}), DX], "F", "autograd: give an Output that forward returns"),
    ([X, Update(name="cache", shape=("N",)), OUT], "F", "autograd: give an Output that forward returns and no Update"),
    ([X.model_copy(update={"place": "host"}), OUT], "F", "autograd: goes with no forms, and with no inputs"),
    ([X, OUT], "F (y)", "autograd"),
])
def test_parameters_that_say_something_else(parameters: list[Parameter], autograd: str, said: str) -> None:
    like = assignments(COURSE)[NAME]
    with pytest.raises(ValidationError, match=said.replace("(", r"\(")):
        Assignment.model_validate(dict(like) | {"parameters": parameters, "autograd": autograd})
