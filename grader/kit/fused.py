"""A kernel that draws a tensor for many calls at once on a GPU. Each call's tensor follows from a secret key of its
own.

Numbers come from Philox-4x32 with seven rounds (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
Its counter is an element's index, so the same key gives the same contents. Arithmetic is exact or rounded once, and
never fused, so that every device gives the same bits. The numbers of a Spread are sums of two uniformly distributed
numbers here.
"""

# Kernels have no strict types.
# mypy: disable-error-code="untyped-decorator,no-untyped-def"

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from grader.course.parameters import value_of
from grader.kit.inputs import Bits, Bytes, Distribution, Spread, Tables, as_matrix
from grader.kit.whole import Bools, Indices, Sizes, Whole

LANES = 256
"""Number of neighbouring elements in a stretch. A program draws four stretches: of four rows, or of one row."""
UNIT = math.sqrt(6) / 2**16
"""The inverse of the standard deviation of a sum of two numbers, each uniformly distributed from 0 to 65,535."""
ROUNDS = 7
MOST_FLAT = (1 << 31) - 4 * LANES
"""The most elements of a matrix that is indexed as a single row, so that short rows leave no lane of a program idle."""
MOST_DISTINCT = 1 << 23
"""The most numbers in a row that the mantissa bits of a float32 can distinguish."""


@triton.jit
def _spread(bits, scale, offset, unit):
    both = (bits & 0xFFFF).to(tl.int32) + (bits >> 16).to(tl.int32) - 65535
    return offset + scale * (both.to(tl.float32) * unit)


@triton.jit
def _distinct(x, key, element, width, BITS: tl.constexpr, ROUNDS: tl.constexpr):
    """Return x with different lowest bits in each element of a row, as `grader.kit.inputs` makes them: column indices,
    mixed by secret numbers of the row."""
    row, own = element // width, (element % width).to(tl.uint32)
    zero = tl.zeros_like(row)
    first, second, third, more = tl.philox(key, row, zero + 3, zero, zero, ROUNDS)
    fourth, fifth, _, _ = tl.philox(key, row, zero + 4, zero, zero, ROUNDS)
    own = _mixed(own, first, second, BITS)
    own = _mixed(own, third, more, BITS)
    own = _mixed(own, fourth, fifth, BITS)
    bits = x.to(tl.uint32, bitcast=True) >> BITS << BITS
    return (bits | own).to(tl.float32, bitcast=True)


