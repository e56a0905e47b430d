# The occupancy idiom, with nothing around its divisions: shared memory and registers are divided by before anything is
# launched. What the kernel takes is known after it has been compiled.
import torch
import triton
import triton.language as tl

gpu = triton.runtime.driver.active.get_active_torch_device()
about = triton.runtime.driver.active.utils.get_device_properties(gpu.index)
PROCESSORS = about["multiprocessor_count"]
REGISTERS = about["max_num_regs"]
SHARED = about["max_shared_mem"]
LANES = about["warpSize"]


@triton.jit
def softmax_rows(out_ptr, x_ptr, x_stride, out_stride, rows, cols, WIDTH: tl.constexpr, STAGES: tl.constexpr):
    lanes = tl.arange(0, WIDTH)
    inside = lanes < cols
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(x_ptr + row.to(tl.int64) * x_stride + lanes, mask=inside, other=-float("inf"))
        powers = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row.to(tl.int64) * out_stride + lanes, powers / tl.sum(powers, axis=0), mask=inside)


def softmax(x, out):
    rows, cols = x.shape
    width = triton.next_power_of_2(cols)
    warps = 8
    stages = 4 if SHARED > 200_000 and width <= 8192 else 2

    kernel = softmax_rows.warmup(out, x, x.stride(0), out.stride(0), rows, cols, WIDTH=width, STAGES=stages,
                                 num_warps=warps, grid=(1,))
    kernel._init_handles()
    occupancy = REGISTERS // (kernel.n_regs * LANES * warps)
    occupancy = min(occupancy, SHARED // kernel.metadata.shared)

    programs = min(PROCESSORS * occupancy, rows)
    kernel[(programs, 1, 1)](out, x, x.stride(0), out.stride(0), rows, cols, width, stages)
