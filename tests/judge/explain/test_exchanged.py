"""Arguments that stand in each other's place are told by what the kernel calls them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch

from grader.judge.explain.evidence import Hint
from grader.judge.explain.exchanged import exchanged
from grader.plan.plan import Argument, Buffer, Descriptor, Integer, Kernel, Launch, Plan, Pointer, View
from tests.judge.toys import LINE, called

X, OUT = 0, 1
SIZES = {"M": 5, "N": 9}


def plan(names: tuple[str, ...], signature: list[str], types: list[str], *arguments: Argument) -> Plan:
    """One launch in line 20 of a kernel whose entry has these names and types."""
    entry = ", ".join(f"%{name}: {kind}" for name, kind in zip(names, types, strict=True))
    kernel = Kernel(language="triton", name="k", symbol="k", signature=signature,
                    text=f"module {{ tt.func public @k({entry}) {{ tt.return }} }}")
    return Plan(buffers=[Buffer(bytes=180, given="x"), Buffer(bytes=180, given="out")], kernels=[kernel],
                first=[Launch(kernel=0, grid=(1, 1, 1), block=(128, 1, 1), arguments=list(arguments), line=20)])


def of_two(first: str, second: str, *buffers: int) -> Plan:
    return plan((first, second), ["*fp32", "*fp32"], ["!tt.ptr<f32>"] * 2, *(Pointer(buffer=one) for one in buffers))


def with_sizes(first: str, second: str, *values: int) -> Plan:
    return plan((first, second), ["i32", "i32"], ["i32"] * 2, *(Integer(type="i32", value=one) for one in values))


def seen(made: Plan, sizes: Mapping[str, int] = SIZES, source: str = "") -> Hint | None:
    case = LINE.cases[0].model_copy(update={"sizes": sizes})
    return exchanged(called(LINE, case, torch.empty(1), plan=made, source=source))


@pytest.mark.parametrize(("first", "second"), [("x_ptr", "out_ptr"), ("x", "out"), ("X", "o_pointer")])
def test_tensors_in_each_others_place_are_told(first: str, second: str) -> None:
    found = seen(of_two(first, second, OUT, X))
    assert found is not None and found.line == 20
    assert found.seen == (f"The launch in line 20 gives out for the kernel's `{first}`, and x for its `{second}`: the "
                          "two are exchanged.")


@pytest.mark.parametrize("made", [
    of_two("x_ptr", "out_ptr", X, OUT), of_two("source", "target", OUT, X), of_two("x_ptr", "out_ptr", X, X),
    of_two("x_ptr", "other", OUT, X)])
def test_nothing_is_told_of_tensors_in_their_place_or_of_names_that_say_nothing(made: Plan) -> None:
    assert seen(made) is None


def test_a_descriptor_is_the_tensor_that_it_views() -> None:
    def view(buffer: int) -> Descriptor:
        return Descriptor(view=View(buffer=buffer, shape=[45], strides=[1], dtype="float32"), block=[16])

    # Each brings its shape and its strides with it.
    names = ("x_desc", "x_0", "x_1", "out_desc", "out_0", "out_1")
    made = plan(names, ["tensordesc<fp32[16]>"] * 2, ["!tt.tensordesc<tensor<16xf32>>", "i32", "i64"] * 2,
                view(OUT), view(X))
    found = seen(made)
    assert found is not None and "`out_desc`" in found.seen


def test_sizes_in_each_others_place_are_told_where_the_launch_names_them_so() -> None:
    there = "\n" * 19 + "k[(1,)](\n    n, M)\n"
    found = seen(with_sizes("M", "n", 9, 5), source=there)
    assert found is not None and found.line == 20
    assert found.seen == (
        "The launch in line 20 gives N = 9 for the kernel's `M`, and M = 5 for its `n`: the two are exchanged.")
    # A kernel that counts the rows of the output, which are the columns of the input, and is launched so.
    assert seen(with_sizes("M", "n", 9, 5), source="\n" * 19 + "k[(1,)](M, n)\n") is None
    for made in (with_sizes("M", "n", 5, 9), with_sizes("rows", "columns", 9, 5), with_sizes("M", "n", 9, 9)):
        assert seen(made, source=there) is None
    assert seen(with_sizes("M", "n", 9, 9), {"M": 9, "N": 9}, there) is None
