"""Matrix instructions of a warp (PTX ISA 9.0, 9.7.14) as pure functions of arrays shaped (warps, 32, registers).

A fragment says which element of a matrix each register of each lane holds. PTX defines the fragments of `mma`, and
leaves those of `wmma` open: here these consist of `mma`'s, as read from an H200. Sums are taken in float32, float64 or
integers, without the narrower sums inside the hardware.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from grader.simulation.ptx.lanes import DTYPES, Array, Unsupported
from grader.simulation.ptx.values.conversions import from_bytes
from grader.simulation.ptx.values.floats import CODES
from grader.simulation.ptx.values.rules import Words

_LANES = np.arange(32)
_GROUP, _MEMBER = _LANES >> 2, _LANES & 3
_KEPT = 256
_SIZES = {"f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "s32": 4, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1, "f64": 8}
_REGISTERS = {"f32": "f32", "s32": "s32", "f64": "f64"}
_SHORT = {"f16", "bf16"}


class Fragment(NamedTuple):
    """Distribution of a matrix over the lanes of a warp.

    `kind` is the type of an element, `register` that of a register, and `words` the number of a lane's registers.
    `places` (32, elements) are positions row · columns + column, in the order in which registers pack them; `holders`
    (rows · columns) are the inverse, lane · elements + element by position.
    """

    kind: str
    register: str
    words: int
    rows: int
    columns: int
    places: Array
    holders: Array

    @property
    def bytes(self) -> int:
        """Return the size of an element in bytes."""
        return _SIZES[self.kind]

    def offsets(self, column_major: bool) -> tuple[Array, Array]:
        """Return the distance of each element (32, elements) from the start of the matrix in memory, as strides and as
        elements."""
        row, column = np.divmod(self.places, self.columns)
        return (column, row) if column_major else (row, column)

    def pack(self, elements: Array) -> Array:
        """Pack unsigned elements (warps, 32, elements), of `bytes` each, into registers (warps, 32, words)."""
        packed: Array = np.ascontiguousarray(elements).view(DTYPES[self.register])
        return packed

    def unpack(self, registers: Array) -> Array:
        """Return the elements that `pack` packed."""
        elements: Array = np.ascontiguousarray(registers).view(np.dtype(f"u{self.bytes}"))
        return elements

    def matrix(self, registers: Array) -> Array:
        """Return the matrices (warps, rows, columns) as float32, float64 or, for s32, int64."""
        values = numbers(self.kind, self.unpack(registers))
        flat = values.reshape(len(values), -1).take(self.holders, axis=1)
        matrices: Array = flat.reshape(-1, self.rows, self.columns)
        return matrices

    def registers(self, matrices: Array) -> Array:
        """Return the registers that hold what `matrix` returns."""
        flat = matrices.reshape(len(matrices), -1).take(self.places, axis=1)
        if self.kind in _SHORT:
            flat = CODES[self.kind].encode(flat)
        return self.pack(flat.astype(DTYPES[self.kind], copy=False))


class Product(NamedTuple):
    """d = a · b + c: the fragments of the four, and whether integers are clamped."""

    a: Fragment
    b: Fragment
    c: Fragment
    d: Fragment
    clamps: bool

    def added(self, a: Array, b: Array, c: Array) -> Array:
        """Return the registers of d for the matrices a and b, and for registers of c. Never warns."""
        with np.errstate(all="ignore"):
            total = np.matmul(a, b)
            if self.c.kind == self.d.kind == "f32":
                # Each element is a register, so c need not become a matrix.
                sums: Array = total.reshape(len(total), -1).take(self.d.places.T, axis=1).swapaxes(1, 2) + c
                return sums
            if self.d.kind != "s32":
                return self.d.registers(total + self.c.matrix(c))
            # Products of bytes are exact in float32's sums too: they stay below 2**24.
            exact = total.astype(np.int64) + self.c.matrix(c)
            if self.clamps:
                exact = np.clip(exact, -(2**31), 2**31 - 1)
            return self.d.registers(exact)


class RowAccess(NamedTuple):
    """Access of `ldmatrix` or `stmatrix`: a part of a lane's register lies `offsets` bytes from the address in lane
    `lanes`. Both are (32, registers, parts); a part has `bytes` bytes, and the lower part comes first. `transposed`:
    parts of a register lie in different rows."""

    lanes: Array
    offsets: Array
    bytes: int
    transposed: bool


def numbers(kind: str, elements: Array) -> Array:
    """Return the numbers that unsigned elements stand for, as float32, float64 or, for s32, int64."""
    if kind in _SHORT:
        return CODES[kind].decode(elements)
    if kind == "tf32":
        return (elements & np.uint32(0xFFFFE000)).view(np.float32)
    if kind in ("f32", "f64"):
        return elements.view(DTYPES[kind])
    if kind == "s32":
        return elements.view(np.int32).astype(np.int64)
    if kind in ("s8", "u8"):
        return elements.view(DTYPES[kind]).astype(np.float32)
    pairs = from_bytes(np.ascontiguousarray(elements).view(np.uint16), kind + "x2")
    return pairs.reshape(elements.shape)


def _fragment(kind: str, rows: int, columns: int, row: Array, column: Array, copies: int = 1) -> Fragment:
    """Return a fragment from the row and column of each element (32, elements); a lane holds its elements `copies`
    times."""
    places = np.tile(row * columns + column, copies)
    holders = np.zeros(rows * columns, np.intp)
    # Backwards, so that the first of several holders remains.
    holders[places.ravel()[::-1]] = np.arange(places.size)[::-1]
    size = _SIZES[kind]
    return Fragment(kind, _REGISTERS.get(kind, "b32"), places.shape[1] * size // max(size, 4), rows, columns, places,
                    holders)  # fmt: skip


def _turned(fragment: Fragment) -> Fragment:
    """Return the same registers as a fragment of the transposed matrix."""
    row, column = np.divmod(fragment.places, fragment.columns)
    return _fragment(fragment.kind, fragment.columns, fragment.rows, column, row)


def _grid(*counts: int) -> tuple[Array, ...]:
    """Return the counters of nested loops over a lane's elements, each (1, elements)."""
    return tuple(part.reshape(1, -1) for part in np.indices(counts))


