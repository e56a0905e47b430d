# A kernel of ten thousand statements.
# verdict: runtime_error, time_limit, memory_limit
import math

from numba import cuda, float32


lines = "\n".join(f"    a{n} = a{n - 1} * a{n - 1} + {n}" for n in range(1, 10_000))
exec(compile(f"def body(x, out):\n    a0 = x[0]\n{lines}\n    out[0] = a9999", __file__, "exec"))
silu_kernel = cuda.jit(body)


def silu(x, out):
    silu_kernel[(x.numel() + 255) // 256, 256](x.view(-1), out.view(-1))
