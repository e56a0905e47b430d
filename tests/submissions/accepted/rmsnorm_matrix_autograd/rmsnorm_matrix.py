# A layer as it stands in a library: autograd.Function with both directions, a module around it, a reference beside it.
import torch
import torch.nn as nn
import triton
import triton.language as tl

torch._dynamo.config.suppress_errors = True


@triton.jit
def _rms_norm_fwd(X, Y, W, RSTD, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        total += x * x
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / N + eps)
    tl.store(RSTD + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(Y + cols, x * rstd * w, mask=mask)


@triton.jit
def _rms_norm_bwd(DX, DY, X, W, RSTD, stride, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0.0)
    w = tl.load(W + cols, mask=mask, other=0.0)
    rstd = tl.load(RSTD + row)
    xhat = x * rstd
    dx = (dy * w - xhat * tl.sum(xhat * dy * w, axis=0) / N) * rstd
    tl.store(DX + row * stride + cols, dx, mask=mask)


class RMSNormFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps, y):
        x_arg = x.reshape(-1, x.shape[-1])
        M, N = x_arg.shape
        rstd = torch.empty((M,), dtype=torch.float32, device=x.device)
        MAX_FUSED_SIZE = 65536 // x.element_size()
        BLOCK = min(MAX_FUSED_SIZE, triton.next_power_of_2(N))
        num_warps = min(max(BLOCK // 256, 1), 8)
        _rms_norm_fwd[(M,)](x_arg, y, weight, rstd, x_arg.stride(0), N, eps, BLOCK=BLOCK, num_warps=num_warps)
        ctx.save_for_backward(x, weight, rstd)
        ctx.eps = eps
        ctx.mark_dirty(y)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, weight, rstd = ctx.saved_tensors
        M, N = x.shape
        dx = torch.empty_like(dy)
        _rms_norm_bwd[(M,)](dx, dy, x, weight, rstd, x.stride(0), N, BLOCK=triton.next_power_of_2(N))
        dw = (dy * x * rstd[:, None]).sum(dim=0)
        return dx, dw, None, None


class TritonRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, x):
        return RMSNormFunction.apply(x, self.weight, self.variance_epsilon, torch.empty_like(x))

    def extra_repr(self):
        return f"{tuple(self.weight.shape)}, eps={self.variance_epsilon}"


@torch.compile
def reference(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rmsnorm_matrix(x, weight, eps, out):
    RMSNormFunction.apply(x, weight, eps, out)


def check():
    layer = TritonRMSNorm(512).cuda()
    x = torch.randn(64, 512, device="cuda", requires_grad=True)
    torch.testing.assert_close(layer(x), reference(x, layer.weight, 1e-6))
