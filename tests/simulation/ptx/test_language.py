"""Wide parts of CUDA C++, compiled by nvcc, run from PTX, and compared with the same function on the host."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.exact import rounded
from tests.simulation.ptx.language.running import COUNT, quiet

pytestmark = needs_nvcc
Oracle = Callable[..., Any]


def floats(seed: int, dtype: str = "f4") -> Any:
    """Ordinary numbers, and in front of them the special ones."""
    values = np.random.default_rng(seed).uniform(-20, 20, COUNT)
    special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -2, 3]
    # Each with each.
    values[:100] = np.repeat(special, 10) if seed == 1 else np.tile(special, 10)
    return values.astype(dtype)


def each(function: Callable[..., float]) -> Oracle:
    """A function of Python's floats on arrays; where it raises, NaN."""

    def safe(*given: float) -> float:
        try:
            return function(*given)
        except (OverflowError, ValueError, ZeroDivisionError):
            return math.nan

    return np.vectorize(safe, otypes=[float])


def _single(mode: str, exact: Callable[[Any, Any], Any]) -> Oracle:
    """A sum or product of fractions, rounded in a direction; other values as NumPy has them."""
    def one(a: float, b: float) -> float:
        if math.isfinite(a) and math.isfinite(b) and (value := exact(Fraction(a), Fraction(b))):
            return rounded(value, "f32", mode)
        with np.errstate(all="ignore"):
            return float(exact(np.float64(a), np.float64(b)))

    return np.vectorize(one, otypes=[float])


def _clamped(values: Any, low: int, high: int) -> Any:
    return np.where(np.isnan(values), 0, np.clip(values, low, high))


