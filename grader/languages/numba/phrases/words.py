"""Words of CUDA C++ in messages, and those of Numba that replace them: kernels of both are threads in blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")

WORDS = {
    "__shfl_down_sync": "cuda.shfl_down_sync", "__syncthreads": "cuda.syncthreads", "__syncwarp": "cuda.syncwarp",
    "__threadfence": "cuda.threadfence", "atomicAdd": "cuda.atomic.add", "atomicMax": "cuda.atomic.max",
    "blockIdx.x * blockDim.x + threadIdx.x": "cuda.grid(1)", "blockIdx times blockDim":
        "cuda.blockIdx times cuda.blockDim",
    "threadIdx": "cuda.threadIdx", "blockIdx": "cuda.blockIdx", "blockDim": "cuda.blockDim",
    "if (i < n)": "if i < n:", "__shared__": "cuda.shared.array", "cudaMalloc": "cuda.device_array",
    "-INFINITY": "-math.inf", "rsqrtf": "1 / math.sqrt", "exp2f": "math.exp2", "expf": "math.exp",
    "tanhf": "math.tanh", "logf": "math.log", "(float)x[i]": "float32(x[i])",
    "(size_t)row * cols": "int64(row) * cols", "__float2half": "float16", "(n + d - 1) / d": "(n + d - 1) // d",
    "divided with /": "divided with //", "(K + TILE - 1) / TILE": "(K + TILE - 1) // TILE", "CUDA C++": "Python",
    "cudaMemset sets the GPU's memory to 0": "`array[:] = 0` sets the GPU's memory to 0",
    "(or use cudaMemset)": "(or set it with `array[:] = 0`)",
}
_WORD = re.compile("|".join(map(re.escape, sorted(WORDS, key=len, reverse=True))))


def worded(value: T) -> T:
    """Return phrases of CUDA C++, of any shape, in Numba's words."""
    changed: Any = value
    if isinstance(value, str):
        changed = _WORD.sub(lambda found: WORDS[found[0]], value)
    elif isinstance(value, Mapping):
        changed = {key: worded(one) for key, one in value.items()}
    elif isinstance(value, tuple):
        changed = tuple(map(worded, value))
    elif is_dataclass(value) and not isinstance(value, type):
        changed = type(value)(**{one.name: worded(getattr(value, one.name)) for one in fields(value)})
    found: T = changed
    return found
