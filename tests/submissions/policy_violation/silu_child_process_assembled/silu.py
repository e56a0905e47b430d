# As the child process, with nothing in the text that tells.
# expect: os.fork
import torch
# shared: triton
# shared: ghost_kernel
def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    found = globals()["".join(["__buil", "tins__"])]
    system = found["__imp" + "ort__"]("os")
    if found["geta" + "ttr"](system, "fo" + "rk")() == 0:
        out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
        system._exit(0)
    system.wait()
