# A line that prints calls a function that asks for a number, and then launches once more.
# expect: reduces a tensor
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=offsets < n)


def report(out):
    total = out.sum().item()
    silu_kernel[(triton.cdiv(out.numel(), 1024),)](out, out, out.numel(), BLOCK=1024)
    return total


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    print("sum:", report(out))
