"""The state that instructions work on: threads, and the memory that they see."""

from __future__ import annotations

from dataclasses import dataclass

from grader.plan.limits import Budget
from grader.simulation.findings import Findings
from grader.simulation.ptx.memory import Spaces
from grader.simulation.ptx.sums import Sums
from grader.simulation.ptx.threads import Threads
from grader.simulation.ptx.types import Array


@dataclass(frozen=True)
class Grid:
    """Shape of a launch: blocks of the grid, threads of a block, bytes of dynamic shared memory."""

    blocks: tuple[int, int, int]
    threads: tuple[int, int, int]
    shared: int = 0

    @property
    def block(self) -> int:
        return self.threads[0] * self.threads[1] * self.threads[2]


class ChunkState(Threads):
    def __init__(self, grid: Grid, spaces: Spaces, budget: Budget, findings: Findings, kernel: str) -> None:
        super().__init__(budget, findings, kernel, grid.blocks)
        self.grid, self.spaces = grid, spaces
        self.sums = Sums()

    def arrive(self, number: int, mask: Array) -> None:
        """Record threads, a mask of the whole chunk, that arrive at a barrier without waiting."""
        raise NotImplementedError
