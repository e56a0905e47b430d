"""What Triton and GPUs leave open, as kernels are written, and come out otherwise where a run asks for another order.

Each is seen cheaply in every run; whether an answer rests on it shows in a second one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulator.pointers import Buffer, Pointer
from grader.simulator.ramps import Ramp, plain
from grader.simulator.tensors import full, tensorwise
from grader.simulator.text import Function, Op, callee, walk
from grader.simulator.types import STORED, Array

if TYPE_CHECKING:
    from grader.simulator.machine import Machine

LIBRARY = "triton.language.standard."
"""Functions of Triton's own, which may be given their elements in any order."""
_HINT = re.compile(r"tt\.(divisibility|contiguity|constancy) = dense<\[?([\d, ]{1,99})\]?>")

Run = Callable[..., Any]


def hints_of(op: Op) -> dict[str, list[int]]:
    """What the kernel promises of a result, along each dimension: `{"divisibility": [16]}`."""
    if "{" not in op.body:
        return {}
    return {name: [int(each) for each in numbers.split(",")] for name, numbers in _HINT.findall(op.body)}


def hinted(op: Op, hints: dict[str, list[int]]) -> Run:
    """Runs an operation and looks at what is promised of its result: in another order it is as promised."""
    pure, run, shape = op.pure, op.run, op.types[0].shape
    item = STORED[op.types[0].pointee.element].itemsize if op.types[0].element == "ptr" else 1

    def check(machine: Machine, op: Op, values: list[Any], env: Any, active: Array | None) -> Any:
        result = pure(*values) if pure is not None else run(machine, op, values, env, active)  # type: ignore[misc]
        numbers = result.offsets if isinstance(result, Pointer) else result
        if not isinstance(numbers, Ramp) and numbers.dtype.kind != "i":
            return result
        told = full(plain(numbers), shape)
        promised = told
        for name, sizes in hints.items():
            for axis, size in enumerate(sizes[: max(1, len(shape))], 1):
                if size > 1:
                    each = size // item if name == "divisibility" and item > 1 else size
                    promised = _promised(promised, name, axis, max(1, each))
        wrong = promised != told
        if active is not None:
            wrong = wrong & active.reshape((-1,) + (1,) * len(shape))
        if not wrong.any():
            return result
        machine.findings.undefined(machine.place(), "hint", certain=False)
        if not machine.turned:
            return result
        return Pointer(result.sources, result.which, promised, result.element) if isinstance(
            result, Pointer) else promised

    return check


def _promised(values: Array, name: str, axis: int, size: int) -> Array:
    """Integers as a promise has them: moved to a multiple by their first lane, or following the first of each group."""
    if name == "divisibility":
        first = values if values.ndim == 1 else values.take([0], axis)
        return values - (first % size).astype(values.dtype)
    if values.ndim == 1:
        return values
    lane = np.arange(values.shape[axis])
    group = values.take(lane - lane % size, axis)
    if name == "constancy":
        return group
    along = [1] * values.ndim
    along[axis] = lane.size
    return group + (lane % size).astype(values.dtype).reshape(along)


class _Trust:
    """Which operations with a hint an access relies on: one that leads to a mask, or to pointers whose mask does not
    keep lanes apart. A mask does so unless all its bounds are known to be multiples of 16, whatever pointers promise.
    """

    def __init__(self, functions: dict[str, Function]) -> None:
        self._functions = functions
        self._users: dict[tuple[str, str], list[Op]] = {}
        self._makers: dict[tuple[str, str], Op] = {}
        self.found: set[Op] = set()
        ops = [(name, op) for name, function in functions.items() for op in walk(function.blocks)]
        hinted = [(name, op) for name, op in ops if op.results and hints_of(op)]
        for name, op in ops if hinted else ():
            for value in (*op.operands, *(value for _, values in op.targets for value in values)):
                self._users.setdefault((name, value), []).append(op)
            self._makers.update(dict.fromkeys(((name, value) for value in op.results), op))
        self.found = {op for name, op in hinted if self._relies((name, op.results[0]))}

    def _relies(self, value: tuple[str, str]) -> bool:
        waiting, seen = [value], {value}
        while waiting:
            name, value_name = waiting.pop()
            for op in self._users.get((name, value_name), ()):
                if self._decides(name, op, value_name):
                    return True
                reached = [(name, each) for each in _reached(op)]
                called = self._functions.get(callee(op)) if op.name == "tt.call" else None
                if called is not None and value_name in op.operands:
                    reached += [(called.name, each)
                                for each in called.blocks[0].arguments[op.operands.index(value_name) :][:1]]
                waiting += [each for each in reached if each not in seen]
                seen.update(reached)
        return False

    def _decides(self, name: str, op: Op, value: str) -> bool:
        if op.name not in ("tt.load", "tt.store") or value not in op.operands:
            return False
        mask = 1 if op.name == "tt.load" else 2
        at = op.operands.index(value)
        return at == mask or (at == 0 and (len(op.operands) <= mask or self._in_groups(name, op.operands[mask])))

    def _in_groups(self, name: str, mask: str) -> bool:
        """Whether a mask is known to switch lanes in groups, by what it is computed from."""
        waiting, seen = [mask], {mask}
        while waiting:
            value = waiting.pop()
            op = self._makers.get((name, value))
            if op is None and value not in self._functions[name].multiples:
                return False
            if op is not None and (op.regions or op.name in ("tt.load", "tt.call")):
                return False
            operands = [] if op is None else op.operands
            waiting += [each for each in operands if each not in seen]
            seen.update(operands)
        return True


