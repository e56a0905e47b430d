import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x_ptr, w_ptr, out_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + i, mask=i < cols, other=0.0)
    rms = tl.sqrt(tl.sum(x * x) / cols + eps)
    w = tl.load(w_ptr + i, mask=i < cols)
    tl.store(out_ptr + row * cols + i, (x / rms * w, mask=i < cols)


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    rmsnorm_kernel[(rows,)](x, weight, out, cols, eps, BLOCK=triton.next_power_of_2(cols))
