"""libdevice's functions at any size of argument against mpmath and exact fractions, and at the ends of their domains
against the "CUDA Math API Reference"."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from grader.languages.triton.confined.simulator.libdevice import FUNCTIONS
from tests.rows import each_row
from tests.simulation.ptx.exact import awkward, bits, rounded

INF, NAN = math.inf, math.nan
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
SIZES = [1e-310, 1e-45, 1e-39, 1e-30, 1e-10, 1e-3, 0.1, 0.25, 0.5, 0.75, 1 - 2.0**-24, 1.0, 1 + 2.0**-20, 1.5,
         2.0, 2.5, 3.7, 9.0, 11.5, 17.3, 30.5, 88.0, 171.5, 700.0, 1e5, 2.0**24 + 1, 1e30, 1e300]  # fmt: skip
COUNT = 400


def call(name: str, kind: str, *values: Any) -> Any:
    """The function of arrays of a type, rounded to that type, as the simulator does."""
    with np.errstate(all="ignore"):
        found = FUNCTIONS[name](*(np.atleast_1d(value).astype(DTYPES[kind]) for value in values))
        return np.asarray(found).astype(DTYPES[kind])


def _erfcx(x: Any) -> Any:
    return mpmath.exp(x * x) * mpmath.erfc(x)


def _quantile(x: Any) -> Any:
    """The x at which the normal distribution is this."""
    with mpmath.workdps(60 + max(0, int(-mpmath.log10(x)))):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1)


# The function and the greatest size of an argument, beyond which the result is no more than a rounding error.
REAL: dict[str, tuple[Callable[..., Any], float]] = {
    "exp": (mpmath.exp, INF), "exp2": (lambda x: mpmath.power(2, x), INF), "expm1": (mpmath.expm1, INF),
    "exp10": (lambda x: mpmath.power(10, x), INF), "log": (mpmath.log, INF), "log2": (lambda x: mpmath.log(x, 2), INF),
    "log10": (mpmath.log10, INF), "log1p": (mpmath.log1p, INF), "sqrt": (mpmath.sqrt, INF),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), INF), "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), INF),
    "rcbrt": (lambda x: mpmath.sign(x) / mpmath.cbrt(abs(x)), INF), "sin": (mpmath.sin, 1e5), "cos": (mpmath.cos, 1e5),
    "tan": (mpmath.tan, 1e5), "sinpi": (mpmath.sinpi, INF), "cospi": (mpmath.cospi, INF), "asin": (mpmath.asin, 1),
    "acos": (mpmath.acos, 1), "atan": (mpmath.atan, INF), "sinh": (mpmath.sinh, INF), "cosh": (mpmath.cosh, INF),
    "tanh": (mpmath.tanh, INF), "asinh": (mpmath.asinh, INF), "acosh": (mpmath.acosh, INF), "atanh": (mpmath.atanh, 1),
    "erf": (mpmath.erf, 1e30), "erfc": (mpmath.erfc, 1e5), "erfinv": (mpmath.erfinv, 1),
    "erfcinv": (lambda x: -_quantile(x / 2) / mpmath.sqrt(2), 2), "erfcx": (_erfcx, 1e5),
    "normcdf": (mpmath.ncdf, 1e5), "normcdfinv": (_quantile, 1), "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))),
    1e5), "tgamma": (mpmath.gamma, 1e5), "j0": (lambda x: mpmath.besselj(0, x), 1e5),
    "j1": (lambda x: mpmath.besselj(1, x), 1e5), "y0": (lambda x: mpmath.bessely(0, x), 1e5),
    "y1": (lambda x: mpmath.bessely(1, x), 1e5), "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), 1e5),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), 1e5),
    "hypot": (lambda *v: mpmath.norm(v), INF), "norm3d": (lambda *v: mpmath.norm(v), INF),
    "norm4d": (lambda *v: mpmath.norm(v), INF), "rhypot": (lambda *v: 1 / mpmath.norm(v), INF),
    "rnorm3d": (lambda *v: 1 / mpmath.norm(v), INF), "rnorm4d": (lambda *v: 1 / mpmath.norm(v), INF),
    "pow": (mpmath.power, 1e5), "atan2": (mpmath.atan2, INF),
}  # fmt: skip
ARGUMENTS = {"hypot": 2, "norm3d": 3, "norm4d": 4, "rhypot": 2, "rnorm3d": 3, "rnorm4d": 4, "pow": 2, "atan2": 2}


def wanted(function: Callable[..., Any], given: list[float]) -> float | None:
    """The exact result to 60 digits as a float64; None where the function has no real, finite one."""
    try:
        found = function(*map(mpmath.mpf, given))
    except (ZeroDivisionError, ValueError, TypeError):
        return None
    return float(found) if isinstance(found, mpmath.mpf) and mpmath.isfinite(found) else None


@each_row("name", REAL)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_a_function_of_reals(kind: str, name: str) -> None:
    function, most = REAL[name]
    with np.errstate(over="ignore"):
        signed = np.array([sign * size for size in SIZES for sign in (1, -1)]).astype(DTYPES[kind])
    values = signed[np.isfinite(signed) & (np.abs(signed) <= most)]
    sources = [np.roll(values, 3 * number) for number in range(ARGUMENTS.get(name, 1))]
    got, compared, eps = call(name, kind, *sources), 0, float(np.finfo(DTYPES[kind]).eps)
    least, largest = float(np.finfo(DTYPES[kind]).smallest_normal), float(np.finfo(DTYPES[kind]).max)
    with mpmath.workdps(60):
        for found, *given in zip(got.astype(float).tolist(), *(each.tolist() for each in sources), strict=True):
            want = wanted(function, given)
            if want is None:
                continue
            compared += 1
            if abs(want) > largest:
                assert found == math.copysign(INF, want), (name, given, found, want)
            else:
                # At a root the error counts in units of the results around it.
                size = abs(want) + (1 if name in ROOTS else 0)
                units = UNITS.get(name, 4) if kind == "f64" else 4
                assert abs(found - want) <= eps * (units * size + 2 * least), (name, given, found, want)
    assert compared > len(SIZES) // 3


# Functions with roots beside 0.
ROOTS = {"sin", "cos", "tan", "lgamma", "j0", "j1", "y0", "y1", "sinpi", "cospi", "normcdfinv", "acos"}
# The error of a float64 in units of its last place, if it is more than 4: PyTorch has nothing better.
UNITS: dict[str, float] = {
    "tgamma": 700, "normcdf": 1500, "erfcx": 32, **dict.fromkeys(("j0", "j1", "y0", "y1"), 5e6)}

EXACT: list[tuple[str, str, list[float], float]] = [
    (name, kind, sources, want) for kind in ("f32", "f64") for name, sources, want in [
        ("round", [np.nextafter(DTYPES[kind](0.5), DTYPES[kind](0))], 0), ("round", [-0.5], -1),
        ("round", [-0.3], -0.0),
        ("round", [2.5], 3), ("round", [2.0**23 + 1], 2.0**23 + 1), ("round", [INF], INF), ("round", [NAN], NAN),
        ("rint", [2.5], 2), ("rint", [-0.5], -0.0),
        ("logb", [0], -INF), ("logb", [-INF], INF), ("logb", [NAN], NAN), ("logb", [-12], 3),
        ("logb", [2.0**-140 if kind == "f32" else 2.0**-1060], -140 if kind == "f32" else -1060),
        ("ilogb", [0], -(2**31)), ("ilogb", [NAN], -(2**31)), ("ilogb", [INF], 2**31 - 1), ("ilogb", [0.75], -1),
        ("erfcinv", [0], INF), ("erfcinv", [2], -INF), ("erfcinv", [1], 0.0), ("erfcinv", [3], NAN),
        ("normcdfinv", [0], -INF), ("normcdfinv", [1], INF), ("erfinv", [1], INF), ("erfinv", [-1], -INF),
        ("hypot", [INF, NAN], INF), ("norm3d", [NAN, -INF, 0], INF), ("rhypot", [INF, NAN], 0),
        ("rhypot", [0, 0], INF), ("remainder", [INF, 1], NAN), ("remainder", [1, 0], NAN), ("remainder", [1, INF], 1),
        ("remainder", [-3, 3], -0.0), ("remainder", [1e8, 3], 1),
        ("remainder", [5, 2], 1), ("remainder", [7, 2], -1), ("fmod", [-6, 3], -0.0), ("fmod", [5, INF], 5),
        ("tgamma", [0.0], INF), ("tgamma", [-0.0], -INF), ("tgamma", [-3], NAN), ("tgamma", [-INF], NAN),
        ("tgamma", [INF], INF), ("lgamma", [-2], INF), ("lgamma", [1], 0), ("lgamma", [-INF], INF),
        ("sinpi", [-0.0], -0.0), ("sinpi", [INF], NAN), ("cospi", [0.5], 0.0), ("cospi", [1], -1), ("sinpi", [2.5], 1),
        ("rsqrt", [0.0], INF), ("rsqrt", [-0.0], -INF), ("rcbrt", [-0.0], -INF), ("y0", [0], -INF), ("y1", [-1], NAN),
        ("pow", [0, 0], 1), ("pow", [NAN, 0], 1), ("pow", [-1, INF], 1), ("pow", [-8, 1 / 3], NAN),
        ("fdim", [INF, INF], 0), ("fdim", [NAN, 1], NAN), ("saturate", [NAN], 0), ("saturate", [-0.0], 0.0),
        ("fmax", [NAN, 1], 1), ("fma", [INF, 0, 1], NAN), ("log1p", [-1], -INF), ("atanh", [1], INF),
        ("log", [-1], NAN), ("nextafter", [0, 1], 2.0**-149 if kind == "f32" else 2.0**-1074),
        ("copysign", [3, -0.0], -3), ("cyl_bessel_i0", [0], 1)]
]  # fmt: skip


@each_row(("name", "kind", "sources", "want"), EXACT)
def test_a_function_at_the_ends_of_its_domain(name: str, kind: str, sources: list[float], want: float) -> None:
    assert bits(call(name, kind, *sources), kind) == bits([want], kind)


@each_row("kind", ["f32", "f64"])
def test_remainders_of_any_two_numbers(kind: str) -> None:
    x, y = (awkward(kind, COUNT, seed) for seed in range(2))
    for got, a, b in zip(call("remainder", kind, x, y).tolist(), x.tolist(), y.tolist(), strict=True):
        if math.isfinite(a) and math.isfinite(b) and b:
            ratio = Fraction(a) / Fraction(b)
            assert Fraction(got) == Fraction(a) - round(ratio) * Fraction(b), (a, b, got)


MODES = {"rn": "rn", "rz": "rz", "rd": "rm", "ru": "rp"}


@each_row("way", MODES)
def test_a_conversion_of_integers_is_rounded_once(way: str) -> None:
    random = np.random.default_rng(1)
    for name, dtype in (("int", "i4"), ("uint", "u4"), ("ll", "i8"), ("ull", "u8")):
        values = (random.integers(0, 2**64, COUNT, np.uint64) >> random.integers(0, 63, COUNT, np.uint64)).astype(dtype)
        values = values[values != 0]
        signed = values.view(f"i{values.itemsize}")
        for target, kind in (("float", "f32"), ("double", "f64")):
            got = FUNCTIONS[f"{name}2{target}_{way}"](signed).tolist()
            assert got == [rounded(Fraction(value), kind, MODES[way]) for value in values.tolist()], (name, target)
    values = awkward("f64", COUNT, 2)
    values = values[np.isfinite(values) & (values != 0)]
    with np.errstate(all="ignore"):
        got = FUNCTIONS[f"double2float_{way}"](values).tolist()
    assert got == [rounded(Fraction(value), "f32", MODES[way]) for value in values.tolist()]


WHOLE: dict[str, Callable[[Fraction], int]] = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}


@each_row("way", WHOLE)
@each_row("source", ["float", "double"])
def test_a_conversion_to_integers_clamps(source: str, way: str) -> None:
    values = np.array([0.5, 1.5, -0.5, -2.5, 0.49999997, 3e9, -5, 9.3e18, -9.3e18, 1.9e19, 2.0**31, 2.0**63, 1e30, INF,
                       -INF], "f4" if source == "float" else "f8")
    for name, bits_, least in (("int", 32, -(2**31)), ("uint", 32, 0), ("ll", 64, -(2**63)), ("ull", 64, 0)):
        most = least + 2**bits_ - 1
        got = FUNCTIONS[f"{source}2{name}_{way}"](values).tolist()
        want = [most if value == INF else least if value == -INF else min(most, max(least, WHOLE[way](Fraction(value))))
                for value in values.tolist()]
        assert got == want, name
        assert int(FUNCTIONS[f"{source}2{name}_{way}"](values[:1] * NAN)[0]) % 2**bits_ == (
            2 ** (bits_ - 1) if bits_ == 64 or source == "double" else 0)


def test_llround_and_llrint() -> None:
    values = np.array([0.49999999999999994, -0.5, 2.5, 1e19, -1e19])
    assert FUNCTIONS["llround"](values).tolist() == [0, -1, 3, 2**63 - 1, -(2**63)]
    assert FUNCTIONS["llrint"](values).tolist() == [0, 0, 2, 2**63 - 1, -(2**63)]


def _reversed(x: int, size: int) -> int:
    return int(f"{x:0{size}b}"[::-1], 2)


# Each of bits of `size`, or of signed numbers.
OF_BITS: dict[str, tuple[str, int, Callable[..., int]]] = {
    "clz": ("u", 1, lambda x, size: size - x.bit_length()), "popc": ("u", 1, lambda x, size: x.bit_count()),
    "ffs": ("u", 1, lambda x, size: (x & -x).bit_length()), "brev": ("u", 1, _reversed),
    "mulhi": ("i", 2, lambda x, y, size: x * y >> size), "umulhi": ("u", 2, lambda x, y, size: x * y >> size),
    "hadd": ("i", 2, lambda x, y, size: x + y >> 1), "uhadd": ("u", 2, lambda x, y, size: x + y >> 1),
    "rhadd": ("i", 2, lambda x, y, size: x + y + 1 >> 1), "urhadd": ("u", 2, lambda x, y, size: x + y + 1 >> 1),
    "sad": ("i", 3, lambda x, y, z, size: abs(x - y) + z), "usad": ("u", 3, lambda x, y, z, size: abs(x - y) + z),
    "umul24": ("u", 2, lambda x, y, size: (x & 0xFFFFFF) * (y & 0xFFFFFF)),
    "umax": ("u", 2, lambda x, y, size: max(x, y)), "min": ("i", 2, lambda x, y, size: min(x, y)),
}  # fmt: skip
LONG = {"clz": "clzll", "popc": "popcll", "ffs": "ffsll", "brev": "brevll", "mulhi": "mul64hi", "umulhi": "umul64hi"}


@each_row(("name", "size"), [(name, 32) for name in OF_BITS] + [(name, 64) for name in LONG])
def test_a_function_of_bits(name: str, size: int) -> None:
    sign, count, function = OF_BITS[name]
    random = np.random.default_rng(size)
    ends = [0, 1, 2, (1 << size) - 1, 1 << size - 1, (1 << size - 1) - 1]
    sources = []
    for _ in range(count):
        some = random.integers(0, 2**64, COUNT, np.uint64) >> random.integers(64 - size, 64, COUNT, np.uint64)
        mixed = random.permutation(np.array([*ends, *some.tolist()], f"u{size // 8}"))
        sources.append(mixed.view(f"i{size // 8}"))
    given = [each.view(f"{sign}{size // 8}").tolist() for each in sources]
    got = FUNCTIONS[name if size == 32 else LONG[name]](*sources)
    assert [value % 2**size for value in got.tolist()] == [
        function(*each, size) % 2**size for each in zip(*given, strict=True)]
