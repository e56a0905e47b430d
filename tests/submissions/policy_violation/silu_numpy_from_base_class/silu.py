# The unwatched method of the base class, and NumPy by operators alone.
# expect: hands a tensor to NumPy
import torch
# shared: triton
# shared: ghost_kernel
def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    base = torch.Tensor.__mro__[1]
    given = getattr(base, "nu" + "mpy")(x).astype("f8")
    answer = getattr(base, "nu" + "mpy")(out)
    answer[...] = given / (1 + 2.718281828459045 ** -given)
