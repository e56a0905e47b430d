"""A kernel that is ready to run: its functions as basic blocks, and where its variables lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Literal

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoded, Decoder, Get, Run, vector
from grader.simulation.ptx.instructions import builder
from grader.simulation.ptx.lanes import Unsupported
from grader.simulation.ptx.memory import GAP
from grader.simulation.ptx.program import PtxModule, ThreadFunction, ThreadInstruction, Variable, read_program
from grader.simulation.ptx.reader import TYPE_BYTES
from grader.simulation.ptx.regions import APART, RESERVED, RESERVED_BYTES, TABLES

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Machine


Ending = Literal["next", "branch", "indirect", "call", "return", "exit"]
WaitScope = Literal["", "block", "warp"]

WARP_WIDE = frozenset({"shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "elect",
                       "wgmma"})
ROUNDS = 50
"""The most visits to each block, on average, to find live slots."""
ENDS = frozenset({"bra", "brx", "ret", "exit", "trap", "call"})


@dataclass(slots=True)
class PtxBlock:
    """Basic block: steps that run one after another.

    `waits` says for which threads the first step waits: for those of a "block", at a barrier, which is the only step
    then, or for those of a "warp". `ending` is the kind of ending, `end` the instruction that ends the steps. `live`
    are the slots that the steps or their successors read.
    """

    steps: list[Decoded]
    waits: WaitScope = ""
    ending: Ending = "next"
    end: ThreadInstruction | None = None
    condition: Get | None = None
    targets: tuple[int, ...] = ()
    reads: int = 0
    kills: int = 0
    live: int = 0
    call: Call | None = None


@dataclass(slots=True)
class Call:
    """Call of a function: the caller's names of its arguments and of its results."""

    name: str
    arguments: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FunctionCode:
    """Function that is ready to run. `specials` are special registers by slot, `local` the bytes of its local
    variables. `parameters` and `returns` are names; the slots that hold them have names with an offset: `[name+0]`."""

    name: str
    blocks: list[PtxBlock]
    kinds: list[str]
    slots: dict[str, int]
    specials: dict[str, int]
    local: int
    parameters: list[str]
    returns: list[str]


def waits(instruction: ThreadInstruction) -> WaitScope:
    if instruction.name in ("bar", "barrier"):
        if instruction.modifiers[:1] == ("warp",):
            return "warp"
        return "" if "arrive" in instruction.modifiers else "block"
    wide = instruction.name in WARP_WIDE or instruction.modifiers[:1] == ("cp_fenceproxy",)
    return "warp" if wide else ""


def basic_blocks(function: ThreadFunction, decoder: Decoder, steps: list[Decoded]) -> list[PtxBlock]:
    """Return the basic blocks of a function, whose instructions are `steps`, with the slots that are live before each.
    Raises Malformed, Unsupported."""
    code = function.code
    if not code:
        raise Malformed("a function without instructions")
    starts = {0} | {at for at in function.labels.values() if at < len(code)}
    for at, instruction in enumerate(code):
        if waits(instruction):
            starts.add(at)
            if waits(instruction) == "block":
                starts.add(at + 1)
        if instruction.name in ENDS:
            starts.add(at + 1)
    ordered = sorted(at for at in starts if at < len(code))
    number = {at: index for index, at in enumerate(ordered)}
    blocks = []
    for begin, end in zip(ordered, [*ordered[1:], len(code)], strict=True):
        blocks.append(_block(function, decoder, steps[begin:end], number))
    _liveness(blocks)
    return blocks


def _block(function: ThreadFunction, decoder: Decoder, steps: list[Decoded], number: dict[int, int]) -> PtxBlock:
    last = steps[-1].instruction
    block = PtxBlock(steps, waits(steps[0].instruction))
    if last.name in ENDS:
        block.end = last
        block.steps = steps[:-1]
        _end(block, function, decoder, last, number)
    for step in block.steps:
        block.reads |= step.reads & ~block.kills
        if not step.guarded:
            block.kills |= step.writes
        else:
            # A guarded step may leave its slots as they were, so their old values are needed.
            block.reads |= step.writes & ~block.kills
    reads, _ = decoder.taken()
    block.reads |= reads & ~block.kills
    return block


