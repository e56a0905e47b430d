# mypy: ignore-errors
"""Kernels that a GPU accepts; each case returns an error to be held against a tolerance, or values."""

import linecache
import types

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

torch.manual_seed(1)

SCALE = tl.constexpr(3.0)


def worst(got, expected):
    return (got.double() - expected.double()).abs().max().item()


@triton.jit
def silu(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, values * tl.sigmoid(values), mask=mask)


def case_silu():
    x = torch.randn(1021) * 30
    out = torch.full_like(x, float("nan"))
    silu[(triton.cdiv(1021, 256),)](x, out, 1021, BLOCK=256)
    return worst(out, torch.nn.functional.silu(x.double()))


def case_silu_on_unaligned_view():
    x, out = torch.randn(1030)[3:], torch.full((1030,), float("nan"))
    silu[(5,)](x, out[3:], 1027, BLOCK=256)
    return [worst(out[3:], torch.nn.functional.silu(x)), bool(out[:3].isnan().all())]


def case_exponential_overflows_silently():
    x = torch.tensor([-1000.0, 1000.0])
    out = torch.empty(2)
    silu[(1,)](x, out, 2, BLOCK=2)
    return out.tolist()


@triton.jit
def logic(n, out, BLOCK: tl.constexpr, FLAG: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.where((i >= 2) and (i < n), 1, 0))
    tl.store(out + BLOCK + i, tl.where((i < 2) or (i >= n), 1, 0))
    tl.store(out + 2 * BLOCK + i, tl.where(not (i < n), 1, 0))
    tl.store(out + 3 * BLOCK + i, tl.where(FLAG and (i < n), 1, 0))
    tl.store(out + 4 * BLOCK + i, tl.where(FLAG or (i < n), 1, 0))
    if FLAG is None or FLAG == 1000:
        tl.store(out + 100000, 1)


def case_logic():
    out = torch.zeros(5, 8, dtype=torch.int32)
    logic[(1,)](5, out, BLOCK=8, FLAG=True)
    return out.tolist()


def case_logic_without_flag():
    out = torch.zeros(5, 8, dtype=torch.int32)
    logic[(1,)](5, out, BLOCK=8, FLAG=False)
    return out[3:].tolist()


@triton.jit
def gemm(a, b, out, M, N, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in tl.range(0, K, BLOCK, num_stages=3):
        inner = start + tl.arange(0, BLOCK)
        left_mask = (rows[:, None] < M) & (inner[None, :] < K)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=left_mask, other=0.0)
        right_mask = (inner[:, None] < K) & (cols[None, :] < N)
        right = tl.load(b + inner[:, None] * N + cols[None, :], mask=right_mask, other=0.0)
        total += tl.dot(left, right)
    tl.store(out + rows[:, None] * N + cols, total.to(tl.float16), mask=(rows[:, None] < M) & (cols < N))


def case_gemm():
    a, b, out = torch.randn(37, 53).half(), torch.randn(53, 41).half(), torch.empty(37, 41).half()
    gemm[(2, 2)](a, b, out, 37, 41, 53, BLOCK=32)
    return worst(out, a.double() @ b.double())


@triton.jit
def dot32(a, b, out, PRECISION: tl.constexpr):
    i = tl.arange(0, 16)
    where = i[:, None] * 16 + i[None, :]
    tl.store(out + where, tl.dot(tl.load(a + where), tl.load(b + where), input_precision=PRECISION))


def case_tf32():
    a, b, out = torch.randn(16, 16), torch.randn(16, 16), torch.empty(16, 16)
    found = {}
    for precision in ("tf32", "ieee"):
        dot32[(1,)](a, b, out, precision)
        found[precision] = worst(out, a.double() @ b.double())
    return found


@triton.jit
def transpose_blocks(x, out, M, N, BLOCK: tl.constexpr):
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    source = tl.make_block_ptr(x, (M, N), (N, 1), (0, j), (BLOCK, BLOCK), (1, 0))
    source = tl.advance(source, (i, 0))
    target = tl.make_block_ptr(out, (N, M), (M, 1), (j, i), (BLOCK, BLOCK), (1, 0))
    tile = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, tl.trans(tile), boundary_check=(0, 1))


