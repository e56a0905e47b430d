# Calls CUDA's driver by ctypes, for copies and launches that no plan shows.
# verdict: runtime_error, policy_violation
# on a gpu: wrong_answer, runtime_error; where there is a driver its library loads, and finds no device
import ctypes

import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    cuda = ctypes.CDLL("libcuda.so.1")
    cuda.cuInit(0)
    cuda.cuMemcpyDtoD_v2(ctypes.c_uint64(out.data_ptr()), ctypes.c_uint64(x.data_ptr()), x.numel() * 4)
