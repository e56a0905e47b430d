# mypy: ignore-errors
"""Kernels that a GPU or its compiler refuses; the faulty line of each ends in `# fault`."""

import math

import numpy as np
import torch
import triton
import triton.language as tl
from torch import exp
from triton.language.extra import libdevice

WIDTH = 8


def plain(x):
    return x


def start(kernel, *args, x=None, **options):
    kernel[(1,)](torch.ones(64) if x is None else x, *args, **options)


def refused(body):
    """A case that starts the kernel on 64 ones."""
    return lambda: start(body)


@triton.jit
def chained(x):
    i = tl.arange(0, 8)
    tl.store(x + i, 1.0, mask=0 <= i < 5)  # fault


case_chained_comparison = refused(chained)


@triton.jit
def block_condition(x):
    v = tl.load(x + tl.arange(0, 8))
    if v > 0:  # fault
        tl.store(x, 1.0)


case_block_condition = refused(block_condition)


@triton.jit
def global_variable(x):
    tl.store(x + tl.arange(0, WIDTH), 1.0)  # fault


case_global_variable = refused(global_variable)


@triton.jit
def torch_attribute(x):
    tl.store(x, torch.exp(tl.load(x)))  # fault


case_torch_call = refused(torch_attribute)


@triton.jit
def torch_name(x):
    tl.store(x, exp(tl.load(x)))  # fault


case_torch_function_by_name = refused(torch_name)


@triton.jit
def numpy_call(x):
    tl.store(x, np.exp(tl.load(x)))  # fault


case_numpy_call = refused(numpy_call)


@triton.jit
def math_call(x):
    tl.store(x, math.sqrt(tl.load(x)))  # fault


case_math_call = refused(math_call)


@triton.jit
def plain_function(x):
    tl.store(x, plain(1.0))  # fault


case_plain_function = refused(plain_function)


@triton.jit
def python_builtin(x):
    tl.store(x, sum(tl.load(x)))  # fault


case_python_builtin = refused(python_builtin)


@triton.jit
def float_of_tensor(x):
    tl.store(x, float(tl.load(x)))  # fault


case_float_of_tensor = refused(float_of_tensor)


@triton.jit
def breaks(x):
    for i in range(4):
        if i == 2:
            break  # fault
        tl.store(x + i, 1.0)


case_break = refused(breaks)


@triton.jit
def returns(x):
    for i in range(4):
        tl.store(x + i, 1.0)
        return  # fault


case_return_in_a_loop = refused(returns)


@triton.jit
def returns_at_times(x):
    for i in range(4):
        if tl.load(x + i) > 100.0:  # fault
            return


case_return_in_a_loop_that_is_not_reached = refused(returns_at_times)


@triton.jit
def grows(x):
    total = 0.0
    for i in range(2):  # fault
        total += tl.load(x + i + tl.arange(0, 8))
    tl.store(x, tl.sum(total))


case_shape_that_changes_in_a_loop = refused(grows)


@triton.jit
def becomes_real(x):
    total, left = 0, 3
    while left > 0:  # fault
        total += tl.load(x)
        left -= 1
    tl.store(x, total)


case_dtype_that_changes_in_a_loop = refused(becomes_real)


@triton.jit
def imports(x):
    import math as m  # fault

    tl.store(x, m.pi)


case_import = refused(imports)


@triton.jit
def odd_range(x):
    tl.store(x + tl.arange(0, 6), 1.0)  # fault


case_range_not_a_power_of_two = refused(odd_range)


@triton.jit
def odd_shape(x):
    v = tl.zeros((3, 8), dtype=tl.float32)  # fault
    tl.store(x, tl.sum(v))


case_shape_not_a_power_of_two = refused(odd_shape)


@triton.jit
def runtime_range(x, n):
    tl.store(x + tl.arange(0, n), 1.0)  # fault


def case_range_known_at_run_time_only():
    start(runtime_range, 8)


@triton.jit
def runtime_shape(x, n):
    tl.store(x, tl.sum(tl.zeros((n,), dtype=tl.float32)))  # fault


