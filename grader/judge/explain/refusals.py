"""What host code asked for and cannot have: one sentence for each, and what to do in a kernel instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.assignment import Assignment
from grader.judge.explain.lines import place, quoted
from grader.plan.messages import Refusal, Refused
from grader.result import Detail

NO_NUMBERS = ", but host code has shapes, not numbers"


@dataclass(frozen=True)
class Wording:
    """`asked` goes on after "Line 14 "; `why` it cannot be, and what to do `instead`. {operator} is what was called, as
    code, {out} the name of the output."""

    asked: str
    instead: str
    why: str = NO_NUMBERS


WORDING: dict[Refusal, Wording] = {
    "arithmetic": Wording(
        "computes with a tensor ({operator})",
        "Compute in the kernel: tl.load a block, use the same operators on it, and tl.store the result to {out}."),
    "reduction": Wording(
        "reduces a tensor ({operator})",
        "Reduce in the kernel, with tl.sum or tl.max. Where several programs each find a part, they leave it in a "
        "tensor from torch.empty, and a second launch puts the parts together."),
    "comparison": Wording(
        "compares the values of tensors ({operator})",
        "Compare in the kernel, and let tl.where or a mask use the result."),
    "matmul": Wording(
        "multiplies matrices ({operator})",
        "Multiply in the kernel: tl.dot of two blocks, added up in a float32 accumulator over the inner size."),
    "random": Wording(
        "draws random numbers ({operator})",
        "The right answer does not depend on chance. A kernel that needs random numbers of its own has tl.rand."),
    "copy": Wording(
        "copies a tensor ({operator})",
        "Let a kernel move the elements, from tl.load to tl.store. What needs no kernel: torch.empty, torch.zeros, and "
        "views such as x[:, 0], x.t() and x.view(-1)."),
    "transposed_copy": Wording(
        "copies a view into another order of memory ({operator}), as `.t().contiguous()` does",
        "Pass the tensor as it lies, with its strides, and let the kernel find element (i, j) at i * stride_0 + "
        "j * stride_1; `.t()` alone is a view, and allowed."),
    "cast": Wording(
        "converts a tensor to another type ({operator})",
        "Convert in the kernel: .to(tl.float32) after tl.load. tl.store converts to the type of the tensor by itself."),
    "gather": Wording(
        "picks elements of a tensor by index ({operator})",
        "Pick them in the kernel: tl.load(x_ptr + indices, mask). Slices, such as x[:, 0], are views, and allowed."),
    "in_place": Wording(
        "changes the values of a tensor in place ({operator})",
        "Let a kernel store the new values. Host code may fill a tensor of its own with one number: torch.zeros, "
        "zero_(), fill_(), x[...] = 0."),
    "read_number": Wording(
        "reads a number out of a tensor ({operator})",
        "What depends on values happens in the kernel: tl.load the number there. Sizes come from x.shape, and numbers "
        "that are arguments can be used as they are."),
    "read_values": Wording(
        "reads the values of a tensor ({operator})",
        "What depends on values happens in the kernel. Host code decides by shapes, strides and types alone."),
    "truth": Wording(
        "asks whether a tensor is true ({operator}), as `if tensor:` does",
        "Decide in the kernel, with tl.where or an `if` on a number that was loaded. To see whether a tensor was "
        "given, compare it with None: `if x is not None`."),
    "print": Wording(
        "prints the values of a tensor ({operator})",
        "Print shapes, or print in the kernel with tl.device_print: the report shows it."),
    "numpy": Wording(
        "hands a tensor to NumPy ({operator})",
        "NumPy cannot see the numbers: compute in the kernel."),
    "dlpack": Wording(
        "hands the memory of a tensor to another library ({operator})",
        "Pass the tensor itself to a kernel, and work on it there."),
    "resize": Wording(
        "resizes a tensor ({operator})",
        "Allocate one of the right size with torch.empty. A view, x.view(...), has another shape on the same memory.",
        why=", but the memory of a tensor stays as it was allocated"),
    "set_data": Wording(
        "puts other memory under a tensor ({operator})",
        "Give the new tensor a name of its own, and pass that to the kernel. The answer goes into {out} itself.",
        why=", but a tensor keeps the memory that it was allocated with"),
    "input_written": Wording(
        "writes to an input ({operator})",
        "Store to {out}, or to a tensor from torch.empty.",
        why=", but inputs must be left as they are"),
    "address": Wording(
        "uses the address of a tensor as a number ({operator})",
        "Pass the tensor itself to the kernel, and add offsets to its pointer there.",
        why=", but memory has no address yet when host code runs"),
    "compiled": Wording(
        "runs what torch.compile makes of PyTorch code ({operator})",
        "Write the kernel yourself, with @triton.jit, and launch it. torch.compile may appear in code that the graded "
        "function does not call.",
        why=", but the assignment is to write that kernel"),
    "library": Wording(
        "launches {operator}, a kernel that is not defined in the submission's file",
        "Write a kernel with @triton.jit in this file, and launch that. Functions of libraries may be called inside it "
        "where triton.language offers them.",
        why=", but the assignment is to write the kernel"),
    "process": Wording(
        "starts a process ({operator})",
        "Leave it out: the function only has to launch kernels.",
        why=", which a submission may not do"),
    "network": Wording(
        "uses the network ({operator})",
        "Leave it out: all that the answer needs is in the arguments.",
        why=", which a submission may not do"),
    "other": Wording(
        "calls {operator}, which needs or makes numbers",
        "Do in a kernel whatever depends on values. Host code may allocate tensors, take views of them and launch "
        "kernels."),
}  # fmt: skip


def explain_refusal(assignment: Assignment, source: str, refused: Refused) -> Detail:
    """What was asked in which line, why it cannot be, and what to do instead. `source` is the student's file."""
    wording = WORDING[refused.why]
    asked = wording.asked.replace("{operator}", quoted(_called(refused.operator)))
    where = f"Line {refused.line}" if refused.line else "The function"
    return Detail(
        kind="policy",
        message=f"{where} {asked}{wording.why}.",
        hint=wording.instead.replace("{out}", assignment.output.name),
        place=place(assignment, source, refused.line),
        traceback=refused.traceback,
    )


def _called(operator: str) -> str:
    """`mul` for `aten::mul.Tensor`: as a student knows it."""
    if not operator.startswith("aten::"):
        return operator
    name = operator.removeprefix("aten::").partition(".")[0]
    return {"_to_copy": "to"}.get(name, name)


def explain_assembly(kernel: str, found: Sequence[str]) -> Detail:
    """What a kernel uses beyond Triton's language; a violation where the course says so."""
    listed = ", ".join(quoted(one) for one in found)
    return Detail(
        kind="policy", message=f"The kernel {quoted(kernel)} uses inline assembly or a foreign function: {listed}.",
        hint="Write it with triton.language and triton.language.extra.libdevice alone.")
