# The launch wrapped in a small class and flattened views; prints a line while it works.
import torch
# shared: triton
@triton.jit(do_not_specialize=["count"])
def silu_kernel(src, dst, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(src + at, mask=at < count, other=0.0)
    tl.store(dst + at, value * tl.sigmoid(value), mask=at < count)


class Silu:
    block: int = 2048

    def __call__(self, x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        flat, target = x.view(-1), out.view(-1)
        grid = (triton.cdiv(flat.shape[0], self.block),)
        silu_kernel[grid](flat, target, flat.shape[0], BLOCK=self.block)
        return out


_silu = Silu()


def silu(x, out):
    print("silu", tuple(x.shape), x.dtype, x.device)
    return _silu(x.contiguous(), out)
