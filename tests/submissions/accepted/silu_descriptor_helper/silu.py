# A helper that takes a pointer or a descriptor and returns a descriptor, as in Triton's tutorial on attention.
import torch
# shared: triton
def alloc(size, alignment, stream):
    return torch.empty(size, device="cuda", dtype=torch.int8)


@triton.jit
def described(given, n, BLOCK: tl.constexpr):
    if isinstance(given, tl.tensor_descriptor):
        return given
    else:
        return tl.make_tensor_descriptor(given, shape=[n], strides=[1], block_shape=[BLOCK])


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    source = described(described(x_ptr, n, BLOCK), n, BLOCK)
    x = source.load([first])
    offsets = first + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def silu(x, out):
    triton.set_allocator(alloc)
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
