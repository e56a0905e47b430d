"""Atomics: read-modify-writes by one program after another."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.machine import Machine
from grader.languages.triton.confined.simulator.memory import (
    by_source,
    inside_of,
    note_descriptor,
    note_ordering,
    note_unwritten,
    shadow_of,
    taking_part,
)
from grader.languages.triton.confined.simulator.pointers import Pointers, Value
from grader.languages.triton.confined.simulator.ramps import LaneValues, plain
from grader.languages.triton.confined.simulator.state import flat
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import (
    KEPT,
    STORED,
    UNSIGNED,
    Array,
    bits,
    decode,
    encode,
    rounding,
)
from grader.plan.limits import Unsupported

_ATOMIC: dict[str, Any] = {
    "add": np.add, "fadd": np.add, "max": np.maximum, "min": np.minimum, "umax": np.maximum, "umin": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "exch": lambda old, new: new,
}  # fmt: skip


def _atomics(
    machine: Machine, op: Op, pointer: Pointers, mask: Array | None, active: Array | None, given: list[Array],
    kind: str,
) -> Array:
    """Make read-modify-writes by one program after another, in the order of programs. Returns the old values."""
    shape, element = op.types[0].shape, pointer.element
    live = taking_part(mask, active, len(shape))
    result = np.zeros((machine.count, *shape), KEPT[element])
    offsets, alone = plain(pointer.offsets), prod(shape) == 1
    machine.step += 1
    machine.barriers += 1
    if prod(machine.grid) > 1 and (kind == "exch" or op.results[0] not in op.dead):
        machine.findings.undefined(machine.place(), "ticket", pointer.sources[0].named, certain=False)
    for source, lanes in by_source(pointer, live):
        data = source.buffer.data(element)
        size = data.dtype.itemsize
        if kind.startswith("u"):
            data = data.view(UNSIGNED[data.dtype])
        lanes = inside_of(machine, "atomic", source, data.size, offsets, lanes, mask is not None)
        note_unwritten(machine, "atomic", source, offsets, lanes, size)
        if machine.meter is not None:
            machine.meter.access(machine, "atomic", source, size, offsets, lanes, active)
        numbers = np.arange(result.size).reshape(result.shape)
        index, slots, *operands, owners = flat(machine, lanes, shape, offsets, numbers, *given)
        if not index.size:
            continue
        blind = op.results[0] in op.dead
        if machine.early and blind and machine.mode.options.early.programs:
            # The order makes no difference to these atomics, only to programs that load in between.
            index, owners, *operands = (operand[::-1] for operand in (index, owners, *operands))
        stored = data.take(index) if alone else data
        old = _apply(machine, op, data, index, operands, kind, element)
        if old is not None:
            result.reshape(-1)[slots] = old.view(KEPT[element]) if old.dtype.itemsize == result.itemsize else old
        shadow = shadow_of(machine, source, size)
        if machine.clocks is not None:
            if not alone:
                owners_met = machine.owners
                if lanes is not None:
                    owners_met = owners_met[np.broadcast_to(lanes.reshape(len(lanes), -1).any(1), owners_met.shape)]
                machine.clocks.meet_widely(source.buffer, owners_met, looks=not blind)
            else:
                machine.clocks.meet(source.buffer, index, size, owners, looks=not blind)
                if shadow is not None and not blind:
                    shadow.looked(index, owners, bits(stored) == bits(data.take(index)))
        if machine.synced is not None:
            machine.synced[owners - 1] = machine.step
        note_ordering(machine, op, owners)
        if shadow is not None:
            shadow.update(machine, source, LaneValues(index), owners, operands[0] if kind in ("add", "fadd") else None)
            if machine.early and alone and owners.size == 1:
                shadow.keep(LaneValues(index), bits(stored))
        source.buffer.wrote(LaneValues(index), size)
    return result


def _apply(
    machine: Machine, op: Op, data: Array, index: Array, operands: list[Array], kind: str, element: str
) -> Array | None:
    """Change data lane by lane. Returns the old values, or None if nothing uses them."""
    plain = STORED[element] == KEPT[element]
    rounded = rounding(element) or (lambda values: values)
    if kind.startswith("u"):
        operands = [operand.view(UNSIGNED[operand.dtype]) for operand in operands]
    function = _ATOMIC.get(kind)
    if function is None and kind != "cas":
        raise Unsupported(f"{op.name} {kind}"[:100])

    def change(old: Array, values: list[Array]) -> Array:
        if function is None:
            return np.where(bits(old) == bits(values[0]), values[1], old)
        return np.asarray(rounded(function(old, values[0])))

    if op.results[0] in op.dead and plain and isinstance(function, np.ufunc):
        before = data.take(index)
        function.at(data, index, operands[0])
        machine.version += bool((before != data.take(index)).any())
        return None
    if np.unique(index).size == index.size:
        stored = data.take(index)
        old = decode(stored, element)
        new = encode(change(old, operands), element)
        data[index] = new
        machine.version += bool((bits(stored) != bits(new)).any())
        return old
    machine.budget.charge(200 * index.size)
    old = np.zeros(index.size, KEPT[element] if not kind.startswith("u") else data.dtype)
    for lane, target in enumerate(index.tolist()):
        place = data[target : target + 1]
        before = decode(place.copy(), element)
        new = encode(change(before, [operand[lane : lane + 1] for operand in operands]), element)
        old[lane] = before[0]
        if bits(place) != bits(new):
            machine.version += 1
            place[:] = new
    return old


def atomic(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> Array:
    kind = op.body.split(",")[0].strip()
    mask = values[2] if len(values) > 2 else None
    return _atomics(machine, op, values[0], mask, active, [values[1]], kind)


def compare_and_swap(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> Array:
    return _atomics(machine, op, values[0], None, active, values[1:3], "cas")


def reduce_block(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> None:
    """Run `tt.descriptor_reduce`: atomics on the lanes inside the tensor."""
    descriptor = values[0].at(values[1:-1])
    note_descriptor(machine, descriptor, active)
    pointer, inside = descriptor.lanes(list(range(len(descriptor.block.shape))))
    kind = op.body.split(",")[0].strip()
    kind = "fadd" if kind == "add" and KEPT[pointer.element].kind == "f" else kind
    kind = f"u{kind}" if kind in ("min", "max") and descriptor.block.unsigned else kind
    changed = Op(op.name, op.place, ["%unused"], types=[descriptor.block], dead=["%unused"])
    _atomics(machine, changed, pointer, inside, active, [values[-1]], kind)
