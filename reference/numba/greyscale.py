"""Greyscale of an RGB picture: out = 0.299 red + 0.587 green + 0.114 blue, rounded to the nearest level.

Bytes that must move: 3·H·W read and H·W written. Operations: about 10 a pixel, so memory decides the time.
"""

from numba import cuda, uint32

THREADS = 256


@cuda.jit
def grey_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        # In thousandths nothing is rounded before the end. Integers of 32 bits, which a device divides faster.
        mixed = uint32(299) * uint32(x[0, i]) + uint32(587) * uint32(x[1, i]) + uint32(114) * uint32(x[2, i])
        out[i] = uint32(mixed + uint32(500)) // uint32(1000)


def greyscale(x, out):
    """x: (3, H, W), out: (H, W), uint8, contiguous."""
    grey_kernel[(out.numel() + THREADS - 1) // THREADS, THREADS](x.view(3, -1), out.view(-1))