def _reached(op: Op) -> Iterator[str]:
    yield from op.results
    for region in op.regions:
        for block in region:
            yield from block.arguments


def reordered(op: Op) -> Run | None:
    """A reshape or concatenation that may put its elements in any order: as they lie, or the other way round."""
    if op.name != "tt.cat" and "allow_reorder" not in op.body:
        return None
    pure, shape = tensorwise(op), op.types[0].shape

    def run(machine: Machine, op: Op, values: list[Any], _: Any, __: Array | None) -> Any:
        assert pure is not None
        result = pure(*values)
        if isinstance(result, Pointer) or result.size == result.shape[0]:
            return result
        machine.findings.undefined(machine.place(), "reorder", certain=False)
        if not machine.turned:
            return result
        return full(result, shape).reshape(len(result), -1)[:, ::-1].reshape(len(result), *shape)

    return run


def gather(op: Op) -> Run:
    """`tt.gather`: an index outside takes the nearest element, or in another order the one at the other end."""
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


_OPEN: dict[str, Callable[[Op], Run | None]] = {
    "tt.gather": gather, "tt.cat": reordered, "tt.reshape": reordered}


def settle(functions: dict[str, Function]) -> None:
    """Has operations that leave something open run by what sees it."""
    relied = _Trust(functions).found
    for function in functions.values():
        ops = list(walk(function.blocks))
        reduced = {name for op in ops if op.name == "tt.reduce" and any_order(op, functions) for name in op.operands}
        others = {name for op in ops if op.name != "tt.reduce" for name in op.operands}
        for op in ops:
            made = _OPEN.get(op.name)
            run = None if made is None else made(op)
            if run is not None and not set(op.results) <= reduced - others:
                op.pure, op.run = None, run
            if op in relied:
                op.run, op.pure = hinted(op, hints_of(op)), None


_ALIKE = {"arith.addi", "arith.addf", "arith.muli", "arith.mulf", "arith.andi", "arith.ori", "arith.xori"}
_DEPTH = 4


def any_order(op: Op, functions: dict[str, Function]) -> bool:
    """Whether a reduction is known to give the same, but for rounding, in any order."""
    block = op.regions[0][0]
    for _ in range(_DEPTH):
        if len(block.ops) != 2:
            return False
        first, end = block.ops
        if first.operands != block.arguments or end.operands != first.results:
            return False
        if first.name != "tt.call":
            return first.name in _ALIKE or first.name.startswith(("arith.max", "arith.min"))
        name = callee(first)
        if name.startswith(LIBRARY):
            return True
        called = functions.get(name)
        if called is None:
            return False
        block = called.blocks[0]
    return False


class Pipeline:
    """A loop whose loads may be made rounds ahead, before the stores of the rounds between.

    `loads` are those that a GPU's compiler makes early: all of blocks where the loop says how many stages it has, else
    those that end in a product.
    """

    def __init__(self, op: Op, stages: int) -> None:
        body = op.regions[0][0]
        explicit = op.attribute("tt.num_stages", "") if "tt.num_stages" in op.body else ""
        stages = int(explicit) if explicit else stages
        self.loads: set[Op] = set()
        if stages > 1 and not any(each.name in ("scf.for", "scf.while") for each in body.ops):
            self.loads = {each for each in body.ops if each.name in ("tt.load", "tt.descriptor_load")
                          and each.types[0].shape and (explicit or _multiplied(each, body.ops))}
        self.stored: set[int] = set()
        self._before: deque[dict[int, Array]] = deque(maxlen=max(1, stages))

    def begin(self) -> None:
        """Another round begins."""
        self._before.append({})

    def keep(self, buffer: Buffer, copied: bool) -> None:
        """Before a store: takes note of it and, where that is asked for, of what the buffer holds."""
        self.stored.add(buffer.index)
        if copied and self._before and buffer.index not in self._before[-1]:
            self._before[-1][buffer.index] = buffer.raw.copy()

    def early(self, buffer: Buffer) -> Buffer:
        """The buffer as the load of this round finds it that is made as early as can be."""
        old = next((each[buffer.index] for each in self._before if buffer.index in each), None)
        return buffer if old is None else Buffer(buffer.index, old, None, buffer.given)


def _multiplied(load: Op, ops: list[Op]) -> bool:
    """Whether a product takes what a load gives, as it is or computed upon."""
    reached = set(load.results)
    for op in ops:
        if reached & set(op.operands):
            if op.name == "tt.dot":
                return bool(reached & set(op.operands[:2]))
            reached |= set(op.results)
    return False
