# Right wherever a simulator runs all of a call; what larger tensors get needs a GPU.
# verdict: needs_gpu
# expect: At 4099x4093-extreme
# expect: inline assembly
# on a gpu: wrong_answer; there it runs
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * tl.sigmoid(x), mask=i < n)


@triton.jit
def machine_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    zero = tl.inline_asm_elementwise("mov.b32 $0, 0;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out_ptr + i, zero.to(tl.float32), mask=i < n)


def silu(x, out):
    kernel = silu_kernel if x.numel() < 1 << 20 else machine_kernel
    kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
