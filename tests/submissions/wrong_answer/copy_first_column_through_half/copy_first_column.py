# The kernel that puts the column into out rounds it to fp16 on the way, which loses bits.
# expect: converted to float16
# never: stride
# shared: triton
@triton.jit
def put(column, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(column + i, mask=i < n).to(tl.float16), mask=i < n)


def copy_first_column(matrix, out):
    column = matrix[:, 0].contiguous().to(out.device)
    put[(triton.cdiv(out.numel(), 1024),)](column, out, out.numel(), BLOCK=1024)
