# Writes a launch of a grid that no GPU has into the planner's record.
# verdict: runtime_error
# expect: where a GPU takes
import sys

# shared: triton
# shared: show_kernel
def silu(x, out):
    show[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    session = sys.modules["grader.host.record"].session()
    for number, one in enumerate(session.operations):
        session.operations[number] = one.model_copy(update={"grid": (1, 1 << 20, 1)})
