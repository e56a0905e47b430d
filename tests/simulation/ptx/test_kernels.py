"""What kernels of students use beside plain arithmetic: each gives what a GPU gives."""

from typing import Any

import numpy as np
import pytest

from grader.simulation.ptx.types import Array
from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.launching import compiled, run, tensor

pytestmark = needs_nvcc

COUNT = 1024


def _output(body: str, *, before: str = "", grid: Any = 1, block: Any = 256, **options: Any) -> Array:
    """The output (float32) of a kernel `(const float* x, float* y, int n, float f)` on the numbers from 0 on."""
    text = compiled(f"{before}\n__global__ void k(const float* x, float* y, int n, float f) {{\n{body}\n}}\n")
    out = tensor(np.zeros(COUNT, "f4"), "y")
    outcome = run(text, grid, block, tensor(np.arange(COUNT, dtype="f4"), "x"), out, COUNT, 0.5,
                  entry=next(line.split()[2].rstrip("(") for line in text.splitlines() if ".entry" in line), **options)
    assert outcome.findings == []
    return out.values("f4")


T = np.arange(256)
CASES: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("vectors", "float4 v = ((const float4*)x)[threadIdx.x];\n"
     "((float2*)y)[threadIdx.x] = make_float2(v.x + v.w, v.y * v.z);",
     lambda y: (y[:512:2] == 8 * T + 3).all() and (y[1:512:2] == (4 * T + 1) * (4 * T + 2)).all(), {}),
    ("calls", "y[threadIdx.x] = fib(threadIdx.x & 7, 1.0f) + twice(threadIdx.x).b;",
     lambda y: (y[:8] == np.array([0, 1, 1, 2, 3, 5, 8, 13]) + 2 * T[:8]).all(),
     {"before": "__device__ __noinline__ float fib(int n, float one) "
      "{ return n < 2 ? n * one : fib(n - 1, one) + fib(n - 2, one); }\n"
      "struct Two { int a; float b; };\n"
      "__device__ __noinline__ Two twice(int n) { Two t; t.a = n; t.b = 2 * n; return t; }"}),
    ("a ring", "__shared__ float s[3][256]; int t = threadIdx.x; s[0][t] = x[t]; s[1][t] = x[256 + t]; float v = 0;\n"
     "for (int i = 0; i < n; i++) { s[(i + 2) % 3][t] = i + 2; __syncthreads(); v += s[i % 3][255 - t]; "
     "__syncthreads(); }\ny[t] = v;", lambda y: (y[:256] == 766 - 2 * T + 1023 * 512 - 1).all(), {}),
    ("lock", "if (threadIdx.x % 32 == 0) { bool done = false; while (!done) { if (atomicCAS(&lock, 0, 1) == 0) {\n"
     "volatile float* v = y; v[0] = v[0] + 1; __threadfence(); atomicExch(&lock, 0); done = true; } } }",
     lambda y: y[0] == 16, {"before": "__device__ int lock;", "grid": 2}),
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
    ("async copies", "__shared__ float s[256]; volatile __shared__ float own[256]; int t = threadIdx.x; own[t] = t;\n"
     "unsigned to = __cvta_generic_to_shared(s + t), bytes = t > 250 ? 0 : 4;\n"
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: \"r\"(to), \"l\"(x + t), \"r\"(bytes));\n"
     "if (t % 2) y[256 + t] = own[t];\n"
     "__pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); y[t] = s[255 - t];",
     lambda y: (y[:5] == 0).all() and (y[5:256] == 255 - T[5:]).all() and (y[257:512:2] == T[1::2]).all(),
     {"before": "#include <cuda_pipeline.h>"}),
    ("a policy of the cache", "unsigned long long p; float v;\n"
     "asm(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(p));\n"
     "asm(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\" : \"=f\"(v)\n"
     ": \"l\"(__cvta_generic_to_global(x + threadIdx.x)), \"l\"(p)); y[threadIdx.x] = v;",
     lambda y: (y[:256] == T).all(), {}),
    ("few threads of many blocks", "__shared__ float s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();\n"
     "float v = s[255 - t]; if (t % 8 == 0) for (int i = 0; i < n; i += 512) v += f;\n"
     "if (t / 32 == 2) for (int i = 0; i < n; i += 512) v += __shfl_xor_sync(~0u, s[t], 1) * f;\n"
     "if (blockIdx.x == 700) y[t] = v;",
     lambda y: (y[:256] == 255 - T + (T % 8 == 0) + (T ^ 1) * (T // 32 == 2)).all(), {"grid": 1200}),
    ("either of two tensors", "y[threadIdx.x] = (threadIdx.x & 1 ? x : y + 512)[threadIdx.x];",
     lambda y: (y[:256] == T * (T & 1)).all(), {}),
    ("serial", "if (threadIdx.x == 0) { float sum = 0;\n"
     "for (int i = 0; i < n; i++) sum += x[i]; y[blockIdx.x] = sum; }",
     lambda y: (y[:64] == 1023 * 512).all(), {"grid": 64}),
    ("different lengths", "int i = blockIdx.x * 256 + threadIdx.x; float v = 0;\n"
     "for (int j = 0; j <= i; j++) v += x[j]; y[i] = v;",
     lambda y: np.allclose(y, np.arange(1024).cumsum(), rtol=1e-6), {"grid": 4}),
]


@pytest.mark.parametrize(("body", "right", "options"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_kernels(body: str, right: Any, options: dict[str, Any]) -> None:
    y = _output(body, **options)
    assert right(y), y
