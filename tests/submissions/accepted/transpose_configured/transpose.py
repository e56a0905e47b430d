# A configuration as a dataclass, decorators of one's own, ranges for the profiler, and a log of what was chosen.
from __future__ import annotations

import functools
import logging
from dataclasses import dataclass, field

import torch
import triton
import triton.language as tl
from torch.profiler import ProfilerActivity, profile, record_function

logger = logging.getLogger("transpose")


@dataclass(frozen=True)
class TransposeConfig:
    block_m: int = 32
    block_n: int = 64
    num_warps: int = 4
    extra: dict = field(default_factory=dict, hash=False)

    def grid(self, m: int, n: int) -> tuple[int, int]:
        return triton.cdiv(m, self.block_m), triton.cdiv(n, self.block_n)

    @classmethod
    def for_shape(cls, m: int, n: int) -> TransposeConfig:
        if min(m, n) < 32:
            return cls(16, 16, 1)
        return cls()


def traced(name):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with record_function(name):
                return function(*args, **kwargs)
        return wrapper
    return decorate


def expects(*dtypes):
    """Checks the types of all tensors before the call."""
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            for argument in args:
                if isinstance(argument, torch.Tensor):
                    if argument.dtype not in dtypes:
                        raise TypeError(f"{function.__name__}: {argument.dtype} is not one of {dtypes}")
                    torch._check(argument.is_contiguous())
            return function(*args)
        return wrapper
    return decorate


@triton.jit
def transpose_kernel(x_ptr, out_ptr, M, N, stride_xm, stride_on, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    tile = tl.load(x_ptr + m[:, None] * stride_xm + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N))
    tl.store(out_ptr + n[:, None] * stride_on + m[None, :], tl.trans(tile), mask=(n[:, None] < N) & (m[None, :] < M))


@functools.lru_cache(maxsize=None)
def config(m, n):
    chosen = TransposeConfig.for_shape(m, n)
    logger.info("%dx%d: %s", m, n, chosen)
    return chosen


@traced("transpose")
@expects(torch.float32)
@torch.no_grad()
def transpose(x: torch.Tensor, out: torch.Tensor) -> None:
    (m, n), chosen = x.shape, config(*x.shape)
    with torch.cuda.device(x.device), torch.cuda.nvtx.range("launch"):
        transpose_kernel[chosen.grid(m, n)](x, out, m, n, x.stride(0), out.stride(0), BLOCK_M=chosen.block_m,
                                            BLOCK_N=chosen.block_n, num_warps=chosen.num_warps, **chosen.extra)


def profiled():
    x = torch.randn(4096, 4096, device="cuda")
    out = torch.empty_like(x)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        transpose(x, out)
    print(prof.key_averages().table(sort_by="cuda_time_total"))
