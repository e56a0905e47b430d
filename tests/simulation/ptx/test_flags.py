"""Warps that wait for each other without a barrier of the whole block: named barriers, and flags with fences."""

import numpy as np
import pytest

from grader.plan.device import TARGETS, Device
from grader.plan.findings import UndefinedBehaviour
from grader.simulation.ptx.engines import after
from grader.simulation.ptx.launch import LaunchSettings
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.launching import compiled, empty, run, tensor

pytestmark = needs_nvcc


def _undefined(body: str) -> set[str]:
    """Return the kinds of undefined behaviour in a block of `(const float* x, float* y)`; nothing else is found."""
    text = compiled(f"#include <cuda/atomic>\n__global__ void k(const float* x, float* y) {{\n{body}\n}}\n")
    findings = run(text, 1, 256, tensor(np.ones(256, "f4"), "x"), empty(256, "y")).findings
    assert all(isinstance(finding, UndefinedBehaviour) for finding in findings)
    return {finding.what for finding in findings if isinstance(finding, UndefinedBehaviour)}


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


def test_a_barrier_lets_no_more_threads_pass_than_it_counts() -> None:
    body = """    __shared__ float s[256];
    int t = threadIdx.x, half = t / 128;
    s[t] = x[t];
    asm volatile("bar.sync %0, 128;" :: "r"(1 + half) : "memory");
    y[t] = s[128 * half + 127 - t % 128];
"""
    assert _undefined(body) == set()
    assert _undefined(body.replace("1 + half", "1")) == {"shared"}
    # Halves that meet apart do not see each other.
    assert _undefined(body.replace("128 * half", "128 * (1 - half)")) == {"shared"}


def test_threads_that_arrive_complete_a_barrier_by_their_own_count() -> None:
    body = """    __shared__ float s[128];
    int t = threadIdx.x;
    if (t < 128) { s[t] = x[t]; asm volatile("bar.arrive 1, 256;" ::: "memory"); y[t] = 0; }
    else { asm volatile("bar.sync 1, 256;" ::: "memory"); y[t] = s[255 - t]; }
"""
    assert _undefined(body) == set()
    assert "divergent" in _undefined(body.replace("bar.arrive 1, 256", "bar.arrive 1, 128"))


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


def test_a_barrier_in_memory_is_set_up_before_other_warps_use_it() -> None:
    body = """    __shared__ alignas(8) unsigned long long meeting;
    unsigned at = (unsigned)__cvta_generic_to_shared(&meeting);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 256;" ::"r"(at) : "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    y[threadIdx.x] = x[threadIdx.x];
"""
    assert _undefined(body) == set()
    assert _undefined(body.replace("    __syncthreads();\n", "")) == {"shared", "warp"}


def test_the_copy_engine_reads_behind_a_fence_and_a_barrier() -> None:
    body = """    __shared__ alignas(128) float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;"
                     ::"l"(y), "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
"""
    assert _undefined(body) == set()
    assert _undefined(body.replace("fence.proxy.async.shared::cta;", "")) == {"engine"}
    assert _undefined(body.replace("    __syncthreads();\n", "")) == {"shared"}


@pytest.mark.parametrize("device", [None, TARGETS["sm_90"]], ids=["any device", "a device"])
def test_blocks_that_may_wait_for_others_race_within_them(device: Device | None) -> None:
    body = """    __shared__ int tile;
    for (int mine = 0; mine < 16; ) {
        if (threadIdx.x == 0) tile = atomicAdd((int*)y, 1);
        __syncthreads();
        mine = tile;
        __syncthreads(); // all have read
    }
"""
    settings = LaunchSettings(".cu", device=device)
    for text, kinds in (body, set()), (body.replace("        __syncthreads(); // all have read\n", ""), {"shared"}):
        text = compiled(f"__global__ void k(float* y) {{\n{text}}}\n")
        findings = run(text, 4, 256, tensor(np.zeros(1024, "f4"), "y"), settings=settings).findings
        assert {finding.what for finding in findings if isinstance(finding, UndefinedBehaviour)} == kinds


@each_row("expected, arrived, phase, left", [
    (3, 2, 0, 1), (3, 3, 1, 3), (3, 4, 1, 2), (3, 6, 0, 3), (1, 1, 1, 1), (1, 32, 0, 1), (1, 33, 1, 1)])
def test_arrivals_beyond_a_phase_count_for_the_next(expected: int, arrived: int, phase: int, left: int) -> None:
    word = np.array([expected | expected << 20], np.uint64)
    assert int(after(word, np.array([arrived]), np.array([0]))[0]) == phase << 63 | expected << 20 | left
