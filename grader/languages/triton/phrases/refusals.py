"""Words for requests of host code that are refused, and for statements that are skipped."""

from __future__ import annotations

from grader.languages.phrases import Clue, Refusals, Skip, Skips, Wording


def _numbers(asked: str, instead: str) -> Wording:
    return Wording(asked, instead, ", but host code has the shapes of tensors, not their values")


REFUSALS: Refusals = {
    "arithmetic": _numbers(
        "computes with a tensor ({operator})",
        "Compute in the kernel: tl.load a block, use the same operators on it, and tl.store the result to {out}."),
    "reduction": _numbers(
        "reduces a tensor ({operator})",
        "Reduce in the kernel, with tl.sum or tl.max. Where several programs each find a part, they leave it in a "
        "tensor from torch.empty, and a second launch puts the parts together."),
    "comparison": _numbers(
        "compares the values of tensors ({operator})",
        "Compare in the kernel, and let tl.where or a mask use the result."),
    "matmul": _numbers(
        "multiplies matrices ({operator})",
        "Multiply in the kernel: tl.dot of two blocks, added up in a float32 accumulator over the inner size."),
    "random": _numbers(
        "draws random numbers ({operator})",
        "The right answer does not depend on chance. A kernel that needs random numbers of its own has tl.rand."),
    "copy": _numbers(
        "copies a tensor ({operator})",
        "Let a kernel move the elements, from tl.load to tl.store. What needs no kernel: torch.empty, torch.zeros, and "
        "views such as x[:, 0], x.t() and x.view(-1)."),
    "transposed_copy": _numbers(
        "copies a view into another layout of memory ({operator}), as `.t().contiguous()` does",
        "Pass the tensor as it lies, with its strides, and let the kernel find element (i, j) at i * stride_0 + "
        "j * stride_1; `.t()` alone is a view, and allowed."),
    "cast": _numbers(
        "converts a tensor to another type ({operator})",
        "Convert in the kernel: .to(tl.float32) after tl.load. tl.store converts to the type of the tensor by itself, "
        "and {out}.copy_(y) rounds what a kernel has left in a tensor y of another float type, all of it."),
    "gather": _numbers(
        "picks elements of a tensor by index ({operator})",
        "Pick them in the kernel: tl.load(x_ptr + indices, mask). Slices, such as x[:, 0], are views, and allowed."),
    "in_place": _numbers(
        "changes the values of a tensor in place ({operator})",
        "Let a kernel store the new values. Host code may fill a tensor of its own with one number: torch.zeros, "
        "zero_(), fill_(), x[...] = 0."),
    "read_number": _numbers(
        "reads a number out of a tensor ({operator})",
        "Let the kernel do what depends on values: tl.load the number there. Sizes come from x.shape, and numbers that "
        "are arguments can be used as they are."),
    "read_values": _numbers(
        "reads the values of a tensor ({operator})",
        "Let the kernel do what depends on values. Host code decides by shapes, strides and types alone."),
    "truth": _numbers(
        "asks whether a tensor is true ({operator}), as `if tensor:` does",
        "Decide in the kernel, with tl.where or an `if` on a number that was loaded. To see whether a tensor was "
        "given, compare it with None: `if x is not None`."),
    "numpy": _numbers(
        "hands a tensor to NumPy ({operator})",
        "NumPy cannot see the values: compute in the kernel."),
    "dlpack": _numbers(
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
        "uses {operator}, which is not defined in the submission's file",
        "Write it in this file, as a function with @triton.jit above it. In place of triton_helpers, which Inductor's "
        "code calls, triton.language has tl.maximum, tl.max, tl.sum and their like.",
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
    "other": _numbers(
        "calls {operator}, which needs or makes values",
        "Do in a kernel whatever depends on values. Host code may allocate tensors, take views of them and launch "
        "kernels."),
}  # fmt: skip

SKIPS: Skips = {
    "numbers": Skip(
        "tensors have no values while a file is imported",
        "Work it out inside the function, from shapes and types, or write it down as a constant. Let a kernel do "
        "what depends on values."),
    "benchmark": Skip(
        "measuring time is the grader's work",
        "Write down the value that your benchmark found best, or let @triton.autotune choose it."),
    "process": Skip(
        "no file may start a program while it is graded",
        "Write down as a constant what the program prints. torch.cuda.get_device_name() names the GPU."),
    "network": Skip("no file reaches the network while it is graded", "Write into the file whatever it needs."),
    "module": Skip("there is no such module where kernels are graded"),
    "exception": Skip("it raised an exception"),
    "print": Skip("host code has no values to print or check"),
}
# Clues for the exception of a skipped line.
ABSENT = (
    Clue("Each file stands alone: write into it what it needs of your other files.",
         message=r"\A(?:FileNotFoundError|ImportError: attempted relative import)"),
    Clue("{module} has no {name} in the version that grades: build it from what tl has, such as tl.exp and tl.where.",
         message=r"\AImportError: cannot import name '(?P<name>\w+)' from '(?P<module>(?:triton|torch|numpy)[\w.]*)'"),
)
