"""The properties of a GPU that a submission sees, and the limits of a launch: the same with a GPU and without.

A generation of GPUs is a row of `GENERATIONS`; `[gpu] target` of course.toml names it in a comment.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.plan.plan import Name, Size, StrictModel


class Device(StrictModel):
    """Properties of a CUDA device, under the names of `torch.cuda.get_device_properties`. Sizes in bytes.

    Source: "Compute Capabilities" in the CUDA C++ Programming Guide, and the properties that H100 and H200 report.
    """

    name: Name
    major: Size
    minor: Size
    multi_processor_count: Size
    total_memory: Size
    l2_cache_size: Size
    warp_size: Size = 32
    max_threads_per_multi_processor: Size = 2048
    regs_per_multiprocessor: Size = 65_536
    shared_memory_per_block: Size = 49_152
    shared_memory_per_block_optin: Size
    shared_memory_per_multiprocessor: Size
    clock_rate_khz: Size = 1_980_000
    memory_clock_rate_khz: Size = 2_619_000
    memory_bus_width: Size = 5120

    @property
    def target(self) -> str:
        """Return the compilers' name for the device: `sm_90`."""
        return f"sm_{self.major}{self.minor}"

    @property
    def generation(self) -> Generation:
        """Return the newest generation that is not newer than the device; the oldest, if all are newer."""
        before = [row for row in GENERATIONS if row.capability <= (self.major, self.minor)]
        return before[-1] if before else GENERATIONS[0]


def with_features(target: str) -> str:
    """Return a target with the instructions that no later GPU has, such as wgmma: `sm_90a` for `sm_90`. A target before
    `sm_90` has no such instructions and stays as it is.

    Source: "Architecture-specific Compiler Targets" in the CUDA C++ Programming Guide.
    """
    return f"{target}a" if int(target.removeprefix("sm_")) >= 90 else target


@dataclass(frozen=True)
class TensorCores:
    """A kind of tensor cores. `name` is the name of its instructions, which begin with `instruction` in PTX. `takes`
    says in words which products of tiles the compiler computes on these tensor cores."""

    name: str
    instruction: str
    takes: str = ""


