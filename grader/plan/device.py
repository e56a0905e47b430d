"""What a submission is told about its GPU, and what a launch may ask of one: the same with a GPU and without."""

from __future__ import annotations

from grader.plan.plan import Name, Shaped, Size


class Device(Shaped):
    """Properties of a CUDA device, under the names of `torch.cuda.get_device_properties`. Sizes in bytes.

    Source: "Compute Capabilities" in the CUDA C++ Programming Guide, and what H100 and H200 report of themselves.
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
        """As compilers name it: `sm_90`."""
        return f"sm_{self.major}{self.minor}"

    @property
    def granule(self) -> int:
        """Bytes that a descriptor's store writes as a whole, also where its tensor ends within them; 0: no more than
        the tensor. Seen on H200; Triton's issue 11583 reports it."""
        return 16 if self.major >= 9 else 0


# "Technical Specifications per Compute Capability" in the guide: programs that a multiprocessor holds at most, shared
# memory that the system takes of each, and the step in which registers are given to a warp.
MOST_RESIDENT, RESERVED_SHARED, REGISTER_STEP = 32, 1024, 8


def resident(device: Device, threads: int, registers: int, shared: int) -> tuple[int, str]:
    """How many programs of so many threads, registers a thread and bytes of shared memory a multiprocessor holds at a
    time, and what bounds them. Spilled registers are none. 0 programs: it holds none."""
    registers = -(-max(registers, 1) // REGISTER_STEP) * REGISTER_STEP
    bounds = {
        "threads": device.max_threads_per_multi_processor // threads,
        "registers": device.regs_per_multiprocessor // (registers * threads),
        "shared memory": device.shared_memory_per_multiprocessor // (shared + RESERVED_SHARED),
        "the number of programs": MOST_RESIDENT,
    }
    fewest = min(bounds.values())
    return fewest, " and ".join(name for name, most in bounds.items() if most == fewest)


MOST_GRID = (2**31 - 1, 65_535, 65_535)
"""Programs of a grid along x, y and z: "Maximum x-, y-, z-dimension of a grid of thread blocks" in the guide."""

TARGETS = {
    "sm_80": Device(
        name="NVIDIA A100-SXM4-80GB", major=8, minor=0, multi_processor_count=108, total_memory=80 << 30,
        l2_cache_size=40 << 20, shared_memory_per_block_optin=166_912, shared_memory_per_multiprocessor=167_936,
        clock_rate_khz=1_410_000, memory_clock_rate_khz=1_593_000),
    "sm_90": Device(
        name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=140 << 30,
        l2_cache_size=60 << 20, shared_memory_per_block_optin=232_448, shared_memory_per_multiprocessor=233_472),
}  # fmt: skip
"""Stand-ins where no GPU is at hand, by `[gpu] target` of course.toml."""