def _end(
    block: PtxBlock, function: ThreadFunction, decoder: Decoder, last: ThreadInstruction, number: dict[int, int]
) -> None:
    decoder.taken()

    def place(label: str) -> int:
        at = function.labels.get(label)
        if at is None:
            raise Malformed(f"a branch to a label that there is not: {label[:60]}")
        # A label at the very end is a return.
        return number.get(at, len(number))

    if last.guard is not None:
        block.condition = decoder.source(("!" if last.guard[1] else "") + last.guard[0], "pred")
    if last.name == "bra":
        block.ending, block.targets = "branch", (place(last.operands[0]),)
    elif last.name == "brx":
        labels = function.targets.get(last.operands[1])
        if labels is None or last.guard is not None:
            raise Unsupported("an indirect branch of another form")
        block.ending, block.targets = "indirect", tuple(place(label) for label in labels)
        block.condition = decoder.source(last.operands[0], "u32")
    elif last.name == "ret":
        block.ending = "return"
        for variable in function.returns:
            decoder.reads |= _slots_of(decoder, variable.name)
    elif last.name in ("exit", "trap"):
        block.ending = "exit"
    else:
        if last.guard is not None:
            raise Unsupported("a call under a condition")
        block.ending, block.call = "call", _call(last)
        for name in block.call.arguments:
            decoder.reads |= _slots_of(decoder, name)


def _slots_of(decoder: Decoder, parameter: str) -> int:
    slots = 0
    for name, slot in decoder.slots.items():
        if name.startswith(f"[{parameter}+"):
            slots |= 1 << slot
    return slots


def _call(instruction: ThreadInstruction) -> Call:
    operands = list(instruction.operands)
    results: list[str] = []
    if operands and operands[0].startswith("("):
        results = _names(operands.pop(0))
    if not operands:
        raise Malformed("a call of nothing")
    name = operands.pop(0)
    arguments = _names(operands.pop(0)) if operands and operands[0].startswith("(") else []
    return Call(name, arguments, results)


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.strip()[1:-1].split(",") if part.strip()]


