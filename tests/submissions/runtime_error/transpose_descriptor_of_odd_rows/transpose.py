# Rows of most sizes do not begin at multiples of 16 bytes.
# expect: A descriptor takes tensors that begin, and whose rows begin, at multiples of 16 bytes
# never: An assertion of the submission
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

T = 32

@triton.jit
def transpose_tma(x_desc, out_desc, T: tl.constexpr):
    i = tl.program_id(0) * T
    j = tl.program_id(1) * T
    tile = x_desc.load([i, j])
    out_desc.store([j, i], tile.T)

def transpose(x, out):
    M, N = x.shape
    x_desc = TensorDescriptor(x, shape=[M, N], strides=[N, 1], block_shape=[T, T])
    out_desc = TensorDescriptor(out, shape=[N, M], strides=[M, 1], block_shape=[T, T])
    transpose_tma[(triton.cdiv(M, T), triton.cdiv(N, T))](x_desc, out_desc, T)
