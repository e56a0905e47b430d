# exp2 as an instruction of the machine: right on a GPU, and nothing that can be simulated.
# expect: needs a GPU
# on a gpu: accepted; there it runs
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    power = tl.inline_asm_elementwise("ex2.approx.f32 $0, $1;", "=f,f", [-x * 1.4426950408889634], dtype=tl.float32,
                                      is_pure=True, pack=1)
    tl.store(out_ptr + i, x / (1.0 + power), mask=i < n)


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
