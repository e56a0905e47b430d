"""Products of matrices by tensor cores, as students write them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.launching import compiled, run, tensor

pytestmark = needs_nvcc

WMMA = """
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void product(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ half left[32][24];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    int row = blockIdx.y * 32, column = blockIdx.x * 16, warp = threadIdx.x / 32;
    for (int j = 0; j < k; j += 16) {
        for (int e = threadIdx.x; e < 512; e += 64) left[e / 16][e % 16] = a[(row + e / 16) * k + j + e % 16];
        __syncthreads();
        wmma::load_matrix_sync(fa, &left[warp * 16][0], 24);
        wmma::load_matrix_sync(fb, b + j * n + column, n);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (row + warp * 16) * n + column, fc, n, wmma::mem_row_major);
}
"""

MMA = """
#include <cuda_fp16.h>
__global__ void product(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) half left[16][16], right[16][8];
    int t = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
    float d[4] = {0, 0, 0, 0};
    for (int j = 0; j < k; j += 16) {
        for (int e = t; e < 256; e += 32) left[e / 16][e % 16] = a[(row + e / 16) * k + j + e % 16];
        for (int e = t; e < 128; e += 32) right[e / 8][e % 8] = b[(j + e / 8) * n + column + e % 8];
        __syncthreads();
        unsigned x[4], y[2];
        unsigned from = __cvta_generic_to_shared(&left[t % 16][t / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from) : "memory");
        from = __cvta_generic_to_shared(&right[t % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1]) : "r"(from) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncthreads();
    }
    float* out = c + (row + t / 4) * n + column + t % 4 * 2;
    out[0] = d[0]; out[1] = d[1]; out[8 * n] = d[2]; out[8 * n + 1] = d[3];
}
"""


@pytest.mark.parametrize(("source", "tile", "block"), [(WMMA, (16, 32), 64), (MMA, (8, 16), 32)], ids=["wmma", "mma"])
def test_products(source: str, tile: tuple[int, int], block: int) -> None:
    rows, columns, inner = 64, 32, 48
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(shape).astype("f2") for shape in ((rows, inner), (inner, columns)))
    c = tensor(np.zeros((rows, columns), "f4"), "c", fresh=True)
    outcome = run(compiled(source), (columns // tile[0], rows // tile[1]), block, tensor(a, "a"), tensor(b, "b"), c,
                  rows, columns, inner)
    assert outcome.findings == []
    expected = a.astype("f8") @ b.astype("f8")
    np.testing.assert_allclose(c.values("f4").reshape(rows, columns), expected, atol=2e-5)
