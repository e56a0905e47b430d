"""The tensors of a call as its kernels see them: which buffer holds which, and how far its elements lie apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from grader.judge.explain.evidence import plural
from grader.model.assignment import Assignment, Scalar, extents
from grader.plan.plan import ITEM_BYTES, Copy, Plan


@dataclass(frozen=True)
class Layout:
    """A contiguous tensor of `rows` x `columns`, `down` and `across` by name; a vector is one row, and `down` is ""."""

    name: str
    is_output: bool
    down: str
    across: str
    rows: int
    columns: int

    @property
    def total(self) -> int:
        return self.rows * self.columns

    @property
    def is_matrix(self) -> bool:
        return min(self.rows, self.columns) > 1

    @property
    def text(self) -> str:
        """Where an element lies."""
        if not self.down:
            return f"Element i of {self.name} lies at i."
        return f"Element (i, j) of {self.name}, {self.down} x {self.across}, lies at i * {self.across} + j."

    def distance(self, elements: int) -> str:
        """ "2 rows and 3 columns" """
        if not self.is_matrix or elements < 0:
            return plural(elements, "element")
        down, across = divmod(elements, self.columns)
        parts = [plural(count, unit) for count, unit in ((down, "row"), (across, "column")) if count]
        return " and ".join(parts) or "nothing"


def layouts(assignment: Assignment, sizes: Mapping[str, int], plan: Plan, call: int) -> dict[int, Layout]:
    """The parameters' tensors by their buffers, and whole copies of them that host code made."""
    known: dict[int, Layout] = {}
    for parameter in assignment.parameters:
        if isinstance(parameter, Scalar) or len(parameter.shape) > 2:
            continue
        *down, across = extents(parameter, sizes)
        names = [str(name) for name in parameter.shape]
        layout = Layout(parameter.name, parameter.kind == "output", "".join(names[:-1]), names[-1], math.prod(down),
                        across)
        known |= {number: layout for number, buffer in enumerate(plan.buffers) if buffer.given == parameter.name}
    for operation in plan.calls()[min(call, len(plan.calls()) - 1)]:
        if isinstance(operation, Copy) and (copied := known.get(operation.source.buffer)) is not None:
            whole = copied.total * ITEM_BYTES[operation.source.dtype]
            if plan.buffers[operation.target.buffer].bytes == whole == plan.buffers[operation.source.buffer].bytes:
                known.setdefault(operation.target.buffer, copied)
    return known
