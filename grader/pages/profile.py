"""A kernel's profile as a table's cells, for terminals and pages."""

from __future__ import annotations

from grader.pages.text import figure
from grader.results.profile import LaunchProfile

HEADINGS = ("kernel", "µs", "MB moved", "of DRAM's peak", "of the SMs' peak", "occupancy", "warps wait for")
MOST_REASONS = 3


def cells(launch: LaunchProfile) -> tuple[str, ...]:
    """Return a launch's cells under HEADINGS."""
    moved = None if launch.moved is None else launch.moved / 1e6
    waits = ", ".join(f"{reason} {share:.0f} %" for reason, share in [*launch.stalls.items()][:MOST_REASONS])
    return (launch.kernel, figure(launch.microseconds), figure(moved), _percent(launch.dram), _percent(launch.sm),
            _percent(launch.occupancy), waits or "–")


def words(launch: LaunchProfile) -> str:
    """Describe a launch in a line."""
    _, time, moved, dram, sm, occupancy, waits = cells(launch)
    tensor = "" if launch.tensor is None else f", tensor cores {_percent(launch.tensor)}"
    return (f"{time} µs, memory at {dram} of its peak, SMs at {sm}, occupancy {occupancy}{tensor}, warps wait for "
            f"{waits}, {moved} MB moved")


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0f} %"
