"""Warps that wait for each other without a barrier of the whole block: named barriers, and flags with fences."""

import numpy as np
import pytest

from grader.plan.findings import Undefined
from grader.simulation.ptx.transfers import after
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.launching import compiled, empty, run, tensor

pytestmark = needs_nvcc


def _undefined(body: str) -> set[str]:
    """Return the kinds of undefined behaviour in a block of `(const float* x, float* y)`; nothing else is found."""
    text = compiled(f"#include <cuda/atomic>\n__global__ void k(const float* x, float* y) {{\n{body}\n}}\n")
    found = run(text, 1, 256, tensor(np.ones(256, "f4"), "x"), empty(256, "y")).findings
    assert all(isinstance(one, Undefined) for one in found)
    return {one.what for one in found if isinstance(one, Undefined)}


def test_threads_that_arrive_at_a_barrier_early_order_what_they_have_stored() -> None:
    arrive = 'asm volatile("bar.arrive 1, 256;" ::: "memory");'
    body = f"""    __shared__ float s[128];
    int t = threadIdx.x;
    if (t < 128) {{ s[t] = x[t]; {arrive} y[t] = 0; }}
    else {{ asm volatile("bar.sync 1, 256;" ::: "memory"); y[t] = s[t - 128]; }} // use
"""
    assert _undefined(body) == set()
    late = body.replace(f"s[t] = x[t]; {arrive}", f"{arrive} s[t] = x[t];")
    assert _undefined(late) == {"shared"}


@pytest.mark.parametrize(("publish", "wait"), [
    ("__threadfence_block(); __syncwarp(); if (lane == 0) ready = 1;",
     "if (lane == 0) while (ready == 0) { } __syncwarp(); __threadfence_block();"),
    ("__threadfence(); __syncwarp(); if (lane == 0) atomicExch((int*)&ready, 1);",
     "if (lane == 0) while (atomicAdd((int*)&ready, 0) == 0) { } __syncwarp(); __threadfence();"),
    ("__syncwarp(); if (lane == 0) cuda::atomic_ref<int, cuda::thread_scope_block>(*(int*)&ready).store("
     "1, cuda::std::memory_order_release);",
     "if (lane == 0) while (cuda::atomic_ref<int, cuda::thread_scope_block>(*(int*)&ready).load("
     "cuda::std::memory_order_acquire) == 0) { } __syncwarp();"),
], ids=["volatile", "atomic", "release"])
def test_a_flag_with_fences_orders_warps(publish: str, wait: str) -> None:
    body = f"""    __shared__ float s[32];
    __shared__ volatile int ready;
    int t = threadIdx.x, lane = t & 31;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {{ s[lane] = x[lane]; {publish} y[t] = 0; }}
    else if (t < 64) {{ {wait} y[t] = s[lane]; }} // use
"""
    assert _undefined(body) == set()
    early = body.replace(f"s[lane] = x[lane]; {publish}", f"{publish} s[lane] = x[lane];")
    for wrong in (early, body.replace("__threadfence_block();", "").replace("__threadfence();", "")):
        assert wrong == body or _undefined(wrong) == {"shared"}


@each_row("expected, arrived, phase, left", [
    (3, 2, 0, 1), (3, 3, 1, 3), (3, 4, 1, 2), (3, 6, 0, 3), (1, 1, 1, 1), (1, 32, 0, 1), (1, 33, 1, 1)])
def test_arrivals_beyond_a_phase_count_for_the_next(expected: int, arrived: int, phase: int, left: int) -> None:
    word = np.array([expected | expected << 20], np.uint64)
    assert int(after(word, np.array([arrived]), np.array([0]))[0]) == phase << 63 | expected << 20 | left
