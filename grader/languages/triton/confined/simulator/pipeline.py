"""A loop whose loads a GPU's compiler may make some iterations ahead."""

from __future__ import annotations

from collections import deque

from grader.languages.triton.confined.simulator.pointers import Storage
from grader.languages.triton.confined.simulator.text import Op
from grader.languages.triton.confined.simulator.types import Array


class Pipeline:
    """A loop under way. Its `loads` may be made some iterations ahead, before the stores of the iterations between.

    `loads` are all loads of blocks if the loop states a number of stages, else the loads that lead to a product.
    """

    def __init__(self, op: Op, stages: int) -> None:
        explicit = int(op.attribute("tt.num_stages")) if "tt.num_stages" in op.body else 0
        stages = explicit or stages
        self.loads: set[Op] = op.early if stages > 1 else set()
        self.stored: set[int] = set()
        self._before: deque[dict[int, Array]] = deque(maxlen=max(1, stages))

    def begin(self) -> None:
        """Begin another iteration."""
        self._before.append({})

    def keep(self, buffer: Storage, copied: bool) -> None:
        """Note a store before it is made. With `copied`, copy the buffer's contents first."""
        self.stored.add(buffer.index)
        if copied and self._before and buffer.index not in self._before[-1]:
            self._before[-1][buffer.index] = buffer.raw.copy()

    def early(self, buffer: Storage) -> Storage:
        """Return the buffer as it was when the load of this iteration could be made at the earliest."""
        old = next((each[buffer.index] for each in self._before if buffer.index in each), None)
        return buffer if old is None else Storage(buffer.index, old, None, buffer.given)
