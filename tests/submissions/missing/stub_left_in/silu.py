# The stub as it was handed out.
import torch
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pass


def silu(x: torch.Tensor, out: torch.Tensor) -> None:
    raise NotImplementedError("silu")
