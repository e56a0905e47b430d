"""Kernels of students, compiled by nvcc and run on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from grader.plan.findings import OutOfBounds
from tests.languages.cuda.compiling import needs_nvcc
from tests.simulation.ptx.launching import compiled, empty, run, tensor

pytestmark = needs_nvcc

SILU = """
__global__ void silu(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        output[i] = input[i] / (1 + expf(-input[i]));
}
"""

TRANSPOSE = """
__global__ void transpose(const float* input, float* output, int rows, int columns) {
    __shared__ float tile[32][33];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = input[row * columns + column];
    __syncthreads();
    row = blockIdx.x * 32 + threadIdx.y, column = blockIdx.y * 32 + threadIdx.x;
    if (row < columns && column < rows) output[row * rows + column] = tile[threadIdx.x][threadIdx.y];
}
"""

RMS_NORM = """
__global__ void rms_norm(const float* input, const float* weight, float* output, int rows, int columns, float epsilon) {
    __shared__ float sums[32];
    const float* x = input + (size_t)blockIdx.x * columns;
    float sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[c] * x[c];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
        if (threadIdx.x == 0) sums[0] = sum;
    }
    __syncthreads();
    float scale = rsqrtf(sums[0] / columns + epsilon);
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        output[(size_t)blockIdx.x * columns + c] = x[c] * scale * weight[c];
}
"""


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(shape).astype("f4")


@pytest.mark.parametrize("size", [1, 255, 256, 1000, 300_000])
def test_silu(size: int) -> None:
    x, out = _normal(size), empty(size)
    outcome = run(compiled(SILU), -(-size // 256), 256, tensor(x, "input"), out, size)
    assert outcome.findings == []
    np.testing.assert_allclose(out.values("f4"), x / (1 + np.exp(-x)), rtol=1e-6, atol=1e-7)
    assert out.written is not None and out.written.all()


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (33, 100), (256, 128)])
def test_transpose_with_a_tile(rows: int, columns: int) -> None:
    x, out = _normal(rows, columns), empty(rows * columns)
    grid = -(-columns // 32), -(-rows // 32)
    outcome = run(compiled(TRANSPOSE), grid, (32, 32), tensor(x, "input"), out, rows, columns)
    assert outcome.findings == []
    assert (out.values("f4").reshape(columns, rows) == x.T).all()


@pytest.mark.parametrize(("rows", "columns", "block"), [(1, 1, 32), (100, 300, 256), (3, 5000, 1024)])
def test_rms_norm_with_shuffles(rows: int, columns: int, block: int) -> None:
    x, weight, out = _normal(rows, columns), _normal(columns), empty(rows * columns)
    given = tensor(x, "input"), tensor(weight, "weight"), out
    outcome = run(compiled(RMS_NORM), rows, block, *given, rows, columns, 1e-5)
    assert outcome.findings == []
    expected = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * weight
    np.testing.assert_allclose(out.values("f4").reshape(rows, columns), expected, rtol=1e-5, atol=1e-6)


def test_loads_and_stores_out_of_bounds_have_their_lines() -> None:
    text = compiled(SILU.replace("if (i < n)", ""))
    out = empty(1000)
    found = run(text, 4, 256, tensor(_normal(1000), "input"), out, 1000).findings
    assert [type(one) for one in found] == [OutOfBounds, OutOfBounds]
    for one, access, given in zip(found, ("load", "store"), ("input", "out"), strict=True):
        assert isinstance(one, OutOfBounds)
        assert (one.access, one.line, one.given, one.program) == (access, 5, given, (3, 0, 0))
        assert (one.elements, one.lowest, one.highest, one.lanes, one.active) == (1000, 1000, 1023, 24, 256)
    assert out.written is not None and out.written.all()
