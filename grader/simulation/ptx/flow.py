"""Functions as basic blocks, with the ways that threads take between them and the registers that each block needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoded, Decoder, Get
from grader.simulation.ptx.program import ThreadFunction, ThreadInstruction
from grader.simulation.ptx.types import Unsupported

Ending = Literal["next", "branch", "indirect", "call", "return", "exit"]
Waiting = Literal["", "block", "warp"]

WARP_WIDE = frozenset({"shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "elect",
                       "wgmma"})
ROUNDS = 50
"""The most visits to each block, on average, to find live slots."""
ENDS = frozenset({"bra", "brx", "ret", "exit", "trap", "call"})


@dataclass(slots=True)
class Stretch:
    """Basic block: steps that run one after another.

    `waits` says for which threads the first step waits: for those of a "block", at a barrier, which is the only step
    then, or for those of a "warp". `ending` is the kind of ending, `end` the instruction that ends the steps. `live`
    are the slots that the steps or their successors read.
    """

    steps: list[Decoded]
    waits: Waiting = ""
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
    blocks: list[Stretch]
    kinds: list[str]
    slots: dict[str, int]
    specials: dict[str, int]
    local: int
    parameters: list[str]
    returns: list[str]


def waits(instruction: ThreadInstruction) -> Waiting:
    if instruction.name in ("bar", "barrier"):
        if instruction.modifiers[:1] == ("warp",):
            return "warp"
        return "" if "arrive" in instruction.modifiers else "block"
    wide = instruction.name in WARP_WIDE or instruction.modifiers[:1] == ("cp_fenceproxy",)
    return "warp" if wide else ""


def basic_blocks(function: ThreadFunction, decoder: Decoder, steps: list[Decoded]) -> list[Stretch]:
    """Return the basic blocks of a function, whose instructions are `steps`, with the slots that are live before each.
    Raises Malformed, Unsupported."""
    code = function.code
    if not code:
        raise Malformed("a function without instructions")
    starts = {0} | {at for at in function.labels.values() if at < len(code)}
    for at, one in enumerate(code):
        if waits(one):
            starts.add(at)
            if waits(one) == "block":
                starts.add(at + 1)
        if one.name in ENDS:
            starts.add(at + 1)
    ordered = sorted(at for at in starts if at < len(code))
    number = {at: index for index, at in enumerate(ordered)}
    blocks = []
    for begin, end in zip(ordered, [*ordered[1:], len(code)], strict=True):
        blocks.append(_block(function, decoder, steps[begin:end], number))
    _liveness(blocks)
    return blocks


def _block(function: ThreadFunction, decoder: Decoder, steps: list[Decoded], number: dict[int, int]) -> Stretch:
    last = steps[-1].instruction
    block = Stretch(steps, waits(steps[0].instruction))
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
    block: Stretch, function: ThreadFunction, decoder: Decoder, last: ThreadInstruction, number: dict[int, int]
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
    found = 0
    for name, slot in decoder.slots.items():
        if name.startswith(f"[{parameter}+"):
            found |= 1 << slot
    return found


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


def _liveness(blocks: list[Stretch]) -> None:
    """Find the slots that are live before each block, backwards until nothing changes."""
    before: list[set[int]] = [set() for _ in blocks]
    after: list[list[int]] = []
    for number, block in enumerate(blocks):
        following = list(block.targets)
        if block.ending in ("next", "call") or (block.ending in ("branch", "return", "exit") and block.condition):
            following.append(number + 1)
        after.append([other for other in following if other < len(blocks)])
        for other in after[-1]:
            before[other].add(number)
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
        for other in after[number]:
            live |= blocks[other].live
        live = block.reads | (live & ~block.kills)
        if live != block.live:
            block.live = live
            for other in before[number] - queued:
                queued.add(other)
                heappush(heap, -other)
    # No compiler writes such code: to keep all slots live is always right.
    for block in blocks:
        block.live = -1
