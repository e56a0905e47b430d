"""NumPy bodies for CUDA's libdevice, which holds the mathematical functions that Triton itself has not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .faults import Unsupported
from .state import place

_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_lgamma = np.vectorize(lambda v: math.lgamma(v) if v > 0 or v != math.floor(v) else math.inf, otypes=[np.float64])


def _gamma_of(value: float) -> float:
    try:
        return math.gamma(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def _round_away(x: Any) -> Any:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _fma(x: Any, y: Any, z: Any) -> Any:
    # fp32 products are exact in fp64, so that one rounding is left, as in hardware.
    return x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)


# By libdevice's name without `__nv_` and without the letter for the type; what is missing here is refused by name.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "llabs": np.abs, "fabs": np.abs, "copysign": np.copysign, "fdim": lambda x, y: np.fmax(x - y, 0),
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint, "llrint": np.rint,
    "round": _round_away, "llround": _round_away,
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(x.dtype.type(10), x), "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "logb": lambda x: np.frexp(x)[1] - 1.0, "ilogb": lambda x: np.frexp(x)[1] - 1,
    "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt, "rcbrt": lambda x: 1 / np.cbrt(x),
    "hypot": np.hypot, "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "norm3d": lambda x, y, z: np.sqrt(x * x + y * y + z * z),
    "rnorm3d": lambda x, y, z: 1 / np.sqrt(x * x + y * y + z * z),
    "norm4d": lambda x, y, z, w: np.sqrt(x * x + y * y + z * z + w * w),
    "rnorm4d": lambda x, y, z, w: 1 / np.sqrt(x * x + y * y + z * z + w * w),
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "sinpi": lambda x: np.sin(np.pi * x.astype(np.float64)), "cospi": lambda x: np.cos(np.pi * x.astype(np.float64)),
    "erf": _erf, "erfc": _erfc, "normcdf": lambda x: 0.5 * _erfc(-x / math.sqrt(2)),
    "lgamma": _lgamma, "tgamma": np.vectorize(_gamma_of, otypes=[np.float64]),
    "pow": np.power, "powi": lambda x, n: np.power(x, n.astype(x.dtype)), "fmod": np.fmod,
    "remainder": lambda x, y: x - y * np.rint(x / y), "ldexp": np.ldexp, "scalbn": np.ldexp, "nextafter": np.nextafter,
    "fma": _fma, "fma_rn": _fma, "saturate": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1),
    "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "finite": np.isfinite, "signbit": np.signbit,
    "fdivide": np.divide,
    **{f"{t}div_rn": np.divide for t in "fd"}, **{f"{t}mul_rn": np.multiply for t in "fd"},
    **{f"{t}add_rn": np.add for t in "fd"}, **{f"{t}sub_rn": np.subtract for t in "fd"},
    **{f"{t}rcp_rn": np.reciprocal for t in "fd"}, **{f"{t}sqrt_rn": np.sqrt for t in "fd"},
    "frsqrt_rn": lambda x: 1 / np.sqrt(x),
    **{f"{t}2{i}_{mode}": f for t in ("float", "double") for i in ("int", "uint", "ll", "ull")
       for mode, f in (("rn", np.rint), ("rd", np.floor), ("ru", np.ceil), ("rz", np.trunc))},
    **{f"{i}2{t}_rn": np.asarray for t in ("float", "double") for i in ("int", "uint", "ll", "ull")},
    "double2float_rn": np.asarray,
    "float_as_int": lambda x: x.view(np.int32), "int_as_float": lambda x: x.view(np.float32),
    "float_as_uint": lambda x: x.view(np.uint32), "uint_as_float": lambda x: x.view(np.float32),
    "double_as_longlong": lambda x: x.view(np.int64), "longlong_as_double": lambda x: x.view(np.float64),
    "popc": np.bitwise_count, "popcll": np.bitwise_count,
    "mul24": np.multiply, "umul24": np.multiply,
}  # fmt: skip


def _find(symbol: str) -> Callable[..., Any] | None:
    name = symbol.removeprefix("__nv_").removeprefix("fast_")
    found = _FUNCTIONS.get(name)
    if found is None and name[-1:] in "fd":
        found = _FUNCTIONS.get(name[:-1])
    if found is None and name.endswith(("f_rn", "d_rn")):
        found = _FUNCTIONS.get(f"{name[:-4]}_rn")
    return found


def evaluate(symbol: str, arguments: list[Any], dtype: Any) -> Any:
    """libdevice's function `symbol` on arrays, as an array of `dtype`. Raises Unsupported where it has no body here."""
    function = _find(symbol)
    if function is None:
        raise Unsupported(f"{place()}: libdevice's {symbol} has no counterpart without a GPU.")
    return np.asarray(function(*arguments)).astype(dtype)


def install() -> None:
    """Let `tl.extra.libdevice` and `tl.extra.cuda.libdevice` be called in a kernel, with the bodies above."""
    from triton.language.extra import libdevice as generic
    from triton.language.extra.cuda import libdevice as cuda

    from .language import bind_builtins

    bind_builtins(cuda)
    for name in vars(generic):
        if not name.startswith("_") and hasattr(cuda, name):
            setattr(generic, name, getattr(cuda, name))
