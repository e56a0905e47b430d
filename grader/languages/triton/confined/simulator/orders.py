"""Operations whose order or result Triton and GPUs leave open: in a run with another order, they have another result.

Every run notes these operations cheaply; a second run shows whether the answer depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.machine import Machine
from grader.languages.triton.confined.simulator.pointers import Pointers
from grader.languages.triton.confined.simulator.ramps import Ramp, plain
from grader.languages.triton.confined.simulator.tensors import PRODUCTS, tensorwise
from grader.languages.triton.confined.simulator.text import BasicBlock, Function, Op, callee, walk
from grader.languages.triton.confined.simulator.types import STORED, Array, full

LIBRARY = "triton.language.standard."
"""Triton's own functions, which may take their elements in any order."""
MOST_HINT = 1 << 40
_HINT = re.compile(r"tt\.(divisibility|contiguity|constancy) = dense<\[?(\d{1,18}(?:, \d{1,18})*)\]?>")

Run = Callable[..., Any]


def hints_of(op: Op) -> dict[str, list[int]]:
    """Return the kernel's promises about a result, along each dimension: `{"divisibility": [16]}`."""
    if "{" not in op.body:
        return {}
    return {name: [min(int(word), MOST_HINT) for word in numbers.split(",")]
            for name, numbers in _HINT.findall(op.body)}


def check_hints(op: Op, hints: dict[str, list[int]]) -> Run:
    """Return a function that runs an operation and checks the promises about its result. In a run with another order
    the function returns the result as promised."""
    pure, run, shape = op.pure, op.run, op.types[0].shape
    item = STORED[op.types[0].pointee.element].itemsize if op.types[0].element == "ptr" else 1

    def check(machine: Machine, op: Op, values: list[Any], env: Any, active: Array | None) -> Any:
        result = pure(*values) if pure is not None else run(machine, op, values, env, active)  # type: ignore[misc]
        numbers = result.offsets if isinstance(result, Pointers) else result
        if not isinstance(numbers, Ramp) and numbers.dtype.kind != "i":
            return result
        computed = full(plain(numbers), shape)
        promised = computed
        for name, sizes in hints.items():
            for axis, size in enumerate(sizes[: max(1, len(shape))], 1):
                if size > 1:
                    promise = size // item if name == "divisibility" and item > 1 else size
                    promised = _promised(promised, name, axis, max(1, promise))
        wrong = promised != computed
        if active is not None:
            wrong = wrong & active.reshape((-1,) + (1,) * len(shape))
        if not wrong.any():
            return result
        machine.findings.undefined(machine.place(), "hint", certain=False)
        if not machine.turned:
            return result
        return Pointers(result.sources, result.which, promised, result.element) if isinstance(
            result, Pointers) else promised

    return check


def _promised(values: Array, name: str, axis: int, size: int) -> Array:
    """Return the integers as promised: moved so that the first lane is a multiple ("divisibility"), or derived from
    the first lane of each group."""
    if name == "divisibility":
        first = values if values.ndim == 1 else values.take([0], axis)
        return values - (first.astype(np.int64) % size).astype(values.dtype)
    if values.ndim == 1:
        return values
    lane = np.arange(values.shape[axis])
    group = values.take(lane - lane % size, axis)
    if name == "constancy":
        return group
    along = [1] * values.ndim
    along[axis] = lane.size
    return group + (lane % size).astype(values.dtype).reshape(along)


def _trusted(functions: dict[str, Function]) -> set[Op]:
    """Return the operations with a hint on which an access relies: a mask is computed from their results, or pointers
    are, unless the mask of the access switches lanes off one by one. It does, whatever the pointers promise, if its
    bounds are not known to be multiples of 16."""
    hints = [(name, op) for name, function in functions.items() for op in walk(function.blocks)
             if op.results and hints_of(op)]
    if not hints:
        return set()
    made_of: dict[tuple[str, str], list[tuple[str, str]]] = {}
    waiting: list[tuple[str, str]] = []
    for name, function in functions.items():
        apart = {argument for argument in function.blocks[0].arguments if argument not in function.multiples}
        apart.update(argument for block in function.blocks[1:] for argument in block.arguments)
        for op in walk(function.blocks):
            inner = [argument for region in op.regions for block in region for argument in block.arguments]
            operands = [(name, operand) for operand in op.operands]
            # All results lead through one node of the operation: pairs of a result and an operand would be too many.
            made_of[name, f"#{id(op)}"] = operands
            # Sibling regions may use the same name: the values of both count.
            for value in (*op.results, *inner):
                made_of.setdefault((name, value), []).append((name, f"#{id(op)}"))
            if op.regions or op.name in ("tt.load", "tt.call") or not apart.isdisjoint(op.operands):
                apart.update(op.results, inner)
            called = functions.get(callee(op)) if op.name == "tt.call" else None
            for value, operand in zip(called.blocks[0].arguments, operands, strict=False) if called is not None else ():
                made_of.setdefault((called.name if called else "", value), []).append(operand)
            if op.name in ("tt.load", "tt.store"):
                mask = op.operands[(1 if op.name == "tt.load" else 2) :][:1]
                waiting += [(name, used) for used in mask]
                if apart.isdisjoint(mask):
                    waiting += operands[:1]
    relied = set(waiting)
    while waiting:
        new = {used for used in made_of.get(waiting.pop(), ()) if used not in relied}
        relied |= new
        waiting += new
    return {op for name, op in hints if (name, op.results[0]) in relied}