# Kernel: what it computes in float64, and by how much it may be off, relatively and absolutely.
FLOATS: dict[str, tuple[Oracle, float, float]] = {
    "f_exp": (lambda a, b: np.exp(a), 3e-7, 0), "f_exp_fast": (lambda a, b: np.exp(a), 1e-5, 0),
    "f_exp2": (lambda a, b: np.exp2(a), 3e-7, 0), "f_exp10": (lambda a, b: 10**a, 1e-6, 0),
    "f_expm1": (lambda a, b: np.expm1(a), 3e-7, 0), "f_log": (lambda a, b: np.log(abs(a)), 3e-7, 0),
    "f_log_fast": (lambda a, b: np.log(abs(a)), 1e-6, 1e-6), "f_log2": (lambda a, b: np.log2(abs(a)), 3e-7, 0),
    "f_log1p": (lambda a, b: np.log1p(abs(a)), 3e-7, 0), "f_tanh": (lambda a, b: np.tanh(a), 3e-7, 0),
    "f_sinh": (lambda a, b: np.sinh(a), 5e-7, 0), "f_atan2": (lambda a, b: np.arctan2(a, b), 5e-7, 0),
    "f_asin": (lambda a, b: np.arcsin(a / 20), 5e-7, 0), "f_acos": (lambda a, b: np.arccos(a / 20), 5e-7, 1e-6),
    "f_erf": (lambda a, b: each(math.erf)(a), 5e-7, 0), "f_erfc": (lambda a, b: each(math.erfc)(a), 2e-6, 1e-38),
    "f_gamma": (lambda a, b: np.where(a == 0, np.inf, each(math.gamma)(abs(a))), 3e-6, 0),
    "f_rsqrt": (lambda a, b: abs(a) ** -0.5, 3e-7, 0), "f_sqrt": (lambda a, b: abs(a) ** 0.5, 1e-7, 0),
    "f_cbrt": (lambda a, b: np.cbrt(a), 3e-7, 0), "f_pow": (lambda a, b: abs(a) ** b, 2e-6, 0),
    "f_sin": (lambda a, b: np.sin(a), 3e-7, 1e-7),
    "f_cos_large": (lambda a, b: np.cos((a.astype("f4") * np.float32(1e6)).astype("f8")), 3e-7, 1e-7),
    "f_tan": (lambda a, b: np.tan(a), 1e-6, 0), "f_sin_fast": (lambda a, b: np.sin(b / 8), 0, 2e-6),
    "f_sincos": (lambda a, b: np.sin(a) * 10 + np.cos(a), 1e-6, 2e-6),
    "f_mod": (lambda a, b: np.fmod(100 * a.astype("f4"), b.astype("f4")), 0, 0),
    "f_remainder": (lambda a, b: each(math.remainder)(100 * a.astype("f4"), b), 0, 0),
    "f_hypot": (lambda a, b: np.hypot(a, b), 3e-7, 0),
    "f_round": (lambda a, b: np.trunc(a + np.copysign(0.5, a)) + 10 * np.rint(b) + 100 * np.trunc(a)
                + 1000 * np.floor(b) + 10000 * np.ceil(a), 1e-7, 0),
    "f_divide_fast": (lambda a, b: a / b, 3e-7, 0),
    "f_add_up": (_single("rp", lambda a, b: a + b), 0, 0), "f_mul_zero": (_single("rz", lambda a, b: a * b), 0, 0),
    "f_fma_down": (_single("rm", lambda a, b: a * b + 1), 0, 0),
    "f_saturate": (lambda a, b: _clamped(a, 0, 1), 0, 0),
    "f_extremes": (lambda a, b: np.fmin(a, b) + 2 * np.fmax(a, b) + np.where(a <= b, 0, a - b) + np.copysign(1, b),
                   1e-6, 2e-6),
    "f_tests": (lambda a, b: np.isnan(a) + 2 * np.isinf(b) + 4 * np.signbit(a) + 8 * np.isfinite(b), 0, 0),
    "f_next": (lambda a, b: np.nextafter(a.astype("f4"), b.astype("f4")), 0, 0), "f_bits": (lambda a, b: -a, 0, 0),
    "f_to_integers": (lambda a, b: _clamped(np.trunc(a), -2**31, 2**31 - 1) + _clamped(np.trunc(abs(b)), 0, 2**32 - 1)
                      + np.where(np.isnan(a), -2.0**63, _clamped(a * 1e9, -2**63, 2**63 - 1))
                      + _clamped(np.rint(b), -2**31, 2**31 - 1), 2e-7, 0),
    "f_silu": (lambda a, b: a / (1 + np.exp(-a)), 2e-6, 0),
    "f_norm_cdf": (lambda a, b: 0.5 * each(math.erfc)(-a / math.sqrt(2)), 3e-6, 1e-38),
    "d_exp": (lambda a, b: np.exp(a), 4e-16, 0), "d_log": (lambda a, b: np.log(abs(a)), 4e-16, 0),
    "d_pow": (lambda a, b: abs(a) ** b, 1e-15, 0), "d_sin": (lambda a, b: np.sin(1000 * a), 1e-15, 1e-15),
    "d_tanh": (lambda a, b: np.tanh(a), 4e-16, 0), "d_erf": (lambda a, b: each(math.erf)(a), 5e-16, 0),
    "d_divide": (lambda a, b: a / b, 0, 0), "d_sqrt": (lambda a, b: abs(a) ** 0.5 + abs(b) ** -0.5, 4e-16, 0),
    "d_fma": (lambda a, b: a * b + 1, 1e-15, 1e-13), "d_mod": (lambda a, b: np.fmod(a * 1e6, b), 0, 0),
    "d_round": (lambda a, b: a + b + a * b, 1e-15, 1e-13),
    "d_convert": (lambda a, b: a.astype("f4").astype("f8") + np.where(np.isnan(b), -2.0**63, _clamped(np.trunc(b),
                  -2**63, 2**63 - 1)) + np.where(np.isnan(a), -2.0**31, _clamped(np.rint(a), -2**31, 2**31 - 1))
                  + (b.view(np.int64) >> 32), 1e-9, 0),
}  # fmt: skip


@pytest.mark.parametrize("kernel", FLOATS)
def test_floats(kernel: str) -> None:
    dtype = "f8" if kernel.startswith("d_") else "f4"
    x, y = floats(1, dtype), floats(2, dtype)
    result = quiet("floats", kernel, x, y, np.zeros(COUNT, dtype))
    function, relative, absolute = FLOATS[kernel]
    with np.errstate(all="ignore"):
        want = function(x.astype("f8"), y.astype("f8"))
        # What does not fit into single precision is infinite there, and what is tiny is 0.
        want = want.astype(dtype).astype("f8")
    np.testing.assert_allclose(result, want, rtol=relative, atol=absolute)


