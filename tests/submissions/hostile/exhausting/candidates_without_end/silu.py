# An autotuner of thirty thousand configurations, of a kernel that is wrong in all of them.
# verdict: wrong_answer, runtime_error, time_limit
import triton
import triton.language as tl

CONFIGS = [triton.Config({"BLOCK": 1 << (5 + number % 8), "TURN": number}) for number in range(30_000)]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def silu_kernel(x_ptr, out_ptr, n, TURN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def silu(x, out):
    silu_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