def _liveness(blocks: list[PtxBlock]) -> None:
    """Find the slots that are live before each block, backwards until nothing changes."""
    before: list[set[int]] = [set() for _ in blocks]
    after: list[list[int]] = []
    for number, block in enumerate(blocks):
        following = list(block.targets)
        if block.ending in ("next", "call") or (block.ending in ("branch", "return", "exit") and block.condition):
            following.append(number + 1)
        after.append([target for target in following if target < len(blocks)])
        for neighbour in after[-1]:
            before[neighbour].add(number)
    # The last blocks come first, as liveness spreads backwards.
    heap = [-number for number in reversed(range(len(blocks)))]
    queued = set(range(len(blocks)))
    for _ in range(ROUNDS * len(blocks)):
        if not heap:
            return
        number = -heappop(heap)
        queued.discard(number)
        block = blocks[number]
        live = 0
        for neighbour in after[number]:
            live |= blocks[neighbour].live
        live = block.reads | (live & ~block.kills)
        if live != block.live:
            block.live = live
            for neighbour in before[number] - queued:
                queued.add(neighbour)
                heappush(heap, -neighbour)
    # No compiler writes such code: to keep all slots live is always right.
    for block in blocks:
        block.live = -1


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
    in `places`. `spins`: a loop may wait for other threads; `locks`: threads may take turns by atomics. `unit` is the
    base-2 logarithm of the smallest access in bytes, 2 at most; `largest` is the most registers of an operand."""

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
        every = [instruction for name in self._reached for instruction in module.functions[name].code]
        self.atomics = any(_orders(instruction) for instruction in every)
        self.locks = _takes_turns(every)
        self.spins = any(_spins(module.functions[name]) for name in self._reached)
        self.largest = max((len(vector(operand)) for instruction in every for operand in instruction.operands),
                           default=1)
        sizes = [TYPE_BYTES.get(instruction.modifiers[-1], 4) for instruction in every
                 if instruction.name in _ACCESSES and "param" not in instruction.modifiers and instruction.modifiers]
        self.unit = {1: 0, 2: 1}.get(min(sizes, default=4), 2)

    def function(self, name: str) -> FunctionCode:
        """Return a function, decoded when it is first called."""
        if name not in self._functions:
            self._functions[name] = self._decode(self.module.functions[name])
        return self._functions[name]

    def _reach(self, entry: ThreadFunction) -> list[str]:
        names, waiting = [entry.name], [entry]
        while waiting:
            for instruction in waiting.pop().code:
                if instruction.name != "call":
                    continue
                for operand in instruction.operands:
                    called = self.module.functions.get(operand)
                    if called is not None and operand not in names:
                        names.append(operand)
                        waiting.append(called)
        return names

    def _lay_out(self) -> None:
        variables = [(name, variable) for name, variable in self.module.variables.items()]
        variables += [(name, variable) for function in self._reached
                      for name, variable in self.module.functions[function].variables.items()]
        if any(RESERVED in instruction.operands for name in self._reached
               for instruction in self.module.functions[name].code):
            variables.append((RESERVED, Variable(RESERVED, "shared", RESERVED_BYTES, 128)))
        at = 0
        for name, variable in variables:
            if variable.space != "shared" or not variable.size:
                continue
            at = (at + variable.align - 1) & -variable.align
            self.symbols[name] = at
            self.shared.append((at, at + variable.size, name))
            at = (at + variable.size + GAP + 15) & ~15
        dynamic = [(name, variable.align) for name, variable in variables
                   if variable.space == "shared" and not variable.size]
        align = max([128, *(align for _, align in dynamic)])
        self.static = (at + align - 1) & -align
        self.dynamic = [name for name, _ in dynamic]
        self.symbols.update(dict.fromkeys(self.dynamic, self.static))
        if at > MOST_SHARED + GAP * len(self.shared):
            raise Malformed(f"{at:,} bytes of shared memory")
        for name, variable in self.module.variables.items():
            if variable.space in ("global", "const"):
                self.symbols[name] = (TABLES + len(self.tables) + 1) << APART
                self.tables.append(variable)
        if sum(table.size for table in self.tables) > MOST_TABLES:
            raise Malformed("too much memory in variables")
        at = 0
        for parameter in self.parameters:
            at = (at + parameter.align - 1) & -parameter.align
            self.symbols[parameter.name] = at
            self.places.append(at)
            at += parameter.size
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
        for name, variable in function.variables.items():
            if variable.space == "local":
                at = (at + variable.align - 1) & -variable.align
                symbols[name] = at
                local.append(name)
                at += variable.size
        # Parameters of a device function are registers, even if the entry has parameters of the same names.
        for parameter in () if function.entry else (*function.parameters, *function.returns):
            symbols.pop(parameter.name, None)
        decoder = Decoder(function, symbols, frozenset(local))
        steps = [decoded(decoder, instruction) for instruction in function.code]
        blocks = basic_blocks(function, decoder, steps)
        return FunctionCode(
            function.name, blocks, decoder.kinds, decoder.slots, decoder.specials, (at + 15) & ~15,
            [parameter.name for parameter in function.parameters], [returned.name for returned in function.returns])


def decoded(decoder: Decoder, instruction: ThreadInstruction) -> Decoded:
    """Return an instruction that is ready to run. An unknown instruction raises an error only when it is run."""
    decoder.taken()
    decoder.library = instruction.library
    try:
        make = builder(instruction.name)
        run = make(decoder, instruction)
        if instruction.guard is not None:
            run = _guarded(run, decoder, instruction.guard)
    except (Unsupported, Malformed) as error:
        return Decoded(instruction, _raising(error))
    reads, writes = decoder.taken()
    return Decoded(instruction, run, reads, writes)


def _raising(error: Exception) -> Run:
    def run(m: object) -> None:
        raise error

    return run


def _guarded(run: Run, decoder: Decoder, guard: tuple[str, bool]) -> Run:
    condition = decoder.source(("!" if guard[1] else "") + guard[0], "pred")

    def guarded(m: Machine) -> None:
        goes = condition(m)
        if m.mask is None and goes.all():
            run(m)
            return
        mask = goes if m.mask is None else goes & m.mask
        if mask.any():
            with m.under(mask):
                run(m)

    return guarded


FLAGS = frozenset({"volatile", "relaxed", "acquire"})
"""Modifiers of a load that may poll a flag."""


def waits_in_shared_memory(instruction: ThreadInstruction) -> bool:
    """Return whether threads may use this instruction in a loop to wait for a barrier or a flag of their block."""
    return instruction.name == "mbarrier" or ("shared" in instruction.modifiers and _polls(instruction))


def _polls(instruction: ThreadInstruction) -> bool:
    """Return whether an instruction may load a flag."""
    return instruction.name == "ld" and bool(FLAGS & set(instruction.modifiers))


def _orders(instruction: ThreadInstruction) -> bool:
    return instruction.name in ("atom", "red", "mbarrier") or (instruction.name in ("ld", "st") and bool(
        {"acquire", "release", "relaxed", "volatile"} & set(instruction.modifiers)))


def _takes_turns(every: Sequence[ThreadInstruction]) -> bool:
    """Return whether threads may take turns, as with a lock: whether the result of a `cas` or `exch` is used."""
    setters = {instruction.operands[0]: instruction
               for instruction in every if instruction.name == "atom" and {"cas", "exch"} & set(instruction.modifiers)}
    return any(setters.get(name, instruction) is not instruction for instruction in every if setters
               for operand in instruction.operands for name in _REGISTER.findall(operand))


def _spins(function: ThreadFunction) -> bool:
    """Return whether a loop has an instruction by which threads may wait for others: `nanosleep`, an atomic or a load
    of a flag."""
    waits = np.zeros(len(function.code) + 1, np.int64)
    for at, instruction in enumerate(function.code):
        waits[at + 1] = waits[at] + (instruction.name == "nanosleep" or (
            "shared" not in instruction.modifiers and (instruction.name == "atom" or _polls(instruction))))
    return any(
        instruction.name == "bra" and instruction.operands
        and (begin := function.labels.get(instruction.operands[0], at + 1)) <= at and waits[at + 1] > waits[begin]
        for at, instruction in enumerate(function.code))