def case_block_pointers():
    x, out = torch.randn(37, 21), torch.empty(21, 37)
    transpose_blocks[(3, 2)](x, out, 37, 21, BLOCK=16)
    return torch.equal(out, x.t())


@triton.jit
def copy_by_descriptor(source, target, BLOCK: tl.constexpr):
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([i, j], source.load([i, j]))


def case_host_descriptors():
    x, out = torch.randn(37, 24), torch.empty(37, 24)
    pair = [TensorDescriptor.from_tensor(t, [16, 16]) for t in (x, out)]
    copy_by_descriptor[(3, 2)](*pair, BLOCK=16)
    return torch.equal(out, x)


@triton.jit
def transpose_by_descriptor(x, out, M, N, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, shape=[N, M], strides=[M, 1], block_shape=[BLOCK, BLOCK])
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    target.store([j, i], source.load([i, j]).T)


def case_device_descriptors():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    x, out = torch.randn(36, 20), torch.empty(20, 36)
    transpose_by_descriptor[(3, 2)](x, out, 36, 20, BLOCK=16)
    return torch.equal(out, x.t())


@triton.jit
def count(out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + i % 4, 1, mask=i < n)
    tl.atomic_max(out + 4, tl.max(i, axis=0))
    tl.debug_barrier()


def case_atomics():
    out = torch.zeros(5, dtype=torch.int32)
    count[(4,)](out, 30, BLOCK=8)
    return out.tolist()


@triton.jit
def product(a, b):
    return a * b


@triton.jit
def later(value_a, place_a, value_b, place_b):
    if value_b >= value_a:
        return value_b, place_b
    else:  # noqa: RET505
        return value_a, place_a


@triton.jit
def first_of_two(a, b):
    return a


