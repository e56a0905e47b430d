# A kernel in Triton's other language.
# expect: this kernel is written in Gluon; triton.language expected
# never: gap of the grader
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def transpose_kernel(x_ptr, out_ptr, M, N, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    inside = offsets < M * N
    row, column = offsets // N, offsets % N
    gl.store(out_ptr + column * M + row, gl.load(x_ptr + offsets, mask=inside), mask=inside)


def transpose(x, out):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M * N, 1024),)](x, out, M, N, BLOCK=1024)
