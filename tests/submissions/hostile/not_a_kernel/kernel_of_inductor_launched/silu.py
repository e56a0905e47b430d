# Launches a template's kernel of Inductor's own, as if one had written it.
# verdict: policy_violation, runtime_error, wrong_answer
import torch
# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    compiled = torch.compile(torch.nn.functional.silu, fullgraph=True)
    out.copy_(compiled(x))
