"""Observations of a run: the offsets of each load and store, as the first programs of a launch show them, and counts
of all."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from grader.languages.triton.confined.simulator.pointers import Origin
from grader.languages.triton.confined.simulator.ramps import Ramp, plain
from grader.languages.triton.confined.simulator.state import State, flat
from grader.languages.triton.confined.simulator.text import Location
from grader.languages.triton.confined.simulator.types import Array
from grader.plan.findings import Access
from grader.plan.plan import Kernel
from grader.plan.traffic import Kind
from grader.simulation.metering import Meter, distance, extents, placed

MOST = 24
Key = tuple[str, Location, int, tuple[int, ...]]


class Accesses:
    """The accesses of a launch, by place, buffer and tile: the copies of a line in an unrolled loop are one access."""

    def __init__(self) -> None:
        self._seen: dict[Key, dict[str, Any]] = {}
        # The access of each operation; the operation and offset seen last of each access.
        self._keys: dict[tuple[int, int], Key] = {}
        self._latest: dict[Key, tuple[int, int]] = {}

    def list(self) -> list[Access]:
        return [Access(**fields) for fields in self._seen.values()]

    def note(
        self, state: State, access: str, source: Origin, offsets: Array | Ramp, live: Array | None, width: int
    ) -> None:
        """Note an access by all programs of a chunk. `live` are the lanes that take part, None if all do; `width` is
        the bytes of an element."""
        if state.numbers[0] != state.first:
            return
        base = offsets.base if isinstance(offsets, Ramp) else offsets
        first = int(base.flat[0])
        tile = np.broadcast_shapes(offsets.shape[1:], () if live is None else live.shape[1:])
        on = list(tile) if live is None else extents(np.broadcast_to(live[:1], (1, *tile))[0])
        op = id(state.op)
        key = self._keys.setdefault((op, source.buffer.index), (
            access, state.op.place if state.op else Location(), source.buffer.index, tile))
        known = self._seen.get(key)
        # Only the first programs are seen: a mask may cut lanes of later ones. One such lane is enough.
        cut = access != "load" and ((known is not None and known["cut"]) or math.prod(state.grid) > state.count or (
            live is not None and _cuts_lanes(offsets, live, state.active, source.buffer.raw.size // max(1, width))))
        skipped = state.active is not None and not state.active.all()
        if known is not None:
            known["cut"], known["skipped"] = cut, known["skipped"] or skipped
            before, latest = self._latest[key]
            if known["times"] == 1:
                known["loop_stride"] = first - known["first"]
            elif op != before and first - latest != known["loop_stride"]:
                known["loop_stride"] = None
            known["times"] += 1
            known["last"] = on
            self._latest[key] = op, first
        elif len(self._seen) < MOST:
            self._latest[key] = op, first
            x, y, z = state.grid
            starts = np.broadcast_to(base.reshape(len(base), -1)[:, 0], state.count)
            apart = [np.diff(starts[: number * size : number]) for number, size in ((1, x), (x, y), (x * y, z))]
            self._seen[key] = {
                "access": access, "kernel": state.kernel[:200], "line": state.line(), "tensor": source.name[:200],
                "buffer": source.buffer.index, "grid": state.grid, "tile": list(tile), "first": first,
                "lane_strides": _lane_strides(offsets, len(tile)),
                **placed(apart, state.grid),
                "loop_stride": None, "times": 1, "live": on, "last": on, "width": width, "cut": cut, "skipped": skipped}


def _cuts_lanes(offsets: Array | Ramp, live: Array, active: Array | None, elements: int) -> bool:
    """Return whether a mask switches off lanes of active programs that lie inside a tensor of `elements` elements."""
    places = plain(offsets)
    off = ~live & (places >= 0) & (places < elements)
    return bool((off if active is None else off & active.reshape((-1,) + (1,) * (off.ndim - 1))).any())


def _lane_strides(offsets: Array | Ramp, rank: int) -> list[int | None]:
    """Return the distance of program 0's neighbouring lanes along each dimension, None if it varies."""
    base = offsets.base if isinstance(offsets, Ramp) else offsets
    distances: list[int | None] = []
    for axis in range(rank):
        apart = np.diff(base[0], axis=axis).reshape(-1) if base.ndim == rank + 1 else np.zeros(0, np.int64)
        if isinstance(offsets, Ramp) and axis == rank - 1:
            distances.append(1)
        else:
            distances.append(distance(apart))
    return distances


class TileMeter(Meter):
    """A meter of accesses to tiles."""

    def counts_alone(self, kernel: Kernel) -> bool:
        """Return whether to run a kernel without the operations that only its answer needs. A run that asks only for
        the bytes of the output is followed by a full run, so it leaves operations out only in kernels with products,
        which take most time."""
        return self.counts and (self._watch.touched != "output" or "tt.dot" in kernel.text)

    def access(
        self, state: State, access: Kind, source: Origin, size: int, offsets: Array | Ramp, live: Array | None,
        active: Array | None,
    ) -> None:
        """Count an access to elements of `size` bytes. `live` are the lanes of `active` programs that are on and lie
        inside the tensor."""
        to_output = access != "load" and source.buffer.given == self._output
        if self._watch.touched == "output" and not to_output:
            return
        shape = np.broadcast_shapes(offsets.shape, (1,) if live is None else live.shape)[1:]
        index, owners = flat(state, live, shape, plain(offsets))
        begins, numbers = index * size, owners - 1
        if to_output:
            self.remember(state.place, begins, numbers)
        if self.counts:
            lanes = (state.count if active is None else int(active.sum())) * prod(shape)
            self.count(access, state.line(), source.name, source.buffer.given, begins, numbers, size, lanes)
