# The kernel stands behind operators of one's own, and a function that is compiled.
import torch
# shared: triton
# shared: masked_kernel
@torch.library.custom_op("homework::silu", mutates_args={"out"})
def silu_op(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


@silu_op.register_fake
def _(x, out):
    return None


@torch.library.triton_op("homework::silu_again", mutates_args={"out"})
def silu_again(x: torch.Tensor, out: torch.Tensor) -> None:
    n = x.numel()
    torch.library.wrap_triton(silu_kernel)[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)


@torch.compile(mode="max-autotune")
def silu(x, out):
    silu_op(x, out)
    silu_again(x, out)
    torch.ops.homework.silu.default(x, out)
