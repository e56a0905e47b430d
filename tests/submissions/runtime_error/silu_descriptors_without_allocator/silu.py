# The kernel makes its descriptors itself, and nobody gives it room for them.
# expect: before the launch call triton.set_allocator(
# never: shapes and types of what it combines
# shared: triton
@triton.jit
def silu_kernel(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    x_desc = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[ROWS, COLS])
    out_desc = tl.make_tensor_descriptor(out_ptr, shape=[M, N], strides=[N, 1], block_shape=[ROWS, COLS])
    at = [tl.program_id(0) * ROWS, tl.program_id(1) * COLS]
    x = x_desc.load(at)
    out_desc.store(at, x * tl.sigmoid(x))


def silu(x, out):
    M, N = x.shape
    silu_kernel[(triton.cdiv(M, 8), triton.cdiv(N, 64))](x, out, M, N, ROWS=8, COLS=64)