def reorder(op: Op) -> Run | None:
    """Return a function that runs a reshape or concatenation which may put its elements in any order: in their own
    order, or reversed in a run with another order. None for any other reshape."""
    if op.name != "tt.cat" and "allow_reorder" not in op.body:
        return None
    pure, shape = tensorwise(op), op.types[0].shape

    def run(machine: Machine, op: Op, values: list[Any], _: Any, __: Array | None) -> Any:
        assert pure is not None
        result = pure(*values)
        if isinstance(result, Pointers) or result.size == result.shape[0]:
            return result
        machine.findings.undefined(machine.place(), "reorder", certain=False)
        if not machine.turned:
            return result
        return full(result, shape).reshape(len(result), -1)[:, ::-1].reshape(len(result), *shape)

    return run


def recast(op: Op) -> Run | None:
    """Return a function that runs a cast of a pointer to elements of another size; None for any other cast."""
    if op.inputs[0].element != "ptr":
        return None
    before, after = (kind.pointee.element for kind in (op.inputs[0], op.types[0]))
    if STORED[before].itemsize == STORED[after].itemsize:
        return None

    def run(machine: Machine, op: Op, values: list[Any], _: Any, __: Array | None) -> Any:
        machine.findings.recast(machine.place(), values[0].sources[0].named, before, after)
        return values[0].cast(before, after)

    return run


def gather_open(op: Op) -> Run:
    """Return a function that runs `tt.gather`: an index outside takes the nearest element, or, in a run with another
    order, the element at the other end."""
    pure, axis, source, shape = tensorwise(op), int(op.attribute("axis")), op.inputs[0].shape, op.types[0].shape

    def run(machine: Machine, op: Op, values: list[Any], _: Any, active: Array | None) -> Any:
        assert pure is not None
        tensor, index = values
        outside = (index < 0) | (index >= source[axis])
        if active is not None:
            outside = outside & active.reshape((-1,) + (1,) * len(shape))
        if outside.any():
            machine.findings.undefined(machine.place(), "index", certain=False)
            if machine.turned:
                index = np.where(outside, np.where(index < 0, source[axis] - 1, 0).astype(index.dtype), index)
        return pure(tensor, index)

    return run


def _vanishes(loop: Op) -> bool:
    """Return whether a loop only repeats plain loads of one place until their value changes. A compiler may assume that
    such a loop ends, and remove it ("Forward progress" in the LLVM Language Reference)."""
    inner = [op for region in loop.regions for op in walk(region)]
    loads = [op for op in inner if op.name == "tt.load"]
    values = {value for op in inner for value in op.results} | {
        value for region in loop.regions for block in region for value in block.arguments}
    plain = all("isVolatile = true" not in op.body and values.isdisjoint(op.operands[:1]) for op in loads)
    idle = all(op.name == "tt.load" or op.pure is not None or op.name in ("scf.condition", "scf.yield") for op in inner)
    return bool(loads) and plain and idle and not loop.results


def _endless(loop: Op) -> bool:
    """Return whether no iteration changes the values that a loop's condition is made of: once true, it stays true."""
    (before,), (after,) = loop.regions
    condition, end = before.ops[-1], after.ops[-1]
    kept = dict(zip(after.arguments, condition.operands[1:], strict=True))
    changing = {name for name, operand in zip(before.arguments, end.operands, strict=True) if kept.get(operand) != name}
    for op in before.ops[:-1]:
        if op.pure is None or not changing.isdisjoint(op.operands):
            changing.update(op.results)
    return condition.operands[0] not in changing


def _waits(functions: dict[str, Function]) -> set[Op]:
    """Return the loads by which a program may wait: volatile ones, and those that decide whether a loop goes on."""
    ops = [op for function in functions.values() for op in walk(function.blocks)]
    loads = {op for op in ops if op.name == "tt.load" and "isVolatile = true" in op.body}
    waiting = [deciding for op in ops if op.name == "scf.while" for deciding in _deciding(op)]
    called: set[str] = set()
    while waiting:
        op = waiting.pop()
        if op.name == "tt.load":
            loads.add(op)
        elif op.name == "tt.call" and callee(op) in functions and callee(op) not in called:
            called.add(callee(op))
            waiting += walk(functions[callee(op)].blocks)
    return loads


