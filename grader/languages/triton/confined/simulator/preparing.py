"""The preparation of a kernel's text: each operation gets its function, and facts that hold for all launches are
found."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from grader.languages.triton.confined.simulator.arithmetic import constant, elementwise
from grader.languages.triton.confined.simulator.control import ENDS, MADE, RUNS
from grader.languages.triton.confined.simulator.orders import settle
from grader.languages.triton.confined.simulator.state import Code
from grader.languages.triton.confined.simulator.tensors import PRODUCTS, tensorwise
from grader.languages.triton.confined.simulator.text import BasicBlock, Function, Op, callee, read_module, walk
from grader.languages.triton.text import installed
from grader.plan.limits import Unsupported
from grader.plan.plan import Kernel

_ATOMICS = {"tt.atomic_rmw", "tt.atomic_cas"}
_LOADS = {"tt.load", "tt.descriptor_load", "tt.descriptor_gather"}
STORES = {"tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce", *_ATOMICS}
READS = {*_LOADS, *_ATOMICS}
MOST_KEPT = 64


class LocatedError(Exception):
    """An error: the simulator does not know an operation, in this line."""

    def __init__(self, operation: str, line: int) -> None:
        super().__init__(operation)
        self.operation, self.line = operation, line


_known: dict[str, Code | LocatedError] = {}


def prepare_code(kernel: Kernel, *, counting: bool = False) -> Code:
    """Return a kernel's code, which is cached for the next launch. `counting` is for a run that only counts which
    memory it touches: it leaves out Triton's checks and matrix products, which take most of the time.

    Raises LocatedError for an operation that the simulator does not know.
    """
    key = hashlib.sha256(f"{kernel.symbol}\n{counting}\n{kernel.text}".encode()).hexdigest()
    if key not in _known:
        if len(_known) >= MOST_KEPT:
            _known.clear()
        try:
            _known[key] = _prepare(kernel.text, kernel.symbol, counting)
        except LocatedError as error:
            _known[key] = error
        except Unsupported as error:
            _known[key] = LocatedError(str(error), 0)
        except (LookupError, RecursionError, ValueError) as error:
            _known[key] = LocatedError(f"text that is no kernel ({type(error).__name__})", 0)
    known = _known[key]
    if isinstance(known, LocatedError):
        raise known
    return known


def _prepare(text: str, symbol: str, counting: bool) -> Code:
    functions = read_module(text)
    entry = functions.get(symbol)
    if entry is None:
        raise Unsupported(f"a module without {symbol[:100]}")
    file = entry.place.frames[0][0] if entry.place.frames else ""
    for function in functions.values():
        for op in walk(function.blocks):
            _ready(op, file)
            if op.name in PRODUCTS and counting:
                op.pure, op.weight = lambda *operands: operands[-1], 1
        if counting:
            _prune(function.blocks, Counter(name for op in walk(function.blocks) for name in _uses(op)))
        used = {name for op in walk(function.blocks) for name in _uses(op)}
        for block in function.blocks:
            _settle(block, used, len(function.blocks) > 1)
    if not counting:
        settle(functions)
    ops = [op for function in functions.values() for op in walk(function.blocks)]
    sizes = [kind.size for op in ops if op.name != "arith.constant" for kind in op.types]
    names = {op.name for op in ops}
    alive, reads = _LiveElements(functions), _reading(functions)
    return Code(
        functions, symbol, file, max([1, *sizes]), alive.function(symbol), *_stores_and_loads(functions, entry),
        bool(names & {"tt.descriptor_reduce", *_ATOMICS}), any(map(is_relaxed, ops)),
        any(_reads(region, reads) for op in ops if op.name == "scf.while" for region in op.regions))


def _prune(blocks: list[BasicBlock], uses: Counter[str]) -> None:
    """Remove assertions, and operations whose results nothing else uses. `uses` counts the uses of each value."""
    for block in reversed(blocks):
        kept = []
        for op in reversed(block.ops):
            if op.name == "tt.assert" or (op.pure is not None and not any(uses[name] for name in op.results)):
                uses.subtract(_uses(op))
            else:
                _prune([inner for region in op.regions for inner in region], uses)
                kept.append(op)
        block.ops[:] = reversed(kept)


def is_relaxed(op: Op) -> bool:
    """Return whether an operation is an atomic that does not order the accesses before and after it for all programs.
    """
    if op.name not in _ATOMICS:
        return False
    *_, order, scope = [""] + [word.strip() for word in op.body.split("%")[0].split(",") if word.strip()]
    return order != "acq_rel" or scope == "cta"


def _ready(op: Op, file: str) -> None:
    try:
        if op.name == "arith.constant":
            value = constant(op)
            op.pure = lambda: value
        else:
            op.pure = elementwise(op)
            if op.pure is None:
                op.pure = tensorwise(op)
            elif any(kind.shape not in ((), op.types[0].shape) for kind in op.inputs):
                raise Unsupported(f"{op.name} of different shapes")
        if op.pure is None:
            op.run = MADE[op.name](op) if op.name in MADE else RUNS.get(op.name)
    except Unsupported as error:
        raise LocatedError(str(error)[:200], _line(op, file)) from None
    except (KeyError, ValueError, IndexError, OverflowError):
        raise LocatedError(f"{op.name} of another form"[:200], _line(op, file)) from None
    if op.name in READS | STORES:
        op.weight = 8
    op.ramps |= op.name in ENDS or op.name in ("scf.for", "scf.while", "tt.call")
    if op.pure is None and op.run is None and op.name not in ENDS:
        raise LocatedError(f"{op.name[:100]} of Triton {installed()}", _line(op, file))


def _line(op: Op, file: str) -> int:
    own = (line for name, line in op.place.frames if name == file)
    return next(own, op.place.frames[0][1] if op.place.frames else 0)


def _uses(op: Op) -> Iterator[str]:
    yield from op.operands
    for _, names in op.targets:
        yield from names


def _settle(block: BasicBlock, used: set[str], several: bool) -> None:
    """Find the last use of each value of a block, after which the value is dead. In a function of several blocks,
    values that any block uses never are."""
    last: dict[str, int] = {}
    mine = {name for op in block.ops for name in op.results}
    for number, op in enumerate(block.ops):
        last.update(dict.fromkeys(op.results, number))
        inner = (name for region in op.regions for node in walk(region) for name in _uses(node))
        last.update({name: number for name in (*_uses(op), *inner) if name in mine})
        for region in op.regions:
            for basic_block in region:
                _settle(basic_block, used, False)
    for name, number in last.items():
        if block.ops[number].name not in ENDS and (not several or name not in used):
            block.ops[number].dead.append(name)


class _LiveElements:
    """A count of the most elements that are alive at a time in a program."""

    def __init__(self, functions: dict[str, Function]) -> None:
        self.functions = functions
        self.known: dict[str, int] = {}

    def function(self, name: str) -> int:
        if name not in self.known and name in self.functions:
            # 0 for a function that calls itself, which is refused when it runs.
            self.known[name] = 0
            blocks = self.functions[name].blocks
            sizes = [self.block(block) for block in blocks]
            self.known[name] = max(sizes) if len(blocks) == 1 else sum(sizes)
        return self.known.get(name, 0)

    def block(self, block: BasicBlock) -> int:
        alive = most = sum(kind.size for kind in block.types)
        sizes: dict[str, int] = {}
        for op in block.ops:
            inner = max([self.block(basic_block) for region in op.regions for basic_block in region], default=0)
            if op.name == "tt.call":
                inner = self.function(callee(op))
            sizes.update((name, kind.size) for name, kind in zip(op.results, op.types, strict=False))
            alive += sum(sizes[name] for name in op.results)
            most = max(most, alive + inner)
            alive -= sum(sizes.pop(name, 0) for name in op.dead)
        return most


def _reads(blocks: list[BasicBlock], functions: set[str]) -> bool:
    """Return whether blocks read memory, directly or by calling one of these functions."""
    return any(op.name in READS or (op.name == "tt.call" and callee(op) in functions) for op in walk(blocks))


def _reading(functions: dict[str, Function]) -> set[str]:
    """Return the functions that read memory, directly or by calls."""
    callers: dict[str, list[str]] = {}
    for name, function in functions.items():
        for op in walk(function.blocks):
            if op.name == "tt.call":
                callers.setdefault(callee(op), []).append(name)
    waiting = [name for name, function in functions.items() if _reads(function.blocks, set())]
    reading = set(waiting)
    while waiting:
        more = set(callers.get(waiting.pop(), ())) - reading
        reading |= more
        waiting += more
    return reading


_POINTS = {"ptr", "block", "descriptor"}


def _stores_and_loads(functions: dict[str, Function], entry: Function) -> tuple[list[bool], list[bool]]:
    """Return for each argument of the entry whether stores and loads may go through it. Pointers that meet in an
    operation count as one."""
    parents: dict[tuple[str, str], tuple[str, str]] = {}

    def find(key: tuple[str, str]) -> tuple[str, str]:
        while (parent := parents.get(key, key)) != key:
            parents[key] = key = parents.get(parent, parent)
        return key

    def meet(name: str, op: Op, others: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Join the pointers of an operation and its blocks with `others`. Returns the operation's own."""
        values = [(value, kind) for value, kind in zip(op.operands, op.inputs, strict=False)]
        values += zip(op.results, op.types, strict=False)
        for block in (block for region in op.regions for block in region):
            values += zip(block.arguments, block.types, strict=True)
        keys = [(name, value) for value, kind in values if kind.element in _POINTS]
        for key in (*keys, *others):
            parents[find(key)] = find((keys or others)[0])
        return keys

    def visit(name: str, blocks: list[BasicBlock], around: list[tuple[str, str]]) -> None:
        for op in (op for block in blocks for op in block.ops):
            others = list(around) if op.name in ENDS else []
            others += [(name, value) for _, values in op.targets for value in values]
            if op.name == "tt.call" and (called := functions.get(callee(op))):
                first = called.blocks[0]
                others += [(called.name, value) for value, kind in zip(first.arguments, first.types, strict=True)
                           if kind.element in _POINTS]  # fmt: skip
                others.append((called.name, ""))
            keys = meet(name, op, others)
            for region in op.regions:
                visit(name, region, keys)

    for function in functions.values():
        # Pointers that a function returns or passes between its blocks meet under the name "".
        visit(function.name, function.blocks, [(function.name, "")])
        for block in function.blocks[1:]:
            for value, kind in zip(block.arguments, block.types, strict=True):
                if kind.element in _POINTS:
                    parents[find((function.name, value))] = find((function.name, ""))
    stored, loaded = ({find((function.name, op.operands[0])) for function in functions.values()
                       for op in walk(function.blocks) if op.name in names}
                      for names in (STORES, _LOADS))
    arguments = [find((entry.name, argument)) for argument in entry.blocks[0].arguments]
    return [argument in stored for argument in arguments], [argument in loaded for argument in arguments]