def case_shape_known_at_run_time_only():
    start(runtime_shape, 8)


@triton.jit
def small_dot(x, K: tl.constexpr):
    i, k = tl.arange(0, 16), tl.arange(0, K)
    a = tl.load(x + i[:, None] * 0 + k[None, :]).to(tl.float16)
    b = tl.load(x + k[:, None] * 0 + i[None, :]).to(tl.float16)
    tl.store(x, tl.sum(tl.dot(a, b)))  # fault


def case_small_dot():
    start(small_dot, K=8)


@triton.jit
def assertion(x, n):
    v = tl.load(x + tl.arange(0, 8))
    tl.device_assert(v < n, "too large")  # fault


def case_device_assert():
    start(assertion, 0.5)


@triton.jit
def static(x, B: tl.constexpr):
    tl.static_assert(B >= 16, "B is too small")  # fault


def case_static_assert():
    start(static, B=8)


@triton.jit
def overflow(x, rows):
    row = tl.program_id(0) + rows
    offsets = row * 65536 + tl.arange(0, 8)
    tl.store(x + offsets, 1.0)  # fault


def case_overflow_of_an_offset():
    start(overflow, 40000)


@triton.jit
def overflow_in_loop(x, n):
    for i in range(0, n, 1):
        tl.store(x + (i + 70000) * 70000, 1.0)  # fault


def case_overflow_in_a_loop():
    start(overflow_in_loop, 2)


@triton.jit
def widened(x, rows):
    offsets = rows.to(tl.int64) * 65536 - 40000 * 65536 + tl.arange(0, 8)
    tl.store(x + offsets, 3.0)


def case_widened_offset():
    x = torch.zeros(64)
    start(widened, 40000, x=x)
    return x.sum().item()


@triton.jit
def to_bfloat(x):
    v = tl.load(x + tl.arange(0, 8)).to(tl.bfloat16)  # fault
    tl.store(x, tl.sum(v.to(tl.float32)))


case_cast_to_bfloat16 = refused(to_bfloat)


@triton.jit
def made_bfloat(x):
    tl.store(x, tl.sum(tl.zeros((8,), dtype=tl.bfloat16).to(tl.float32)))  # fault


case_zeros_of_bfloat16 = refused(made_bfloat)


@triton.jit
def harmless(x):
    pass


def case_bfloat16_argument():
    start(harmless, x=torch.ones(8, dtype=torch.bfloat16))


@triton.jit
def assembly(x):
    v = tl.load(x + tl.arange(0, 8))
    v = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [v], dtype=tl.float32, is_pure=True, pack=1)  # fault
    tl.store(x + tl.arange(0, 8), v)


case_inline_assembly = refused(assembly)


@triton.jit
def bessel(x):
    tl.store(x, libdevice.j0(tl.load(x)))  # fault


case_libdevice_without_body = refused(bessel)


@triton.jit
def fails_in_python(x, shape: tl.constexpr):
    i = tl.arange(0, 8)
    width = shape[3]  # fault
    tl.store(x + i, width)


def case_error_of_the_student():
    start(fails_in_python, shape=(1, 2))


@triton.jit
def waits(x, counter, PROGRAMS: tl.constexpr):
    tl.store(x + tl.program_id(0), 1.0)
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < PROGRAMS:  # fault
        pass


def case_waiting_for_another_program():
    waits[(2,)](torch.zeros(2), torch.zeros(1, dtype=torch.int32), PROGRAMS=2)


@triton.jit
def helper(x, offsets):
    return tl.load(x + offsets)  # fault


@triton.jit
def calls_helper(x):
    tl.store(x, tl.sum(helper(x, tl.arange(0, 128))))


case_fault_in_a_helper = refused(calls_helper)


@triton.jit
def guarded(x, FAST: tl.constexpr):
    if FAST:
        tl.store(x, torch.exp(tl.load(x)))
    else:
        tl.store(x, 2.0)


def case_dead_branch_may_hold_anything():
    x = torch.zeros(4)
    start(guarded, x=x, FAST=False)
    return x[0].item()