MMA = TensorCores("mma", "mma.sync")
WGMMA = TensorCores("wgmma", "wgmma.mma_async", takes="tiles of 64 rows or more, and four warps or more")
TCGEN05 = TensorCores("tcgen05", "tcgen05.mma", takes="tiles of 64 rows or more, and four or eight warps")
TENSOR_CORES = (TCGEN05, WGMMA, MMA)
"""The fastest kind first. Generations may share a kind, and a newer generation may have a slower kind."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """A generation of GPUs.

    `granule`: bytes that a descriptor's store writes as a whole, even if its tensor ends within them; 0 if descriptors
    are plain loads and stores, which write no more than the tensor. Seen on H200; Triton's issue 11583 reports it.
    `clusters`: whether launches may have clusters of programs, and may begin before the launch in front of them ends.

    From "Technical Specifications per Compute Capability" in the guide: a multiprocessor holds at most
    `max_blocks_per_multiprocessor` programs; for each of them the system takes `reserved_shared_memory_per_block` bytes
    of shared memory; a warp gets registers in units of `register_allocation_unit` for a thread, all from one of
    `register_files`. `device` is a GPU of this generation, which stands in where no GPU is at hand.
    """

    granule: int
    clusters: bool
    tensor_cores: TensorCores
    max_blocks_per_multiprocessor: int = 32
    reserved_shared_memory_per_block: int = 1024
    register_allocation_unit: int = 8
    register_files: int = 4
    device: Device

    @property
    def capability(self) -> tuple[int, int]:
        return self.device.major, self.device.minor

    @property
    def descriptors(self) -> bool:
        """Return whether the GPU itself has descriptors; else they are compiled to plain loads and stores."""
        return self.granule > 0


GENERATIONS = (
    Generation(
        granule=0, clusters=False, tensor_cores=MMA,
        device=Device(
            name="NVIDIA A100-SXM4-80GB", major=8, minor=0, multi_processor_count=108, total_memory=80 << 30,
            l2_cache_size=40 << 20, shared_memory_per_block_optin=166_912, shared_memory_per_multiprocessor=167_936,
            clock_rate_khz=1_410_000, memory_clock_rate_khz=1_593_000)),
    Generation(
        granule=16, clusters=True, tensor_cores=WGMMA,
        device=Device(
            name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=140 << 30,
            l2_cache_size=60 << 20, shared_memory_per_block_optin=232_448, shared_memory_per_multiprocessor=233_472)),
    # Limits of a multiprocessor: arch_traits.h of CCCL 3, and cuda_occupancy.h of CUDA 13.2. Sizes and clocks are what
    # owners of the two report: pytorch/ao's pull request 4002 (B200), huggingface/kernels' 283 (GB10).
    Generation(
        granule=16, clusters=True, tensor_cores=TCGEN05,
        device=Device(
            name="NVIDIA B200", major=10, minor=0, multi_processor_count=148, total_memory=178 << 30,
            l2_cache_size=126 << 20, shared_memory_per_block_optin=232_448, shared_memory_per_multiprocessor=233_472,
            clock_rate_khz=1_965_000, memory_clock_rate_khz=3_996_000, memory_bus_width=7680)),
    # Blackwell without tensor memory: its products are mma.sync. Memory is the host's, at 273 GB/s.
    Generation(
        granule=16, clusters=True, tensor_cores=MMA, max_blocks_per_multiprocessor=24,
        device=Device(
            name="NVIDIA GB10", major=12, minor=1, multi_processor_count=48, total_memory=121 << 30,
            l2_cache_size=24 << 20, max_threads_per_multi_processor=1536, shared_memory_per_block_optin=101_376,
            shared_memory_per_multiprocessor=102_400, clock_rate_khz=2_418_000, memory_clock_rate_khz=4_266_000,
            memory_bus_width=256)),
)  # fmt: skip
"""The oldest generation first."""

BY_TARGET = {row.device.target: row for row in GENERATIONS}
"""The generations by their targets, which `[gpu] target` of course.toml names."""
TARGETS = {target: row.device for target, row in BY_TARGET.items()}
DEFAULT_TARGET = "sm_90"


def tensor_cores(ptx: str) -> str:
    """Return the name of the fastest tensor cores that a kernel's PTX uses, or "none"."""
    return next((cores.name for cores in TENSOR_CORES if cores.instruction in ptx), "none")


def better_cores(target: str, used: str) -> TensorCores | None:
    """Return the target's tensor cores if they are faster than those that a kernel has `used`; else None, also for a
    kernel that uses none."""
    if target not in BY_TARGET:
        return None
    own = BY_TARGET[target].tensor_cores
    slower = {cores.name for cores in TENSOR_CORES[TENSOR_CORES.index(own) + 1 :]}
    return own if used in slower else None


def occupancy(device: Device, threads: int, registers: int, shared: int) -> tuple[int, tuple[str, ...]]:
    """Return the number of programs that a multiprocessor holds at a time, 0 if not even one fits, and the names of the
    resources that bound it.

    A program has `threads`, `registers` for each thread, spilled ones not counted, and `shared` bytes of shared memory.
    Source: NVIDIA's cuda_occupancy.h. Registers belong to the parts of a multiprocessor, and each part has warps of its
    own; a launch is checked as if a block's warps were spread over all parts.
    """
    row = device.generation
    unit, parts = row.register_allocation_unit, row.register_files
    warps = -(-threads // device.warp_size)
    of_warp = -(-max(registers, 1) // unit) * unit * device.warp_size
    fits = -(-warps // parts) * parts * of_warp <= device.regs_per_multiprocessor
    bounds = {
        "threads": device.max_threads_per_multi_processor // (warps * device.warp_size),
        "registers": device.regs_per_multiprocessor // parts // of_warp * parts // warps if fits else 0,
        "shared": device.shared_memory_per_multiprocessor // (shared + row.reserved_shared_memory_per_block),
        "programs": row.max_blocks_per_multiprocessor,
    }
    fewest = min(bounds.values())
    return fewest, tuple(name for name, most in bounds.items() if most == fewest)


MAX_GRID = (2**31 - 1, 65_535, 65_535)
"""The most programs of a grid along x, y and z: "Maximum x-, y-, z-dimension of a grid of thread blocks" in the guide.
"""
