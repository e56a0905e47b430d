# A reduction of Numba's, which brings kernels of its own.
# verdict: policy_violation
# expect: not defined in the submission's file
import math

from numba import cuda, float32


total = cuda.reduce(lambda a, b: a + b)


def silu(x, out):
    total(cuda.as_cuda_array(x).ravel(), res=cuda.as_cuda_array(out).ravel()[:1])
