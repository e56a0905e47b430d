"""Greyscale of an RGB picture: out = 0.299 red + 0.587 green + 0.114 blue, rounded to the nearest level.

Bytes that must move: 3·H·W read and H·W written. Operations: about 10 a pixel, so memory decides the time.
"""

from numba import cuda, uint32

THREADS = 256
# Pixels of a thread, which lie THREADS apart: threads that run together move neighbours.
EACH = 8


@cuda.jit
def grey_kernel(x, out):
    # All loads of a thread are under way before its first store: one at a time cannot keep the memory busy.
    rgb = cuda.local.array((EACH, 3), uint32)
    start = cuda.blockIdx.x * EACH * THREADS + cuda.threadIdx.x
    for part in range(EACH):
        i = start + part * THREADS
        if i < out.size:
            rgb[part, 0], rgb[part, 1], rgb[part, 2] = x[0, i], x[1, i], x[2, i]
    for part in range(EACH):
        i = start + part * THREADS
        if i < out.size:
            # In thousandths nothing is rounded before the end. Integers of 32 bits, which a device divides faster.
            mixed = uint32(299) * rgb[part, 0] + uint32(587) * rgb[part, 1] + uint32(114) * rgb[part, 2]
            out[i] = uint32(mixed + uint32(500)) // uint32(1000)


def greyscale(x, out):
    """x: (3, H, W), out: (H, W), uint8, contiguous."""
    grey_kernel[(out.numel() + EACH * THREADS - 1) // (EACH * THREADS), THREADS](x.view(3, -1), out.view(-1))
