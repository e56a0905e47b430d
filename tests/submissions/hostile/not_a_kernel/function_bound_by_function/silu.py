# A function defines another one as a name of the module, where no definition of it stands.
# verdict: policy_violation
# expect: exec
import torch
import triton
import triton.language as tl


@triton.jit
def ghost(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < 0), mask=offsets < 0)


TEXT = """
import grader.worker.recorder
grader.worker.recorder.Recorder._count = lambda self, name, line: None
"""


def bind():
    global hidden

    def hidden():
        exec(TEXT)


bind()
hidden()


def silu(x, out):
    ghost[(1,)](x, out, 1, BLOCK=16)
    out[...] = x * (1 / (1 + 2.718281828459045 ** -x))
