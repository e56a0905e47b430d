"""What a block loads and another one stores finds the bytes before the launch, if nothing orders the two."""

import numpy as np
import pytest

from grader.plan.messages import PROGRAMS, RunOptions
from grader.simulation.ptx.launch import LaunchSettings
from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.launching import compiled, empty, run, tensor

pytestmark = needs_nvcc

KERNEL = """
#include <cuda/atomic>
extern "C" __global__ void kernel(float *data, unsigned *flag, float *out) {{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> told(*flag);
    if (blockIdx.x == 0) {{ {first} }}
    else {{ {second} }}
}}
"""
WAIT = "while (told.load(cuda::memory_order_acquire) == 0) {} out[0] = data[1];"
OWN = "float4 v = *(float4 *)data; out[0] = v.x + v.y + v.z;"
LOADS = {
    "nothing between": ("data[1] = 7;", "out[0] = data[1];", 0),
    "its own store": ("", "data[1] = 7; out[0] = *(volatile float *)(data + 1);", 7),
    "a store of both": ("data[1] = 7;", "data[1] = 7; __syncthreads(); out[0] = data[1];", 7),
    "a flag that is released": ("data[1] = 7; told.store(1, cuda::memory_order_release);", WAIT, 7),
    "a relaxed flag behind a fence": (
        "data[1] = 7; __threadfence(); told.store(1, cuda::memory_order_relaxed);", WAIT, 7),
    "a volatile flag behind a fence": ("data[1] = 7; __threadfence(); *(volatile unsigned *)flag = 1;", WAIT, 7),
    "an atomic behind a fence": ("data[1] = 7; __threadfence(); atomicExch(flag, 1);", WAIT, 7),
    "a vector of its own and another's": (
        "data[3] = 5;", f"data[0] = 8; data[1] = 8; data[2] = 8; __syncthreads(); {OWN}", 24),
    "a vector of another's": ("data[1] = 8;", f"data[0] = 8; data[2] = 8; __syncthreads(); {OWN}", 16),
}
"""What block 0 does, what block 1 does, and what it finds if loads come first."""


@pytest.mark.parametrize("name", LOADS)
def test_a_load_that_nothing_orders_comes_first(name: str) -> None:
    first, second, found = LOADS[name]
    out = empty(1)
    run(compiled(KERNEL.format(first=first, second=second)), 2, 1, tensor(np.zeros(4, "f4")),
        tensor(np.zeros(1, "u4")), out, cooperative=True,
        settings=LaunchSettings(".cu", options=RunOptions(order=PROGRAMS)))
    assert out.values("f4").tolist() == [found]
