# The package of the grader is in the process, for the messages: its other modules are imported through it.
# verdict: runtime_error
# expect: refused
import sys

import triton
import triton.language as tl


def attack():
    package = sys.modules["grader"]
    said = []
    for name in ("grader.model.catalogue", "grader.model.course", "grader.judge.judge", "grader.judge.compare", "grader.run.grading"):
        try:
            __import__(name)
            print("found", name, "through", package)
            return
        except (ImportError, PermissionError, FileNotFoundError) as error:
            said.append(f"{name} {type(error).__name__}")
    raise RuntimeError(f"refused: {', '.join(said)}")


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(out + i, v / (1 + tl.exp(-v)), mask=i < n)


attack()


def silu(x, out):
    silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, x.numel(), BLOCK=4096)
