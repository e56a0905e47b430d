"""Types of a kernel's parameters, as its signature names them: `u64`, `f32`, `b8[24]@8` for a structure."""

from __future__ import annotations

import re
import struct
from typing import Literal, cast

from grader.languages.cuda.confined.built import BuiltEntry
from grader.plan.plan import Float, Integer, Malformed, Place

PLACES: tuple[Place, ...] = ("device", "pinned", "host")
"""The places of memory, in the order of `enum place` of the runtime."""
_SCALAR = re.compile(r"([usbf])(8|16|32|64)")
_STRUCTURE = re.compile(r"b8\[(\d{1,4})\](?:@\d{1,4})?")
_FLOATS: dict[int, tuple[str, Literal["fp16", "fp32", "fp64"]]] = {
    2: ("<e", "fp16"), 4: ("<f", "fp32"), 8: ("<d", "fp64")}


def size_of(type_: str) -> int:
    """Return the size of a parameter in bytes. Raises Malformed for other types."""
    if match := _SCALAR.fullmatch(type_):
        return int(match[2]) // 8
    if match := _STRUCTURE.fullmatch(type_):
        return int(match[1])
    raise Malformed(f"a parameter of a kernel of the type {type_[:20]!a}")


def is_structure(type_: str) -> bool:
    return _STRUCTURE.fullmatch(type_) is not None


def own_sizes(entry: BuiltEntry) -> list[int]:
    """Return the sizes, in bytes, of the parameters that the student's kernel declares. Parameters that stand for
    variables come last, and are left out."""
    return [size_of(type_) for type_ in entry.signature[: len(entry.signature) - len(entry.variables)]]


def number(type_: str, contents: bytes) -> Integer | Float:
    """Return a scalar of this type."""
    size = size_of(type_)
    if type_[0] == "f":
        format_, name = _FLOATS[size]
        return Float(type=name, value=struct.unpack(format_, contents)[0])
    kind = f"{'i' if type_[0] == 's' else 'u'}{8 * size}"
    value = int.from_bytes(contents, "little", signed=type_[0] == "s")
    return Integer(type=cast("Literal['u32']", kind), value=value)
