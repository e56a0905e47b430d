"""Words for requests of host code that are refused, and for statements that are skipped."""

from __future__ import annotations

from dataclasses import replace

from grader.languages.phrases import Refusals, Skip, Skips, Wording
from grader.languages.triton.phrases.refusals import REFUSALS as PYTHON
from grader.languages.triton.phrases.refusals import SKIPS as PYTHON_SKIPS

_INSTEAD = {
    "arithmetic": "Compute in the kernel: load an element, use the same operators on it, and store it to {out}.",
    "reduction": "Reduce in the kernel: in shared memory or with cuda.shfl_down_sync within a block, and over blocks "
                 "with cuda.atomic.add or a second launch.",
    "comparison": "Compare in the kernel, with `if` on what was loaded there.",
    "matmul": "Multiply in the kernel, tile by tile in shared memory.",
    "random": "The right answer does not depend on chance: leave it out.",
    "copy": "Let a kernel move the elements. No kernel is needed for cuda.device_array, torch.empty, and views such as "
            "x[:, 0] and x.T.",
    "transposed_copy": "Pass the array as it lies: a kernel finds element (i, j) as x[i, j], also in a view.",
    "cast": "Convert in the kernel, float32(x[i]): a store converts to the type of the array by itself.",
    "gather": "Pick them in the kernel: x[indices[i]]. Slices, such as x[:, 0], are views, and allowed.",
    "in_place": "Let a kernel store the new values. Host code may fill an array of its own with one number: x[:] = 0.",
    "read_number": "Let the kernel do what depends on values: load the number there. Sizes come from x.shape, and "
                   "numbers that are arguments can be used as they are.",
    "read_values": "Let the kernel do what depends on values: copy_to_host() and checks of answers are for your own "
                   "tests, under `if __name__ == \"__main__\":`.",
    "truth": "Decide in the kernel, with `if` on what was loaded there.",
    "resize": "Allocate one of the right size with cuda.device_array. A view, x.reshape(...), has another shape on the "
              "same memory.",
    "input_written": "Store to {out}, or to an array from cuda.device_array.",
    "address": "Pass the array itself to the kernel, and index it there.",
}

REFUSALS: Refusals = {**PYTHON, **{  # type: ignore[typeddict-item]
    key: replace(PYTHON[key], instead=text) for key, text in _INSTEAD.items()},  # type: ignore[literal-required]
    "library": Wording(
        "launches {operator}, which is not defined in the submission's file",
        "Write the kernel in this file, with @cuda.jit above it: cuda.reduce and vectorized functions bring kernels of "
        "their own.",
        why=", but the assignment is to write the kernel"),
    "option": Wording(
        "launches a kernel with the option {operator}", "Leave the option out.",
        why=", which a submission may not set"),
}

SKIPS: Skips = {
    **PYTHON_SKIPS,
    "benchmark": Skip("measuring time is the grader's work", "Write down the value that your benchmark found best."),
}
