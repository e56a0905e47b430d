"""What kernels of students use beside plain arithmetic: each gives what a GPU gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.simulation.ptx.types import Array
from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.launching import compiled, run, tensor

pytestmark = needs_nvcc

COUNT = 1024


def _output(body: str, *, before: str = "", grid: Any = 1, block: Any = 256, **options: Any) -> Array:
    """The output (float32) of a kernel `(const float* x, float* y, int n)` on the numbers from 0 on."""
    text = compiled(f"{before}\n__global__ void k(const float* x, float* y, int n) {{\n{body}\n}}\n")
    out = tensor(np.zeros(COUNT, "f4"), "y")
    outcome = run(text, grid, block, tensor(np.arange(COUNT, dtype="f4"), "x"), out, COUNT,
                  entry=next(line.split()[2].rstrip("(") for line in text.splitlines() if ".entry" in line), **options)
    assert outcome.findings == []
    return out.values("f4")


T = np.arange(256)
CASES: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("ids", "int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
     "int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);\n"
     "y[b * 24 + t] = threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x + blockIdx.z * 1000;",
     lambda y: y[24 * 11 + 23] == 123 + 1000 and y[5] == 11, {"grid": (2, 3, 2), "block": (4, 3, 2)}),
    ("vectors", "float4 v = ((const float4*)x)[threadIdx.x];\n"
     "((float2*)y)[threadIdx.x] = make_float2(v.x + v.w, v.y * v.z);",
     lambda y: (y[:512:2] == 8 * T + 3).all() and (y[1:512:2] == (4 * T + 1) * (4 * T + 2)).all(), {}),
    ("local", "float a[16]; for (int i = 0; i < 16; i++) a[i] = x[i] * i;\n"
     "int j = threadIdx.x; y[j] = a[(j * 7) & 15] + a[j & 3];",
     lambda y: (y[:256] == (T * 7 & 15) ** 2 + (T & 3) ** 2).all(), {}),
    ("switch", "int t = threadIdx.x; float v = 0; switch (t & 15) { case 0: v = sinf(t); break; case 1: v = 5; break;\n"
     "case 2: v = t * x[3]; break; case 3: v = -1; break; case 4: v = x[t] + 2; break; case 5: y[512 + t] = 1; break;\n"
     "case 6: v = 9; break; case 7: v = t / 7; break; default: v = 77; } y[t] = v;",
     lambda y: (y[1:256:16] == 5).all() and (y[4:256:16] == T[4::16] + 2).all() and (y[15:256:16] == 77).all(), {}),
    ("calls", "y[threadIdx.x] = fib(threadIdx.x & 7, 1.0f) + twice(threadIdx.x).b;",
     lambda y: (y[:8] == np.array([0, 1, 1, 2, 3, 5, 8, 13]) + 2 * T[:8]).all(),
     {"before": "__device__ __noinline__ float fib(int n, float one) "
      "{ return n < 2 ? n * one : fib(n - 1, one) + fib(n - 2, one); }\n"
      "struct Two { int a; float b; };\n"
      "__device__ __noinline__ Two twice(int n) { Two t; t.a = n; t.b = 2 * n; return t; }"}),
    ("scan", "float v = x[threadIdx.x]; int lane = threadIdx.x & 31;\n"
     "for (int d = 1; d < 32; d *= 2) { float o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }\n"
     "y[threadIdx.x] = v; y[256 + threadIdx.x] = __shfl_sync(~0u, v, lane / 8 * 8, 8);",
     lambda y: (y[:32] == T[:32].cumsum()).all() and y[256 + 39] == T[32:33].sum(), {}),
    ("votes", "int t = threadIdx.x; unsigned b = __ballot_sync(~0u, t % 3 == 0);\n"
     "y[t] = __popc(b) + 100 * __any_sync(~0u, t == 40) + 200 * __all_sync(~0u, t < 64);\n"
     "y[256 + t] = __match_any_sync(~0u, t & 3) & 0xffff;",
     lambda y: y[0] == 11 + 200 and y[33] == 11 + 100 + 200 and y[70] == 10 and y[256 + 5] == 0x2222, {}),
    ("histogram", "__shared__ int h[16]; int t = threadIdx.x; if (t < 16) h[t] = 0; __syncthreads();\n"
     "atomicAdd(&h[t & 15], t); __syncthreads(); if (t < 16) y[t] = h[t];",
     lambda y: (y[:16] == T.reshape(-1, 16).sum(0)).all(), {}),
    ("a ring", "__shared__ float s[3][256]; int t = threadIdx.x; s[0][t] = x[t]; s[1][t] = x[256 + t]; float v = 0;\n"
     "for (int i = 0; i < n; i++) { s[(i + 2) % 3][t] = i + 2; __syncthreads(); v += s[i % 3][255 - t]; "
     "__syncthreads(); }\ny[t] = v;", lambda y: (y[:256] == 766 - 2 * T + 1023 * 512 - 1).all(), {}),
    ("tickets", "int old = atomicAdd((int*)y, 1); y[1 + old] = 1;", lambda y: (y[1:1021] == 1).all(),
     {"grid": 4, "block": 255}),
    ("maximum", "int* p = (int*)y; float v = x[threadIdx.x + 256 * blockIdx.x]; int old = *p, assumed;\n"
     "do { assumed = old; old = atomicCAS(p, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed)))); }\n"
     "while (old != assumed);", lambda y: y[0] == 1023, {"grid": 4}),
    ("lock", "if (threadIdx.x % 32 == 0) { bool done = false; while (!done) { if (atomicCAS(&lock, 0, 1) == 0) {\n"
     "volatile float* v = y; v[0] = v[0] + 1; __threadfence(); atomicExch(&lock, 0); done = true; } } }",
     lambda y: y[0] == 16, {"before": "__device__ int lock;", "grid": 2}),
    ("halves", "__half2 a = __float22half2_rn(make_float2(x[threadIdx.x], 0.5f)); a = __hfma2(a, a, a);\n"
     "y[threadIdx.x] = __low2float(a) + __high2float(a); y[256 + threadIdx.x] = __half2float(__float2half(x[9]) / "
     "__float2half(4.f)) + __bfloat162float(__float2bfloat16(257.f));",
     lambda y: y[3] == 12.75 and y[256] == 2.25 + 256, {"before": "#include <cuda_fp16.h>\n#include <cuda_bf16.h>"}),
    ("doubles", "double d = x[threadIdx.x]; y[threadIdx.x] = sqrt(d) * exp(-d / 3) + erf(d) + pow(d, 0.25) + cos(d);",
     lambda y: abs(y[2] - (2**0.5 * np.exp(-2 / 3) + 0.9953222650 + 2**0.25 + np.cos(2))) < 1e-6, {}),
    ("mathematics", "float f = x[threadIdx.x] + 1; y[threadIdx.x] = tanhf(f / 100) + logf(f) + powf(f, 1.5f) + "
     "erff(f) + cosf(f * 1e6f) + __expf(-f) + rsqrtf(f) + cbrtf(f) + fmodf(f, 0.3f) + log1pf(f);",
     lambda y: abs(y[0] - (np.tanh(0.01) + 1 + 0.8427008 + np.cos(1e6) + np.exp(-1) + 1 + 1 + 0.1 + np.log(2))) < 1e-5,
     {}),
    ("integers", "long long a = 1234567890123LL * (threadIdx.x + 1), b = threadIdx.x + 3;\n"
     "unsigned u = 0x80000001u >> b;\n"
     "y[threadIdx.x] = a / b % 1000 + (a >> 5 & 255) + __clz(u) + __ffs(u) + __brev(threadIdx.x) % 7 + (-7 / 2) + "
     "(-7 % 3) + (a > b ? 3 : 4) + __mulhi(1 << 20, (int)b << 14) + __byte_perm(1, 2, 0x5410);",
     lambda y: y[0] == _integers(0) and y[100] == _integers(100), {}),
    ("cooperative", "auto g = cooperative_groups::this_grid(); int i = g.thread_rank(); __shared__ float s[256];\n"
     "y[i] = x[i]; g.sync(); float v = y[(i + 300) % 1024]; g.sync(); y[i] = v;\n"
     "auto w = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());\n"
     "float sum = cooperative_groups::reduce(w, 1.0f, cooperative_groups::plus<float>()); y[i] += sum;",
     lambda y: (y == (np.arange(1024) + 300) % 1024 + 16).all(),
     {"before": "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>", "grid": 4,
      "cooperative": True}),
    ("constants", "y[threadIdx.x] = table[threadIdx.x & 3] + offset;", lambda y: (y[:4] == [11, 12, 14, 18]).all(),
     {"before": "__constant__ float table[4] = {1, 2, 4, 8}; __device__ float offset = 10;"}),
    ("named barriers", "int t = threadIdx.x; __shared__ float s[256]; s[t] = x[t];\n"
     "if (t < 128) { asm volatile(\"bar.sync 1, 128;\"); y[t] = s[127 - t]; }\n"
     "else { asm volatile(\"bar.sync 2, 128;\"); y[t] = s[383 - t]; }\n"
     "y[256 + t] = __syncthreads_count(t < 77) + __syncthreads_or(t == 3) + __syncthreads_and(t < 5);",
     lambda y: (y[:128] == 127 - T[:128]).all() and (y[128:256] == 383 - T[128:]).all() and (y[256:512] == 78).all(),
     {}),
    ("named barriers of registers", "int t = threadIdx.x, id = 1 + (t / 64) % 2; __shared__ float s[256];\n"
     "if (t < 128) { s[t] = x[t]; __threadfence_block();\n"
     "asm volatile(\"bar.arrive %0, %1;\" :: \"r\"(id), \"r\"(128) : \"memory\"); y[t] = t; }\n"
     "else { asm volatile(\"bar.sync %0, %1;\" :: \"r\"(id), \"r\"(128) : \"memory\"); y[t] = s[t - 128]; }",
     lambda y: (y[:128] == T[:128]).all() and (y[128:256] == T[:128]).all(), {}),
    ("async copies", "__shared__ float s[256]; int t = threadIdx.x;\n"
     "__pipeline_memcpy_async(s + t, x + t, 4, t > 250 ? 4 : 0);\n"
     "__pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); y[t] = s[255 - t];",
     lambda y: (y[:5] == 0).all() and (y[5:256] == 255 - T[5:]).all(), {"before": "#include <cuda_pipeline.h>"}),
    ("barriers in memory", "__shared__ cuda::barrier<cuda::thread_scope_block> b; __shared__ float s[512];\n"
     "int t = threadIdx.x; if (t == 0) init(&b, 256); __syncthreads(); s[t] = x[t]; b.arrive_and_wait();\n"
     "y[t] = s[255 - t]; auto token = b.arrive(); b.wait(std::move(token)); s[t] = 2 * x[t]; b.arrive_and_wait();\n"
     "cuda::memcpy_async(s + 256 + t, x + 512 + t, 4, b); b.arrive_and_wait(); y[256 + t] = s[255 - t] + s[511 - t];",
     lambda y: (y[:256] == 255 - T).all() and (y[256:512] == 2 * (255 - T) + 767 - T).all(),
     {"before": "#include <cuda/barrier>"}),
    ("serial", "if (threadIdx.x == 0) { float sum = 0;\n"
     "for (int i = 0; i < n; i++) sum += x[i]; y[blockIdx.x] = sum; }",
     lambda y: (y[:64] == 1023 * 512).all(), {"grid": 64}),
    ("different lengths", "int i = blockIdx.x * 256 + threadIdx.x; float v = 0;\n"
     "for (int j = 0; j <= i; j++) v += x[j]; y[i] = v;",
     lambda y: np.allclose(y, np.arange(1024).cumsum(), rtol=1e-6), {"grid": 4}),
]


def _integers(t: int) -> float:
    a, b = 1234567890123 * (t + 1), t + 3
    u = 0x80000001 >> b if b < 32 else 0
    found = a // b % 1000 + (a >> 5 & 255) + (32 - u.bit_length()) + ((u & -u).bit_length())
    turned = int(f"{t:032b}"[::-1], 2)
    return float(np.float32(found + turned % 7 - 3 - 1 + 3 + ((1 << 20) * (b << 14) >> 32) + 0x00020001))


@pytest.mark.parametrize(("body", "right", "options"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_kernels(body: str, right: Any, options: dict[str, Any]) -> None:
    y = _output(body, **options)
    assert right(y), y