def _signed(value: int, size: int = 32) -> int:
    value &= (1 << size) - 1
    return value - (1 << size) if value >> (size - 1) else value


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _parts(value: int, size: int, signed: bool) -> list[int]:
    parts = [value >> at & ((1 << size) - 1) for at in range(0, 32, size)]
    return [_signed(part, size) for part in parts] if signed else parts


def _joined(parts: list[int], size: int) -> int:
    return sum((part & ((1 << size) - 1)) << (size * n) for n, part in enumerate(parts))


def _pairs(a: int, b: int, size: int, signed: bool, function: Callable[[int, int], int]) -> int:
    both = zip(_parts(a, size, signed), _parts(b, size, signed), strict=True)
    return _joined([function(x, y) for x, y in both], size)


def _reversed(value: int, size: int) -> int:
    return int(f"{value & ((1 << size) - 1):0{size}b}"[::-1], 2)


def _first(value: int, size: int) -> int:
    return (value & -value & ((1 << size) - 1)).bit_length()


M32, M64 = 2**32 - 1, 2**64 - 1


def _permuted(a: int, b: int, selector: int) -> int:
    data = (a & M32).to_bytes(4, "little") + (b & M32).to_bytes(4, "little")
    return int.from_bytes(bytes(data[selector >> (4 * n) & 7] for n in range(4)), "little")


def _low24(value: int) -> int:
    return _signed(value, 24)


# Of Python's integers; the result is wrapped to the kernel's type.
INTEGERS: dict[str, Callable[[int, int], int]] = {
    "i_counts": lambda a, b: (a & M32).bit_count() + 100 * _first(b, 32) + 10000 * (32 - (a & M32).bit_length()),
    "i_reversed": lambda a, b: _reversed(a, 32) ^ _permuted(a, b, 0x2367),
    "i_products": lambda a, b: (a * b >> 32) + _low24(a) * _low24(b) + a * b,
    "i_divided": lambda a, b: _quotient(a, b | 1) + a - (b | 1) * _quotient(a, b | 1) + _quotient(a, 7)
    + a - 10 * _quotient(a, 10),
    "i_extremes": lambda a, b: min(a, b) ^ max(a, b) ^ abs(a),
    "i_shifted": lambda a, b: (a << (b & 15)) ^ (a >> (b & 31)) ^ ((a & M32) >> (b & 7)),
    "i_funnels": lambda a, b: (((b & M32) << 32 | a & M32) << (b & 31) >> 32)
    ^ (((b & M32) << 32 | a & M32) >> min(b & 63, 32)),
    "i_averages": lambda a, b: (a + b >> 1) + (a + b + 1 >> 1) + abs(a - b) + 1,
    "i_four": lambda a, b: 7 + sum(x * y for x, y in zip(_parts(a, 8, True), _parts(b, 8, True), strict=True)),
    "i_two": lambda a, b: 14 + sum(x * y for x, y in zip(_parts(a, 16, True) * 2, _parts(b, 8, True), strict=True)),
    "i_narrow": lambda a, b: _signed(a, 8) + (b & 255) + _signed(a, 16) * (b & 0xFFFF),
    "i_selected": lambda a, b: (a if a > 0 else b) if a > b else ~a if b & 1 else a ^ b,
    "i_compare": lambda a, b: (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a & M32 > b & M32),
    "i_vectors": lambda a, b: _pairs(a, b, 8, False, lambda x, y: x + y)
    ^ _pairs(a, b, 8, False, lambda x, y: abs(x - y)) ^ _pairs(a, b, 16, True, max)
    ^ _pairs(a, b, 8, False, lambda x, y: -(x > y)),
    "i_dots": lambda a, b: max(_signed(a + b), 5) ^ min(a, b, 9) ^ max(a, b, 0),
    "u_divided": lambda a, b: a // (b | 1) + a % (b | 1) + a // 1000 + (a * b >> 32),
    "u_fields": lambda a, b: (a >> 5 & 0xFF) | (b << 20 & 0xFFF00000),
    "u_logic": lambda a, b: (a & b) ^ (~a | b >> 3) ^ 0x55555555,
    "l_products": lambda a, b: a * b + (a * b >> 64) + _signed(a) * _signed(b),
    "l_divided": lambda a, b: _quotient(a, b | 1) + a - (b | 1) * _quotient(a, b | 1)
    + (a & M64) // ((b & M64) | 1) + _quotient(a, 10),
    "l_counts": lambda a, b: (a & M64).bit_count() + 100 * _first(b, 64) + 10000 * (64 - (a & M64).bit_length())
    + _reversed(b, 64),
    "l_shifted": lambda a, b: (a << (b & 63)) ^ (a >> (b & 31)) ^ ((a & M64) >> (b & 7)),
    "l_wide": lambda a, b: ((a & M64) * (b & M64) >> 64) + (a + b >> 1),
    "l_hash": lambda a, b: (a ^ 0xCBF29CE484222325) * 0x100000001B3 ^ (b << 32 | a),
    "c_shorts": lambda a, b: a * b + (a >> 3),
}  # fmt: skip
TYPES = {"i": ("i4", "i4"), "u": ("u4", "u4"), "l": ("i8", "i8"), "c": ("i2", "i2"), "l_hash": ("u4", "u8")}


