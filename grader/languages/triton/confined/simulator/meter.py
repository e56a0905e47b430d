"""Meter of the loads and stores of programs, for runs with a `Watch`."""

from __future__ import annotations

from math import prod

import numpy as np

from grader.languages.triton.confined.simulator.pointers import Origin
from grader.languages.triton.confined.simulator.ramps import Ramp, plain
from grader.languages.triton.confined.simulator.state import State, flat
from grader.languages.triton.confined.simulator.types import Array
from grader.plan.plan import Kernel
from grader.plan.traffic import Kind
from grader.simulation.metering import Meter


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
