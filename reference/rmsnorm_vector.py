"""RMSNorm of one vector: out = x · weight / √(mean(x²) + eps).

Bytes that must move: 4·N of x, 4·N of weight and 4·N of out; x is needed twice, before and after the sum is known.
FLOP: about 5 an element. No program may scale before all have summed. Where the registers of the GPU can hold the whole
vector, its programs meet at a counter, in one launch; otherwise there are two launches.
"""

from functools import cache

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait

# Elements that one program of 1024 threads holds.
MIN_HELD, MAX_HELD = 1024, 16384
SUM_BLOCK = 8192
SCALE_BLOCK = 2048
MAX_PARTS = 256
HOPPER = 9


@triton.jit
def held_kernel(x_ptr, weight_ptr, parts_ptr, arrivals_ptr, out_ptr, n, eps, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """One block a program, read once and held in registers. All programs run at once: some wait for the others."""
    part = tl.program_id(0)
    programs = tl.num_programs(0)
    offsets = part.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + offsets, mask=mask)
    tl.store(parts_ptr + part, tl.sum(x * x, axis=0))
    tl.debug_barrier()
    # Every launch adds one arrival a program, so the count says by itself when this launch is complete.
    before = tl.atomic_add(arrivals_ptr, 1, sem="acq_rel")
    complete = (before // programs + 1) * programs
    while tl.atomic_add(arrivals_ptr, 0, sem="acquire") < complete:
        pass
    tl.debug_barrier()
    lanes = tl.arange(0, PARTS)
    # Past the first-level cache, which other multiprocessors cannot write.
    total = tl.sum(tl.load(parts_ptr + lanes, mask=lanes < programs, other=0.0, cache_modifier=".cg"), axis=0)
    tl.store(out_ptr + offsets, x * tl.rsqrt(total / n + eps) * weight, mask=mask)


@triton.jit
def sum_of_squares_kernel(x_ptr, parts_ptr, n, rounds, BLOCK: tl.constexpr, OVERLAP: tl.constexpr):
    """Program p sums blocks p, p + programs, … into parts[p]: no atomics, so the sum is the same each time."""
    part = tl.program_id(0)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for block in range(rounds):
        offsets = (block * tl.num_programs(0) + part).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        squares += x * x
    if OVERLAP:
        gdc_launch_dependents()
    tl.store(parts_ptr + part, tl.sum(squares, axis=0))


@triton.jit
def scale_kernel(x_ptr, weight_ptr, parts_ptr, out_ptr, n, eps, parts, PARTS: tl.constexpr, BLOCK: tl.constexpr,
                 OVERLAP: tl.constexpr):
    # Backwards: the end of x was read last, and is still in the cache.
    offsets = (tl.num_programs(0) - 1 - tl.program_id(0)).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    weight = tl.load(weight_ptr + offsets, mask=mask)
    if OVERLAP:
        # This launch began before the first one ended, and asked for its inputs; the parts are complete from here on.
        gdc_wait()
    # Every program adds up the few parts again: cheaper than a third launch.
    lanes = tl.arange(0, PARTS)
    total = tl.sum(tl.load(parts_ptr + lanes, mask=lanes < parts, other=0.0), axis=0)
    tl.store(out_ptr + offsets, x * tl.rsqrt(total / n + eps) * weight, mask=mask)


def rmsnorm_vector(x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor) -> None:
    """x, weight, out: (N,) float32, contiguous."""
    n = x.numel()
    programs, parts, arrivals, overlap = _meeting_place(x.device, torch.cuda.current_stream(x.device).cuda_stream)
    if n > programs * MAX_HELD:
        _two_launches(x, weight, eps, out, n, parts, overlap)
        return
    block = max(triton.next_power_of_2(triton.cdiv(n, programs)), MIN_HELD)
    # Cooperative: started only if all programs can be resident.
    held_kernel[(programs,)](
        x, weight, parts, arrivals, out, n, eps, PARTS=MAX_PARTS, BLOCK=block, num_warps=32,
        launch_cooperative_grid=True,
    )


@cache
def _meeting_place(device: torch.device, stream: int) -> tuple[int, torch.Tensor, torch.Tensor, bool]:
    """A program for each multiprocessor, room for sums, a count of arrivals, and whether a launch can begin while the
    one before ends (programmatic dependent launch, which Hopper brought). Kept from call to call: asking takes longer
    than a launch.

    Calls on one stream follow each other; on another stream they may overlap, and need a place of their own.
    """
    properties = torch.cuda.get_device_properties(device)
    programs = min(properties.multi_processor_count, MAX_PARTS)
    arrivals = torch.zeros(1, device=device, dtype=torch.int64)
    return programs, torch.empty(MAX_PARTS, device=device), arrivals, properties.major >= HOPPER


def _two_launches(
    x: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor, n: int, sums: torch.Tensor, overlap: bool
) -> None:
    blocks = triton.cdiv(n, SUM_BLOCK)
    rounds = triton.cdiv(blocks, MAX_PARTS)
    parts = triton.cdiv(blocks, rounds)
    sum_of_squares_kernel[(parts,)](x, sums, n, rounds, BLOCK=SUM_BLOCK, OVERLAP=overlap, num_warps=16)
    scale_kernel[(triton.cdiv(n, SCALE_BLOCK),)](
        x, weight, sums, out, n, eps, parts, PARTS=triton.next_power_of_2(parts), BLOCK=SCALE_BLOCK, OVERLAP=overlap,
        num_warps=8, launch_pdl=overlap,
    )
