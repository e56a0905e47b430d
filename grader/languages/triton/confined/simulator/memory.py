"""Loads and stores. Each lane is checked against its buffer; lanes outside are recorded and switched off. Undefined
behaviour is recorded while a kernel makes its accesses."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.machine import EarlierLaunches, Machine
from grader.languages.triton.confined.simulator.pointers import BlockPointer, Origin, Pointers, Storage, Value
from grader.languages.triton.confined.simulator.races import Shadow
from grader.languages.triton.confined.simulator.ramps import LaneValues, Ramp, Runs, gather, plain
from grader.languages.triton.confined.simulator.state import flat
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import KEPT, STORED, Array, decode, encode
from grader.plan.limits import Unsupported

DESCRIPTOR_ALIGNMENT = 16
"""Bytes. Source: cuTensorMapEncodeTiled in the CUDA Driver API."""


def note_own_stores(
    machine: Machine, shadow: Shadow, source: Origin, index: LaneValues, owners: Array, numbers: Array
) -> None:
    """Note a load of elements that the same program has stored: by another lane without a barrier, or earlier in a
    pipelined loop."""
    own = shadow.who(index.take(shadow.writer)) == owners
    if not own.any():
        return
    programs, elements = (np.broadcast_to(values, own.shape) for values in (owners - 1, index.array()))
    if any(machine.op in loop.loads and source.buffer.index in loop.stored for loop in machine.loops):
        machine.findings.undefined(
            machine.place(), "pipeline", source.named, element=int(elements[own][0]), numbers=[int(programs[own][0])],
            certain=False)
    if shadow.lanes is not None:
        last, when = index.take(shadow.lanes), index.take(shadow.when)
        own &= (when == machine.barriers) & (last != numbers)
        if own.any():
            machine.findings.undefined(
                machine.place(), "barrier" if machine.warps > 1 else "warp", source.named,
                element=int(elements[own][0]), numbers=[int(programs[own][0])])


def note_unwaited(
    machine: Machine, earlier: EarlierLaunches, source: Origin, offsets: Array | Ramp, live: Array | None, size: int
) -> None:
    """Note a load of elements stored by an earlier launch that this one has not waited for."""
    written = earlier.writers.get(source.buffer.index)
    if written is None or written.size != size:
        return
    hit = gather(written.writer, offsets) != 0
    hit = hit if live is None else hit & live
    if hit.any():
        machine.findings.undefined(machine.place(), "unwaited" if earlier.ahead else "visible", source.named)


def buffer_read(machine: Machine, source: Origin) -> Storage:
    """Return the buffer that a load reads. In a run with another order, a pipelined loop reads the buffer as it was
    some iterations before."""
    if not machine.turned:
        return source.buffer
    loop = next((loop for loop in machine.loops if machine.op in loop.loads), None)
    return source.buffer if loop is None else loop.early(source.buffer)


def note_ordering(machine: Machine, op: Op, owners: Array) -> None:
    """Note whether an atomic orders stores and loads, in a kernel that has atomics which do not."""
    if machine.released is None or machine.acquired is None:
        return
    before = op.body.split("%")[0]
    alone = "cta" in before or "relaxed" in before
    if alone or "acq_rel" not in before:
        machine.relaxed = machine.relaxed or machine.line()
    if alone:
        return
    if "acquire" not in before:
        machine.released[owners - 1] = machine.step
    if "release" not in before:
        machine.acquired[owners - 1] = machine.step


def note_descriptor(machine: Machine, descriptor: BlockPointer, active: Array | None) -> None:
    """Note a descriptor that a device with descriptors refuses: its memory and rows have to begin at multiples of 16
    bytes."""
    if not machine.granule:
        return
    size = STORED[descriptor.base.element].itemsize
    starts = [plain(descriptor.base.offsets), *descriptor.strides[:-1]]
    bad = np.zeros(1, bool)
    for start in starts:
        bad = bad | (start * size % DESCRIPTOR_ALIGNMENT != 0).reshape(-1)
    bad = bad if active is None else bad & active
    if bad.any():
        machine.findings.undefined(machine.place(), "descriptor", descriptor.base.sources[0].named)


_PADDING = {"0": "none", "1": "zero", "2": "nan"}


def _conjunction(left: Array | None, right: Array | None) -> Array | None:
    if left is None or right is None:
        return left if right is None else right
    return left & right


def taking_part(mask: Array | None, active: Array | None, rank: int) -> Array | None:
    """Return the lanes of active programs that the mask leaves on; None if all lanes take part."""
    if mask is not None and mask.ndim <= rank:
        mask = mask.reshape(mask.shape[:1] + (1,) * rank)
    live = _conjunction(mask, None if active is None else active.reshape((-1,) + (1,) * rank))
    return None if live is None or live.all() else live


def _lanes(op: Op, value: Value) -> tuple[Pointers, Array | None]:
    if isinstance(value, BlockPointer):
        return value.lanes(op.numbers("boundaryCheck"))
    if not isinstance(value, Pointers):
        raise Unsupported(f"{op.name} of no pointer")
    return value, None


def by_source(pointer: Pointers, live: Array | None) -> list[tuple[Origin, Array | None]]:
    """Return each source of the pointers, with the lanes that point into it."""
    if pointer.which is None:
        return [(pointer.sources[0], live)]
    return [(source, _conjunction(pointer.which == number, live)) for number, source in enumerate(pointer.sources)]


def inside_of(
    machine: Machine, access: str, source: Origin, elements: int, offsets: Array | Ramp, live: Array | None,
    masked: bool,
) -> Array | None:
    """Return the lanes that take part and lie inside the buffer, and record the access and the lanes outside."""
    if access != "granule":
        machine.accesses.note(machine, access, source, offsets, live, source.buffer.raw.size // max(1, elements))
    last = offsets.last() if isinstance(offsets, Ramp) else offsets
    first = offsets.base if isinstance(offsets, Ramp) else offsets
    if int(first.min()) >= 0 and int(last.max()) < elements:
        return live
    if isinstance(offsets, Ramp) and live is not None:
        # A mask mostly switches off the lanes beyond the end, so only the runs that reach out are checked.
        shape = np.broadcast_shapes(offsets.shape, live.shape)
        outside = np.broadcast_to((first < 0) | (last >= elements), (*shape[:-1], 1))[..., 0]
        some = np.broadcast_to(first, (*shape[:-1], 1))[outside] + np.arange(offsets.length)
        if not (((some < 0) | (some >= elements)) & np.broadcast_to(live, shape)[outside]).any():
            return live
    offsets = plain(offsets)
    bad = (offsets < 0) | (offsets >= elements)
    if live is not None:
        bad = bad & live
    if not bad.any():
        return live
    shape = (machine.count, *np.broadcast_shapes(bad.shape, offsets.shape)[1:])
    machine.findings.out_of_bounds(
        machine.place(), access, source.named, elements, np.broadcast_to(offsets, shape), np.broadcast_to(bad, shape),
        None if live is None else np.broadcast_to(live, shape), masked=masked or live is not None)
    return ~bad if live is None else live & ~bad


def note_unwritten(
    machine: Machine, access: str, source: Origin, offsets: Array | Ramp, live: Array | None, size: int
) -> None:
    if source.buffer.written is None or not source.buffer.raw.size:
        return
    marks = source.buffer.marks(size)
    bad = gather(marks, offsets) != np.iinfo(marks.dtype).max
    if live is not None:
        bad = bad & live
    if bad.any():
        rows = np.broadcast_to(bad, (machine.count, *bad.shape[1:])).reshape(machine.count, -1)
        first = int(np.argmax(rows.any(1)))
        machine.findings.unwritten(machine.place(), source.named, int(rows[first].sum()), first, access)


def _gather(
    machine: Machine, live: Array | None, shape: tuple[int, ...], offsets: Array | Ramp, values: Array | None = None
) -> tuple[LaneValues, Array, Array]:
    """Return the index, the values and the owners of the lanes that take part, as `flat` does. The index is in runs if
    each run is on or off as a whole. Owners have the index's shape, or broadcast to it."""
    if isinstance(offsets, Ramp) and (live is None or live.shape[-1] == 1):
        base, owners = flat(machine, live, (*shape[:-1], 1), offsets.base)
        runs: Array = np.zeros(0)
        if values is not None:
            rows = np.broadcast_to(values, (machine.count, *shape))
            on = slice(None) if live is None else np.broadcast_to(live[..., 0], rows.shape[:-1])
            runs = rows[on].reshape(-1, offsets.length)
        return Runs(base, offsets.length), runs, owners[:, None]
    index, *rest, owners = flat(machine, live, shape, plain(offsets), *([] if values is None else [values]))
    return LaneValues(index), rest[0] if rest else np.zeros(0), owners


