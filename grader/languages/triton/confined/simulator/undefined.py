"""Detection of undefined behaviour in accesses to memory, while a kernel makes them."""

from __future__ import annotations

import numpy as np

from grader.languages.triton.confined.simulator.machine import EarlierLaunches, Machine
from grader.languages.triton.confined.simulator.pointers import BlockPointer, Origin, Storage
from grader.languages.triton.confined.simulator.races import Shadow
from grader.languages.triton.confined.simulator.ramps import LaneValues, Ramp, gather, plain
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import STORED, Array

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
    programs, elements = (np.broadcast_to(each, own.shape) for each in (owners - 1, index.array()))
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
    if machine.mode.order is None or not machine.turned:
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
    for each in starts:
        bad = bad | (each * size % DESCRIPTOR_ALIGNMENT != 0).reshape(-1)
    bad = bad if active is None else bad & active
    if bad.any():
        machine.findings.undefined(machine.place(), "descriptor", descriptor.base.sources[0].named)
