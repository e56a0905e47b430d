# The strides of three dimensions are exchanged.
# expect: by the stride of its own dimension
# never: a matrix with C columns
import torch
import triton
import triton.language as tl

@triton.jit
def grey_2d(img_ptr, out_ptr, H, W, sh, sw, sc, BLOCK_W: tl.constexpr):
    y = tl.program_id(0)
    x = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = x < W
    pix = img_ptr + y * sh + x * sw
    r = tl.load(pix + 0 * sc, mask=mask, other=0).to(tl.float32)
    g = tl.load(pix + 1 * sc, mask=mask, other=0).to(tl.float32)
    b = tl.load(pix + 2 * sc, mask=mask, other=0).to(tl.float32)
    v = r * 0.299 + g * 0.587 + b * 0.114
    tl.store(out_ptr + y * W + x, (v + 0.5).to(tl.uint8), mask=mask)

def greyscale(x, out):
    H, W = out.shape
    sh, sw, sc = x.stride()
    grey_2d[(H, triton.cdiv(W, 256))](x, out, H, W, sh, sw, sc, BLOCK_W=256)
