"""What host code asked for and cannot have, and what is not there since it could not be had: one sentence for each, and
what to do instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grader.judge.explain.failures import explain_failure
from grader.judge.explain.lines import place, quoted
from grader.model.assignment import Assignment
from grader.model.desk import ARCHIVES, found_instead
from grader.model.result import Detail
from grader.plan.messages import Absent, Refusal, Refused

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
        "Convert in the kernel: .to(tl.float32) after tl.load. tl.store converts to the type of the tensor by itself, "
        "and {out}.copy_(y) rounds what a kernel has left in a tensor y of another float type, all of it."),
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
    "library": Wording(
        "launches {operator}, a kernel that is not defined in the submission's file",
        "Write a kernel with @triton.jit in this file, and launch that. Functions of libraries may be called inside it "
        "where triton.language offers them.",
        why=", but the assignment is to write the kernel"),
    "option": Wording(
        "launches a kernel with the option {operator}",
        "Leave the option out. Those that may be set: num_warps, num_stages, num_ctas, maxnreg and launch_pdl.",
        why=", which a submission may not set"),
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


WHY_SKIPPED = {
    "numbers": "tensors have no numbers while a file is imported",
    "benchmark": "measuring time is the grader's work",
    "process": "no file may start a program while it is graded",
    "network": "no file reaches the network while it is graded",
    "module": "there is no such module where kernels are graded",
    "exception": "it raised an exception",
}
WITHOUT = {
    "numbers": "Work it out inside the function, from shapes and types, or write it down as a constant. What depends "
    "on values belongs in a kernel.",
    "benchmark": "Write down the value that your benchmark found best, or let @triton.autotune choose it.",
    "process": "Write down as a constant what the program prints. torch.cuda.get_device_name() names the GPU.",
    "network": "Write into the file whatever it needs.",
}
NOT_THERE = "{module} has no {name} in the version that grades: build it from what tl has, such as tl.exp and tl.where."
STANDS_ALONE = "Each file stands alone: write into it what it needs of your other files."


def explain_missing(assignment: Assignment, elsewhere: Sequence[str]) -> Detail:
    """That the file is not there, and `elsewhere`: which others seem to be meant for it."""
    file = assignment.file
    if not elsewhere:
        return explain_failure(assignment, "missing_file", f"{file} is not in the submission.")
    first = elsewhere[0].casefold()
    if first.endswith(".ipynb"):
        hint = f"A notebook is not looked into: put the kernel and its function into {file}, and hand that in."
    elif first.endswith(ARCHIVES):
        hint = f"An archive is not unpacked: hand in {file} itself."
    else:
        hint = f"Hand it in as {file}, spelt exactly so, in the submission's folder itself."
    return Detail(kind="missing_file", message=found_instead(elsewhere, file), hint=hint)


def explain_absent(assignment: Assignment, source: str, absent: Absent) -> Detail:
    """Which name is not there, since which line was skipped, and what to do. `source` is the student's file."""
    left = absent.skipped
    said = f" ({quoted(' '.join(left.text.split()))})" if left.text else ""
    hint = WITHOUT.get(left.why, "")
    if left.why == "module":
        hint = explain_failure(assignment, "import_error", f"No module named '{left.text}'").hint
    elif left.why == "exception":
        own = left.text.startswith(("FileNotFoundError", "ImportError: attempted relative import"))
        named = re.match(r"ImportError: cannot import name '(\w+)' from '((?:triton|torch|numpy)[\w.]*)'", left.text)
        hint = (STANDS_ALONE if own else NOT_THERE.format(name=named[1], module=named[2]) if named else
                explain_failure(assignment, "import_error", left.text).hint)
    return Detail(
        kind="import_error", hint=hint, place=place(assignment, source, left.line), traceback=absent.traceback,
        message=f"{quoted(absent.name)} is not there: line {left.line}, which would make it, was skipped, since "
                f"{WHY_SKIPPED[left.why]}{said}.")


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
