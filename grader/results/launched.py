"""The facts of an inspection: a call's launches with their loads, stores and kernels, and figures that summarise
them."""

from __future__ import annotations

from typing import Literal

from grader.plan.device import TENSOR_CORES, TensorCores, better_cores
from grader.results.record import Record

TENSOR_INSTRUCTIONS = tuple(cores.instruction for cores in TENSOR_CORES)
"""The prefixes of PTX instructions that use tensor cores."""


class AccessFacts(Record):
    """A load or store of a kernel, summed over the counted programs. `lanes` is the number of lanes, of which a mask
    switches off `masked`. `needed` are the bytes of the other lanes' elements. `moved` are the bytes of the 32-byte
    sectors that hold these elements; each execution counts a sector once. `widths` counts instructions by the bits that
    a thread moves with one of them."""

    access: Literal["load", "store", "atomic"]
    line: int
    tensor: str
    lanes: int
    masked: int
    needed: int
    moved: int
    widths: dict[int, int] = {}


class WarpAccessFacts(Record):
    """Accesses of warps by the instructions of a line, in `requests`: see `grader.plan.traffic.WarpAccess`."""

    space: Literal["global", "shared"]
    access: Literal["load", "store", "atomic"]
    line: int
    tensor: str
    requests: int
    parts: int
    least: int
    wasteful: int
    worst: int


class BranchFacts(Record):
    """Conditional branches of a line, by warps: at `divergent` ones, lanes of the warp part."""

    line: int
    branches: int
    divergent: int


class WarpFacts(Record):
    """The work of a launch's warps, over the counted programs: see `grader.plan.traffic.WarpTraffic`."""

    counted: int
    cut: bool = False
    full: bool = False
    accesses: list[WarpAccessFacts] = []
    branching: list[BranchFacts] = []
    multiply_adds: int = 0
    tensor_multiply_adds: int = 0
    barriers: int = 0
    local: int = 0


class CopyFacts(Record):
    """A copy of `bytes` by the host's code, from one place to another: "host", "pinned" (memory of the host that a GPU
    reaches) or "device"; the source of a fill is "fill"."""

    line: int
    bytes: int
    source: str
    target: str


class LaunchFacts(Record):
    """A launch of a kernel, and what it takes on the course's GPU. `counted` is the number of programs that were run.
    `cut`: the programs take too long to be run to their ends, and no later launch was run. `resident` is the number of
    programs that a multiprocessor holds at a time; `bound` names what limits it. `occupancy` is the share of the
    multiprocessor's threads that they have. `products`: the kernel multiplies matrices. `unit` is the language's word
    for a program. `warps` is None where warps were not counted."""

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
    unit: str = "program"
    accesses: list[AccessFacts] = []
    warps: WarpFacts | None = None

    @property
    def scale(self) -> float:
        """Return the factor from counted programs to all programs; only a lower bound if the launch is `cut`."""
        programs = self.grid[0] * self.grid[1] * self.grid[2]
        return programs / self.counted if self.counted else 0


class Figures(Record):
    """The totals of a call's launches. Bytes are sums of AccessFacts over all programs; every other figure is the
    worst of all launches. `bits` is the smallest width that moves a tenth of the bytes or more, 0 where the copy engine
    moves them."""

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
    """The launches of a timed case, as the memory system and the compiler see them, and the copies of the host's code.
    `good` are the figures of a good kernel for the same case and GPU, if known. The GPU has this many
    `multiprocessors`; 0 if that is not known."""

    case: str
    sizes: dict[str, int]
    target: str
    multiprocessors: int = 0
    launches: list[LaunchFacts]
    copies: list[CopyFacts] = []
    good: Figures | None = None

    @property
    def cut(self) -> bool:
        """Return whether a launch was cut: then facts are missing."""
        return any(launch.cut for launch in self.launches)

    def better_cores(self, launch: LaunchFacts) -> TensorCores | None:
        """Return the target's tensor cores if they are newer than the launch's."""
        return better_cores(self.target, launch.tensor_cores)

    @property
    def figures(self) -> Figures:
        every = [(access, launch.scale) for launch in self.launches for access in launch.accesses]
        moved = sum(access.moved * scale for access, scale in every)
        wide = [min(access.widths) for access, scale in every if access.widths and 10 * access.moved * scale >= moved]
        return Figures(
            target=self.target, launches=len(self.launches), moved=moved,
            needed=sum(access.needed * scale for access, scale in every), bits=min(wide, default=0),
            registers=max((launch.registers for launch in self.launches), default=0),
            spills=max((launch.spills for launch in self.launches), default=0),
            shared=max((launch.shared for launch in self.launches), default=0),
            tensor_cores=next(
                (launch.tensor_cores for launch in self.launches if launch.tensor_cores != "none"), "none"),
            occupancy=min((launch.occupancy for launch in self.launches), default=0))
