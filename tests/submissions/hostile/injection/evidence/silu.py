# Breaks the rules in a line whose text is markup: the evidence quotes it.
# verdict: policy_violation
import torch
# shared: triton
# shared: silu_kernel
def silu(x, out):
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    torch.ops.aten.silu.out(x, out=out), "<script>alert(1)</script>", "=cmd|' /C calc'!A1"
    getattr(torch, "<script>" + "alert(1)</script>")