def _fragment_a(kind: str, m: int, k: int, copies: int = 1) -> Fragment:
    """Return the fragment of A. A register holds neighbours of a row; the following ones lie 8 rows down, then 4
    registers to the right, then 16 rows down."""
    per_register = max(4 // _SIZES[kind], 1)
    block, chunk, half, part = _grid(max(m // 16, 1), k // (4 * per_register), min(m // 8, 2), per_register)
    row = _GROUP[:, None] + 8 * half + 16 * block
    return _fragment(kind, m, k, row, _MEMBER[:, None] * per_register + part + 4 * per_register * chunk, copies)


def _fragment_b(kind: str, k: int, n: int, copies: int = 1) -> Fragment:
    """Return the fragment of B. A register holds neighbours of a column; the following ones lie 4 registers down, then
    8 columns to the right."""
    per_register = max(4 // _SIZES[kind], 1)
    block, chunk, part = _grid(n // 8, k // (4 * per_register), per_register)
    row = _MEMBER[:, None] * per_register + part + 4 * per_register * chunk
    return _fragment(kind, k, n, row, _GROUP[:, None] + 8 * block, copies)


def _sum(kind: str, m: int, n: int) -> Fragment:
    """Return the fragment of C or D. Two neighbours of a row come first, then 8 rows down, 8 columns right, 16 rows
    down."""
    block, wide, half, part = _grid(max(m // 16, 1), n // 8, min(m // 8, 2), 2)
    row = _GROUP[:, None] + 8 * half + 16 * block
    return _fragment(kind, m, n, row, _MEMBER[:, None] * 2 + part + 8 * wide)


_EIGHT_BITS = [(a, b) for pair in ("s8 u8", "e4m3 e5m2") for a in pair.split() for b in pair.split()]
_MMA: dict[tuple[str, str], str] = {
    ("f16", "f16"): "m16n8k8 m16n8k16", ("bf16", "bf16"): "m16n8k8 m16n8k16", ("tf32", "tf32"): "m16n8k4 m16n8k8",
    ("f64", "f64"): "m8n8k4 m16n8k4 m16n8k8 m16n8k16", **dict.fromkeys(_EIGHT_BITS, "m16n8k32"),
    **dict.fromkeys(_EIGHT_BITS[:4], "m8n8k16 m16n8k16 m16n8k32"),
}  # fmt: skip
"""Shapes by the types of a and b."""
_WMMA: dict[str, str] = {
    "f16": "m16n16k16 m8n32k16 m32n8k16", "bf16": "m16n16k16 m8n32k16 m32n8k16", "s8": "m16n16k16 m8n32k16 m32n8k16",
    "u8": "m16n16k16 m8n32k16 m32n8k16", "tf32": "m16n16k8", "f64": "m8n8k4",
}  # fmt: skip
_SUMS = {"f16": {"f16", "f32"}, "bf16": {"f32"}, "tf32": {"f32"}, "e4m3": {"f32", "f16"}, "e5m2": {"f32", "f16"},
         "s8": {"s32"}, "u8": {"s32"}, "f64": {"f64"}}  # fmt: skip
_OPTIONS = {"satfinite", "rn", "rz", "rm", "rp"}


def _unknown(name: str, modifiers: Words) -> Unsupported:
    return Unsupported(f"{name}.{'.'.join(modifiers)}")


def _sides(shape: str) -> tuple[int, int, int]:
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def _options(flags: Words, result: str) -> bool:
    """Return whether a product may have the modifiers `flags`."""
    return set(flags) <= ({"satfinite"} if result == "s32" else _OPTIONS if result == "f64" else set())


@lru_cache(_KEPT)
def mma(modifiers: Words) -> Product:
    """Return the product of `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` and its like; `modifiers` begin with
    "sync".

    Raises: Unsupported: For sparse products, sub-byte integers, and m8n8k4 with f16.
    """
    if len(modifiers) < 9 or modifiers[:2] != ("sync", "aligned") or modifiers[3:5] != ("row", "col"):
        raise _unknown("mma", modifiers)
    shape, flags, (result, left, right, given) = modifiers[2], modifiers[5:-4], modifiers[-4:]
    sums = _SUMS.get(left, set())
    if shape not in _MMA.get((left, right), "").split() or not {result, given} <= sums or not _options(flags, result):
        raise _unknown("mma", modifiers)
    m, n, k = _sides(shape)
    return Product(
        _fragment_a(left, m, k), _fragment_b(right, k, n), _sum(given, m, n), _sum(result, m, n), "satfinite" in flags)


def _wmma_fragment(part: str, shape: str, kind: str) -> Fragment:
    m, n, k = _sides(shape)
    if shape == "m8n32k16" and part != "a":
        # Computed as the transposed product, whose left side is b.
        return _turned(_fragment_a(kind, n, k) if part == "b" else _sum(kind, n, m))
    # A lane has eight registers of f16 in every shape: smaller matrices are held more than once.
    if part == "a":
        return _fragment_a(kind, m, k, 512 // (m * k) if kind == "f16" else 1)
    if part == "b":
        return _fragment_b(kind, k, n, 512 // (k * n) if kind == "f16" else 1)
    return _sum(kind, m, n)


@lru_cache(_KEPT)
def wmma(modifiers: Words) -> Product:
    """Return the product of `wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32` (a and b of f16) and, with all four
    types, of other types; `modifiers` begin with "mma"."""
    if len(modifiers) < 8 or modifiers[:3] != ("mma", "sync", "aligned") or not set(modifiers[3:5]) <= {"row", "col"}:
        raise _unknown("wmma", modifiers)
    shape, rest = modifiers[5], modifiers[6:]
    clamps, rest = rest[-1] == "satfinite", tuple(word for word in rest if word not in _OPTIONS)
    if len(rest) == 2:
        rest = (rest[0], "f16", "f16", rest[1])
    if len(rest) != 4 or rest[1] != rest[2] or shape not in _WMMA.get(rest[1], "").split():
        raise _unknown("wmma", modifiers)
    result, kind, _, given = rest
    if not {result, given} <= _SUMS[kind]:
        raise _unknown("wmma", modifiers)
    a, b = (_wmma_fragment(part, shape, kind) for part in "ab")
    c, d = (_wmma_fragment("c", shape, of) for of in (given, result))
    return Product(a, b, c, d, clamps and result == "s32")


@lru_cache(_KEPT)
def wmma_access(modifiers: Words) -> tuple[Fragment, bool]:
    """Return the fragment that `wmma.load.a.sync.aligned.row.m16n16k16.shared.f16` loads or `wmma.store.d…` stores, and
    whether memory is column-major; `modifiers` begin with "load" or "store". The stride of an instruction that names
    none is the length of a row (or column) of the matrix."""
    if len(modifiers) < 7 or modifiers[0] not in ("load", "store") or modifiers[2:4] != ("sync", "aligned"):
        raise _unknown("wmma", modifiers)
    part, order, shape, kind = modifiers[1], modifiers[4], modifiers[5], modifiers[-1]
    inputs = [of for of, sums in _SUMS.items() if of in _WMMA and (kind in sums if part in "cd" else of == kind)]
    known = any(shape in _WMMA[of].split() for of in inputs)
    parts = ("a", "b", "c") if modifiers[0] == "load" else ("d",)
    if part not in parts or order not in ("row", "col") or not known:
        raise _unknown("wmma", modifiers)
    return _wmma_fragment(part, shape, kind), order == "col"


@lru_cache(_KEPT)
def matrix_rows(name: str, modifiers: Words) -> RowAccess:
    """Return the access of `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16` and `stmatrix`; only the addresses of lanes
    in `lanes` count."""
    flags = [word for word in modifiers[3:-1] if word not in ("shared", "shared::cta")]
    counts = [word for word in flags if word in ("x1", "x2", "x4")]
    known = modifiers[:3] == ("sync", "aligned", "m8n8") and modifiers[-1] == "b16" and len(counts) == 1
    if not known or not set(flags) <= {*counts, "trans"}:
        raise _unknown(name, modifiers)
    register = np.arange(int(counts[0][1]))[None, :, None]
    group, member = _GROUP[:, None, None], _MEMBER[:, None, None]
    if "trans" in flags:
        part = np.arange(2)[None, None, :]
        lanes, offsets = np.broadcast_arrays(8 * register + 2 * member + part, 2 * group)
        return RowAccess(lanes, offsets, 2, True)
    lanes, offsets = np.broadcast_arrays(8 * register + group, 4 * member)
    return RowAccess(lanes, offsets, 4, False)


@lru_cache(_KEPT)
def warpgroup_fragments(kinds: Words, columns: int) -> tuple[Fragment, Fragment, int]:
    """Return a warp's fragments of A and D for `wgmma.mma_async`, and the bytes of an element of A. `kinds` are the
    types of d, a and b."""
    result, left, right = kinds
    known = left != "f64" and (left, right) in _MMA and result in _SUMS[left]
    if not known or columns % 8 or not 8 <= columns <= 256:
        raise _unknown("wgmma", kinds)
    size = _SIZES[left]
    return _fragment_a(left, 16, 32 // size), _sum(result, 16, columns), size


def transposed(words: Array) -> Array:
    """Transpose as `movmatrix.sync.aligned.m8n8.trans.b16` does: each lane holds a word (warps, 32) of a matrix of 8 ×
    8 halves."""
    halves = np.ascontiguousarray(words).view(np.uint16).reshape(-1, 8, 8)
    turned: Array = np.ascontiguousarray(halves.swapaxes(1, 2)).view(np.uint32).reshape(np.shape(words))
    return turned
