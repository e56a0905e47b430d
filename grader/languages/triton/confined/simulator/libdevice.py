"""Functions of NVIDIA's libdevice, computed by NumPy and PyTorch.

The names are those of the "libdevice User's Guide", without `__nv_` and the `f` of single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.languages.triton.confined.simulator.types import UNSIGNED, Array


def _torch(function: Callable[..., torch.Tensor]) -> Callable[..., Array]:
    def call(*values: Array) -> Array:
        given = np.broadcast_arrays(*values)
        return np.asarray(function(*(torch.from_numpy(np.array(each)) for each in given)).numpy())

    return call


def _bits(function: Callable[[int], int], bits: int) -> Callable[[Array], Array]:
    """Return a function of arrays that applies a function of an integer's bits, element by element."""
    return lambda values: np.array(
        [function(int(each) % (1 << bits)) for each in values.reshape(-1)], np.uint64).astype(np.int64).reshape(
            values.shape)


def _converted(integer: type, rounded: Callable[[Array], Array]) -> Callable[[Array], Array]:
    limits = np.iinfo(integer)

    def convert(values: Array) -> Array:
        wide = np.nan_to_num(rounded(values.astype(np.float64)), nan=0.0)
        high = float(limits.max) if limits.bits < 64 else np.nextafter(float(limits.max), 0.0)
        return np.clip(wide, float(limits.min), high).astype(integer).view(np.dtype(f"i{limits.bits // 8}"))

    return convert


def _away(values: Array) -> Array:
    """Round to integers, halves away from zero."""
    return np.trunc(values + np.copysign(values.dtype.type(0.5), values)) if values.size else values


def _sin_pi(values: Array) -> Array:
    return np.asarray(np.sin(np.pi * np.fmod(values.astype(np.float64), 2)))


def _cos_pi(values: Array) -> Array:
    return np.asarray(np.cos(np.pi * np.fmod(values.astype(np.float64), 2)))


