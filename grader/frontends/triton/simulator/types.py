"""Types of Triton's IR as text writes them, and how their elements are kept in NumPy.

Elements that NumPy has no type for (bf16, fp8) are kept as float32 that is rounded after each operation.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
import torch

Array = Any
"""A NumPy array of any shape and type; NumPy's own annotations say no more of what its functions return."""

MOST_ELEMENTS = 1 << 20
"""Elements of a tensor of a program: Triton's own limit, `TRITON_MAX_TENSOR_NUMEL`."""
MOST_CHARACTERS = 400
MOST_RANK = 32

LARGE_BYTES = 16 << 20


def zeros(elements: int, dtype: Any) -> Array:
    """A vector of zeros that takes memory where it is touched. NumPy has large ones in pages of 2 MiB: of an output of
    which some tiles are stored nearly all would be cleared. Raises MemoryError."""
    size = elements * np.dtype(dtype).itemsize
    if size < LARGE_BYTES:
        return np.zeros(elements, dtype)
    try:
        return np.frombuffer(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype)
    except OSError as error:
        # As NumPy says it: the call takes more memory than there is.
        raise MemoryError(str(error)) from None


class Unsupported(Exception):
    """What the simulator does not know: an operation, an attribute, a type, or text that is no module of Triton's."""


@dataclass(frozen=True)
class Type:
    """`element` is the text's (`f32`, `i64`), or what points `to`: `ptr`, `block` (to a block), `descriptor`. Of
    integers a descriptor alone knows whether they are `unsigned`."""

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
    """The type that a text like `tensor<64x!tt.ptr<f32>>` writes."""
    text = text.strip()
    # Before any work: of types in types each layer would be copied.
    if len(text) > MOST_CHARACTERS:
        raise Unsupported(f"type {text[:80]}")
    if text.startswith("tensor<") and text.endswith(">"):
        found = _TENSOR.match(text[7:-1])
        if found is None:
            raise Unsupported(f"type {text[:80]}")
        shape = tuple(int(size) for size in found[1].split("x") if size)
        inner = read_type(found[2])
        if len(shape) > MOST_RANK or prod(shape) > MOST_ELEMENTS or inner.shape:
            raise Unsupported(f"type {text[:80]}")
        return Type(shape, inner.element, inner.to)
    if text.startswith("!tt.ptr<") and text.endswith(">"):
        # `!tt.ptr<f32, "constant">`, whose string is taken out of an operation's text.
        inner = read_type(_SPACE.sub("", text[len("!tt.ptr<") : -1]))
        return Type((), "block" if inner.shape else "ptr", inner)
    if text.startswith("!tt.tensordesc<") and text.endswith(">"):
        return read_descriptor(text[len("!tt.tensordesc<") : -1])
    if text not in KEPT:
        raise Unsupported(f"type {text[:80]}")
    return Type((), text)


def read_descriptor(text: str) -> Type:
    """The type of a descriptor of such blocks: `tensor<16x16xui8>`, as Triton 3.9 writes it `16x16xui8`."""
    text = f"tensor<{text}>" if text[:1].isdigit() else text
    found = _SIGNED.match(text)
    if found is None:
        return Type((), "descriptor", read_type(text))
    inner = read_type(f"{found[1]}{found[3]}>")
    return Type((), "descriptor", Type(inner.shape, inner.element, inner.to, unsigned=found[2] == "u"))


_BITS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def bits(values: Array) -> Array:
    """Values as unsigned integers of their bits, so that NaN equals itself."""
    return values.view(_BITS[values.dtype.itemsize])


def _round_bfloat16(values: Array) -> Array:
    given = np.ascontiguousarray(values, np.float32).view(np.uint32)
    # To nearest, and to even where that is as near.
    raised = given + (np.uint32(0x7FFF) + (given >> np.uint32(16) & np.uint32(1)))
    return np.where(np.isnan(values), np.float32(np.nan), (raised & np.uint32(0xFFFF0000)).view(np.float32))


_FLOAT8 = {"f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2}


def _float8_bits(values: Array, element: str) -> Array:
    bits = torch.from_numpy(np.array(values, np.float32)).to(_FLOAT8[element]).view(torch.uint8).numpy()
    return np.asarray(bits)


@lru_cache(2)
def _float8_values(element: str) -> Array:
    return np.asarray(torch.arange(256, dtype=torch.uint8).view(_FLOAT8[element]).float().numpy())


def encode(values: Array, element: str) -> Array:
    """Values as memory holds them."""
    if element == "bf16":
        return (np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return _float8_bits(values, element) if element in _FLOAT8 else values


def decode(stored: Array, element: str) -> Array:
    """What memory holds as values."""
    if element == "bf16":
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _float8_values(element).take(stored) if element in _FLOAT8 else stored


def rounding(element: str) -> Callable[[Array], Array] | None:
    """What rounds a result of float32 to an element that NumPy does not have; None where it has it."""
    if element == "bf16":
        return _round_bfloat16
    if element in _FLOAT8:
        return lambda values: decode(_float8_bits(values, element), element)
    return None


_HALF = {np.dtype(np.float16): torch.float32, np.dtype(np.float32): torch.float16}


def convert(values: Array, kept: np.dtype[Any]) -> Array:
    """Values as another type of NumPy's. PyTorch converts between float16 and float32 in a fraction of the time."""
    if values.size >= 2048 and values.dtype != kept and values.dtype in _HALF and kept in _HALF:
        given = np.ascontiguousarray(values)
        given = given if given.flags.writeable else given.copy()
        return np.asarray(torch.from_numpy(given).to(_HALF[values.dtype]).numpy())
    return values.astype(kept, copy=False)


def round_tf32(values: Array) -> Array:
    """float32 as tensor cores take it in for TF32: 10 bits of mantissa, to nearest."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    return np.where(np.isfinite(values), ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32), values)


def number(text: str, element: str) -> Array:
    """A literal of the text, as an array of one element."""
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
