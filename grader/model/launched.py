"""What an inspection knows of a call's launches: facts of loads, stores and kernels, and what they come to."""

from __future__ import annotations

from typing import Literal

from grader.model.record import Record
from grader.plan.device import TENSOR_CORES, TensorCores, better_cores

TENSOR_INSTRUCTIONS = tuple(one.instruction for one in TENSOR_CORES)
"""What instructions of tensor cores begin with in PTX."""


class AccessFacts(Record):
    """A load or store of a kernel, by the programs that were counted. `masked` of `lanes` a mask switched off; `needed`
    are the bytes of the elements that are left, `moved` those of the 32-byte sectors that hold them, each once a
    program and time. `widths` count instructions by the bits that a thread moves with one."""

    access: Literal["load", "store", "atomic"]
    line: int
    tensor: str
    lanes: int
    masked: int
    needed: int
    moved: int
    widths: dict[int, int] = {}


class LaunchFacts(Record):
    """A launch of a kernel, `counted` of whose programs were run, and what it takes on the course's GPU. `cut`: they
    take too long to be run to their ends, and no launch after it was seen. `resident` are
    the programs that a multiprocessor holds at a time, as far as `bound` lets it; `occupancy` is the share of its
    threads that they have. `products` tells whether the kernel multiplies matrices."""

    kernel: str
    line: int
    grid: list[int]
    counted: int
    cut: bool = False
    threads: int
    registers: int
    spills: int
    shared: int
    tensor_cores: str = ""
    copies: str = ""
    products: bool = False
    resident: int = 0
    bound: str = ""
    occupancy: float = 0
    accesses: list[AccessFacts] = []

    @property
    def scale(self) -> float:
        """What figures of the programs counted are to be multiplied by for those of all, or more if it is cut."""
        programs = self.grid[0] * self.grid[1] * self.grid[2]
        return programs / self.counted if self.counted else 0


class Figures(Record):
    """What the launches of a call come to: bytes as of AccessFacts, for all programs; of the other figures the worst,
    of widths (bits) the smallest that moves a tenth of the bytes or more, 0 where the copy engine moves them."""

    target: str
    launches: int
    needed: float
    moved: float
    bits: int
    registers: int
    spills: int
    shared: int
    tensor_cores: str = ""
    occupancy: float


class Inspection(Record):
    """What the memory system and the compiler see of the launches of a timed case, and the figures of a good kernel, if
    there are any for the same case and GPU, which has so many `multiprocessors`; 0 if that is not known."""

    case: str
    sizes: dict[str, int]
    target: str
    multiprocessors: int = 0
    launches: list[LaunchFacts]
    good: Figures | None = None

    @property
    def cut(self) -> bool:
        """Whether there is more than is known."""
        return any(one.cut for one in self.launches)

    def better_cores(self, launch: LaunchFacts) -> TensorCores | None:
        """Newer tensor cores that the target has than those that the launch uses, if it uses any."""
        return better_cores(self.target, launch.tensor_cores)

    @property
    def figures(self) -> Figures:
        every = [(each, one.scale) for one in self.launches for each in one.accesses]
        moved = sum(each.moved * scale for each, scale in every)
        wide = [min(each.widths) for each, scale in every if each.widths and 10 * each.moved * scale >= moved]
        return Figures(
            target=self.target, launches=len(self.launches), moved=moved,
            needed=sum(each.needed * scale for each, scale in every), bits=min(wide, default=0),
            registers=max((one.registers for one in self.launches), default=0),
            spills=max((one.spills for one in self.launches), default=0),
            shared=max((one.shared for one in self.launches), default=0),
            tensor_cores=next((one.tensor_cores for one in self.launches if one.tensor_cores != "none"), "none"),
            occupancy=min((one.occupancy for one in self.launches), default=0))