def _deciding(loop: Op) -> list[Op]:
    """Return the operations of a loop that decide whether it goes on. Sibling regions may use the same name for
    different values, which then count as one."""
    sources: dict[str, list[str]] = {}
    makes: dict[str, list[Op]] = {}

    def link(names: list[str], values: list[str]) -> None:
        for name, value in zip(names, values, strict=False):
            sources.setdefault(name, []).append(value)

    def follow(op: Op) -> None:
        """Note the values that each value of an operation with blocks is made of."""
        blocks = [block for region in op.regions for block in region]
        ends = [block.ops[-1].operands if block.ops else [] for block in blocks]
        if op.name == "scf.while":
            before, after = blocks
            link(before.arguments, op.operands)
            link(before.arguments, ends[1])
            link(after.arguments, ends[0][1:])
            link(op.results, ends[0][1:])
        elif op.name == "scf.for":
            link(op.results, ends[0])
            link(op.results, op.operands[3:])
            link(blocks[0].arguments[1:], ends[0])
            link(blocks[0].arguments[1:], op.operands[3:])
        else:
            for end in ends:
                link(op.results, end if op.name == "scf.if" else [value for value in end for _ in op.results])
        deciding = ends[0][:1] if op.name == "scf.while" else op.operands[: 3 if op.name == "scf.for" else None]
        for name in (*op.results, *(blocks[0].arguments[:1] if op.name == "scf.for" else ())):
            sources.setdefault(name, []).extend(deciding)

    for op in (op for region in loop.regions for op in walk(region)):
        for name in op.results:
            makes.setdefault(name, []).append(op)
            if not op.regions:
                sources.setdefault(name, []).extend(op.operands)
        if op.regions:
            follow(op)
    follow(loop)
    condition = loop.regions[0][0].ops[-1].operands
    waiting, known = condition[:1], set(condition[:1])
    while waiting:
        new = set(sources.get(waiting.pop(), ())) - known
        known |= new
        waiting += new
    return [op for name in known for op in makes.get(name, ())]


_OPEN: dict[str, Callable[[Op], Run | None]] = {
    "tt.bitcast": recast, "tt.gather": gather_open, "tt.cat": reorder, "tt.reshape": reorder}


def settle(functions: dict[str, Function]) -> None:
    """Prepare all operations that leave something open: mark loops and loads, and set functions that note findings."""
    relied = _trusted(functions)
    for op in _waits(functions):
        op.waits = True
    for function in functions.values():
        ops = list(walk(function.blocks))
        reduced = {name for op in ops if op.name == "tt.reduce" and any_order(op, functions) for name in op.operands}
        others = {name for op in ops if op.name != "tt.reduce" for name in op.operands}
        for op in ops:
            if op.name == "scf.for":
                op.early = _early_loads(op)
            op.vanishes = op.name == "scf.while" and _vanishes(op)
            op.endless = op.name == "scf.while" and _endless(op)
            maker = _OPEN.get(op.name)
            run = None if maker is None else maker(op)
            if run is not None and not set(op.results) <= reduced - others:
                op.pure, op.run = None, run
            if op in relied:
                op.run, op.pure = check_hints(op, hints_of(op)), None


_ALIKE = {"arith.addi", "arith.addf", "arith.muli", "arith.mulf", "arith.andi", "arith.ori", "arith.xori"}
_DEPTH = 4


def combined(block: BasicBlock, functions: dict[str, Function]) -> Iterator[Op]:
    """Yield the operation of a body that does nothing else; if it is a call, then that of the function, and so on."""
    for _ in range(_DEPTH):
        if len(block.ops) != 2 or block.ops[0].operands != block.arguments or (
                block.ops[1].operands != block.ops[0].results):
            return
        yield block.ops[0]
        called = functions.get(callee(block.ops[0])) if block.ops[0].name == "tt.call" else None
        if called is None:
            return
        block = called.blocks[0]


def any_order(op: Op, functions: dict[str, Function]) -> bool:
    """Return whether a reduction is known to have the same result in any order, apart from rounding."""
    for inner in combined(op.regions[0][0], functions):
        if inner.name != "tt.call":
            return inner.name in _ALIKE or inner.name.startswith(("arith.max", "arith.min"))
        if callee(inner).startswith(LIBRARY):
            return True
    return False


def _early_loads(op: Op) -> set[Op]:
    """Return the loads of a loop that a GPU's compiler may make some iterations ahead."""
    body = op.regions[0][0].ops
    if any(inner.name in ("scf.for", "scf.while") for inner in body):
        return set()
    loads: set[Op] = set()
    multiplied: set[str] = set()
    for inner in reversed(body):
        if inner.name in PRODUCTS:
            multiplied.update(inner.operands[:2])
        elif inner.name in ("tt.load", "tt.descriptor_load"):
            if inner.types[0].shape and ("tt.num_stages" in op.body or not multiplied.isdisjoint(inner.results)):
                loads.add(inner)
        elif not multiplied.isdisjoint(inner.results):
            multiplied.update(inner.operands)
    return loads
