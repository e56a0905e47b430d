"""Integers, bits, comparisons and conversions, against Python's integers."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from grader.simulation.ptx.lanes import DTYPES, Unsupported
from grader.simulation.ptx.values import PURE
from tests.rows import each_row
from tests.simulation.ptx.exact import one, run, triton

M32, M64, MIN, MAX = 2**32 - 1, 2**64 - 1, -(2**31), 2**31 - 1


def wrapped(value: int, kind: str) -> int:
    """An integer as a type holds it."""
    size = int(kind[1:])
    value &= (1 << size) - 1
    return value - (1 << size) if kind[0] == "s" and value >> (size - 1) else value


def samples(kind: str, count: int, seed: int) -> list[int]:
    """Integers of a type, its ends and small ones among them."""
    random = np.random.default_rng(seed)
    size = int(kind[1:])
    shifts = random.integers(0, 64, count).tolist()
    any_size = [x >> by for x, by in zip(random.integers(0, 2**64, count, np.uint64).tolist(), shifts, strict=True)]
    ends = [0, 1, 2, (1 << size) - 1, 1 << (size - 1), (1 << (size - 1)) - 1]
    values = any_size + [ends[k] for k in random.integers(0, 6, count).tolist()]
    return [wrapped(-x if n % 3 == 0 else x, kind) for n, x in enumerate(values)]


def _divided(x: int, y: int) -> int:
    return -1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _low24(x: int, kind: str) -> int:
    return wrapped(wrapped(x << 8, kind) >> 8 if kind[0] == "s" else x & 0xFFFFFF, kind)


ALL = ("u16", "s16", "u32", "s32", "u64", "s64")
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
EXACT: list[tuple[str, int, tuple[str, ...], Callable[..., int]]] = [
    ("add", 2, ALL, lambda x, y: x + y), ("sub", 2, ALL, lambda x, y: x - y), ("mul.lo", 2, ALL, lambda x, y: x * y),
    ("mad.lo", 3, ALL, lambda x, y, z: x * y + z), ("div", 2, ALL, _divided),
    ("rem", 2, ALL, lambda x, y: -1 if y == 0 else x - y * _divided(x, y)),
    ("min", 2, ALL, min), ("max", 2, ALL, max), ("sad", 3, ALL, lambda x, y, z: z + abs(x - y)),
    ("abs", 1, ALL[1::2], abs), ("neg", 1, ALL[1::2], lambda x: -x),
]  # fmt: skip


@each_row(("name", "count", "kind", "function"), [
    pytest.param(name, count, kind, function, id=f"{name}.{kind}")
    for name, count, kinds, function in EXACT for kind in kinds
])  # fmt: skip
def test_integers_wrap(name: str, count: int, kind: str, function: Callable[..., int]) -> None:
    sources = [samples(kind, 400, seed) for seed in range(count)]
    want = [wrapped(function(*given), kind) for given in zip(*sources, strict=True)]
    assert one(f"{name}.{kind}", *sources) == want


IN_TRITON = {
    "add": ("arith.addi",) * 2, "sub": ("arith.subi",) * 2, "mul.lo": ("arith.muli",) * 2,
    "div": ("arith.divsi", "arith.divui"), "rem": ("arith.remsi", "arith.remui"),
    "min": ("arith.minsi", "arith.minui"), "max": ("arith.maxsi", "arith.maxui"), "abs": ("math.absi",) * 2}
"""Operations of Triton's IR on signed and unsigned integers, by PTX's name for the same."""


@each_row(("name", "count", "kind", "function"), [
    (name, count, kind, function) for name, count, kinds, function in EXACT if name in IN_TRITON
    for kind in (*kinds, "s8", *["u8"] * (kinds == ALL))])
def test_integers_wrap_in_triton(name: str, count: int, kind: str, function: Callable[..., int]) -> None:
    sources = [samples(kind, 400, seed) for seed in range(count)]
    want = [wrapped(function(*given), kind) for given in zip(*sources, strict=True)]
    assert triton(IN_TRITON[name][kind[0] == "u"], kind, *sources).tolist() == want


@each_row("kind", (*ALL, "u8", "s8"))
def test_shifts_and_high_products_in_triton(kind: str) -> None:
    x, y, size = samples(kind, 400, 1), samples(kind, 400, 2), int(kind[1:])
    by = [min(one % 2**size, 2**20) for one in y]
    left = [wrapped(a << min(n, size), kind) for a, n in zip(x, by, strict=True)]
    assert triton("arith.shli", kind, x, y).tolist() == left
    right = [a >> min(n, size) for a, n in zip(x, by, strict=True)]
    assert triton("arith.shrui" if kind[0] == "u" else "arith.shrsi", kind, x, y).tolist() == right
    if kind[0] == "u" and size > 8:
        assert triton("tt.mulhiui", kind, x, y).tolist() == [a * b >> size for a, b in zip(x, y, strict=True)]


@each_row("kind", ALL)
def test_high_and_wide_products(kind: str) -> None:
    x, y, z = (samples(kind, 400, seed) for seed in range(3))
    size = int(kind[1:])
    assert one(f"mul.hi.{kind}", x, y) == [wrapped(a * b >> size, kind) for a, b in zip(x, y, strict=True)]
    assert one(f"mad.hi.{kind}", x, y, z) == [
        wrapped((a * b >> size) + c, kind) for a, b, c in zip(x, y, z, strict=True)]  # fmt: skip
    if size < 64:
        wide = WIDER[kind]
        assert one(f"mul.wide.{kind}", x, y) == [wrapped(a * b, wide) for a, b in zip(x, y, strict=True)]
        more = samples(wide, 400, 5)
        assert one(f"mad.wide.{kind}", x, y, more) == [
            wrapped(a * b + c, wide) for a, b, c in zip(x, y, more, strict=True)]  # fmt: skip
    if size == 32:
        products = [_low24(a, kind) * _low24(b, kind) for a, b in zip(x, y, strict=True)]
        assert one(f"mul24.lo.{kind}", x, y) == [wrapped(p, kind) for p in products]
        assert one(f"mul24.hi.{kind}", x, y) == [wrapped(p >> 16, kind) for p in products]
        assert one(f"mad24.lo.{kind}", x, y, z) == [wrapped(p + c, kind) for p, c in zip(products, z, strict=True)]


@pytest.mark.parametrize("size", [32, 64])
def test_long_numbers_carry(size: int) -> None:
    """Sums, differences and products of three words."""
    kind, ones = f"u{size}", (1 << size) - 1
    random = np.random.default_rng(3)
    whole = DTYPES[kind]
    x, y = (random.choice(np.array([0, 1, ones, ones - 1, 12345], whole), (3, 500)) for _ in range(2))

    def value(words: Any) -> list[int]:
        return [sum(int(w) << (size * n) for n, w in enumerate(column)) for column in words.T]

    for first, next_, last, sign in (("add.cc", "addc.cc", "addc", 1), ("sub.cc", "subc.cc", "subc", -1)):
        low, carry = run(f"{first}.{kind}", x[0], y[0])
        middle, carry = run(f"{next_}.{kind}", x[1], y[1], carry)
        (high,) = run(f"{last}.{kind}", x[2], y[2], carry)
        want = [(a + sign * b) % (1 << 3 * size) for a, b in zip(value(x), value(y), strict=True)]
        assert value(np.stack([low, middle, high])) == want
    low, carry = run(f"mad.lo.cc.{kind}", x[0], y[0], x[1])
    (high,) = run(f"madc.hi.{kind}", x[0], y[0], y[1], carry)
    want = [(int(a) * int(b) + int(c) + (int(d) << size)) % (1 << 2 * size)
            for a, b, c, d in zip(x[0], y[0], x[1], y[1], strict=True)]  # fmt: skip
    assert value(np.stack([low, high])) == want


def _field(x: int, start: int, length: int, kind: str) -> int:
    size = int(kind[1:])
    if length == 0:
        return 0
    sign = (x >> min(start + length - 1, size - 1)) & 1 if kind[0] == "s" else 0
    return wrapped(sum((((x >> (start + k)) & 1) if k < length and start + k < size else sign) << k
                       for k in range(size)), kind)  # fmt: skip


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_fields(kind: str) -> None:
    size = int(kind[1:])
    x, y = samples(kind, 300, 1), samples(f"u{size}", 300, 2)
    random = np.random.default_rng(4)
    start, length = (random.choice([0, 1, 7, 31, 32, 33, 63, 64, 200, 255], 600) for _ in range(2))
    assert one(f"bfe.{kind}", x, start, length) == [
        _field(a, int(s) & 255, int(n) & 255, kind) for a, s, n in zip(x, start, length, strict=True)]  # fmt: skip
    want = []
    for a, b, s, n in zip(x, y, start & 255, length & 255, strict=True):
        mask = sum(1 << k for k in range(int(s), min(int(s + n), size)))
        want.append((b & ~mask) | ((a << int(s)) & mask))
    assert one(f"bfi.b{size}", x, y, start, length) == [w % (1 << size) for w in want]


@pytest.mark.parametrize("size", [32, 64])
def test_counts(size: int) -> None:
    x, signed = samples(f"u{size}", 300, 1), samples(f"s{size}", 300, 2)
    assert one(f"popc.b{size}", x) == [a.bit_count() for a in x]
    assert one(f"clz.b{size}", x) == [size - a.bit_length() for a in x]
    assert one(f"brev.b{size}", x) == [int(f"{a:0{size}b}"[::-1], 2) for a in x]
    assert one(f"bfind.u{size}", x) == [(a.bit_length() - 1) & M32 for a in x]
    assert one(f"bfind.s{size}", signed) == [((a if a >= 0 else ~a).bit_length() - 1) & M32 for a in signed]
    assert one(f"bfind.shiftamt.u{size}", x) == [size - a.bit_length() if a else M32 for a in x]


@each_row("table", range(256))
def test_lop3_follows_its_table(table: int) -> None:
    assert one("lop3.b32", 0xF0, 0xCC, 0xAA, table) & 255 == table


def test_lop3_with_a_predicate() -> None:
    result, holds = run("lop3.or.b32", [6, 6, 6], [3, 3, 3], [0, 8, 8], 0x80, [False, True, False])
    assert result.tolist() == [0, 0, 0] and holds.tolist() == [False, True, False]


def test_shifts_and_funnels() -> None:
    by = [0, 1, 31, 32, 33, 63, 64, M32]
    value = 0x80000001
    assert one("shl.b32", value, by) == [(value << n) & M32 if n < 32 else 0 for n in by]
    assert one("shr.u32", value, by) == [value >> n if n < 32 else 0 for n in by]
    assert one("shr.s32", MIN + 1, by) == [(MIN + 1) >> min(n, 31) for n in by]
    assert one("shl.b64", value, by) == [(value << n) & M64 if n < 64 else 0 for n in by]
    assert one("shl.b16", 0x8001, by) == [(0x8001 << n) & 0xFFFF if n < 16 else 0 for n in by]
    low, high = 0x89ABCDEF, 0x01234567
    both = high << 32 | low
    assert one("shf.l.wrap.b32", low, high, by) == [both << (n & 31) >> 32 & M32 for n in by]
    assert one("shf.r.wrap.b32", low, high, by) == [both >> (n & 31) & M32 for n in by]
    assert one("shf.l.clamp.b32", low, high, by) == [both << min(n, 32) >> 32 & M32 for n in by]
    assert one("shf.r.clamp.b32", low, high, by) == [both >> min(n, 32) & M32 for n in by]


@each_row("selector", [0x3210, 0x5410, 0x7632, 0x0040, 0x7654, 0x1111, 0xBA98, 0x80F7, 0x12344321])
def test_prmt(selector: int) -> None:
    a, b = 0x83020100, 0x87868584
    source = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    want = 0
    for byte in range(4):
        nibble = selector >> (4 * byte) & 15
        chosen = source[nibble & 7]
        want |= (255 * (chosen >> 7) if nibble & 8 else chosen) << (8 * byte)
    assert one("prmt.b32", a, b, selector) == want
    assert one("prmt.b32", [a, a], b, [selector, 0x3210]) == [want, a]


TABLE: list[tuple[str, list[Any], Any]] = [
    ("prmt.b32.f4e", [0x03020100, 0x07060504, [0, 1, 2, 3]], [0x03020100, 0x04030201, 0x05040302, 0x06050403]),
    ("prmt.b32.b4e", [0x03020100, 0x07060504, [0, 1, 2, 3]], [0x05060700, 0x06070001, 0x07000102, 0x00010203]),
    ("prmt.b32.rc8", [0x03020100, 0, [0, 3]], [0, 0x03030303]),
    ("prmt.b32.ecl", [0x03020100, 0, [1, 2]], [0x03020101, 0x03020202]),
    ("prmt.b32.ecr", [0x03020100, 0, [1, 2]], [0x01010100, 0x02020100]),
    ("prmt.b32.rc16", [0x03020100, 0, [0, 1]], [0x01000100, 0x03020302]),
    ("add.sat.s32", [[MAX, MIN, 5], [1, -1, 6]], [MAX, MIN, 11]),
    ("sub.sat.s32", [[MAX, MIN, 5], [-1, 1, 6]], [MAX, MIN, -1]),
    ("mad.hi.sat.s32", [MAX, MAX, MAX], MAX),
    ("add.u16x2", [0xFFFF0001, 0x00010002], 0x00000003),
    ("max.s16x2", [0xFFFF0001, 0x00000002], 0x00000002),
    ("max.s16x2.relu", [0xFFFF0001, 0xFFFE0002], 0x00000002),
    ("dp4a.u32.u32", [0x01020304, 0xFF010101, 5], 255 + 2 + 3 + 4 + 5),
    ("dp4a.s32.s32", [0x01020304, 0xFF010101, 5], -1 + 2 + 3 + 4 + 5),
    ("dp4a.u32.s32", [0xFF000000, 0xFF000000, 0], -255),
    ("dp2a.lo.u32.u32", [0x00020003, 0x07080901, 1], 2 * 9 + 3 * 1 + 1),
    ("dp2a.hi.s32.s32", [0xFFFF0003, 0x07080901, 1], -7 + 24 + 1),
    ("szext.clamp.s32", [0x80 - 256, [8, 0, 32, 7]], [-128, 0, -128, 0]),
    ("szext.wrap.u32", [0xFFFFFFFF, [8, 32, 33]], [255, 0, 1]),
    ("bmsk.clamp.b32", [[4, 0, 31, 32, 1], [8, 32, 8, 1, 99]], [0xFF0, M32, 1 << 31, 0, M32 - 1]),
    ("bmsk.wrap.b32", [[4, 36], [8, 33]], [0xFF0, 0x10]),
    ("fns.b32", [M32, 33, -2], M32),
    ("bfe.u32", [M32, 256 + 4, 8], 255),
    ("bfe.u64", [M64, 256 + 4, 8], 0),
    ("bfi.b64", [M64, 5, 256 + 4, 8], 5),
    ("fns.b32", [0b101101, [0, 3, 5, 1, 0], [1, 2, -2, 0, 9]], [0, 5, 3, M32, M32]),
    ("vabsdiff4.u32.u32.u32", [0xFF010203, 0x02010105, 0], 0xFD000102),
    ("vabsdiff4.u32.u32.u32.add", [0xFF010203, 0x02010105, 1000], 1000 + 253 + 1 + 2),
    ("vabsdiff4.u32.s32.s32", [0xFF000000, 0x01000000, 0], 0x02000000),
    ("not.b32", [0xF0F0F0F0], 0x0F0F0F0F),
    ("not.pred", [[True, False]], [False, True]),
    ("cnot.b32", [[0, 5]], [1, 0]),
    ("and.pred", [[True, True], [True, False]], [True, False]),
    ("xor.b64", [M64, 1], M64 - 1),
    ("setp.lt.s32", [-1, 1], True),
    ("setp.lt.u32", [M32, 1], False),
    ("setp.hi.u32", [M32, 1], True),
    ("setp.eq.and.s32", [1, [1, 1, 2], [True, False, True]], [True, False, False]),
    ("setp.ne.b64", [M64, M64], False),
    ("setp.lt.f32", [[1, math.nan], 2], [True, False]),
    ("setp.ltu.f32", [[1, 3, math.nan], 2], [True, False, True]),
    ("setp.equ.f32", [[1, 2, math.nan], 2], [False, True, True]),
    ("setp.neu.f32", [[1, 2, math.nan], 2], [True, False, True]),
    ("setp.ne.f32", [[1, 2, math.nan], 2], [True, False, False]),
    ("setp.geu.f64", [[1, 2, math.nan], 2], [False, True, True]),
    ("setp.num.f32", [[1, math.nan], 2], [True, False]),
    ("setp.nan.f32", [[1, math.nan], 2], [False, True]),
    ("setp.eq.ftz.f32", [1e-40, 0], True),
    ("setp.gt.f16", [[1, 3], 2], [False, True]),
    ("setp.gt.bf16", [0x4040, 0x4000], True),
    ("set.lt.u32.f32", [[1, 3], 2], [M32, 0]),
    ("set.lt.s32.s32", [[1, 3], 2], [-1, 0]),
    ("set.gt.f32.s32", [[1, 3], 2], [0, 1]),
    ("set.gt.or.u32.s32", [[1, 3], 2, [True, False]], [M32, M32]),
    ("set.ge.f16x2.f16x2", [0x3C004000, 0x40004000], 0x00003C00),
    ("set.ge.u32.f16x2", [0x3C004000, 0x40004000], 0x0000FFFF),
    ("set.ge.bf16x2.bf16x2", [0x3F804000, 0x40004000], 0x00003F80),
    ("selp.b32", [1, 2, [True, False]], [1, 2]),
    ("selp.f32", [[1, 1], 2, [True, False]], [1, 2]),
    ("selp.b64", [M64, 2, True], M64),
    ("slct.u32.s32", [1, 2, [0, -1]], [1, 2]),
    ("slct.f32.f32", [1, 2, [-0.0, -1, math.nan]], [1, 2, 2]),
    ("slct.ftz.f32.f32", [1, 2, [-1e-40]], [1]),
    ("cvt.u8.u32", [0x1FF], 255),
    ("cvt.s8.s32", [0x1FF], -1),
    ("cvt.s64.s32", [-1], -1),
    ("cvt.u64.u32", [M32], M32),
    ("cvt.u16.s64", [-1], 65535),
    ("cvt.sat.u8.s32", [[-5, 300, 7]], [0, 255, 7]),
    ("cvt.sat.s32.u64", [M64], MAX),
    ("cvt.sat.u32.s64", [[-1, 2**40]], [0, M32]),
    ("cvt.rn.f32.s32", [[2**24 + 1, 2**24 + 3]], [2**24, 2**24 + 4]),
    ("cvt.rz.f32.s32", [[2**24 + 1, -(2**24) - 3]], [2**24, -(2**24) - 2]),
    ("cvt.rp.f32.u64", [2**63 + 1], 2.0**63 + 2**40),
    ("cvt.rm.f64.u64", [M64], 2.0**64 - 2048),
    ("cvt.rn.f64.u64", [M64], 2.0**64),
    ("cvt.rn.f16.s64", [[70000, 2049, -(2**62)]], [math.inf, 2048, -math.inf]),
    ("cvt.rn.bf16.s32", [257 + 1 * 65536], 0x4781),
    ("cvt.rni.s32.f32", [[0.5, 1.5, -2.5, 1e10, -1e10, math.nan]], [0, 2, -2, MAX, MIN, 0]),
    ("cvt.rzi.u32.f32", [[-3.5, 4e9, 5e9, 7.9]], [0, 4000000000, M32, 7]),
    ("cvt.rmi.s16.f32", [[-0.5, 40000]], [-1, 32767]),
    ("cvt.rpi.u8.f32", [[0.1, 256]], [1, 255]),
    ("cvt.rzi.s64.f32", [[1e30, math.nan]], [2**63 - 1, -(2**63)]),
    ("cvt.rzi.u64.f64", [[1e30, -1, math.nan]], [M64, 0, 2**63]),
    ("cvt.rzi.s32.f64", [math.nan], MIN),
    ("cvt.rzi.s32.f16", [[-2.5, math.inf]], [-2, MAX]),
    ("cvt.rzi.s32.bf16", [0xC020], -2),
    ("cvt.rni.f32.f32", [[2.5, -0.3]], [2, -0.0]),
    ("cvt.rpi.f64.f64", [2.1], 3),
    ("cvt.rzi.f16.f16", [2.9], 2),
    ("cvt.sat.f32.f32", [[-1, 0.5, 2, math.nan]], [0, 0.5, 1, 0]),
    ("cvt.ftz.f32.f32", [1e-40], 0),
    ("cvt.ftz.f32.bf16", [0x0020], 0),
    ("cvt.rn.relu.f16x2.e4m3x2", [0x80B8], 0),
    ("testp.normal.f32", [[0, 1, 1e-40, math.inf]], [True, True, False, False]),
    ("testp.subnormal.f32", [[0, 1, 1e-40, math.inf]], [False, False, True, False]),
    ("testp.finite.f64", [[0, math.nan, math.inf]], [True, False, False]),
    ("cvt.f64.f32", [0.1], float(np.float32(0.1))),
    ("cvt.rn.f32.f64", [1 + 2.0**-24 + 2.0**-50], 1 + 2.0**-23),
    ("cvt.rz.f32.f64", [0.1], 0.09999999403953552),
    ("cvt.rp.f32.f64", [1e300], math.inf),
    ("cvt.rz.f32.f64", [1e300], float(np.finfo(np.float32).max)),
    ("cvt.rn.f16.f64", [1 + 2.0**-11 + 2.0**-50], 1 + 2.0**-10),
    ("cvt.f32.f16", [0.5], 0.5),
    ("cvt.f32.bf16", [0x3F80], 1),
    ("cvt.rz.f16.f32", [65535], 65504),
    ("cvt.rn.satfinite.f16.f32", [1e9], 65504),
    ("cvt.rn.relu.f16.f32", [-1], 0),
    ("cvt.rn.bf16.f32", [[1 + 2.0**-8, 1 + 3 * 2.0**-8, math.nan, 3.4e38]], [0x3F80, 0x3F82, 0x7FFF, 0x7F80]),
    ("cvt.rz.bf16.f32", [[1 + 3 * 2.0**-8, 3.4e38]], [0x3F81, 0x7F7F]),
    ("cvt.rn.f16x2.f32", [1, 2], 0x3C004000),
    ("cvt.rn.bf16x2.f32", [1, -2], 0x3F80C000),
    ("cvt.rn.relu.bf16x2.f32", [1, -2], 0x3F800000),
    ("cvt.rna.tf32.f32", [1 + 2.0**-11], 0x3F802000),
    ("cvt.rn.tf32.f32", [1 + 2.0**-11], 0x3F800000),
    ("cvt.rn.satfinite.e4m3x2.f32", [[1, 500, -0.001953125], [448, -math.inf, 0]], [0x387E, 0x7EFE, 0x8100]),
    ("cvt.rn.satfinite.e5m2x2.f32", [1, 1e9], 0x3C7B),
    ("cvt.rn.f16x2.e4m3x2", [0x387E], 0x3C005F00),
    ("cvt.rn.f16x2.e5m2x2", [0x3CFC], 0x3C00FC00),
    ("cvt.pack.sat.u8.s32.b32", [-5, 300, 0x1234], 0x123400FF),
    ("cvt.pack.sat.s16.s32", [-5, 70000], 0xFFFB7FFF),
]


@each_row(("instruction", "sources", "want"), TABLE)
def test_instructions(instruction: str, sources: list[Any], want: Any) -> None:
    result = one(instruction, *sources)
    assert np.array_equal(result, np.asarray(want)) and np.array_equal(np.signbit(result), np.signbit(want))


def test_the_second_predicate_is_the_opposite_or_the_upper_half() -> None:
    assert [value.tolist() for value in run("setp.lt.s32", [1, 3], 2)] == [[True, False], [False, True]]
    assert [value.tolist() for value in run("setp.lt.or.s32", [1, 3], 2, True)] == [[True, True], [True, True]]
    assert [value.tolist() for value in run("setp.lt.f16x2", 0x3C004000, 0x40004000)] == [False, True]


@pytest.mark.parametrize("kind", ["e4m3x2", "e5m2x2"])
def test_every_byte_float_comes_back(kind: str) -> None:
    words = np.arange(256).repeat(2)
    there = run(f"cvt.rn.f16x2.{kind}", words)[0]
    back = run(f"cvt.rn.satfinite.{kind}.f16x2", there)[0]
    low = (words & 127).astype(int)
    finite = low < 127 if kind == "e4m3x2" else low < 0x7C
    assert (back[finite] == words[finite]).all()


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_whole_numbers_of_64_bits_are_rounded_once(kind: str) -> None:
    values = samples("s64", 500, 9)
    for mode, sign in (("rm", -1), ("rp", 1)):
        for value, got in zip(values, one(f"cvt.{mode}.{kind}.s64", values), strict=True):
            gap = (Fraction(got) - value) * sign
            spacing = Fraction(float(np.spacing(DTYPES[kind].type(abs(got)))))
            assert 0 <= gap < spacing


@each_row("instruction", [
    "add", "add.f31", "add.rn.s32", "fma.f128", "mul.s32", "mul.lo.hi.s32", "setp.ltu.s32", "setp.f32", "cvt.s32",
    "cvt.s32.f32", "cvt.rzi.rni.s32.f32", "prmt.b32.xyz", "lop3.b64", "cvt.pack.u8.s32.b32", "mad.cc.f32", "sat.f32",
    "div.u16x2", "cvt.pack.sat.u16.s32.b32", "vabsdiff4.u32.u32", "vabsdiff4.u32.u32.u32.sat",
    "vabsdiff4",
])  # fmt: skip
def test_what_is_not_known_is_said(instruction: str) -> None:
    name, *modifiers = instruction.split(".")
    if name not in PURE:
        return
    with pytest.raises(Unsupported):
        PURE[name](tuple(modifiers))
