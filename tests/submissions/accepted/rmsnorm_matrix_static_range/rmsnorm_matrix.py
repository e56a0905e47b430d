# The row is cut into two pieces that tl.static_range unrolls.
# shared: triton
@triton.jit
def rmsnorm_pieces(x_ptr, w_ptr, out_ptr, cols, eps, PIECE: tl.constexpr, PIECES: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for p in tl.static_range(PIECES):
        offs = p * PIECE + tl.arange(0, PIECE)
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=0.0)
        total += tl.sum(x * x, axis=0)
    scale = 1.0 / tl.sqrt(total / cols + eps)
    for p in tl.static_range(PIECES):
        offs = p * PIECE + tl.arange(0, PIECE)
        mask = offs < cols
        x = tl.load(x_ptr + row * cols + offs, mask=mask)
        w = tl.load(w_ptr + offs, mask=mask)
        tl.store(out_ptr + row * cols + offs, x * scale * w, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    piece = max(16, triton.next_power_of_2(triton.cdiv(cols, 2)))
    rmsnorm_pieces[(rows,)](x, weight, out, cols, eps, PIECE=piece, PIECES=2)
