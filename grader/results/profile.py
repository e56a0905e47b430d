"""A kernel's profile: what NVIDIA's Nsight Compute counts in each launch of a plan."""

from __future__ import annotations

from pydantic import Field

from grader.results.record import Record

NO_GPU = "Not profiled: the machine that graded it has no GPU."


class LaunchProfile(Record):
    """A launch's counters, None where the device has none: shares in percent of the device's sustained peak; `moved`,
    the bytes read from and written to device memory; `stalls`, the reasons for which warps wait, each with its share of
    all waiting in percent, the greatest first."""

    kernel: str
    microseconds: float | None
    moved: float | None
    dram: float | None
    sm: float | None = None
    occupancy: float | None
    tensor: float | None = None
    stalls: dict[str, float] = {}


class KernelProfile(Record):
    """The profile of a kernel at a case, or the `trouble` because of which there is none. `report` is the file that
    Nsight Compute opens, and no part of the JSON."""

    case: str = ""
    launches: list[LaunchProfile] = []
    trouble: str = ""
    report: bytes = Field(default=b"", exclude=True)