@triton.jit
def reductions(x, out, scanned, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    values = tl.load(x + i)
    tl.store(out, tl.reduce(values, 0, product))
    tl.store(out + 1, tl.sum(values))
    tl.store(out + 2, tl.max(values, axis=0))
    tl.store(out + 3, tl.argmin(values, axis=0).to(tl.float32))
    _, place = tl.reduce((values, i), 0, later)
    tl.store(out + 4, place.to(tl.float32))
    tl.store(out + 5, tl.reduce(values, 0, first_of_two))
    tl.store(scanned + i, tl.associative_scan(values, 0, product))
    tl.store(scanned + BLOCK + i, tl.cumsum(values, axis=0, reverse=True))
    square = tl.reshape(values, (4, BLOCK // 4))
    tl.store(scanned + 2 * BLOCK + tl.arange(0, 4), tl.sum(square, axis=1))
    tl.store(scanned + 2 * BLOCK + 4 + tl.arange(0, 4), tl.reduce(square, 1, product))


def case_reductions():
    x = torch.rand(16) + 0.5
    x[5], x[9] = 2.0, 2.0
    out, scanned = torch.empty(6), torch.empty(40)
    reductions[(1,)](x, out, scanned, BLOCK=16)
    expected = torch.stack([x.prod(), x.sum(), x.max(), x.argmin().float(), torch.tensor(9.0), x[0]])
    square = x.reshape(4, 4)
    scans = torch.cat([x.cumprod(0), x.flip(0).cumsum(0).flip(0), square.sum(1), square.prod(1)])
    return max(worst(out, expected), worst(scanned, scans))


@triton.jit
def maximum_over_nan(x, out):
    tl.store(out, tl.max(tl.load(x + tl.arange(0, 4)), axis=0))


def case_maximum_passes_over_nan():
    out = torch.empty(1)
    maximum_over_nan[(1,)](torch.tensor([1.0, float("nan"), 7.0, 2.0]), out)
    return out.item()


@triton.jit
def loops(out, n, STEPS: tl.constexpr):
    total = 0
    for i in tl.static_range(STEPS):
        total += i
    tl.store(out, total)
    value = n
    while value > 3:
        value = value // 2
    tl.store(out + 1, value)
    for i in range(n, 0, -2):
        total += i
    tl.store(out + 2, total)
    a, b = 1, 2
    a, b = b, a
    tl.store(out + 3, a if n > 5 else b)
    tl.store(out + 4, min(n, 7) + max(n, 50))
    assert n > 0, "n"


def case_loops():
    out = torch.empty(5, dtype=torch.int32)
    loops[(1,)](out, 10, STEPS=4)
    return out.tolist()


@triton.jit
def swizzled(out, M: tl.constexpr, N: tl.constexpr):
    pid = tl.program_id(0)
    i, j = tl.swizzle2d(pid // N, pid % N, M, N, 2)
    tl.store(out + i * N + j, pid)


def case_swizzle():
    out = torch.full((4, 6), -1, dtype=torch.int32)
    swizzled[(24,)](out, 4, 6)
    return out.tolist()


@triton.jit
def standard(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, tl.softmax(v))
    tl.store(out + BLOCK + i, tl.sort(v))
    tl.store(out + 2 * BLOCK + i, tl.flip(v, 0))
    tl.store(out + 3 * BLOCK + i, tl.ravel(tl.reshape(v, (2, BLOCK // 2)).T))
    halves = tl.split(tl.reshape(v, (BLOCK // 2, 2)))
    tl.store(out + 4 * BLOCK + i, tl.interleave(halves[1], halves[0]))
    tl.store(out + 5 * BLOCK + i, tl.clamp(v, -0.5, 0.5) + v.sum() + v.max(axis=0))
    tl.store(out + 6 * BLOCK + i, tl.gather(v, BLOCK - 1 - i, axis=0))
    tl.store(out + 7 * BLOCK + i, tl.histogram(i % 4, BLOCK))
    tl.store(out + 8 * BLOCK + i, tl.argmax(v, axis=0, tie_break_left=False))


def case_standard_library():
    x, out = torch.randn(16), torch.empty(9, 16)
    standard[(1,)](x, out, BLOCK=16)
    expected = [
        x.softmax(0), x.sort().values, x.flip(0), x.reshape(2, 8).t().reshape(-1), x.reshape(8, 2).flip(1).reshape(-1),
        x.clamp(-0.5, 0.5) + x.sum() + x.max(), x.flip(0), torch.tensor([4.0] * 4 + [0.0] * 12),
        torch.full((16,), float(x.argmax())),
    ]  # fmt: skip
    return worst(out, torch.stack(expected))


@triton.jit
def many_libdevice(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.tanh(v))
    tl.store(out + BLOCK + i, libdevice.erf(v))
    tl.store(out + 2 * BLOCK + i, libdevice.fast_expf(v))
    tl.store(out + 3 * BLOCK + i, libdevice.div_rn(v, libdevice.rcp_rn(v)))
    tl.store(out + 4 * BLOCK + i, libdevice.pow(libdevice.abs(v), 1.5))
    tl.store(out + 5 * BLOCK + i, tl.extra.cuda.libdevice.fma(v, v, 1.0))
    tl.store(out + 6 * BLOCK + i, libdevice.rsqrt(libdevice.fma(v, v, 1.0)))
    tl.store(out + 7 * BLOCK + i, libdevice.isnan(v).to(tl.float32))
    tl.store(out + 8 * BLOCK + i, libdevice.expm1(v) + libdevice.log1p(libdevice.abs(v)))


def case_libdevice():
    x, out = torch.randn(64), torch.empty(9, 64)
    many_libdevice[(1,)](x, out, BLOCK=64)
    d = x.double()
    expected = [
        d.tanh(), d.erf(), d.exp(), d * d, d.abs() ** 1.5, d * d + 1, (d * d + 1).rsqrt(), torch.zeros(64),
        d.expm1() + d.abs().log1p(),
    ]  # fmt: skip
    return worst(out, torch.stack(expected))


@triton.jit
def scalars(out, real, whole, flag, wide: tl.int64, nothing):
    half = tl.full((2,), 1.0, tl.float16) * real
    i = tl.arange(0, 2)
    if nothing is None:
        tl.store(out + i, half)
    tl.store(out + 2, (whole + wide).to(tl.float32))
    if flag:
        tl.store(out + 3, SCALE)


def case_scalars_are_typed_as_by_the_launcher():
    out = torch.zeros(4)
    scalars[(1,)](out, 1.0001, 2, True, 2**40, None)
    return [worst(out[:2], torch.full((2,), 1.0001)), out[2].item() - 2**40, out[3].item()]


def make_scaler(factor):
    @triton.jit
    def scale(x, FACTOR: tl.constexpr = factor):
        tl.store(x, tl.load(x) * FACTOR)

    return scale


def case_default_from_a_closure():
    x = torch.ones(1)
    make_scaler(5.0)[(1,)](x)
    return x.item()


MEMORY_ONLY = """
import triton
import triton.language as tl


@triton.jit
def double(x):
    tl.store(x, tl.load(x) * 2)
"""


def case_source_that_is_in_memory_only():
    linecache.cache["kernel_in_memory.py"] = (
        len(MEMORY_ONLY), None, MEMORY_ONLY.splitlines(keepends=True), "kernel_in_memory.py"
    )  # fmt: skip
    module = types.ModuleType("kernel_in_memory")
    exec(compile(MEMORY_ONLY, "kernel_in_memory.py", "exec"), vars(module))
    x = torch.ones(1)
    module.double[(1,)](x)
    return x.item()


@triton.jit
def hash_of(out, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mixed = i * 1664525 + seed * 1013904223
    mixed = mixed ^ (mixed >> 7)
    tl.store(out + (mixed & 3), 1)
    tl.store(out + 4, tl.sum((tl.rand(seed, i) < 0.5).to(tl.int32)))


def case_hash_may_wrap():
    out = torch.zeros(5, dtype=torch.int32)
    hash_of[(1,)](out, 12345, BLOCK=64)
    return out.tolist()


@triton.jit
def booleans(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, ~tl.load(x + i))


def case_boolean_tensors():
    x, out = torch.tensor([True, False, True, True]), torch.zeros(4, dtype=torch.bool)
    booleans[(1,)](x, out, BLOCK=4)
    return out.tolist()


@triton.jit
def by_address(addresses, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(n):
        pointer = tl.load(addresses + k).to(tl.pointer_type(tl.float32))
        total += tl.load(pointer + i)
    tl.store(out + i, total)


def case_pointers_in_a_tensor():
    parts = [torch.full((8,), float(k)) for k in range(3)]
    out = torch.empty(8)
    by_address[(1,)](torch.tensor([p.data_ptr() for p in parts]), out, 3, BLOCK=8)
    return out.tolist()


@triton.jit
def unrolled(x, n, EARLY: tl.constexpr, BLOCK: tl.constexpr):
    total = 0.0
    for i in tl.static_range(2):
        total += tl.load(x + i + tl.arange(0, BLOCK))
        if EARLY:
            return
    for i in range(n):
        inner = i + 1.0
        if EARLY:
            return
        total += inner
    tl.store(x, tl.sum(total))


def case_unrolled_loops_may_return_and_change_types():
    x = torch.ones(9)
    unrolled[(1,)](x, 2, EARLY=False, BLOCK=8)
    return x[0].item()


def case_requests_for_a_gpu_are_met_with_the_cpu():
    x, gpu = torch.empty(2, 3), torch.device("cuda")
    with gpu:
        made = [torch.ones(1), torch.zeros(1, device="cuda:0", pin_memory=True), torch.tensor([1.0], device=gpu)]
    made += [x.to(gpu), x.to("cuda", torch.float16), x.to(device=0), x.new_zeros(1, device="cuda"), x.cuda()]
    return [str(t.device) for t in made]


def case_a_tensor_that_is_there_is_not_moved():
    x = torch.empty(2, 3)
    return [x.cuda() is x, x.to("cuda", non_blocking=True) is x, x.t().cuda().stride() == (1, 3)]


def case_a_view_with_gaps_arrives_without_them():
    x = torch.arange(6.0).view(2, 3)
    moved = [x[:, 1].cuda(), x[:, 1].to(x.device), x[:, 1].to("cpu"), x[:, 1].pin_memory()]
    return [[*t.stride(), *t.tolist()] for t in moved]


def case_streams_and_events_do_nothing():
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream), torch.cuda.device("cuda:0"), torch.cuda.nvtx.range("here"):
        stream.wait_stream(torch.cuda.current_stream())
        event.record(stream)
        torch.empty(1).record_stream(stream)
    return [stream.query(), event.query(), event.elapsed_time(stream.record_event()), torch.cuda.is_available()]
