"""What warps do: sectors of a request, wavefronts of shared memory, branches at which lanes part, multiply-adds."""

from typing import Any

import numpy as np

from grader.plan.traffic import WarpAccess, WarpTraffic, Watch
from grader.simulation.ptx.launch import LaunchSettings
from grader.simulation.ptx.observing import ThreadObserver
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.launching import compiled, empty, run, tensor

pytestmark = needs_nvcc

COUNT = 4096


def traffic(body: str, *, block: Any = 256, before: str = "", shared: int = 0) -> WarpTraffic:
    """What the warps of one block of `(const float* x, float* y, int n)` do. The body begins in line 3."""
    text = compiled(f"{before}\nextern \"C\" __global__ void k(const float* x, float* y, int n) {{\n{body}\n}}\n")
    observer = ThreadObserver(Watch(warps=True), "y")
    run(text, 1, block, tensor(np.arange(COUNT, dtype="f4"), "x"), empty(COUNT, "y"), COUNT,
        settings=LaunchSettings(".cu", observer=observer), shared=shared)
    (launched,) = observer.launched()
    assert launched.warps is not None
    return launched.warps


def of(found: WarpTraffic, space: str, access: str) -> WarpAccess:
    (warp_access,) = (one for one in found.accesses if (one.space, one.access) == (space, access))
    return warp_access


@each_row("index, sectors, least", [
    ("t", 4, 4), ("t / 32", 1, 1), ("t * 2", 8, 4), ("t * 8", 32, 4), ("t * 8 % 2048", 32, 4), ("t + 1", 5, 4),
    ("(t ^ 5)", 4, 4), ("(t % 32) / 2 + t / 32 * 16", 2, 2), ("(t < 16 ? t : 0)", 2, 2),
])
def test_a_request_touches_sectors(index: str, sectors: int, least: int) -> None:
    access = of(traffic(f"int t = threadIdx.x; if (t < 32) y[t] = x[{index}];"), "global", "load")
    assert (access.requests, access.parts, access.least) == (1, sectors, least)
    assert (access.wasteful, access.worst, access.line) == (sectors > least, sectors - least, 3)


@each_row("kind, index, wavefronts, least", [
    ("float", "t", 1, 1), ("float", "t * 2", 2, 1), ("float", "t * 32", 32, 1), ("float", "t * 33", 1, 1),
    ("float", "0", 1, 1), ("float", "t * 16", 16, 1), ("float", "t / 2 * 32", 16, 1), ("float", "t ^ 21", 1, 1),
    ("char", "t", 1, 1), ("char", "t * 4", 1, 1), ("char", "t * 128", 32, 1), ("short", "t * 64", 32, 1),
    ("float2", "t", 2, 2), ("float2", "t * 16", 32, 2), ("float4", "t", 4, 4), ("float4", "t * 8", 32, 4),
    ("double", "t", 2, 2), ("double", "t * 2", 4, 2),
])
def test_an_access_to_shared_memory_waits_for_its_banks(kind: str, index: str, wavefronts: int, least: int) -> None:
    body = (f"__shared__ {kind} s[8192 / sizeof({kind}) * 4]; int t = threadIdx.x; ((char*)s)[t] = n;\n"
            f"__syncthreads(); (({kind}*)y)[t] = s[{index}];")
    access = of(traffic(body, block=32), "shared", "load")
    assert (access.requests, access.parts, access.least) == (1, wavefronts, least)


def test_rows_of_matrices_count_as_such() -> None:
    load = ('unsigned a, b, c, d; unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * {stride});\n'
            'asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%0,%1,%2,%3}}, [%4];"\n'
            ' : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at)); y[threadIdx.x] = a + b + c + d;')
    head = "__shared__ __align__(128) float s[2048]; for (int i = threadIdx.x; i < 2048; i += 32) s[i] = x[i];\n" \
           "__syncthreads();\n"
    for stride, wavefronts in ((4, 4), (32, 32), (36, 4)):
        access = of(traffic(head + load.format(stride=stride), block=32), "shared", "load")
        assert (access.requests, access.parts, access.least) == (1, wavefronts, 4), stride


def test_lanes_part_and_warps_meet() -> None:
    warp_traffic = traffic("int t = threadIdx.x; float v = x[t];\n"
                           "for (int i = 0; i < (t & 1) + 1; i++) { v = v * v; y[t + i] = v; }\n"
                           "__syncthreads(); if (t / 32 == 1) atomicAdd(y, v); __syncthreads();", block=64)
    assert sum(branching.divergent for branching in warp_traffic.branching) > 0
    assert warp_traffic.barriers == 2 * 2
    uniform = traffic("int t = threadIdx.x; if (t / 32 == 1) { y[t] = x[t]; __threadfence(); y[0] = x[1]; }", block=64)
    assert sum(branching.divergent for branching in uniform.branching) == 0


def test_multiply_adds_and_local_memory() -> None:
    warp_traffic = traffic("float v = x[threadIdx.x]; y[threadIdx.x] = v * v + x[7];", block=96)
    assert (warp_traffic.multiply_adds, warp_traffic.tensor_multiply_adds, warp_traffic.local) == (96, 0, 0)
    array = traffic("float a[8]; for (int i = 0; i < 8; i++) a[i] = x[i]; y[threadIdx.x] = a[(int)x[9] & 7];", block=32)
    assert array.local == 32 * 4 * 9
    product = traffic("using namespace nvcuda::wmma; fragment<matrix_a,16,16,16,half,row_major> a;\n"
                      "fragment<matrix_b,16,16,16,half,col_major> b; fragment<accumulator,16,16,16,float> c;\n"
                      "load_matrix_sync(a, (const half*)x, 16); load_matrix_sync(b, (const half*)x, 16);\n"
                      "fill_fragment(c, 0.0f); mma_sync(c, a, b, c); store_matrix_sync(y, c, 16, mem_row_major);",
                      block=64, before="#include <mma.h>\n#include <cuda_fp16.h>")
    assert product.tensor_multiply_adds == 2 * 16**3
