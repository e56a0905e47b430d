# A descriptor of a vector that does not end with a piece of 16 bytes, which the GPU writes as a whole.
# expect: past the end of out
# expect: a multiple of 16 bytes
# never: mask missing
# never: has no mask
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    source = tl.make_tensor_descriptor(x_ptr, shape=[n], strides=[1], block_shape=[BLOCK])
    target = tl.make_tensor_descriptor(out_ptr, shape=[n], strides=[1], block_shape=[BLOCK])
    x = source.load([first])
    target.store([first], x * tl.sigmoid(x))


def silu(x, out):
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
