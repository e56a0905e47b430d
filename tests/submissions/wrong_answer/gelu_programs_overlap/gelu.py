# Each program does several blocks, and the next one begins a single block further on.
# proved: line 11 makes every case right: a missing factor or divisor added
# never: one program
# shared: triton
@triton.jit
def gelu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, ROUNDS: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    begin = tl.program_id(0) * BLOCK
    for number in range(ROUNDS):
        at = begin + number * BLOCK + lanes
        x = tl.load(x_ptr + at, mask=at < n)
        inner = 1.5957691216057308 * (x + 0.044715 * x * x * x)
        tl.store(out_ptr + at, x * tl.sigmoid(inner), mask=at < n)


def gelu(x, out):
    n, block, rounds = x.numel(), 256, 8
    gelu_kernel[(triton.cdiv(n, block * rounds),)](x, out, n, BLOCK=block, ROUNDS=rounds)
