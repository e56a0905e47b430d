"""Whatever host code is refused, its author learns where, why, and what to do in a kernel instead."""

from __future__ import annotations

from typing import get_args

from grader.judging.explain import explain_stop
from grader.plan.messages import Refusal, Refused
from tests.judging.toys import SILU
from tests.rows import each_row

SOURCE = "import torch\n\ndef silu(x, out):\n    out.copy_(x * torch.sigmoid(x))\n"
SHAPES = "but host code has the shapes of tensors, not their values"

SAID: list[tuple[Refusal, str, str, str]] = [
    ("arithmetic", "aten::mul.Tensor", f"Line 4 computes with a tensor (`mul`), {SHAPES}.", "tl.store the result"),
    ("reduction", "aten::sum", "reduces a tensor (`sum`)", "tl.sum"),
    ("comparison", "aten::gt", "compares the values of tensors (`gt`)", "tl.where"),
    ("matmul", "aten::mm", "multiplies matrices (`mm`)", "tl.dot"),
    ("random", "aten::randn", "draws random numbers (`randn`)", "tl.rand"),
    ("copy", "aten::copy_", "copies a tensor (`copy_`)", "tl.load to tl.store"),
    ("transposed_copy", "aten::contiguous", "as `.t().contiguous()` does", "with its strides"),
    ("cast", "aten::_to_copy", "converts a tensor to another type (`to`)", ".to(tl.float32) after tl.load"),
    ("gather", "aten::index", "picks elements of a tensor by index (`index`)", "tl.load(x_ptr + indices, mask)"),
    ("in_place", "aten::mul_", "changes the values of a tensor in place (`mul_`)", "torch.zeros"),
    ("read_number", "item", f"reads a number out of a tensor (`item`), {SHAPES}.", "x.shape"),
    ("read_values", "tolist", "reads the values of a tensor (`tolist`)", "shapes, strides and types"),
    ("truth", "__bool__", "as `if tensor:` does", "x is not None"),
    ("numpy", "numpy", "hands a tensor to NumPy (`numpy`)", "in the kernel"),
    ("dlpack", "__dlpack__", "hands the memory of a tensor to another library", "to a kernel"),
    ("resize", "aten::resize_", "resizes a tensor (`resize_`), but the memory", "torch.empty"),
    ("set_data", "data", "puts other memory under a tensor (`data`)", "The answer goes into out itself"),
    ("input_written", "aten::fill_", "writes to an input (`fill_`), but inputs must be left", "Store to out"),
    ("address", "data_ptr", "uses the address of a tensor as a number (`data_ptr`)", "Pass the tensor itself"),
    ("library", "triton_poi_0", "uses `triton_poi_0`, which is not defined in", "in this file, as a function with"),
    ("option", "ptx_options", "the option `ptx_options`, which a submission may not set", "num_warps, num_stages"),
    ("process", "subprocess.Popen", "starts a process (`subprocess.Popen`), which a", "launch kernels"),
    ("network", "socket.connect", "uses the network (`socket.connect`)", "in the arguments"),
    ("other", "aten::lerp", "calls `lerp`, which needs or makes values", "views of them and launch kernels"),
]  # fmt: skip


@each_row(("why", "operator", "message", "hint"), SAID, ids=[why for why, *_ in SAID])
def test_a_refusal_says_what_was_asked_and_what_to_do(why: Refusal, operator: str, message: str, hint: str) -> None:
    detail = explain_stop(SILU, SOURCE, Refused(seq=1, why=why, operator=operator, line=4, traceback="…"))
    assert detail.kind == "policy" and detail.traceback == "…"
    assert message in detail.message and detail.message.startswith("Line 4 ")
    assert hint in detail.hint
    assert detail.place is not None and detail.place.text == "out.copy_(x * torch.sigmoid(x))"
    assert "{" not in detail.message + detail.hint


def test_there_is_a_sentence_for_every_refusal() -> None:
    assert set(get_args(Refusal)) == {why for why, *_ in SAID}


def test_an_operator_is_quoted_as_code_and_shortened() -> None:
    named = "`{out}" + "x" * 190
    detail = explain_stop(SILU, SOURCE, Refused(seq=1, why="other", operator=named))
    assert "`{out}" + "x" * 75 + "`" in detail.message
    assert detail.message.startswith("The function calls") and detail.place is None
