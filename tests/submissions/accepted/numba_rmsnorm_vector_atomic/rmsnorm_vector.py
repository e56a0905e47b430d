# Blocks add to one number, which is set to 0 first.
import math

from numba import cuda, float32


@cuda.jit
def sum_kernel(x, total):
    part = cuda.shared.array(256, float32)
    thread = cuda.threadIdx.x
    part[thread] = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        part[thread] += x[i] * x[i]
    cuda.syncthreads()
    step = 128
    while step > 0:
        if thread < step:
            part[thread] += part[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        cuda.atomic.add(total, 0, part[0])


@cuda.jit
def scale_kernel(x, weight, eps, total, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / math.sqrt(total[0] / x.size + eps) * weight[i]


def rmsnorm_vector(x, weight, eps, out):
    total = cuda.device_array(1, dtype="float32")
    total[:] = 0
    blocks = (x.numel() + 255) // 256
    sum_kernel[min(blocks, 64), 256](x, total)
    scale_kernel[blocks, 256](x, weight, eps, total, out)
