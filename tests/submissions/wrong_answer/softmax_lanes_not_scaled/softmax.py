# One loop keeps a maximum and a sum in each lane, and the sums are added as they are.
# expect: Each lane's sum belongs to the maximum of its own elements
# never: what it starts from
# shared: triton
@triton.jit
def rows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n
    lanes = tl.arange(0, BLOCK)
    largest = tl.full((BLOCK,), -3.0e38, tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, n, BLOCK):
        x = tl.load(x_ptr + at + begin + lanes, mask=begin + lanes < n, other=-float("inf"))
        larger = tl.maximum(largest, x)
        total = total * tl.exp(largest - larger) + tl.exp(x - larger)
        largest = larger
    top, whole = tl.max(largest, 0), tl.sum(total, 0)
    for begin in range(0, n, BLOCK):
        x = tl.load(x_ptr + at + begin + lanes, mask=begin + lanes < n)
        tl.store(out_ptr + at + begin + lanes, tl.exp(x - top) / whole, mask=begin + lanes < n)


def softmax(x, out):
    rows[(x.shape[0],)](x, out, x.shape[1], BLOCK=512)
