# A line raises the maximum of each row before the sums are rescaled from the old one to the new one.
# expect: before the new one takes the old one's place
# proved: delete a part of line 17
# shared: triton
@triton.jit
def softmax_kernel(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    peak = tl.full((ROWS, 1), -3.0e38, tl.float32)
    norm = tl.zeros((ROWS, 1), tl.float32)
    for at in range(0, cols, BLOCK):
        col = at + tl.arange(0, BLOCK)[None, :]
        held = (row < rows) & (col < cols)
        x = tl.load(x_ptr + row * cols + col, mask=held, other=-3.0e38)
        peak = tl.maximum(peak, tl.max(x, axis=1, keep_dims=True))
        higher = tl.maximum(peak, tl.max(x, axis=1, keep_dims=True))
        norm = norm * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), axis=1, keep_dims=True)
        peak = higher
    for at in range(0, cols, BLOCK):
        col = at + tl.arange(0, BLOCK)[None, :]
        held = (row < rows) & (col < cols)
        x = tl.load(x_ptr + row * cols + col, mask=held)
        tl.store(out_ptr + row * cols + col, tl.exp(x - peak) / norm, mask=held)


def softmax(x, out):
    rows, cols = x.shape
    softmax_kernel[(triton.cdiv(rows, 4),)](x, out, rows, cols, ROWS=4, BLOCK=128)
