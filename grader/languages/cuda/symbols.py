"""Names of symbols, as the student's file has them."""

from __future__ import annotations

import ctypes
import re

MOST_NAME = 180
_INTERNAL = re.compile(r"\(anonymous namespace\)::|_INTERNAL_\w+?::")
_STATIC = re.compile(r"_*nv_static_\d+__\w*?_cu_\w{8,}?__?(?=[A-Za-z])")


def variable_name(symbol: str) -> str:
    """Return a variable's name."""
    # A function's own variable is named after the function's parameters: `silu_kernel(float*)::hits`.
    return _STATIC.sub("", _demangled(symbol)).rpartition("::")[2]


def readable(symbol: str) -> str:
    """Return a function's name as its file has it, without its parameters: `silu_kernel`, `reduce<256>`."""
    plain = _INTERNAL.sub("", _demangled(symbol))
    depth, start = 0, 0
    for at, sign in enumerate(plain):
        if sign in "<{[":
            depth += 1
        elif sign in ">}]":
            depth -= 1
        elif sign == " " and not depth:
            start = at + 1
        elif sign == "(" and not depth and at > start:
            return plain[start:at][:MOST_NAME]
    return plain[:MOST_NAME]


def _demangled(symbol: str) -> str:
    """Return a symbol demangled by C++'s own library; the symbol itself if it is not mangled."""
    if not symbol.startswith("_Z"):
        # The library takes `f` for the type float.
        return symbol
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return symbol
    library.__cxa_demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    pointer = library.__cxa_demangle(symbol.encode(), None, None, ctypes.byref(status))
    if not pointer:
        return symbol
    try:
        return ctypes.string_at(pointer).decode(errors="replace")
    finally:
        ctypes.CDLL(None).free(ctypes.c_void_p(pointer))
