# A function makes the kernel, with a constant in it.
import math

from numba import cuda, float32


def make(threads):
    @cuda.jit(launch_bounds=threads)
    def kernel(x, out):
        i = cuda.blockIdx.x * threads + cuda.threadIdx.x
        if i < x.size:
            out[i] = x[i] / (float32(1) + math.exp(-x[i]))

    def launch(x, out):
        kernel[(x.size + threads - 1) // threads, threads](x, out)

    return launch


run = make(192)


def silu(x, out):
    run(cuda.as_cuda_array(x).reshape(x.numel()), cuda.as_cuda_array(out).reshape(out.numel()))
