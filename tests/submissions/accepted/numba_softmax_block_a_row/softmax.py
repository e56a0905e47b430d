# A block for each row, with trees in shared memory.
import math

from numba import cuda, float32


THREADS = 128


@cuda.jit
def softmax_kernel(x, out):
    held = cuda.shared.array(THREADS, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    top = float32(-math.inf)
    for j in range(t, x.shape[1], THREADS):
        top = max(top, x[row, j])
    held[t] = top
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            held[t] = max(held[t], held[t + step])
        cuda.syncthreads()
        step //= 2
    top = held[0]
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, x.shape[1], THREADS):
        total += math.exp(x[row, j] - top)
    held[t] = total
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            held[t] += held[t + step]
        cuda.syncthreads()
        step //= 2
    for j in range(t, x.shape[1], THREADS):
        out[row, j] = math.exp(x[row, j] - top) / held[0]


def softmax(x, out):
    softmax_kernel[x.shape[0], THREADS](x, out)
