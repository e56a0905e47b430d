"""Messages about what kernels and host code did, and about where to look in the file."""

from __future__ import annotations

from dataclasses import replace

from grader.languages.cuda.phrases import PHRASES as CUDA
from grader.languages.numba.phrases.words import worded
from grader.languages.phrases import AnswerPhrases, Chances

_PROMISES = "Promise nothing: declare arrays with the layout that they have."


def _chances() -> Chances:
    made: Chances = worded(CUDA.chances)
    made["hint"] = replace(made["hint"], seen="A declared type promises{line} what is not so.", look=_PROMISES)
    made["assume"] = replace(made["assume"], seen="A declared type promises{line} what does not hold.", look=_PROMISES)
    made["pipeline"] = replace(made["pipeline"], look="Copy with ordinary loads and stores, and cuda.syncthreads().")
    made["spin"] = replace(
        made["spin"], look="Let the next launch do what comes after all blocks; or load with cuda.atomic.add(a, i, 0), "
                           "in a cooperative launch.")
    made["tuner"] = replace(made["tuner"], look="Set the memory to 0 before each launch: `array[:] = 0`.")
    made["index"] = replace(made["index"], look=made["index"].look.replace(
        "(threads + 31) / 32", "(threads + 31) // 32").replace("blockDim.x / 32", "blockDim.x // 32"))
    made["streams"] = replace(made["streams"], look="Make the stream of the later operation wait before it: "
                              "event.record(one), event.wait(other).")
    made["pinned"] = replace(made["pinned"], look="Call event.synchronize() or stream.synchronize() before, or take "
                                                  "two arrays in turn.")
    return made


CHANCES = _chances()

NAMES = replace(
    worded(CUDA.names), blocks="({count} + {block} - 1) // {block}", launch_opens="](",
    terms={**worded(CUDA.names.terms), "//": "//",
           "Is this tensor allocated for as many programs, rows or blocks as use it":
               "Is it allocated for as many blocks, rows or parts as use it"},
    own_named="your own array {tensor}", own_unnamed="an array of your own")

SIGHTS = replace(
    worded(CUDA.sights),
    far_outside="An index is taken as it is, and nothing checks it: is the row the first index, x[row, column], and "
                "does each stay below x.shape?",
    unmasked="The last block has threads past the end: put this {call} under an `if` {sizes}, such as "
             "`if i < x.shape[0]:`.",
    flat_sizes="that compares the index with the size",
    overflow="Whole numbers of so few bits wrap around: compute in int64, as Python's own numbers are here.",
    recast="Leave the array's type as it is: convert what was loaded, as in float32(x[i]).",
    no_shared="The launch gives no bytes for it: cuda.shared.array(0, float32) has as many as the fourth value of the "
              "launch says, kernel[blocks, threads, stream, bytes](...).",
    outside_shared="A shared array is as large as its declaration says, one of size 0 as the bytes in the launch's "
                   "fourth value: does the index count cuda.threadIdx with the right width, and is the array as large "
                   "as what counts in it?",
    block_library="", block_library_look="",
    copied_bytes="", set_in_part="")

ANSWERS = AnswerPhrases(
    nothing_stored="Does the kernel store to elements of the output, under a condition that is true for some thread?",
    keep_inputs="Inputs must not be changed: store to {out} alone, and what else is needed to an array from "
                "cuda.device_array.")

CALLS = replace(
    worded(CUDA.calls),
    copy_into=", or copy into it, {out}.copy_(...)",
    no_copy="`{out} = ...` gives the name to another array, and cuda.to_device makes one of its own from one on the "
            "host: write into {out} itself.",
    not_passed="Pass {out} itself to the kernel that stores the answer: what cuda.device_array gives is another array.",
    no_launch="Launch it in the function, as kernel[blocks, threads](arguments), for all sizes.",
    beyond_buffer="Do the shape and strides of the view fit the array?",
    host_given="Copy what is needed to the GPU first, with cuda.to_device.",
    host_own="Allocate it on the GPU: cuda.device_array(shape, dtype).",
    nothing_to_copy="Launch the kernel that writes it first.",
    kernel_too_long="An unrolled loop repeats its text: use an ordinary `range` for very many steps.",
    too_many_kernels="Each set of types is compiled as a kernel of its own: pass numbers of one type.",
    assembly="Write it in Python alone, with what numba.cuda has.",
    skipped_print="Skipped in {lines}{texts}: host code has no values to print or check. In a kernel use print. This "
                  "costs no points.",
    fewer_registers=" @cuda.jit(launch_bounds=threads) lets the compiler keep to what there is.")
