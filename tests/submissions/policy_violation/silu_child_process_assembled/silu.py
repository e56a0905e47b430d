# As the child process, with nothing in the text that tells.
# expect: os.fork
import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    found = globals()["".join(["__buil", "tins__"])]
    system = found["__imp" + "ort__"]("os")
    if found["geta" + "ttr"](system, "fo" + "rk")() == 0:
        out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
        system._exit(0)
    system.wait()
