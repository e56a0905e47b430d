"""Greyscale of an RGB picture: out = 0.299 red + 0.587 green + 0.114 blue, rounded to the nearest level.

Bytes that must move: 3·H·W read and H·W written. Operations: about 10 a pixel, so memory decides the time.
"""

import torch
import triton
import triton.language as tl

BLOCK = 4096


@triton.jit
def _grey(red, green, blue):
    # In thousandths nothing is rounded before the end. Integers, because a device converts fewer bytes to floats a
    # cycle than it reads; the division by a constant becomes a product.
    mixed = 299 * red.to(tl.uint32) + 587 * green.to(tl.uint32) + 114 * blue.to(tl.uint32)
    return ((mixed + 500) // 1000).to(tl.uint8)


@triton.jit
def grey_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # 64 bits: the offset of the last element passes 2^31 in large pictures, and so may three times n.
    start = tl.program_id(0).to(tl.int64) * BLOCK
    offsets = start + tl.arange(0, BLOCK)
    green_ptr = x_ptr + n
    blue_ptr = green_ptr + n
    if start + BLOCK <= n:
        # Without a mask each thread moves 16 bytes at once where planes begin at multiples of 16.
        grey = _grey(tl.load(x_ptr + offsets), tl.load(green_ptr + offsets), tl.load(blue_ptr + offsets))
        tl.store(out_ptr + offsets, grey)
    else:
        mask = offsets < n
        red = tl.load(x_ptr + offsets, mask=mask)
        green = tl.load(green_ptr + offsets, mask=mask)
        blue = tl.load(blue_ptr + offsets, mask=mask)
        tl.store(out_ptr + offsets, _grey(red, green, blue), mask=mask)


def greyscale(x: torch.Tensor, out: torch.Tensor) -> None:
    """x: (3, H, W), out: (H, W), uint8, contiguous, so that one flat index serves all planes."""
    n = out.numel()
    # 8 warps: 16 elements a thread, one 16-byte access.
    grey_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, num_warps=8)