def _unsigned(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda *values: function(*(each.view(UNSIGNED[each.dtype]) for each in values)).view(values[0].dtype)


def _reciprocal_root(values: Array) -> Array:
    return np.asarray(1 / np.sqrt(values))


erf = _torch(torch.erf)

def _gamma(values: Array) -> Array:
    """Return Γ from ln |Γ| and its sign, which is negative where the floor of a negative argument is odd."""
    size = np.exp(_torch(torch.lgamma)(values))
    return np.where((values < 0) & (np.mod(np.floor(values), 2) == 1), -size, size)


_ROUNDED: dict[str, Callable[[Array], Array]] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    # Exponentials and powers.
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(x.dtype.type(10), x), "expm1": np.expm1,
    "fast_exp": np.exp, "fast_exp10": lambda x: np.power(x.dtype.type(10), x), "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "logb": lambda x: np.frexp(x)[1] - 1,
    "ilogb": lambda x: np.frexp(x)[1] - 1,
    "fast_log": np.log, "fast_log2": np.log2, "fast_log10": np.log10, "pow": np.power, "powi": np.power,
    "fast_pow": np.power, "sqrt": np.sqrt, "rsqrt": _reciprocal_root, "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "hypot": np.hypot, "rhypot": lambda x, y: 1 / np.hypot(x, y), "ldexp": np.ldexp, "scalbn": np.ldexp,
    "norm3d": lambda a, b, c: np.sqrt(a * a + b * b + c * c),
    "rnorm3d": lambda a, b, c: _reciprocal_root(a * a + b * b + c * c),
    # Angles.
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "fast_sin": np.sin, "fast_cos": np.cos, "fast_tan": np.tan,
    "sinpi": _sin_pi, "cospi": _cos_pi, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "fast_tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh,
    # Special functions.
    "erf": erf, "erfc": _torch(torch.erfc), "erfinv": _torch(torch.erfinv),
    "erfcinv": lambda x: _torch(torch.erfinv)(1 - x),
    "erfcx": _torch(torch.special.erfcx),
    "normcdf": _torch(torch.special.ndtr), "normcdfinv": _torch(torch.special.ndtri),
    "lgamma": _torch(torch.lgamma), "tgamma": _gamma,
    "j0": _torch(torch.special.bessel_j0), "j1": _torch(torch.special.bessel_j1),
    "y0": _torch(torch.special.bessel_y0), "y1": _torch(torch.special.bessel_y1),
    "cyl_bessel_i0": _torch(torch.special.i0), "cyl_bessel_i1": _torch(torch.special.i1),
    # Rounding and parts.
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": _away, "rint": np.rint, "nearbyint": np.rint,
    "fabs": np.abs, "abs": np.abs, "llabs": np.abs, "copysign": np.copysign, "nextafter": np.nextafter,
    "fmod": np.fmod, "remainder": lambda x, y: x - y * np.rint(x / y), "fmax": np.fmax, "fmin": np.fmin,
    "fdim": lambda x, y: np.where(x <= y, x.dtype.type(0), x - y), "saturate": lambda x: np.fmin(np.fmax(x, 0), 1),
    "max": np.maximum, "min": np.minimum, "umax": _unsigned(np.maximum), "umin": _unsigned(np.minimum),
    "llmax": np.maximum, "llmin": np.minimum, "ullmax": _unsigned(np.maximum), "ullmin": _unsigned(np.minimum),
    "isnan": np.isnan, "isinf": np.isinf, "finite": np.isfinite, "isfinited": np.isfinite, "signbit": np.signbit,
    "isnand": np.isnan, "isinfd": np.isinf, "signbitd": np.signbit,
    "fma": lambda a, b, c: a.astype(np.float64) * b + c,
    # Integers.
    "clz": _bits(lambda x: 32 - x.bit_length(), 32), "clzll": _bits(lambda x: 64 - x.bit_length(), 64),
    "popc": _bits(int.bit_count, 32), "popcll": _bits(int.bit_count, 64),
    "ffs": _bits(lambda x: (x & -x).bit_length(), 32), "ffsll": _bits(lambda x: (x & -x).bit_length(), 64),
    "brev": _bits(lambda x: int(f"{x:032b}"[::-1], 2), 32),
    "brevll": _bits(lambda x: int(f"{x:064b}"[::-1], 2), 64),
    "mulhi": lambda a, b: (a.astype(np.int64) * b) >> 32, "mul24": lambda a, b: ((a << 8) >> 8) * ((b << 8) >> 8),
    "sad": lambda a, b, c: np.abs(a.astype(np.int64) - b) + c, "hadd": lambda a, b: (a.astype(np.int64) + b) >> 1,
    "rhadd": lambda a, b: (a.astype(np.int64) + b + 1) >> 1,
    # Bits of a float as an integer's, and back.
    "float_as_int": lambda x: x.view(np.int32), "float_as_uint": lambda x: x.view(np.int32),
    "int_as_float": lambda x: x.view(np.float32), "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
    "half2float": lambda x: x.view(np.float16) if x.dtype.kind == "i" else x,
    # One function for each way of rounding; sums and products are rounded to nearest in all of them.
    # NumPy rounds to nearest; sums and products that round another way are left to a GPU.
    **{f"{precision}{name}_rn": function for precision in ("", "f", "d") for name, function in (
        ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide), ("rcp", np.reciprocal),
        ("sqrt", np.sqrt))},
    **dict.fromkeys(("fma_rn", "fmaf_rn"), lambda a, b, c: a.astype(np.float64) * b + c),
    "frsqrt_rn": _reciprocal_root, "rsqrt_rn": _reciprocal_root, "fast_fdivide": np.divide, "fast_divide": np.divide,
    **{f"{source}2{name}_{way}": _converted(integer, rounded)
       for way, rounded in _ROUNDED.items() for source in ("float", "double")
       for name, integer in (("int", np.int32), ("uint", np.uint32), ("ll", np.int64), ("ull", np.uint64))},
    **{f"{name}2{target}{way}": function
       for way in ("", *(f"_{each}" for each in _ROUNDED)) for target in ("float", "double")
       for name, function in (("int", lambda x: x), ("ll", lambda x: x), ("double", lambda x: x),
                              ("float", lambda x: x),
                              ("uint", lambda x: x.view(np.uint32)), ("ull", lambda x: x.view(np.uint64)))},
    **{f"ll{name}": _converted(np.int64, rounded) for name, rounded in (("rint", np.rint), ("round", _away))},
}  # fmt: skip

