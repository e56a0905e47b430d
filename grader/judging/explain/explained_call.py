"""A call that was run, with facts that explain its answer: its operations, its tensors, and its loads and stores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.course.assignment import Assignment
from grader.course.cases import Case, dtype_of
from grader.course.parameters import Input, Scalar, extents, names_in
from grader.judging.explain.accesses import Layout, TensorAccess, merge_threads
from grader.judging.explain.wording import phrases_of, place
from grader.judging.running.simulation import CallResult
from grader.languages.phrases import Phrases
from grader.plan.findings import Access
from grader.plan.plan import ITEM_BYTES, Copy, Launch, Operation, Plan
from grader.results.result import Place


@dataclass(frozen=True)
class ExplainedCall:
    """A call of a case: `number` is 0 for the first call of the `plan`, 1 for the steady one. `result` is the run's
    outcome; `source` is the student's file."""

    assignment: Assignment
    case: Case
    plan: Plan
    number: int
    result: CallResult
    source: str = ""

    @property
    def output(self) -> str:
        return self.assignment.output.name

    @cached_property
    def words(self) -> Phrases:
        return phrases_of(self.assignment, self.source)

    @cached_property
    def operations(self) -> Sequence[Operation]:
        return self.plan.call(self.number)

    @cached_property
    def launches(self) -> list[Launch]:
        return [operation for operation in self.operations if isinstance(operation, Launch)]

    @cached_property
    def outputs(self) -> set[int]:
        """Return the numbers of the buffers that hold the output."""
        return {number for number, buffer in enumerate(self.plan.buffers) if buffer.given == self.output}

    @cached_property
    def accesses(self) -> list[TensorAccess]:
        """Return the loads and stores of tensors whose layout is known, except those that threads make in a loop."""
        # The rounds of a thread's loop need not be those of the file: a compiler merges several.
        return [access for access in self.every_access if access.access.times == 1 or not self.words.threads]

    @cached_property
    def every_access(self) -> list[TensorAccess]:
        """Return the loads and stores of tensors whose layout is known."""
        launches = {(self.plan.kernels[launch.kernel].name, launch.grid): launch for operations in self.plan.calls()
                    for launch in operations if isinstance(launch, Launch)}
        numbers = any(isinstance(p, Input) and p.dtype in ("int64", "int32", "int16")
                      for p in self.assignment.parameters)
        known = self._layouts()
        accesses = [merge_threads(access) for access in self.result.accesses if access.line] if (
            self.words.threads) else [(access, 1) for access in self.result.accesses]
        return [TensorAccess(access, known[access.buffer], self.case.sizes, launches[access.kernel, access.grid].line,
                             self.source, self.words, several, numbers and not access.even)
                for access, several in accesses if access.buffer in known and (access.kernel, access.grid) in launches
                and all(access.live) and not self._in_parts(access)]

    def _in_parts(self, access: Access) -> bool:
        """Return whether each lane takes a part of an element, as compiled code does for the low half of an int64."""
        given = self.plan.buffers[access.buffer].given
        kept = next((p for p in self.assignment.parameters if p.name == given and not isinstance(p, Scalar)), None)
        return kept is not None and 0 < access.width < ITEM_BYTES[dtype_of(kept, self.case)]

    def place(self, line: int) -> Place | None:
        """Return the place of a line in the student's file; None for line 0, which stands for an unknown line."""
        return place(self.assignment, self.source, line)

    def _layouts(self) -> dict[int, Layout]:
        """Return the layouts of the parameters' tensors, and of whole copies of them, by buffer."""
        known: dict[int, Layout] = {}
        for parameter in self.assignment.parameters:
            if isinstance(parameter, Scalar) or len(parameter.shape) not in (1, 2) or (
                parameter.name in self.case.strides) or any(
                names_in(extent) not in ((), (extent,)) for extent in parameter.shape):
                continue
            *down, across = extents(parameter, self.case.sizes)
            names = [str(name) for name in parameter.shape]
            layout = Layout(parameter.name, parameter.kind != "input", "".join(names[:-1]), names[-1],
                            math.prod(down), across)
            known |= {number: layout for number, buffer in enumerate(self.plan.buffers)
                      if buffer.given == parameter.name}
        for copy in self.operations:
            if isinstance(copy, Copy) and not copy.backwards and (copied := known.get(copy.source.buffer)) is not None:
                whole = copied.total * ITEM_BYTES[copy.source.dtype]
                ends = (self.plan.buffers[end.buffer].bytes for end in (copy.source, copy.target))
                if set(ends) == {whole}:
                    known.setdefault(copy.target.buffer, copied)
        return known
