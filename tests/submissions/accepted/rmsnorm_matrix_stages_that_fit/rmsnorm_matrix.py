# As many stages as fit: a kernel that needs too much shared memory raises OutOfResources when it is loaded, and the next
# one is tried. The number of programs divides by what the one that fits takes.
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources

about = triton.runtime.driver.active.utils.get_device_properties(0)


@triton.jit
def norm_rows(out_ptr, x_ptr, w_ptr, rows, cols, eps, WIDTH: tl.constexpr, STAGES: tl.constexpr):
    lanes = tl.arange(0, WIDTH)
    inside = lanes < cols
    w = tl.load(w_ptr + lanes, mask=inside, other=0.0)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(x_ptr + row.to(tl.int64) * cols + lanes, mask=inside, other=0.0)
        scale = tl.rsqrt(tl.sum(x * x, axis=0) / cols + eps)
        tl.store(out_ptr + row.to(tl.int64) * cols + lanes, x * scale * w, mask=inside)


def fitting(out, x, weight, eps, width):
    rows, cols = x.shape
    for stages in (16, 4, 1):
        kernel = norm_rows.warmup(out, x, weight, rows, cols, eps, WIDTH=width, STAGES=stages, num_warps=8, grid=(1,))
        try:
            kernel._init_handles()
        except OutOfResources:
            continue
        return kernel, stages
    raise RuntimeError(f"{width} columns do not fit")


def rmsnorm_matrix(x, weight, eps, out):
    rows, cols = x.shape
    width = triton.next_power_of_2(cols)
    kernel, stages = fitting(out, x, weight, eps, width)
    # Whole waves alone: with 16 stages of wide rows this is none, had the kernel not been refused before.
    waves = about["max_shared_mem"] // kernel.metadata.shared
    if stages == 16 and width > 4096:
        raise RuntimeError(f"{stages} stages of {width} columns cannot fit, and yet they did")
    programs = min(rows, about["multiprocessor_count"] * waves)
    kernel[(programs, 1, 1)](out, x, weight, rows, cols, eps, width, stages)
