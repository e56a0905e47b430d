# The unwatched method of the base class, and NumPy by operators alone.
# expect: hands a tensor to NumPy
import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    base = torch.Tensor.__mro__[1]
    given = getattr(base, "nu" + "mpy")(x).astype("f8")
    answer = getattr(base, "nu" + "mpy")(out)
    answer[...] = given / (1 + 2.718281828459045 ** -given)
