"""Words of Triton in assignments' hints for known mistakes, and the words of CUDA C++ that replace them."""

from __future__ import annotations

from collections.abc import Mapping

MISTAKES: Mapping[str, str] = {
    "compare with < cols": "does the loop end at < cols? And a tree that halves the number of threads leaves out "
                           "the last one where the number is odd: begin at a power of two",
    "compare with < N": "does the condition say < N? And a tree that halves the number of threads leaves out the "
                        "last one where the number is odd: begin at a power of two",
    "programs (or steps of a loop) replace": "blocks (or rounds of a loop) replace",
    "tl.atomic_add adds them, tl.atomic_max keeps the largest": "atomicAdd adds them, atomicMax keeps the largest",
    "tl.atomic_add": "atomicAdd",
    "give the load other=-float('inf')": "give such threads -INFINITY",
    "-float('inf')": "-INFINITY",
    "both loads a mask with other=0.0": "both loads a condition, and 0 where it is false",
    "give the load other=0.0": "give such threads 0",
    "tl.cdiv(K, BLOCK)": "(K + TILE - 1) / TILE",
    "N / BLOCK blocks": "N / blockDim.x blocks", "cols / BLOCK blocks": "cols / blockDim.x blocks",
    "the last one masked": "the last one with a condition",
    "mask the partial block instead": "give the partial block a condition instead",
    "The sum was taken down the columns of a tile: it goes along each row, tl.sum(…, axis=1) where rows are axis 0":
        "The sum was taken down the columns: it goes along each row",
    "Convert each with .to(tl.int32) or .to(tl.float32) first": "Add them in an int or a float",
    "tl.exp2 is not tl.exp": "exp2f is not expf", "multiply by tl.rsqrt": "multiply by rsqrtf",
    "make the accumulator tl.float32, give tl.dot no out_dtype, and round to fp16 once, at the store":
        "multiply floats, make the accumulator a float, and convert it with __float2half once, at the store",
    ": tl.dot takes fp16 as it is": "",
    "tl.trans transposes a tile, and so do offsets with exchanged strides: exactly one of them is needed, not both":
        "The indices of the tile are exchanged once, where it is read or where it is written, not twice",
}
