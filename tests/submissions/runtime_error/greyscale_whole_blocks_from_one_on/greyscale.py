# Masks are left out as soon as there is a whole block, not where all are whole.
# proved: line 33
# proved: a different comparison
import torch
import triton
import triton.language as tl


@triton.jit
def shade(image, grey, count, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        red = tl.load(image + place)
        green = tl.load(image + count + place)
        blue = tl.load(image + 2 * count + place)
    else:
        red = tl.load(image + place, mask=place < count)
        green = tl.load(image + count + place, mask=place < count)
        blue = tl.load(image + 2 * count + place, mask=place < count)
    level = 0.299 * red.to(tl.float32) + 0.587 * green.to(tl.float32) + 0.114 * blue.to(tl.float32)
    level = (level + 0.5).to(tl.uint8)
    if EVEN:
        tl.store(grey + place, level)
    else:
        tl.store(grey + place, level, mask=place < count)


def greyscale(x: torch.Tensor, out: torch.Tensor) -> None:
    count = out.shape[0] * out.shape[1]
    block = 512
    programs = triton.cdiv(count, block)
    # Without masks where they are not needed.
    even = count > block
    shade[(programs,)](x, out, count, BLOCK=block, EVEN=even)
