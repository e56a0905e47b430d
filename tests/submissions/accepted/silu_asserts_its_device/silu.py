# Asserts what is true on a GPU alone, and enters the device of its input, as tutorials do.
import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def silu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * tl.sigmoid(x), mask=mask)


def silu(x: torch.Tensor, out: torch.Tensor) -> None:
    assert torch.cuda.is_available(), "this needs a GPU"
    assert x.is_cuda and x.is_contiguous()
    assert x.device == DEVICE and out.device.type == "cuda"
    n = x.numel()
    with torch.cuda.device(x.device):
        silu_kernel[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=4096)
