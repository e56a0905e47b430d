"""A loop whose loads a GPU's compiler makes rounds ahead."""

from __future__ import annotations

from collections import deque

from grader.frontends.triton.simulator.pointers import Storage
from grader.frontends.triton.simulator.text import Op
from grader.frontends.triton.simulator.types import Array


class Pipeline:
    """A loop whose loads may be made rounds ahead, before the stores of the rounds between.

    `loads` are those that a GPU's compiler makes early: all of blocks where the loop says how many stages it has, else
    those that end in a product.
    """

    def __init__(self, op: Op, stages: int) -> None:
        explicit = int(op.attribute("tt.num_stages")) if "tt.num_stages" in op.body else 0
        stages = explicit or stages
        self.loads: set[Op] = op.early if stages > 1 else set()
        self.stored: set[int] = set()
        self._before: deque[dict[int, Array]] = deque(maxlen=max(1, stages))

    def begin(self) -> None:
        """Another round begins."""
        self._before.append({})

    def keep(self, buffer: Storage, copied: bool) -> None:
        """Before a store: takes note of it and, where that is asked for, of what the buffer holds."""
        self.stored.add(buffer.index)
        if copied and self._before and buffer.index not in self._before[-1]:
            self._before[-1][buffer.index] = buffer.raw.copy()

    def early(self, buffer: Storage) -> Storage:
        """The buffer as the load of this round finds it that is made as early as can be."""
        old = next((each[buffer.index] for each in self._before if buffer.index in each), None)
        return buffer if old is None else Storage(buffer.index, old, None, buffer.given)