@triton.jit
def _mixed(own, factor, term, BITS: tl.constexpr):
    own = (own * (factor | 1) + term) & ((1 << BITS) - 1)
    return own ^ (own >> (BITS + 1) // 2)


@triton.jit
def draw_kernel(
    memory_ptr, starts_ptr, keys_ptr, scale_ptr, offset_ptr, partner_ptr, whole_ptr, rows, columns, width, indices,
    loud_size, unit, times, louder, quieter, low_exponent, exponents,
    AXIS: tl.constexpr, DOWN: tl.constexpr, FLAT: tl.constexpr, DISTINCT: tl.constexpr, BITS: tl.constexpr,
    EVERY: tl.constexpr, REPLACE: tl.constexpr, LOUD: tl.constexpr, SIGN: tl.constexpr, LEVELS: tl.constexpr,
    STEP: tl.constexpr, WHOLE: tl.constexpr, LANES: tl.constexpr, ROUNDS: tl.constexpr,
):
    """Draw four stretches of LANES elements of slot `program_id(1)` in each program. With DOWN, where the loud axis is
    the one of columns, they lie below one another, else one after another. FLAT: a matrix of `width` columns is indexed
    as a single row. AXIS is the axis of scales, LOUD the loud axis; −1: none. DISTINCT is the number of lowest bits in
    which all elements of a row differ, or 0. WHOLE is the kind of whole numbers: with OFTEN some come often, with BOOLS
    they are 0 or 1."""
    slot = tl.program_id(1).to(tl.int64)
    out_ptr = memory_ptr + tl.multiple_of(tl.load(starts_ptr + slot), 16)
    key = tl.load(keys_ptr + slot)
    lanes = tl.arange(0, LANES)
    across = tl.cdiv(columns, LANES if DOWN else 4 * LANES)
    major, minor = tl.program_id(0) // across, tl.program_id(0) % across
    first = minor * LANES + lanes
    # The four stretches of a program share the counter, and use one of its four words each.
    counter = major * across * LANES + first
    words = tl.philox(key, counter, tl.zeros_like(counter), tl.zeros_like(counter), tl.zeros_like(counter), ROUNDS)
    if DOWN and LOUD == 1:
        pair = tl.load(partner_ptr + slot * loud_size + first, mask=first < columns, other=-1)
        other = major * across * LANES + tl.maximum(pair, 0)
        others = tl.philox(key, other, tl.zeros_like(other), tl.zeros_like(other), tl.zeros_like(other), ROUNDS)
    if WHOLE:
        low, span, share = tl.load(whole_ptr), tl.load(whole_ptr + 1), tl.load(whole_ptr + 2)
    if WHOLE == 2:
        # Further streams: one decides which elements come often, one gives the secret number of the whole tensor.
        zero = tl.zeros_like(counter)
        repeats = tl.philox(key, counter, zero + 1, zero, zero, ROUNDS)
        secret, _, _, _ = tl.philox(key, zero, zero + 2, zero, zero, ROUNDS)
        often = low + (secret.to(tl.int64) * span >> 32)
    if LOUD == 0:
        pair = tl.load(partner_ptr + slot * loud_size + major)
        other = tl.maximum(pair, 0) * across * LANES + first
        others = tl.philox(key, other, tl.zeros_like(other), tl.zeros_like(other), tl.zeros_like(other), ROUNDS)
    for part in tl.static_range(4):
        if DOWN:
            row, column = major * 4 + part, first
        else:
            row, column = major, (minor * 4 + part) * LANES + lanes
        mask = (column < columns) & (row < rows)
        bits = words[part]
        if BITS:
            # Clearing one bit of an exponent that is all ones leaves a finite number.
            bits = tl.where((bits & 0x7F800000) == 0x7F800000, bits & 0xFF7FFFFF, bits)
            x = bits.to(tl.float32, bitcast=True)
        elif LEVELS:
            x = ((bits >> 16) * LEVELS >> 16) * STEP
        elif WHOLE == 3:
            x = bits.to(tl.int64) < share
        elif WHOLE:
            x = low + (bits.to(tl.int64) * span >> 32)
            if WHOLE == 2:
                repeated = repeats[part].to(tl.int64)
                end = tl.where(repeated % 3 == 0, low, low + span - 1)
                x = tl.where(repeated < share, tl.where(repeated % 3 == 2, often, end), x)
        else:
            if AXIS == 0 and not FLAT:
                at = slot * indices + tl.minimum(row, rows - 1)
                scale, offset = tl.load(scale_ptr + at), tl.load(offset_ptr + at)
            elif AXIS >= 0:
                at = slot * indices + (column // width if AXIS == 0 else column % width if FLAT else column)
                scale = tl.load(scale_ptr + at, mask=mask, other=0.0)
                offset = tl.load(offset_ptr + at, mask=mask, other=0.0)
            else:
                scale, offset = tl.load(scale_ptr + slot), tl.load(offset_ptr + slot)
            x = _spread(bits, scale, offset, unit)
            if EVERY:
                # A further stream has one number for each group of neighbours.
                group = ((row.to(tl.int64) * across * 4 + minor * 4 + part) * (LANES // EVERY)).to(tl.int32)
                group += tl.arange(0, LANES // EVERY)
                zero = tl.zeros_like(group)
                place, fraction, power, _ = tl.philox(key, group, zero + 1, zero, zero, ROUNDS)
                chosen = (tl.arange(0, EVERY)[None, :] == (place & (EVERY - 1))[:, None]).reshape(LANES)
                if REPLACE:
                    exponent = 127 + low_exponent + (power >> 8).to(tl.int32) % exponents
                    pattern = (exponent << 23) | (fraction & 0x807FFFFF).to(tl.int32, bitcast=True)
                    value = pattern.to(tl.float32, bitcast=True)
                    outlier = tl.broadcast_to(value[:, None], (LANES // EVERY, EVERY)).reshape(LANES)
                else:
                    outlier = x * times
                x = tl.where(chosen, outlier, x)
        x = x.to(out_ptr.dtype.element_ty)
        if DISTINCT:
            x = _distinct(x, key, column, width, DISTINCT, ROUNDS)
        if LOUD >= 0:
            # Round each step to the tensor's type.
            early = _spread(others[part], scale, offset, unit).to(x.dtype).to(tl.float32) * louder
            late = (x.to(tl.float32) * quieter).to(x.dtype).to(tl.float32) + SIGN * early.to(x.dtype).to(tl.float32)
            position = first if LOUD == 1 else major
            loud = tl.where(pair == position, early, late)
            x = tl.where(pair < 0, x.to(tl.float32), loud).to(x.dtype)
        tl.store(out_ptr + row.to(tl.int64) * columns + column, x, mask=mask)


NONE, EVEN, OFTEN, BOOLS = 0, 1, 2, 3
"""Kinds of whole numbers: none, uniformly distributed, with some that come often, bools."""


def _integers(distribution: Distribution, sizes: Sizes) -> tuple[int, int, int, float]:
    """Return a distribution's whole numbers: their kind, the lowest, their count, and the share of `Indices.repeats` or
    `Bools`."""
    if isinstance(distribution, Whole):
        low = value_of(distribution.low, sizes)
        return EVEN, low, value_of(distribution.high, sizes) - low + 1, 0.0
    if isinstance(distribution, Indices):
        return OFTEN, 0, value_of(distribution.high, sizes), distribution.repeats
    if isinstance(distribution, Bools):
        return BOOLS, 0, 2, distribution.share
    return NONE, 0, 0, 0.0


@cache
def _on_device(least: int, span: int, share: int, device: torch.device) -> Tensor:
    """Return the bounds in device memory, so that no number is a constant of the kernel. They are cached, since a copy
    waits for the device."""
    return torch.tensor([least, span, share], device=device)


def draws(distribution: Distribution, shape: Sequence[int], dtype: torch.dtype, sizes: Sizes) -> bool:
    """Return whether `draw_all` can draw a distribution in tensors of this shape and dtype. It cannot for floats of 64
    bits, which need numbers of their own, nor for floats of 8 bits, which not every device can convert to."""
    if isinstance(distribution, Spread):
        if distribution.distinct:
            rows, columns = as_matrix(shape)
            return (dtype == torch.float32 and distribution.loud is None and columns <= MOST_DISTINCT
                    and rows * columns <= MOST_FLAT)
        return dtype in (torch.float32, torch.float16, torch.bfloat16)
    if isinstance(distribution, Bits | Bytes):
        return dtype == (torch.uint8 if isinstance(distribution, Bytes) else torch.float32)
    kind, _, span, _ = _integers(distribution, sizes)
    return kind != NONE and 0 < span <= 1 << 31 and not dtype.is_floating_point


def draw_all(
    distribution: Distribution, shape: Sequence[int], memory: Tensor, starts: Tensor, keys: Tensor,
    tables: Tables | None, sizes: Sizes, *, compile_only: bool = False,
) -> None:
    """Draw a tensor for every slot, in one launch, from a distribution that `draws` allows. `memory` is flat and of the
    tensor's dtype. `starts` (int64) are the indices of the slots' first elements, multiples of 16. `keys` (int64) has
    one key for each slot. A Spread needs its `tables`; `sizes` are the sizes of the case. With `compile_only` the
    kernel is compiled and not launched."""
    rows, columns = as_matrix(shape)
    width = columns
    spread = distribution if isinstance(distribution, Spread) else Spread(axis=None)
    assert not isinstance(distribution, Spread) or tables is not None, "a tensor of numbers has a Spread"
    levels, step = (distribution.levels, distribution.step) if isinstance(distribution, Bytes) else (0, 0)
    kind, least, span, share = _integers(distribution, sizes)
    whole = keys if kind == NONE else _on_device(least, span, math.ceil(share * 2**32), keys.device)
    outliers, loud = spread.outliers, spread.loud
    down = loud is not None and loud.axis == 1
    if flat := loud is None and rows * columns <= MOST_FLAT:
        rows, columns = 1, rows * columns
    across = triton.cdiv(columns, LANES if down else 4 * LANES)
    low, high = (outliers and outliers.exponents) or (0, 0)
    # Tables that do not exist are never read, so any pointer will do.
    scale = keys if tables is None else tables.scale
    partner = keys if tables is None or tables.partner is None else tables.partner
    draw_kernel.run(
        memory, starts, keys, scale, scale if tables is None else tables.offset, partner, whole, rows, columns, width,
        1 if tables is None else tables.scale.shape[1], partner.shape[-1], UNIT,
        outliers.times if outliers else 1.0, loud.times if loud else 1.0, 1 / loud.times if loud else 1.0,
        low, high - low + 1,
        AXIS=-1 if spread.axis is None else spread.axis, DOWN=down, FLAT=flat,
        DISTINCT=(width - 1).bit_length() if spread.distinct else 0, BITS=isinstance(distribution, Bits),
        EVERY=outliers.every if outliers else 0, REPLACE=bool(outliers and outliers.exponents),
        LOUD=loud.axis if loud else -1, SIGN=loud.sign if loud else 1, LEVELS=levels, STEP=step, WHOLE=kind,
        LANES=LANES, ROUNDS=ROUNDS,
        num_warps=2, enable_fp_fusion=False,
        grid=(across * (triton.cdiv(rows, 4) if down else rows), len(keys)), warmup=compile_only)
