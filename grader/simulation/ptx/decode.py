"""Instructions made ready to run: operands become reads and writes of numbered registers, called slots."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.lanes import DTYPES, Array, Unsupported
from grader.simulation.ptx.program import ThreadFunction, ThreadInstruction, split_operands
from grader.simulation.ptx.reader import TYPE_BYTES

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine

Get = Callable[["Machine"], Array]
Put = Callable[["Machine", Array], None]
Run = Callable[["Machine"], None]

_NUMBER = re.compile(r"(-?)(0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|\d{1,20})U?")
_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})")
_ADDRESS = re.compile(r"\[\s*([%$\w@.]+)\s*(?:\+\s*(-?\s*(?:0[xX][0-9a-fA-F]{1,16}|\d{1,20})))?\s*\]")
_NAME = re.compile(r"[%$\w@]+")
_SUM = re.compile(r"([%$\w@]+)\s*\+\s*(-?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,20}))")

_DECIDES = frozenset({"setp", "set", "testp", "vote", "match", "brx", "call"})
"""Instructions that make conditions, or take values where they are not followed."""

U64 = np.dtype(np.uint64)
SPECIAL = frozenset({
    *(f"%{name}.{axis}" for axis in "xyz" for name in (
        "tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")),
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le",
    "%lanemask_gt", "%lanemask_ge", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%cluster_ctarank",
    "%cluster_nctarank", "%is_explicit_cluster", "%envreg1", "%envreg2", "WARP_SZ",
})  # fmt: skip
_TICK = 1000
_CLOCKS = ("%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%pm")


@dataclass(slots=True)
class Decoded:
    """Instruction that is ready to `run`. `reads` and `writes` are sets of slots, as bits of a number; a guarded
    instruction may leave the slots that it writes as they were."""

    instruction: ThreadInstruction
    run: Run
    reads: int = 0
    writes: int = 0

    @property
    def guarded(self) -> bool:
        return self.instruction.guard is not None


class Decoder:
    """Decoder: gives the registers of a function their slots, and makes readers and writers of operands.

    `symbols` are the addresses of variables and parameters in their spaces; those of `local` variables count from the
    start of a call's local memory. `library` is True while instructions of a library are decoded.
    """

    def __init__(self, function: ThreadFunction, symbols: Mapping[str, int], local: frozenset[str]) -> None:
        self.function, self.symbols, self.local = function, symbols, local
        self.slots: dict[str, int] = {}
        self.kinds: list[str] = []
        self.specials: dict[str, int] = {}
        self.reads = self.writes = 0
        self.library = False

    @cached_property
    def deciding(self) -> set[str]:
        """Return the registers on which a condition may depend, directly or by way of other registers."""
        makers, used, waiting, names = dict[str, list[int]](), dict[int, list[str]](), list[str](), set[str]()
        for at, instruction in enumerate(self.function.code):
            used[at] = _NAME.findall(" ".join(instruction.operands))
            if instruction.name in _DECIDES or (instruction.name == "st"
                                                and not {"global", "shared"} & set(instruction.modifiers)):
                waiting += used.pop(at)
            elif instruction.operands and not instruction.operands[0].startswith("["):
                for name in _NAME.findall(instruction.operands[0]):
                    makers.setdefault(name, []).append(at)
        while waiting:
            name = waiting.pop()
            names.add(name)
            for at in makers.pop(name, ()):
                waiting += used.pop(at, ())
        return names

    def slot(self, name: str, kind: str) -> int:
        if name not in self.slots:
            self.slots[name] = len(self.kinds)
            self.kinds.append(kind)
        return self.slots[name]

    def register(self, name: str) -> int | None:
        """Return the slot of a register of the function; None if it has no register of this name."""
        if (slot := self.slots.get(name)) is not None:
            return slot
        kind = self.function.registers.get(name)
        if kind is None:
            prefix = name.rstrip("0123456789")
            number = name[len(prefix) :]
            if not number or int(number) >= self.function.counted.get(prefix, 0):
                return None
            kind = self.function.registers[prefix]
        if kind == "b128":
            raise Unsupported("registers of 128 bits")
        return self.slot(name, kind)

    def special(self, name: str) -> int | None:
        if name in _CLOCKS or name.startswith("%pm"):
            raise Unsupported("needs a GPU: reads the clock")
        if name not in SPECIAL:
            return None
        if name not in self.slots:
            self.specials[name] = self.slot(name, "u64" if name == "%gridid" else "u32")
        return self.slots[name]

    def source(self, operand: str, kind: str) -> Get:
        """Return a reader of an operand as values of a type. Raises Malformed, Unsupported."""
        dtype = DTYPES.get(kind)
        if dtype is None:
            raise Unsupported(f"values of type {kind}")
        if operand.startswith("!"):
            inner = self.source(operand[1:].strip(), kind)
            return lambda m: ~inner(m)
        slot = self.register(operand)
        if slot is None and self.library and operand in _CLOCKS:
            # A library reads the clock only to time its waits: any clock will do.
            return lambda m: np.full((1, 1), m.clock * _TICK, np.uint64).astype(dtype)
        if slot is None:
            slot = self.special(operand)
        if slot is None:
            constant = self.constant(operand, dtype)
            match = _NAME.match(operand)
            if match and match[0] in self.local:
                return lambda m: constant + dtype.type(m.spaces.local_base)
            return lambda m: constant
        self.reads |= 1 << slot
        return _reader(slot, dtype, TYPE_BYTES[self.kinds[slot]])

    def constant(self, operand: str, dtype: np.dtype[np.generic]) -> Array:
        """Return a number, or the address of a variable, as an array of shape (1, 1)."""
        bits = 8 * dtype.itemsize
        if match := _FLOAT.fullmatch(operand):
            if dtype.kind == "f" and dtype.itemsize != (4 if match[1] else 8):
                given = struct.unpack(">f" if match[1] else ">d", bytes.fromhex(match[1] or match[2]))[0]
                return np.full((1, 1), given, dtype)
            value = int(match[1] or match[2], 16)
        elif match := _NUMBER.fullmatch(operand):
            value = int(match[2], 0 if match[2][:1] == "0" and len(match[2]) > 1 and match[2][1] in "xXbB" else 10)
            value = -value if match[1] else value
        else:
            value = self.address_of(operand)
        if dtype.kind == "b":
            return np.full((1, 1), bool(value))
        return np.full((1, 1), value % (1 << bits), f"u{dtype.itemsize}").view(dtype)

    def address_of(self, operand: str) -> int:
        name, plus = operand, 0
        if match := _SUM.fullmatch(operand):
            name, plus = match[1], int(match[2], 0)
        if name not in self.symbols:
            # This includes names of functions, as pointers to functions are not followed.
            raise Unsupported(f"the address of {operand[:60]}")
        return self.symbols[name] + plus

    def target(self, operand: str) -> Put:
        """Return a writer of a register; "_" takes a value and drops it."""
        if operand == "_":
            return lambda m, value: None
        slot = self.register(operand)
        if slot is None:
            raise Malformed(f"a register that is not declared: {operand[:60]}")
        return self.into(slot)

    def into(self, slot: int) -> Put:
        self.writes |= 1 << slot
        return _writer(slot, TYPE_BYTES[self.kinds[slot]])

    def address(self, operand: str) -> Get:
        """Return a reader of `[register+number]` or `[variable+number]` as uint64."""
        name, plus = self.parts(operand)
        if name in self.symbols:
            constant = np.full((1, 1), (self.symbols[name] + plus) % (1 << 64), np.uint64)
            if name in self.local:
                return lambda m: constant + np.uint64(m.spaces.local_base)
            return lambda m: constant
        if name.isdecimal():
            constant = np.full((1, 1), int(name) + plus, np.uint64)
            return lambda m: constant
        slot = self.register(name)
        if slot is None:
            raise Malformed(f"an address that is not known: {operand[:60]}")
        self.reads |= 1 << slot
        if TYPE_BYTES[self.kinds[slot]] == 4:
            # Addresses within one space may have 32 bits: the sum wraps. No space has 2 GiB, so that an address in the
            # upper half lies before the start.
            short, near = _reader(slot, DTYPES["s32"], 4), np.int32((plus + (1 << 31)) % (1 << 32) - (1 << 31))
            return lambda m: (short(m) + near).astype(U64)
        base = _reader(slot, U64, TYPE_BYTES[self.kinds[slot]])
        step = np.uint64(plus % (1 << 64))
        if not plus:
            return base
        return lambda m: base(m) + step

    @staticmethod
    def parts(operand: str) -> tuple[str, int]:
        """Return the name in `[name+number]`, and the number."""
        match = _ADDRESS.fullmatch(operand)
        if match is None:
            raise Malformed(f"an address of another form: {operand[:60]}")
        return match[1], int((match[2] or "0").replace(" ", ""), 0)

    def taken(self) -> tuple[int, int]:
        """Return the slots read and written since the last call."""
        slots = self.reads, self.writes
        self.reads = self.writes = 0
        return slots


def vector(operand: str) -> tuple[str, ...]:
    """Return the registers of `{a, b}`, or the single register."""
    return split_operands(operand[1:-1]) if operand.startswith("{") else (operand,)


def _reader(slot: int, dtype: np.dtype[np.generic], size: int) -> Get:
    if dtype.itemsize < size:
        # A narrow instruction reads the low bits of a wide register.
        whole, part = np.dtype(f"u{size}"), np.dtype(f"u{dtype.itemsize}")

        def low(m: Machine) -> Array:
            value = m.regs[slot]
            if value is None:
                value = m.fetch(slot)
            return value.view(whole).astype(part).view(dtype)

        return low
    if dtype.itemsize > size:
        raise Malformed("a register that is too narrow")

    def read(m: Machine) -> Array:
        value = m.regs[slot]
        if value is None:
            value = m.fetch(slot)
        return value if value.dtype is dtype else value.view(dtype)

    return read


def _writer(slot: int, size: int) -> Put:
    bit = 1 << slot

    def write(m: Machine, value: Array) -> None:
        if value.dtype.itemsize != size:
            value = _widened(value, size)
        if m.mask is not None and m.needed & bit:
            value = m.merged(slot, value)
        m.regs[slot] = value
        if m.dirty is not None:
            m.dirty.add(slot)

    return write


def _widened(value: Array, size: int) -> Array:
    """Return a value in a register of another size: extended by its sign, or by zeros."""
    if value.dtype.kind == "f":
        value = value.view(f"u{value.dtype.itemsize}")
    return value.astype(f"i{size}" if value.dtype.kind == "i" else f"u{size}")
