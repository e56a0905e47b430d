# mypy: disable-error-code="untyped-decorator, no-untyped-def, no-untyped-call"
"""Layer norm, forward and backward, as different people write it."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(X, W, B, Y, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    x = tl.load(X + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    b = tl.load(B + cols, mask=mask).to(tl.float32)
    tl.store(Y + row * stride + cols, (centred * rstd * w + b).to(Y.dtype.element_ty), mask=mask)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)


def forward_row(x, weight, bias, eps, out, mean, rstd):
    M, N = x.shape
    block = triton.next_power_of_2(N)
    warps = min(max(block // 256, 1), 8)
    row_kernel[(M,)](x, weight, bias, out, mean, rstd, x.stride(0), N, eps, BLOCK_SIZE=block, num_warps=warps)


@triton.jit
def loop_kernel(X, W, B, Y, Mean, Rstd, stride, N: tl.constexpr, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    X += row * stride
    Y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in tl.range(0, N, BLOCK, num_stages=3):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        total += x * x
    rstd = tl.rsqrt(tl.sum(total, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in tl.static_range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        x = tl.load(X + cols, mask=mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        y = (x - mean) * rstd
        y = y * tl.load(W + cols, mask=mask) + tl.load(B + cols, mask=mask)
        tl.store(Y + cols, y, mask=mask)


def forward_loop(x, weight, bias, eps, out, mean, rstd):
    x_arg = x.reshape(-1, x.shape[-1])
    loop_kernel[(x_arg.shape[0],)](x_arg, weight, bias, out, mean, rstd, x_arg.stride(0), x.size(1), eps, BLOCK=32)


@triton.jit
def welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    delta = mean_b - mean_a
    share = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def welford_kernel(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, M, N, eps, ROWS: tl.constexpr,
                   COLS: tl.constexpr):
    pid, programs = tl.program_id(0), tl.num_programs(0)
    cols = tl.arange(0, COLS)[None, :]
    w = tl.load(w_ptr + cols, mask=cols < N, other=0).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=cols < N, other=0).to(tl.float32)
    for first in tl.range(pid * ROWS, M, programs * ROWS):
        rows = first + tl.arange(0, ROWS)[:, None]
        mask = (rows < M) & (cols < N)
        x = tl.load(x_ptr + rows * N + cols, mask=mask, other=0).to(tl.float32)
        mean, m2, _ = tl.reduce((x, tl.zeros_like(x), mask.to(tl.float32)), axis=1, combine_fn=welford)
        rstd = tl.math.rsqrt(m2 / N + eps)
        y = tl.fma((x - mean[:, None]) * rstd[:, None], tl.broadcast_to(w, ROWS, COLS), b)
        tl.store(out_ptr + rows * N + cols, y.to(out_ptr.dtype.element_ty), mask=mask)
        row = first + tl.arange(0, ROWS)
        tl.store(mean_ptr + row, mean, mask=row < M)
        tl.store(rstd_ptr + row, rstd, mask=row < M)


def forward_welford(x, weight, bias, eps, out, mean, rstd):
    M, N = x.shape
    sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    grid = lambda meta: (min(sms, 3, triton.cdiv(M, meta["ROWS"])),)  # noqa: E731
    welford_kernel[grid](x, weight, bias, out, mean, rstd, M, N, eps, ROWS=4, COLS=max(16, triton.next_power_of_2(N)))


@triton.jit
def dx_of(x, dy, w, mean, rstd, mask, N):
    hat = tl.where(mask, (x - mean) * rstd, 0.0)
    wdy = tl.where(mask, w * dy, 0.0)
    c1 = tl.sum(hat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    return (wdy - (hat * c1 + c2)) * rstd, hat


@triton.jit
def atomics_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    dx, hat = dx_of(x, dy, w, tl.load(mean_ptr + row), tl.load(rstd_ptr + row), mask, N)
    tl.store(dx_ptr + row * N + cols, dx, mask=mask)
    tl.atomic_add(dw_ptr + cols, dy * hat, mask=mask, sem="relaxed")
    tl.atomic_add(db_ptr + cols, dy, mask=mask, sem="relaxed")


@triton.jit
def round_kernel(sum_ptr, out_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(sum_ptr + i, mask=i < N), mask=i < N)


def backward_atomics(dy, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    if dweight.dtype == torch.float32:
        dweight.zero_()
        dbias.zero_()
        sums = dweight, dbias
    else:
        sums = torch.zeros_like(weight, dtype=torch.float32), torch.zeros(N, device=x.device)
    atomics_kernel[(M,)](dy, x, weight, mean, rstd, dx, *sums, N, BLOCK=triton.next_power_of_2(N))
    if dweight.dtype is not torch.float32:
        round_kernel[(triton.cdiv(N, 64),)](sums[0], dweight, N, BLOCK=64)
        round_kernel[(triton.cdiv(N, 64),)](sums[1], dbias, N, BLOCK=64)


@triton.jit
def partial_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, part_ptr, M, N, rows_per_program,
                   BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    end = tl.minimum((pid + 1) * rows_per_program, M)
    for row in range(pid * rows_per_program, end):
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0).to(tl.float32)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0).to(tl.float32)
        dx, hat = dx_of(x, dy, w, tl.load(mean_ptr + row), tl.load(rstd_ptr + row), mask, N)
        dw += dy * hat
        db += dy
        tl.store(dx_ptr + row * N + cols, dx.to(dx_ptr.type.element_ty), mask=mask)
    tl.store(part_ptr + (2 * pid) * N + cols, dw, mask=mask)
    tl.store(part_ptr + (2 * pid + 1) * N + cols, db, mask=mask)


@triton.jit
def finish_kernel(part_ptr, dw_ptr, db_ptr, P, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)
    dw = tl.zeros((ROWS, COLS), dtype=tl.float32)
    db = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for first in range(0, P, ROWS):
        rows = first + tl.arange(0, ROWS)
        mask = (rows[:, None] < P) & (cols[None, :] < N)
        at = part_ptr + (2 * rows[:, None]) * N + cols[None, :]
        dw += tl.load(at, mask=mask, other=0.0)
        db += tl.load(at + N, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, tl.sum(dw, 0), mask=cols < N)
    tl.store(db_ptr + cols, tl.sum(db, 0), mask=cols < N)


def backward_two_stage(dy, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    programs = min(M, 5)
    parts = torch.empty((programs, 2, N), dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](dy, x, weight, mean, rstd, dx, parts, M, N, triton.cdiv(M, programs),
                                BLOCK=triton.next_power_of_2(N))
    finish_kernel[(triton.cdiv(N, 32),)](parts, dweight, dbias, programs, N, ROWS=4, COLS=32)


@triton.jit
def locked_kernel(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr,
                  BLOCK_SIZE_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(X + row * stride + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + row * stride + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    dx, hat = dx_of(x, dy, w, tl.load(Mean + row), tl.load(Rstd + row), mask, N)
    tl.store(DX + row * stride + cols, dx, mask=mask)
    dw, db = dy * hat, dy
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        dw += tl.load(DW, mask=mask)
        db += tl.load(DB, mask=mask)
    tl.store(DW, dw, mask=mask)
    tl.store(DB, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@triton.jit
def columns_kernel(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    rows = tl.arange(0, BLOCK_SIZE_M)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    offs = rows[:, None] * N + cols[None, :]
    tl.store(FINAL_DW + cols, tl.sum(tl.load(DW + offs, mask=mask, other=0.0), axis=0), mask=cols < N)
    tl.store(FINAL_DB + cols, tl.sum(tl.load(DB + offs, mask=mask, other=0.0), axis=0), mask=cols < N)


def backward_locks(dy, x, weight, mean, rstd, dx, dweight, dbias):
    M, N = x.shape
    groups = 4
    locks = torch.zeros(2 * groups, dtype=torch.int32, device=x.device)
    dw = torch.zeros((groups, N), dtype=torch.float32, device=x.device)
    db = torch.zeros((groups, N), dtype=torch.float32, device=x.device)
    locked_kernel[(M,)](dx, dy, dw, db, x, weight, mean, rstd, locks, x.stride(0), N, GROUP_SIZE_M=groups,
                        BLOCK_SIZE_N=triton.next_power_of_2(N), num_warps=4)
    columns_kernel[(triton.cdiv(N, 64),)](dw, db, dweight, dbias, min(groups, M), N, BLOCK_SIZE_M=4, BLOCK_SIZE_N=64)
