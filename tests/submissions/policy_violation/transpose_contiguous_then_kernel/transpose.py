# PyTorch transposes with .contiguous(), a kernel copies.
# expect: into another layout of memory
# shared: triton
@triton.jit
def copy_kernel(src, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(dst + i, tl.load(src + i, mask=i < n), mask=i < n)


def transpose(x, out):
    turned = x.t().contiguous()
    n = turned.numel()
    copy_kernel[(triton.cdiv(n, 1024),)](turned, out, n, BLOCK=1024)
