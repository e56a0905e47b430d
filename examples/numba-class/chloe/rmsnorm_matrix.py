import math

from numba import cuda, float32


@cuda.jit
def rows_kernel(x, weight, eps, out):
    row = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if row >= x.shape[0]:
        return
    total = float32(0)
    for j in range(cuda.threadIdx.x, x.shape[1], 32):
        total += x[row, j] * x[row, j]
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
        offset //= 2
    scale = float32(1) / math.sqrt(total / float32(x.shape[1]) + float32(eps))
    for j in range(cuda.threadIdx.x, x.shape[1], 32):
        out[row, j] = x[row, j] * scale * weight[j]


def rmsnorm_matrix(x, weight, eps, out):
    rows_kernel[(x.shape[0] + 3) // 4, (32, 4)](x, weight, eps, out)
