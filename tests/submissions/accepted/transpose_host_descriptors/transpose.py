# Tensor descriptors made on the host where rows are 16-byte aligned; plain pointers elsewhere.
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BM, BN = 32, 64


@triton.jit
def with_descriptors(x_desc, out_desc, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM
    j = tl.program_id(1) * BN
    out_desc.store([j, i], x_desc.load([i, j]).T)


@triton.jit
def with_pointers(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (i < M)[:, None] & (j < N)[None, :]
    x = tl.load(x_ptr + i[:, None] * N + j[None, :], mask=mask)
    tl.store(out_ptr + j[:, None] * M + i[None, :], x.T, mask=mask.T)


def transpose(x, out):
    M, N = x.shape
    grid = (triton.cdiv(M, BM), triton.cdiv(N, BN))
    aligned = M % 4 == 0 and N % 4 == 0 and x.data_ptr() % 16 == 0 and out.data_ptr() % 16 == 0
    if aligned:
        x_desc = TensorDescriptor.from_tensor(x, [BM, BN])
        out_desc = TensorDescriptor.from_tensor(out, [BN, BM])
        with_descriptors[grid](x_desc, out_desc, BM=BM, BN=BN)
    else:
        with_pointers[grid](x, out, M, N, BM=BM, BN=BN)
