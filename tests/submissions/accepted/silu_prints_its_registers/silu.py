# What a launch returns is asked for registers, spills, shared memory and machine code, as one does while tuning.
import torch
# shared: triton
@triton.jit
def silu_fwd(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x / (1.0 + tl.exp(-x)), mask=i < n)


seen = set()


def silu(x, out):
    n = x.numel()
    k = silu_fwd[(triton.cdiv(n, 2048),)](x, out, n, BLOCK=2048, num_warps=8)
    if n not in seen:
        seen.add(n)
        print("registers", k.n_regs, "spills", k.n_spills, "shared", k.metadata.shared, "warps", k.metadata.num_warps)
        print("vectorised loads:", k.asm["ptx"].count("ld.global.v4"))
        if k.n_spills:
            print("careful: this one spills")
