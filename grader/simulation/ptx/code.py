"""A kernel that is ready to run: its functions as basic blocks, and where its variables lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoded, Decoder, Run, vector
from grader.simulation.ptx.flow import FunctionCode, basic_blocks
from grader.simulation.ptx.grammar import TYPE_BYTES
from grader.simulation.ptx.instructions import builder
from grader.simulation.ptx.memory import GAP
from grader.simulation.ptx.program import PtxModule, ThreadFunction, ThreadInstruction, Variable, read_program
from grader.simulation.ptx.regions import APART, TABLES
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import Unsupported

_REGISTER = re.compile(r"%[\w$@]+")
_ACCESSES = frozenset({"ld", "st", "atom", "red", "ldu", "wmma", "ldmatrix", "stmatrix"})
MOST_PARAMETERS = 4096
MOST_SHARED = 256 << 10
MOST_TABLES = 1 << 20


@lru_cache(maxsize=128)
def kernel_code(text: str, symbol: str, suffix: str = "") -> KernelCode:
    """Return the kernel of this symbol. Raises Malformed, Unsupported."""
    return KernelCode(read_program(text, suffix), symbol)


class KernelCode:
    """The code of a kernel. `shared` are the arrays in shared memory as (begin, end, name), `dynamic` those whose size
    the launch gives, which begin at `static`. `tables` are variables in global memory. `parameters` have their offsets
    in `places`. `spins`: a loop may wait for other threads; `flags`: it may wait for a flag that another thread stores;
    `locks`: threads may take turns by atomics. `unit` is the base-2 logarithm of the smallest access in bytes, 2 at
    most; `largest` is the most registers of an operand."""

    def __init__(self, module: PtxModule, entry: str) -> None:
        self.module, self.entry, self.functions = module, entry, module.functions
        function = module.functions.get(entry)
        if function is None or not function.entry:
            raise Malformed(f"a text without the entry {entry[:100]}")
        self.parameters = function.parameters
        self._functions: dict[str, FunctionCode] = {}
        self.symbols: dict[str, int] = {}
        self.shared: list[tuple[int, int, str]] = []
        self.dynamic: list[str] = []
        self.static = 0
        self.tables: list[Variable] = []
        self.places: list[int] = []
        self._reached = self._reach(function)
        self._lay_out()
        every = [one for name in self._reached for one in module.functions[name].code]
        self.atomics = any(_orders(one) for one in every)
        self.locks = _takes_turns(every)
        self.spins = any(_spins(module.functions[name], WAITING) for name in self._reached)
        self.flags = any(_spins(module.functions[name], FLAGS) for name in self._reached)
        self.largest = max((len(vector(operand)) for one in every for operand in one.operands), default=1)
        sizes = [TYPE_BYTES.get(one.modifiers[-1], 4) for one in every
                 if one.name in _ACCESSES and "param" not in one.modifiers and one.modifiers]
        self.unit = {1: 0, 2: 1}.get(min(sizes, default=4), 2)

    def function(self, name: str) -> FunctionCode:
        """Return a function, decoded when it is first called."""
        if name not in self._functions:
            self._functions[name] = self._decode(self.module.functions[name])
        return self._functions[name]

    def _reach(self, entry: ThreadFunction) -> list[str]:
        found, waiting = [entry.name], [entry]
        while waiting:
            for one in waiting.pop().code:
                if one.name != "call":
                    continue
                for operand in one.operands:
                    called = self.module.functions.get(operand)
                    if called is not None and operand not in found:
                        found.append(operand)
                        waiting.append(called)
        return found

    def _lay_out(self) -> None:
        variables = [(name, one) for name, one in self.module.variables.items()]
        variables += [(name, one) for function in self._reached
                      for name, one in self.module.functions[function].variables.items()]
        at = 0
        for name, one in variables:
            if one.space != "shared" or not one.size:
                continue
            at = (at + one.align - 1) & -one.align
            self.symbols[name] = at
            self.shared.append((at, at + one.size, name))
            at = (at + one.size + GAP + 15) & ~15
        dynamic = [(name, one.align) for name, one in variables if one.space == "shared" and not one.size]
        align = max([128, *(align for _, align in dynamic)])
        self.static = (at + align - 1) & -align
        self.dynamic = [name for name, _ in dynamic]
        self.symbols.update(dict.fromkeys(self.dynamic, self.static))
        if at > MOST_SHARED + GAP * len(self.shared):
            raise Malformed(f"{at:,} bytes of shared memory")
        for name, one in self.module.variables.items():
            if one.space in ("global", "const"):
                self.symbols[name] = (TABLES + len(self.tables) + 1) << APART
                self.tables.append(one)
        if sum(one.size for one in self.tables) > MOST_TABLES:
            raise Malformed("too much memory in variables")
        at = 0
        for one in self.parameters:
            at = (at + one.align - 1) & -one.align
            self.symbols[one.name] = at
            self.places.append(at)
            at += one.size
        self.parameter_bytes = at
        if at > MOST_PARAMETERS:
            raise Malformed(f"{at:,} bytes of parameters")

    def arrays(self, shared: int) -> tuple[list[tuple[int, int, str]], int]:
        """Return the arrays in shared memory for a launch with `shared` bytes of dynamic memory, and the size of shared
        memory in bytes."""
        names = self.dynamic[0] if self.dynamic else ""
        arrays = list(self.shared)
        if shared:
            arrays.append((self.static, self.static + shared, names))
        return arrays, max(128, (self.static + shared + GAP + 127) & ~127)

    def _decode(self, function: ThreadFunction) -> FunctionCode:
        symbols, local, at = dict(self.symbols), [], 0
        for name, one in function.variables.items():
            if one.space == "local":
                at = (at + one.align - 1) & -one.align
                symbols[name] = at
                local.append(name)
                at += one.size
        # Parameters of a device function are registers, even if the entry has parameters of the same names.
        for one in () if function.entry else (*function.parameters, *function.returns):
            symbols.pop(one.name, None)
        decoder = Decoder(function, symbols, frozenset(local))
        steps = [decoded(decoder, one) for one in function.code]
        blocks = basic_blocks(function, decoder, steps)
        return FunctionCode(
            function.name, blocks, decoder.kinds, decoder.slots, decoder.specials, (at + 15) & ~15,
            [one.name for one in function.parameters], [one.name for one in function.returns])


def decoded(decoder: Decoder, one: ThreadInstruction) -> Decoded:
    """Return an instruction that is ready to run. An unknown instruction raises an error only when it is run."""
    decoder.taken()
    decoder.library = one.library
    try:
        make = builder(one.name)
        run = make(decoder, one)
        if one.guard is not None:
            run = _guarded(run, decoder, one.guard)
    except (Unsupported, Malformed) as error:
        return Decoded(one, _raising(error))
    reads, writes = decoder.taken()
    return Decoded(one, run, reads, writes)


def _raising(error: Exception) -> Run:
    def run(m: object) -> None:
        raise error

    return run


def _guarded(run: Run, decoder: Decoder, guard: tuple[str, bool]) -> Run:
    condition = decoder.source(("!" if guard[1] else "") + guard[0], "pred")

    def guarded(m: ChunkState) -> None:
        goes = condition(m)
        if m.mask is None and goes.all():
            run(m)
            return
        mask = goes if m.mask is None else goes & m.mask
        if mask.any():
            with m.under(mask):
                run(m)

    return guarded


FLAGS = frozenset({"volatile", "relaxed"})
WAITING = FLAGS | {"acquire", "atom"}
"""Ways to wait in a loop: atomics, and loads with these modifiers. A load of a flag orders threads in a way that is not
seen here."""


def waits_in_shared_memory(one: ThreadInstruction) -> bool:
    """Return whether threads may wait by this instruction, in a loop, for a barrier or a flag of their block."""
    return one.name == "mbarrier" or ("shared" in one.modifiers and _looks(one, WAITING))


def _looks(one: ThreadInstruction, ways: frozenset[str]) -> bool:
    """Return whether an instruction loads a flag in one of these ways."""
    return one.name == "ld" and bool(ways & set(one.modifiers))


def _orders(one: ThreadInstruction) -> bool:
    return one.name in ("atom", "red", "mbarrier") or (one.name in ("ld", "st") and bool(
        {"acquire", "release", "relaxed", "volatile"} & set(one.modifiers)))


def _takes_turns(every: Sequence[ThreadInstruction]) -> bool:
    """Return whether threads may take turns, as with a lock: whether the result of a `cas` or `exch` is used."""
    made = {one.operands[0]: one for one in every if one.name == "atom" and {"cas", "exch"} & set(one.modifiers)}
    return any(made.get(name, one) is not one for one in every if made
               for operand in one.operands for name in _REGISTER.findall(operand))


def _spins(function: ThreadFunction, ways: frozenset[str]) -> bool:
    """Return whether a loop has an instruction by which threads may wait for others: `nanosleep`, or one of these
    ways."""
    waits = np.zeros(len(function.code) + 1, np.int64)
    for at, one in enumerate(function.code):
        waits[at + 1] = waits[at] + (one.name == "nanosleep" or ("shared" not in one.modifiers and (
            (one.name == "atom" and "atom" in ways) or _looks(one, ways))))
    return any(
        one.name == "bra" and one.operands and (begin := function.labels.get(one.operands[0], at + 1)) <= at
        and waits[at + 1] > waits[begin]
        for at, one in enumerate(function.code))
