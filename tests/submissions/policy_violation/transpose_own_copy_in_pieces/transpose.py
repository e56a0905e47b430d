# A kernel copies; PyTorch puts element by element of what it left into another order.
# expect: copies a tensor (`copy_`)
import torch
# shared: triton
@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def transpose(x, out):
    y = torch.empty_like(x)
    copy[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    M, N = x.shape
    flat, target = y.view(-1), out.view(-1)
    for i in range(M):
        for j in range(N):
            target[j * M + i : j * M + i + 1].copy_(flat[i * N + j : i * N + j + 1])
