"""The launches that a device starts, and how many of their programs it holds at a time, by their resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal

from grader import frontends
from grader.plan.compiled import Facts
from grader.plan.device import Device, occupancy
from grader.plan.plan import Kernel, Launch, Line, Plan

MOST_REGISTERS = 255
"""The most registers of a thread: "Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide.
"""


@dataclass(frozen=True)
class TooManyRegisters:
    """A launch of blocks of `threads` that take `registers` each, which are more in all than a block can have."""

    kernel: str
    line: Line
    threads: int
    registers: int
    most: int
    failure: Literal["runtime_error"] = "runtime_error"


@dataclass(frozen=True)
class TooManyTogether:
    """A cooperative launch of more programs than the device holds at a time, with so many `registers` for each thread,
    or however few they take (0)."""

    kernel: str
    line: Line
    option: str
    programs: int
    most: int
    registers: int = 0
    failure: Literal["runtime_error"] = "runtime_error"


def misfit(
    launch: Launch, kernel: Kernel, device: Device, facts: Facts | None = None
) -> TooManyTogether | TooManyRegisters | None:
    """Return why a device does not start a launch. The `facts` of its machine code say what registers and shared memory
    a program takes beside what the launch asks for; without them it has only its threads."""
    registers = 0 if facts is None else facts.registers
    if registers and not occupancy(device, launch.threads, registers, 0)[0]:
        return TooManyRegisters(kernel.name, launch.line, launch.threads, registers, device.regs_per_multiprocessor)
    most = _resident(launch, device, facts)
    if not launch.cooperative or prod(launch.grid) * launch.cluster <= most:
        return None
    return TooManyTogether(
        kernel.name, launch.line, frontends.of(kernel).launch_options["cooperative"], prod(launch.grid),
        most // launch.cluster, registers)


def tight_kernels(plan: Plan, device: Device) -> list[Kernel]:
    """Return the kernels of a plan by whose number of registers it is decided whether a device starts their launches,
    or how long these wait."""
    return [plan.kernels[number] for number in dict.fromkeys(
        one.kernel for one in _launches(plan) if one.cooperative or "waits" in _traits(plan, one) or (
            "unbounded" in _traits(plan, one) and not occupancy(device, one.threads, MOST_REGISTERS, 0)[0]))]


def misfits(
    plan: Plan, device: Device, facts: Mapping[int, Facts]
) -> Iterator[TooManyTogether | TooManyRegisters]:
    """Yield why the device does not start launches of a plan. `facts` are those of its kernels, by their numbers."""
    for one in _launches(plan):
        if (found := misfit(one, plan.kernels[one.kernel], device, facts.get(one.kernel))) is not None:
            yield found


def waits(plan: Plan, device: Device, facts: Mapping[int, Facts]) -> bool:
    """Return whether programs of a launch may wait for later ones, where the device holds fewer at a time than their
    threads alone would let it."""
    return any(
        "waits" in _traits(plan, one) and not one.cooperative
        and _resident(one, device, facts.get(one.kernel)) < min(prod(one.grid), _resident(one, device))
        for one in _launches(plan))


def _launches(plan: Plan) -> list[Launch]:
    return [one for each in (plan.setup, *plan.calls()) for one in each if isinstance(one, Launch)]


def _traits(plan: Plan, launch: Launch) -> frozenset[frontends.Trait]:
    kernel = plan.kernels[launch.kernel]
    return frontends.of(kernel).traits(kernel)


def _resident(launch: Launch, device: Device, facts: Facts | None = None) -> int:
    registers, shared = (1, 0) if facts is None else (facts.registers, facts.shared)
    each, _ = occupancy(device, launch.threads, registers, shared + launch.shared)
    return each * device.multi_processor_count
