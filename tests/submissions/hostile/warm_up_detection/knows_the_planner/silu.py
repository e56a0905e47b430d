# Asks whether it is being planned, by the class of its tensors and the modules of the process, and is honest if so.
# verdict: wrong_answer
import sys

# shared: triton
# shared: silu_kernel
PLANNED = any(name.startswith("grader.languages.triton.confined.planner") for name in sys.modules)
calls = 0


def silu(x, out):
    global calls
    calls += 1
    n = x.numel()
    # Right in the first call of a planner, and wherever there is none.
    programs = triton.cdiv(n, 64) if calls == 1 or not PLANNED else 1
    silu_kernel[(programs,)](x, out, n, BLOCK=64)
