# Numba's transposed view of out, which the kernel writes as x lies.
from numba import cuda


@cuda.jit
def copy_kernel(x, turned):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        turned[i, j] = x[i, j]


def transpose(x, out):
    M, N = x.shape
    copy_kernel[((M + 7) // 8, (N + 31) // 32), (8, 32)](x, cuda.as_cuda_array(out).transpose())
