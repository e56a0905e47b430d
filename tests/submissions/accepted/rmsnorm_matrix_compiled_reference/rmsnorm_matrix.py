# Compiled references, the compiler's settings and a check on demand stand in the file; what is graded is a kernel.
import os

import torch
import torch._dynamo
import torch._inductor.config as inductor_config
import triton
import triton.language as tl

torch.set_float32_matmul_precision("high")
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.benchmark = True
inductor_config.coordinate_descent_tuning = True
torch._dynamo.config.cache_size_limit = 64


def eager(x, weight, eps):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps)


compiled = torch.compile(eager, mode="max-autotune", dynamic=False)


@torch.compile(fullgraph=True)
def rms_norm_inductor(x, weight, eps):
    variance = x.pow(2).mean(-1, keepdim=True)
    return x * torch.rsqrt(variance + eps) * weight


@triton.jit
def _kernel(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=0.0)
    w = tl.load(w_ptr + c, mask=c < cols, other=0.0)
    tl.store(out_ptr + row * cols + c, x * tl.rsqrt(tl.sum(x * x) / cols + eps) * w, mask=c < cols)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    BLOCK = triton.next_power_of_2(cols)
    _kernel[(rows,)](x, weight, out, cols, eps, BLOCK=BLOCK, num_warps=min(max(BLOCK // 512, 1), 16))
    if os.environ.get("CHECK"):
        torch.testing.assert_close(out, compiled(x, weight, eps))
        torch.testing.assert_close(out, rms_norm_inductor(x, weight, eps))
