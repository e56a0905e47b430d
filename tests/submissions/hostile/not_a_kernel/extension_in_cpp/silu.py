# Compiles a library in C++ at import, and computes there.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
import triton
import triton.language as tl
from torch.utils.cpp_extension import load_inline


# shared: show_kernel
SOURCE = "void silu(torch::Tensor x, torch::Tensor out) { out.copy_(x * torch::sigmoid(x)); }"


def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    module = load_inline("kernelmark_hostile", SOURCE, functions=["silu"], build_directory=".")
    module.silu(x, out)
