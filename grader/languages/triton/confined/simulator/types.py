"""Types of Triton's IR as its text writes them, and how NumPy keeps their elements.

Elements without a type in NumPy (bf16, fp8) are kept as float32, rounded after each operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import torch

from grader.plan.limits import Unsupported
from grader.simulation.numbers import FLOAT8, from_bf16, from_float8, nearest, to_float8

Array = Any
"""A NumPy array of any shape and type; NumPy's own annotations say no more."""

MOST_ELEMENTS = 1 << 20
"""Elements of a tensor: Triton's own limit, `TRITON_MAX_TENSOR_NUMEL`."""
MOST_CHARACTERS = 400
MOST_RANK = 32


@dataclass(frozen=True)
class Type:
    """A tensor's type; a scalar has the shape (). `element` is the text's name (`f32`, `i64`), or `ptr`, `block` or
    `descriptor` for something that points `to` another type. Only descriptors distinguish `unsigned` integers."""

    shape: tuple[int, ...]
    element: str
    to: Type | None = None
    unsigned: bool = False

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def pointee(self) -> Type:
        if self.to is None:
            raise Unsupported(f"{self.element} where a pointer is needed")
        return self.to


KEPT: dict[str, np.dtype[Any]] = {
    name: np.dtype(kept)
    for name, kept in {
        "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.float32, "f8E4M3FN": np.float32,
        "f8E5M2": np.float32, "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "index": np.int64,
    }.items()
}  # fmt: skip
STORED: dict[str, np.dtype[Any]] = {
    **KEPT, "bf16": np.dtype(np.uint16), "f8E4M3FN": np.dtype(np.uint8), "f8E5M2": np.dtype(np.uint8)}
UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)} | {np.dtype(bool): np.dtype(bool)}

_SPACE = re.compile(r', (?:1|"(?:constant)?")$')
_TENSOR = re.compile(r"^((?:\d{1,8}x)*)(.+)$")
_SIGNED = re.compile(r"^(tensor<(?:\d{1,8}x)+)([su])(i(?:8|16|32|64))>$")


@lru_cache(4096)
def read_type(text: str) -> Type:
    """Parse a type such as `tensor<64x!tt.ptr<f32>>`."""
    text = text.strip()
    # Checked before any work: parsing nested types copies each layer.
    if len(text) > MOST_CHARACTERS:
        raise Unsupported(f"type {text[:80]}")
    if text.startswith("tensor<") and text.endswith(">"):
        match = _TENSOR.match(text[7:-1])
        if match is None:
            raise Unsupported(f"type {text[:80]}")
        shape = tuple(int(size) for size in match[1].split("x") if size)
        inner = read_type(match[2])
        if len(shape) > MOST_RANK or prod(shape) > MOST_ELEMENTS or inner.shape:
            raise Unsupported(f"type {text[:80]}")
        return Type(shape, inner.element, inner.to)
    if text.startswith("!tt.ptr<") and text.endswith(">"):
        # `!tt.ptr<f32, "constant">`; in an operation's text its string is empty.
        inner = read_type(_SPACE.sub("", text[len("!tt.ptr<") : -1]))
        return Type((), "block" if inner.shape else "ptr", inner)
    if text.startswith("!tt.tensordesc<") and text.endswith(">"):
        return read_descriptor(text[len("!tt.tensordesc<") : -1])
    if text not in KEPT:
        raise Unsupported(f"type {text[:80]}")
    return Type((), text)


def read_descriptor(text: str) -> Type:
    """Return the type of a descriptor of blocks `tensor<16x16xui8>`, which Triton 3.9 writes as `16x16xui8`."""
    text = f"tensor<{text}>" if text[:1].isdigit() else text
    match = _SIGNED.match(text)
    if match is None:
        return Type((), "descriptor", read_type(text))
    inner = read_type(f"{match[1]}{match[3]}>")
    return Type((), "descriptor", Type(inner.shape, inner.element, inner.to, unsigned=match[2] == "u"))


_BITS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def bits(values: Array) -> Array:
    """Return the bits of values as unsigned integers, so that NaN equals itself."""
    return values.view(_BITS[values.dtype.itemsize])


def _round_bfloat16(values: Array) -> Array:
    raised = nearest(np.ascontiguousarray(values, np.float32).view(np.uint32), 16)
    return np.where(np.isnan(values), np.float32(np.nan), (raised & np.uint32(0xFFFF0000)).view(np.float32))


def encode(values: Array, element: str) -> Array:
    """Convert values to the form in which memory holds them."""
    if element == "bf16":
        return (np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return to_float8(values, element) if element in FLOAT8 else values


def decode(stored: Array, element: str) -> Array:
    """Convert elements as memory holds them to values."""
    if element == "bf16":
        return from_bf16(stored)
    return from_float8(stored, element) if element in FLOAT8 else stored


def rounding(element: str) -> Callable[[Array], Array] | None:
    """Return the function that rounds float32 to an element type that NumPy lacks; None if NumPy has it."""
    if element == "bf16":
        return _round_bfloat16
    if element in FLOAT8:
        return lambda values: decode(to_float8(values, element), element)
    return None


_HALF = {np.dtype(np.float16): torch.float32, np.dtype(np.float32): torch.float16}


def convert(values: Array, kept: np.dtype[Any]) -> Array:
    """Convert values to another type of NumPy; between float16 and float32 by PyTorch, in a fraction of the time."""
    if values.size >= 2048 and values.dtype != kept and values.dtype in _HALF and kept in _HALF:
        given = np.ascontiguousarray(values)
        given = given if given.flags.writeable else given.copy()
        return np.asarray(torch.from_numpy(given).to(_HALF[values.dtype]).numpy())
    return values.astype(kept, copy=False)


def round_tf32(values: Array) -> Array:
    """Round float32 to TF32 as tensor cores do: to the nearest number with 10 bits of mantissa, ties away from zero."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    return np.where(np.isfinite(values), ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32), values)


def full(values: Array, shape: tuple[int, ...]) -> Array:
    """Return the tensor in its full shape; axes of length 1, which stand for any length, are expanded."""
    return np.broadcast_to(values, values.shape[:1] + shape)


def number(text: str, element: str) -> Array:
    """Return a literal of the text as an array of one element."""
    kept = KEPT[element]
    if text in ("true", "false"):
        return np.array([text == "true"])
    if kept.kind == "f":
        if text.startswith("0x"):
            stored = STORED[element]
            bits = np.array([int(text, 16)], np.uint64).astype(f"u{stored.itemsize}")
            return decode(bits.view(stored), element)
        return np.array([float(text)]).astype(kept)
    value = int(text, 0)
    if kept.kind == "b":
        return np.array([value & 1 == 1])
    bits_ = kept.itemsize * 8
    return np.array([(value + (1 << (bits_ - 1))) % (1 << bits_) - (1 << (bits_ - 1))], kept)
