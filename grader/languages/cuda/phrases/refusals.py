"""Requests that host code may not make: it is planned without the values of arrays, and only kernels compute with
them."""

from __future__ import annotations

from grader.languages.phrases import Refusals, Skip, Skips, Wording

_WHY = ", but host code runs without the values of arrays"
_KERNEL = "Do it in a kernel: each thread loads its elements, computes, and stores to {out}."


def _numbers(asked: str, instead: str = _KERNEL) -> Wording:
    return Wording(asked, instead, _WHY)


REFUSALS: Refusals = {
    "arithmetic": _numbers("computes with values of a parameter ({operator})"),
    "reduction": _numbers(
        "reduces the values of a parameter ({operator})",
        "Reduce in a kernel: in shared memory or with __shfl_down_sync within a block, and over blocks with atomicAdd "
        "or a second launch."),
    "comparison": _numbers("compares values of a parameter ({operator})"),
    "matmul": _numbers("multiplies matrices ({operator})", "Multiply in a kernel, tile by tile in shared memory."),
    "random": _numbers("draws random numbers ({operator})", "The right answer depends on no chance: leave it out."),
    "copy": Wording(
        "copies numbers ({operator})",
        "Pass parameters to the kernel as they are: they lie in the GPU's memory already. What has to be moved, a "
        "kernel moves.",
        why=", but that is the kernels' work in this assignment"),
    "transposed_copy": _numbers(
        "copies rows as columns ({operator})",
        "Let a kernel move the elements: element (row, column) of a matrix lies at row * cols + column."),
    "cast": _numbers("converts numbers ({operator})", "Convert in a kernel: (float)x, __half2float(x), "
                                                      "__float2half(y)."),
    "gather": _numbers(
        "picks elements in an order that depends on their values ({operator})",
        "Which elements host code copies may depend on sizes alone: pick by value in a kernel."),
    "in_place": _numbers("changes values ({operator})"),
    "read_number": _numbers(
        "reads a number from the GPU ({operator})",
        "Leave it on the GPU: what depends on the number happens in a kernel, which loads it there."),
    "read_values": _numbers(
        "brings numbers to the host ({operator})",
        "Leave the numbers on the GPU: a kernel takes the pointer, and computes there. Parameters lie in the GPU's "
        "memory already, unless the handout says “host”. cudaMemcpy back to the host, managed memory and checks on the "
        "CPU are for your own tests: put them into main()."),
    "truth": _numbers("decides by a value ({operator})", "Decide in the kernel, with `if` on what was loaded there."),
    "numpy": _numbers("hands numbers to a library ({operator})"),
    "dlpack": _numbers("hands memory to a library ({operator})"),
    "resize": Wording(
        "changes the size of memory ({operator})", "Allocate with cudaMalloc what is needed from the start.",
        why=", but memory stays as it was allocated"),
    "set_data": Wording(
        "puts other memory in the place of a parameter ({operator})", "Store the answer through the pointer {out} "
                                                                      "itself.",
        why=", but a parameter keeps its memory"),
    "input_written": Wording(
        "writes to an input ({operator})", "Store to {out}, or to memory of your own from cudaMalloc.",
        why=", but inputs must be left as they are"),
    "address": Wording(
        "uses an address as a number ({operator})", "Pass the pointer itself, and add the index in elements: x + "
                                                    "offset.",
        why=", but where memory lies is not known when host code is planned"),
    "library": Wording(
        "calls {operator}",
        "Write the kernel yourself, in this file: host code calls CUDA's runtime, C++'s own library and what the file "
        "defines.",
        why=", which is none of CUDA's runtime"),
    "option": Wording(
        "asks for {operator}", "Leave it out: kernel<<<blocks, threads, bytes, stream>>>(arguments) is all that a "
                               "launch needs, and pinned memory comes from cudaMallocHost.",
        why=", which a submission may not set"),
    "process": Wording(
        "starts a process or loads a library ({operator})", "Leave it out: the function only has to launch kernels.",
        why=", which a submission may not do"),
    "network": Wording(
        "uses the network ({operator})", "Leave it out: all that the answer needs is in the arguments.",
        why=", which a submission may not do"),
    "other": Wording(
        "calls {operator}",
        "Host code may allocate, free, copy on the GPU, set memory, launch kernels, use streams, events and graphs, "
        "and ask for properties of the GPU.",
        why=", which is not among the calls that are planned"),
}  # fmt: skip

SKIPS: Skips = {
    "numbers": Skip("host code runs without the values of arrays", "Work it out from sizes, or in a kernel."),
    "benchmark": Skip("measuring time is the grader's work", "Write down the value that your measurement found best."),
    "process": Skip("no file may start a program while it is graded", "Write down as a constant what it prints."),
    "network": Skip("no file reaches the network while it is graded", "Write into the file whatever it needs."),
    "module": Skip("there is no such header where kernels are graded"),
    "exception": Skip("it ended with an error"),
    "print": Skip("host code has no values to print or check"),
}
