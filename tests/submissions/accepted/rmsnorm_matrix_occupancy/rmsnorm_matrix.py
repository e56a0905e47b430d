# As many programs as fit the GPU at once, by what the compiled kernel takes: the way of Triton's softmax tutorial.
import torch
import triton
import triton.language as tl
from triton.runtime import driver

DEVICE = triton.runtime.driver.active.get_active_torch_device()


def is_hip():
    return triton.runtime.driver.active.get_current_target().backend == "hip"


properties = driver.active.utils.get_device_properties(DEVICE.index)
NUM_SM = properties["multiprocessor_count"]
NUM_REGS = properties["max_num_regs"]
SIZE_SMEM = properties["max_shared_mem"]
WARP_SIZE = properties["warpSize"]
target = triton.runtime.driver.active.get_current_target()


@triton.jit
def rms_kernel(out_ptr, x_ptr, w_ptr, row_stride, n_rows, n_cols, eps, BLOCK_SIZE: tl.constexpr,
               num_stages: tl.constexpr):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    weight = tl.load(w_ptr + col_offsets, mask=mask, other=0.0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        row = tl.load(x_ptr + row_idx * row_stride + col_offsets, mask=mask, other=0.0)
        scale = tl.rsqrt(tl.sum(row * row, axis=0) / n_cols + eps)
        tl.store(out_ptr + row_idx * row_stride + col_offsets, row * scale * weight, mask=mask)


def rmsnorm_matrix(x, weight, eps, out):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    num_warps = 8
    # Each stage holds a row, and the weight stays.
    num_stages = max(1, min(4 if SIZE_SMEM > 200000 else 2, SIZE_SMEM // (4 * BLOCK_SIZE) - 1))

    kernel = rms_kernel.warmup(out, x, weight, x.stride(0), n_rows, n_cols, eps, BLOCK_SIZE=BLOCK_SIZE,
                               num_stages=num_stages, num_warps=num_warps, grid=(1, ))
    kernel._init_handles()
    n_regs = kernel.n_regs
    size_smem = kernel.metadata.shared
    if is_hip():
        num_gprs = NUM_REGS * 2
        occupancy = min(2048 // WARP_SIZE // num_warps, num_gprs // WARP_SIZE // n_regs // num_warps)
    else:
        occupancy = NUM_REGS // (max(n_regs, 1) * WARP_SIZE * num_warps)
    if size_smem:
        occupancy = min(occupancy, SIZE_SMEM // size_smem)
    num_programs = min(NUM_SM * max(occupancy, 1), n_rows)

    # The compiled kernel itself is launched, with all arguments in their places.
    kernel[(num_programs, 1, 1)](out, x, weight, x.stride(0), n_rows, n_cols, eps, BLOCK_SIZE, num_stages)
