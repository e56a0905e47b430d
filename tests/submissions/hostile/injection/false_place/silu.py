# Raises a syntax error whose line is no number, or far outside of the file.
# verdict: runtime_error
import torch
# shared: triton
# shared: silu_kernel
calls = 0


def silu(x, out):
    global calls
    silu_kernel[(1,)](x, out, 1, BLOCK=16)
    calls += 1
    error = SyntaxError("<script>alert(1)</script>")
    error.filename, error.lineno = "silu.py", (10**30, -5, "seven", None)[calls % 4]
    raise error