def _split(live: Array | None, shape: tuple[int, ...]) -> list[Array | None]:
    """Return the runs that are on as a whole, and the other lanes that are on."""
    if live is None or live.shape[-1] == 1 != shape[-1]:
        return [live]
    whole = live.all(-1, keepdims=True)
    return [whole, live & ~whole] if whole.any() else [live]


def shadow_of(machine: Machine, source: Origin, size: int) -> Shadow | None:
    """Return the shadow of a buffer in this launch; None if the launch does not store to it, or the element size
    differs."""
    if source.buffer.index not in machine.stored:
        return None
    shadow = machine.shadows.get(source.buffer.index)
    if shadow is None:
        shadow = machine.shadows[source.buffer.index] = Shadow(
            source.buffer.raw.size // size, size, machine.clocks)
    return shadow if shadow.size == size else None


def _numbers(machine: Machine, live: Array | None, shape: tuple[int, ...], offsets: Array | Ramp) -> Array:
    """Return the numbers of the lanes that take part, counted within a program, in the order of `_gather`."""
    return _gather(machine, live, shape, offsets, np.arange(prod(shape), dtype=np.int32).reshape(shape))[1]


def _filler(machine: Machine, element: str) -> Any:
    """Return the value of lanes that a mask without `other` switched off."""
    kind = KEPT[element]
    if not machine.stands_in(machine.mode.options.masked) or kind.kind == "b":
        return kind.type(0)
    return kind.type(np.nan) if kind.kind == "f" else kind.type(np.iinfo(kind).min // 3)


def _load(
    machine: Machine, pointer: Pointers, mask: Array | None, other: Any, active: Array | None, masked: bool
) -> Array:
    """Return the values that pointers point to; for lanes that take no part `other`, or `_filler` if that is None."""
    element, offsets = pointer.element, pointer.offsets
    size, op = STORED[element].itemsize, machine.op
    live = taking_part(mask, active, offsets.ndim - 1)
    result: Array | None = None
    for source, lanes in by_source(pointer, live):
        data = buffer_read(machine, source).data(element)
        reading = inside_of(machine, "load", source, data.size, offsets, lanes, masked)
        note_unwritten(machine, "load", source, offsets, reading, size)
        if machine.earlier is not None:
            note_unwaited(machine, machine.earlier, source, offsets, reading, size)
        if machine.meter is not None:
            machine.meter.access(machine, "load", source, size, offsets, reading, active)
        shadow = shadow_of(machine, source, size)
        values = decode(gather(data, offsets), element)
        if shadow is not None and data.size:
            late, waits = None, op is not None and op.waits
            if machine.early and not waits and machine.stands_in(machine.mode.options.early):
                owners = machine.owners.reshape((-1,) + (1,) * (offsets.ndim - 1))
                values, late = shadow.before(plain(offsets), owners, reading, values, data, element)
            shape = np.broadcast_shapes(offsets.shape, (1,) if reading is None else reading.shape)[1:]
            index, _, owners = _gather(machine, reading, shape, offsets)
            if index.index.size:
                shadow.load(machine, source, index, owners, waits, late)
                if source.buffer.index in machine.shared:
                    note_own_stores(machine, shadow, source, index, owners, _numbers(machine, reading, shape, offsets))
        if reading is not None:
            fill = _filler(machine, element) if other is None else other
            values = np.where(reading, values, fill)
            off = None if mask is None or other is not None else ~mask
            if off is not None and machine.stands_in(machine.mode.options.masked) and off.any():
                machine.findings.masked(machine.place(), source.named)
        # `lanes` is None if all lanes point into this source, which is then the only one.
        result = values if result is None or lanes is None else np.where(lanes, values, result)
    return result


def load(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> Array:
    pointer, inside = _lanes(op, values[0])
    mask = values[1] if len(values) > 1 else None
    other = values[2] if len(values) > 2 else None
    if inside is not None:
        mask, padding = inside, _PADDING[op.attribute("padding", "0")]
        other = None if padding == "none" else KEPT[pointer.element].type(np.nan if padding == "nan" else 0)
    return _load(machine, pointer, mask, other, active, mask is not None)


def load_block(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> Array:
    """Run `tt.descriptor_load`: lanes beyond the tensor get padding."""
    descriptor = values[0].at(values[1:])
    note_descriptor(machine, descriptor, active)
    pointer, inside = descriptor.lanes(list(range(len(descriptor.block.shape))))
    other = KEPT[pointer.element].type(np.nan if descriptor.padding == "nan" else 0)
    shape = op.types[0].shape
    loaded = _load(machine, pointer, inside, other, active, False)
    if shape != descriptor.block.shape:
        loaded = np.broadcast_to(loaded, (len(loaded), *descriptor.block.shape)).reshape(len(loaded), *shape)
    return loaded


def _write(
    machine: Machine, pointer: Pointers, given: Array, mask: Array | None, active: Array | None, shape: tuple[int, ...],
    masked: bool, access: str = "store",
) -> None:
    element = pointer.element
    live = taking_part(mask, active, len(shape))
    stored = encode(given, element)
    size = stored.dtype.itemsize
    for source, lanes in by_source(pointer, live):
        data = source.buffer.data(element)
        lanes = inside_of(machine, access, source, data.size, pointer.offsets, lanes, masked)
        if machine.meter is not None and access == "store":
            machine.meter.access(machine, "store", source, size, pointer.offsets, lanes, active)
        shadow = shadow_of(machine, source, size)
        for loop in machine.loops:
            loop.keep(source.buffer, bool(machine.mode.options.order.lines))
        for part in _split(lanes, shape) if isinstance(pointer.offsets, Ramp) else [lanes]:
            index, values, owners = _gather(machine, part, shape, pointer.offsets, stored)
            if not index.index.size:
                continue
            if shadow is not None and source.buffer.index in machine.shared:
                shadow.stored_by(index, _numbers(machine, part, shape, pointer.offsets), machine.barriers)
            if machine.turned:
                # In another order, another of the lanes that share an element stores last.
                owners = np.broadcast_to(owners, values.shape).reshape(-1)[::-1]
                index, values = LaneValues(index.array().reshape(-1)[::-1]), values.reshape(-1)[::-1]
            if shadow is None:
                index.put(data, values)
            else:
                shadow.store(machine, source, data, index, values, owners)
            source.buffer.wrote(index, size)
            machine.version += 1


def store(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> None:
    pointer, inside = _lanes(op, values[0])
    mask = values[2] if len(values) > 2 else inside
    _write(machine, pointer, values[1], mask, active, op.inputs[1].shape, mask is not None)


def store_block(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> None:
    """Run `tt.descriptor_store`: store nothing beyond the tensor, except for the rest of a granule."""
    descriptor = values[0].at(values[1:-1])
    note_descriptor(machine, descriptor, active)
    shape = descriptor.block.shape
    every = list(range(len(shape)))
    pointer, inside = descriptor.lanes(every)
    given = values[-1]
    if op.inputs[-1].shape != shape:
        given = np.broadcast_to(given, (len(given), *op.inputs[-1].shape)).reshape(len(given), *shape)
    _write(machine, pointer, given, inside, active, shape, False)
    elements = machine.granule // STORED[pointer.element].itemsize
    if inside is not None and elements > 1:
        end = -(-descriptor.shape[-1] // elements) * elements
        pointer, within = replace(descriptor, shape=(*descriptor.shape[:-1], end)).lanes(every)
        beyond = ~inside if within is None else within & ~inside
        if beyond.any():
            _write(machine, pointer, given, beyond, active, shape, False, "granule")


def gather_rows(machine: Machine, _: Op, values: list[Any], __: dict[str, Value], active: Array | None) -> Array:
    """Run `tt.descriptor_gather`: load a row of the block's width for each row number; lanes beyond the tensor get
    padding."""
    descriptor = values[0].at([np.zeros(1, np.int32), values[2]])
    note_descriptor(machine, descriptor, active)
    pointer, inside = descriptor.rows(values[1])
    other = KEPT[pointer.element].type(np.nan if descriptor.padding == "nan" else 0)
    return _load(machine, pointer, inside, other, active, False)


def scatter_rows(machine: Machine, op: Op, values: list[Any], _: dict[str, Value], active: Array | None) -> None:
    """Run `tt.descriptor_scatter`, the reverse of a gather; store nothing beyond the tensor."""
    descriptor = values[0].at([np.zeros(1, np.int32), values[2]])
    note_descriptor(machine, descriptor, active)
    pointer, inside = descriptor.rows(values[1])
    _write(machine, pointer, values[3], inside, active, op.inputs[3].shape, False)


def make_block(_: Machine, op: Op, values: list[Any], __: dict[str, Value], ___: Array | None) -> BlockPointer:
    """Run `tt.make_tensor_ptr` or `tt.make_tensor_descriptor`: base, shape, strides; only the former has offsets."""
    block = op.types[0].pointee
    rank = len(block.shape)
    numbers = [value.astype(np.int64) for value in values[1:]]
    offsets = numbers[2 * rank :] or [np.zeros(1, np.int64)] * rank
    padding = "nan" if "padding = 2" in op.body or "PAD_NAN" in op.body else "zero"
    return BlockPointer(
        values[0], tuple(numbers[:rank]), tuple(numbers[rank : 2 * rank]), tuple(offsets), block, padding)


def advance(_: Machine, __: Op, values: list[Any], ___: dict[str, Value], ____: Array | None) -> Value:
    moved: BlockPointer = values[0].advance(values[1:])
    return moved
