"""Functions of NVIDIA's libdevice, computed by NumPy and PyTorch.

The names are those of the "libdevice User's Guide", without `__nv_` and the `f` of single precision. Results at the
ends of a function's domain are those of the "CUDA Math API Reference".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
import torch

from grader.languages.triton.confined.simulator.types import UNSIGNED, Array
from grader.simulation import rounding
from grader.simulation.numbers import bit_length, exact, high_product, reversed_bits, whole_numbers

Function = Callable[..., Array]
_WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}


def erf(values: Array) -> Array:
    return np.asarray(torch.erf(torch.from_numpy(np.array(values))).numpy())


def _special(function: Callable[[torch.Tensor], torch.Tensor]) -> Function:
    """Return a function of PyTorch in float64: in float32 some lose their tails, or the angle of a large argument."""
    return lambda values: np.asarray(function(torch.from_numpy(values.astype(np.float64))).numpy())


def _wide(function: Function) -> Function:
    """Return a function that is computed in wider floats: squares and sums neither over- nor underflow there."""
    return lambda *values: np.asarray(function(*(value.astype(_WIDER[value.dtype]) for value in values))).astype(
        values[0].dtype)


def _unsigned(function: Function) -> Function:
    return lambda *values: function(*(value.view(UNSIGNED[value.dtype]) for value in values))


def _whole(integer: type, rounded: Function, *, wide: bool) -> Function:
    return lambda values: whole_numbers(np.asarray(rounded(values)), np.dtype(integer), wide=wide)


def _float(target: str, mode: str) -> Function:
    """Return a conversion of integers or float64 to a float."""
    rounded = rounding.single if target == "float" else rounding.toward

    def convert(values: Array) -> Array:
        value, error = exact(values) if values.dtype.kind in "iu" else (values, np.zeros(()))
        return rounded(value, error, mode)

    return convert


def _away(values: Array) -> Array:
    """Round to integers, halves away from zero."""
    whole = np.trunc(values)
    return np.where(np.abs(values - whole) >= 0.5, whole + np.copysign(values.dtype.type(1), values), whole)


def _of_pi(values: Array, turned: int) -> Array:
    """Return the sine of π times numbers, `turned` by quarters of a turn. The angle is reduced exactly."""
    halves = np.fmod(values.astype(np.float64), 2)
    quarter = np.rint(2 * halves)
    angle = np.pi * np.where(quarter == 0, halves, halves - quarter / 2)
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.choose((np.nan_to_num(quarter).astype(np.int64) + turned) & 3, [sine, cosine, -sine, -cosine])


def _remainder(x: Array, y: Array) -> Array:
    """Return x − n · y for the whole number n next to x / y, ties to even."""
    size = np.abs(y)
    rest = np.fmod(np.abs(x), 2 * size)
    near = np.where(2 * rest > size, rest - size, rest)
    near = np.where((near < rest) & (2 * near >= size), near - size, near)
    return np.where(np.signbit(x), -near, near)


def _exponent(values: Array, zero: float, infinite: float, unknown: float) -> Array:
    exponents = np.where(values == 0, zero, np.frexp(values)[1] - 1.0)
    return np.where(np.isnan(values), unknown, np.where(np.isinf(values), infinite, exponents))


def _gamma(values: Array) -> Array:
    """Return Γ from ln |Γ| and its sign, which is negative where the floor of a negative argument is odd."""
    wide = values.astype(np.float64)
    size, whole = np.exp(_lgamma(wide)), np.floor(wide)
    signed = np.where((wide < 0) & (np.mod(whole, 2) == 1), -size, size)
    return np.where(wide == 0, np.copysign(np.inf, wide), np.where((wide < 0) & (whole == wide), np.nan, signed))


def _norm(*values: Array) -> Array:
    return reduce(np.hypot, values)


def _low24(values: Array) -> Array:
    return (values << values.dtype.type(8)) >> values.dtype.type(8)


_lgamma, _erfc, _quantile = _special(torch.lgamma), _special(torch.erfc), _special(torch.special.ndtri)
_ROUNDED: dict[str, Function] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
_MODES = {"rn": "rn", "rz": "rz", "rd": "rm", "ru": "rp"}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    # Exponentials and powers.
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(x.dtype.type(10), x), "expm1": np.expm1,
    "fast_exp": np.exp, "fast_exp10": lambda x: np.power(x.dtype.type(10), x), "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "logb": lambda x: _exponent(x, -np.inf, np.inf, np.nan),
    "ilogb": lambda x: _exponent(x, -(2.0**31), 2.0**31 - 1, -(2.0**31)),
    "fast_log": np.log, "fast_log2": np.log2, "fast_log10": np.log10, "pow": np.power, "powi": np.power,
    "fast_pow": np.power, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x), "ldexp": np.ldexp, "scalbn": np.ldexp,
    **{name: _wide(_norm) for name in ("hypot", "norm3d", "norm4d")},
    **{name: _wide(lambda *values: 1 / _norm(*values)) for name in ("rhypot", "rnorm3d", "rnorm4d")},
    # Angles.
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "fast_sin": np.sin, "fast_cos": np.cos, "fast_tan": np.tan,
    "sinpi": lambda x: _of_pi(x, 0), "cospi": lambda x: _of_pi(x, 1) + 0.0, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "fast_tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    # Special functions.
    "erf": erf, "erfc": _erfc, "erfinv": _special(torch.erfinv), "erfcx": _special(torch.special.erfcx),
    "erfcinv": lambda x: 0.0 - _quantile(x.astype(np.float64) / 2) / np.sqrt(2),
    "normcdf": lambda x: _erfc(x / -np.sqrt(2)) / 2, "normcdfinv": _quantile, "lgamma": _lgamma, "tgamma": _gamma,
    "j0": _special(torch.special.bessel_j0), "j1": _special(torch.special.bessel_j1),
    "y0": _special(torch.special.bessel_y0), "y1": _special(torch.special.bessel_y1),
    "cyl_bessel_i0": _special(torch.special.i0), "cyl_bessel_i1": _special(torch.special.i1),
    # Rounding and parts.
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": _away, "rint": np.rint, "nearbyint": np.rint,
    "fabs": np.abs, "abs": np.abs, "llabs": np.abs, "copysign": np.copysign, "nextafter": np.nextafter,
    "fmod": np.fmod, "remainder": _wide(_remainder), "fmax": np.fmax, "fmin": np.fmin,
    "fdim": lambda x, y: np.where(x <= y, x.dtype.type(0), x - y), "saturate": rounding.saturate,
    "max": np.maximum, "min": np.minimum, "umax": _unsigned(np.maximum), "umin": _unsigned(np.minimum),
    "llmax": np.maximum, "llmin": np.minimum, "ullmax": _unsigned(np.maximum), "ullmin": _unsigned(np.minimum),
    "isnan": np.isnan, "isinf": np.isinf, "finite": np.isfinite, "isfinited": np.isfinite, "signbit": np.signbit,
    "isnand": np.isnan, "isinfd": np.isinf, "signbitd": np.signbit, "fma": rounding.fused,
    # Integers.
    **{f"{name}{size}": _unsigned(function) for size in ("", "ll") for name, function in (
        ("clz", lambda x: 8 * x.dtype.itemsize - bit_length(x)), ("popc", np.bitwise_count),
        ("ffs", lambda x: bit_length(x & -x)), ("brev", reversed_bits))},
    "mulhi": high_product, "mul64hi": high_product, "umulhi": _unsigned(high_product),
    "umul64hi": _unsigned(high_product), "mul24": lambda a, b: _low24(a) * _low24(b),
    "umul24": _unsigned(lambda a, b: _low24(a) * _low24(b)),
    **{f"{sign}{name}": kind(function) for sign, kind in (("", lambda function: function), ("u", _unsigned))
       for name, function in (
           ("sad", lambda a, b, c: np.where(a > b, a - b, b - a) + c), ("hadd", lambda a, b: (a & b) + ((a ^ b) >> 1)),
           ("rhadd", lambda a, b: (a | b) - ((a ^ b) >> 1)))},
    # Bits of a float as an integer's, and back.
    "float_as_int": lambda x: x.view(np.int32), "float_as_uint": lambda x: x.view(np.int32),
    "int_as_float": lambda x: x.view(np.float32), "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
    "half2float": lambda x: x.view(np.float16) if x.dtype.kind == "i" else x,
    # A function for each way of rounding.
    **{f"{kind}{name}_{way}": partial(function, mode=mode) for kind in ("f", "d") for way, mode in _MODES.items()
       for name, function in (
           ("add", rounding.total), ("sub", lambda a, b, mode: rounding.total(a, -b, mode)), ("mul", rounding.product),
           ("div", rounding.quotient), ("rcp", lambda a, mode: rounding.quotient(a.dtype.type(1), a, mode)),
           ("sqrt", rounding.root))},
    **{f"{name}_{way}": partial(rounding.fused, mode=mode) for way, mode in _MODES.items() for name in ("fma", "fmaf")},
    "frsqrt_rn": lambda x: 1 / np.sqrt(x), "fast_fdivide": np.divide, "fast_divide": np.divide,
    **{f"{source}2{name}_{way}": _whole(integer, rounded, wide=source == "double" or "ll" in name)
       for way, rounded in _ROUNDED.items() for source in ("float", "double")
       for name, integer in (("int", np.int32), ("uint", np.uint32), ("ll", np.int64), ("ull", np.uint64))},
    **{f"{name}2{target}_{way}": kind(_float(target, mode)) for way, mode in _MODES.items()
       for target in ("float", "double") for name, kind in (
           ("int", lambda function: function), ("ll", lambda function: function), ("double", lambda function: function),
           ("uint", _unsigned), ("ull", _unsigned))},
    **{f"ll{name}": _whole(np.int64, rounded, wide=True) for name, rounded in (("rint", np.rint), ("round", _away))},
}  # fmt: skip