def integers(dtype: str, seed: int) -> Any:
    """Of every length, small ones and both ends among them."""
    random, info = np.random.default_rng(seed), np.iinfo(dtype)
    values = random.integers(info.min, info.max, COUNT, dtype, endpoint=True)
    values[:128] >>= random.integers(0, info.bits, 128).astype(dtype)
    values[:49] = np.array([0, 1, 2, 7, info.max, info.min, info.min // 2 + 5]).astype(dtype)[
        np.arange(49) // 7 if seed == 1 else np.arange(49) % 7]  # fmt: skip
    return values


@each_row("kernel", INTEGERS)
def test_integers(kernel: str) -> None:
    given, taken = TYPES.get(kernel) or TYPES[kernel[0]]
    x, y = integers(given, 1), integers(given, 2)
    result = quiet("integers", kernel, x, y, np.zeros(COUNT, taken))
    size, signed = np.iinfo(taken).bits, taken[0] == "i"
    values = [INTEGERS[kernel](a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert result.tolist() == [_signed(v, size) if signed else v % 2**size for v in values]


def test_structures_of_bytes_and_floats() -> None:
    x, y = (np.random.default_rng(seed).integers(0, 256, (COUNT, 4)).astype("u1") for seed in (1, 2))
    bytes_ = quiet("integers", "c_bytes", x, y, np.zeros_like(x))
    columns = (x[:, 0] + y[:, 1], x[:, 1] - y[:, 2], x[:, 2] * y[:, 3], x[:, 3] ^ y[:, 0])
    assert (bytes_ == np.stack(columns, 1)).all()
    p, q = (np.random.default_rng(seed).standard_normal((COUNT, 4)).astype("f4") for seed in (1, 2))
    result = quiet("integers", "c_vector", p, q, np.zeros_like(p))
    want = np.stack([p[:, 0] + q[:, 3], p[:, 1] * q[:, 2], p[:, 2] - q[:, 1], p[:, 3] / q[:, 0]], 1)
    assert (result == want).all()
    a, b = integers("i8", 1), integers("i8", 2)
    doubles = quiet("integers", "l_float", a, b, np.zeros(COUNT))
    assert (doubles == a.astype("f8") + b.astype("f4").astype("f8") + a.view("u8").astype("f8")).all()


def _bf16(values: Any) -> Any:
    """float64 as the numbers that bf16 has, to nearest even."""
    bits = values.astype("f4").view("u4").astype("u8")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype("u4").view("f4").astype("f8")


def _halves(kernel: str) -> tuple[Any, Any, int]:
    """Two sources as float64, and how many numbers make an element."""
    pair = 2 if kernel[1] == "2" else 1
    x, y = (np.random.default_rng(seed).uniform(-6, 6, COUNT * pair) for seed in (1, 2))
    held = _bf16 if kernel[0] == "b" else (lambda v: v.astype("f2").astype("f8"))
    x[:2], y[:2] = (3, -2), (3, 1)
    return held(x), held(y), pair


def _swapped(a: Any, b: Any) -> Any:
    return np.stack([a[1::2], b[1::2]], 1).ravel()


def _fused(a: Any, b: Any) -> Any:
    return a * b + (a * b - (a + b))


HALVES: dict[str, tuple[Oracle, float]] = {
    "h_arithmetic": (_fused, 0.05), "h2_arithmetic": (_fused, 0.05), "b_arithmetic": (_fused, 0.4),
    "h_operators": (lambda a, b: (a + b) * (a - b) / (a + 8), 0.2),
    "h_functions": (lambda a, b: np.exp(a) + np.log(abs(b)) + abs(a) ** 0.5 + abs(b) ** -0.5 + 1 / a, 1.0),
    "h_trigonometry": (lambda a, b: np.sin(a) + np.cos(b) + np.tanh(a), 4e-3),
    "h_rounded": (lambda a, b: np.floor(a) + np.ceil(b) + np.rint(a) + np.trunc(b), 0),
    "h_compared": (lambda a, b: (a < b) + 2 * (a == b) + 8 * (a >= b) + 16 * (a != b), 0),
    "h_extremes": (lambda a, b: np.maximum(a, b) - np.minimum(a, b) * a, 0.04),
    "h_saturated": (lambda a, b: np.clip(a + b, 0, 1) + np.maximum(a * b + a, 0), 0.02),
    "h_converted": (lambda a, b: a + np.rint(b) + np.trunc(a) + np.floor(b), 1e-5),
    "h2_divided": (lambda a, b: a / b, 2.0), "h2_shuffled": (_swapped, 0),
    "h2_compared": (lambda a, b: (a > b) * 1.0, 0), "h2_functions": (lambda a, b: 2**a + abs(b) ** 0.5, 0.07),
    "h2_all": (lambda a, b: (a > b).reshape(-1, 2).all(1) + 2 * (a != b).reshape(-1, 2).all(1), 0),
    "h2_extremes": (lambda a, b: np.maximum(a, b) + np.minimum(a, abs(b)), 0.01),
    "h2_float": (lambda a, b: a[::2] + 3 * b[1::2], 1e-5),
    "b_functions": (lambda a, b: np.exp(a) + np.log2(abs(b)) + np.tanh(a), 4.0),
    "b_compared": (lambda a, b: (a < b) + 2 * (a == b) + 4 * (a >= b), 0),
    "b_converted": (lambda a, b: a + np.trunc(b), 1e-5),
    "b2_arithmetic": (lambda a, b: a * b + (a + b) * np.maximum(a, b), 0.4),
}  # fmt: skip


@each_row("kernel", HALVES)
def test_halves(kernel: str) -> None:
    a, b, pair = _halves(kernel)
    brain = kernel[0] == "b"
    x, y = ((v.astype("f4").view("u4") >> 16).astype("u2") if brain else v.astype("f2") for v in (a, b))
    function, tolerance = HALVES[kernel]
    want = function(a, b)
    if kernel.endswith(("_compared", "_all")) and kernel != "h2_compared":
        out = np.zeros(COUNT, "i4")
    elif kernel.endswith(("_converted", "_float")):
        out = np.zeros(COUNT, "f4")
    else:
        out = np.zeros(COUNT * pair, "u2" if brain else "f2")
    result = quiet("halves", kernel, x, y, out)
    if out.dtype == np.uint16:
        result = (result.astype("u4") << 16).view("f4")
    assert np.abs(result - want).max() <= tolerance


def test_halves_from_other_types() -> None:
    x, y = (np.random.default_rng(seed).uniform(-400, 400, COUNT).astype("f4") for seed in (1, 2))
    pairs = quiet("halves", "h2_from", x, y, np.zeros((COUNT, 2), "f2"))
    assert (pairs == np.stack([x, y], 1).astype("f2")).all()
    brains = quiet("halves", "b2_from", x, y, np.zeros((COUNT, 2), "u2"))
    assert (brains.astype("u4") << 16 == _bf16(np.stack([x, y], 1)).astype("f4").view("u4")).all()
    sums = (quiet("halves", "b_from", x, y, np.zeros(COUNT, "u2")).astype("u4") << 16).view("f4")
    np.testing.assert_allclose(sums, x + y, atol=4)
    whole = np.arange(-100, 156, dtype="i4")
    halves = quiet("halves", "h_from", whole, whole, np.zeros(COUNT, "f2"))
    np.testing.assert_allclose(halves.astype("f4"), whole * 1.1 + (whole & 15), atol=0.3)
    eights = quiet("halves", "e_round_trip", x, y, np.zeros(COUNT, "f4"))
    assert (abs(eights - x - 100 * y) <= abs(x) / 16 + 100 * abs(y) / 8).all()
