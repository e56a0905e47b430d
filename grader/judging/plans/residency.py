"""Residency: whether a device can start a launch, and how many of its programs the device holds at a time, by their
resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from grader import languages
from grader.plan.compiled import Facts
from grader.plan.device import Device, occupancy
from grader.plan.plan import Kernel, Launch, Line, Plan

MOST_REGISTERS = 255
"""The most registers of a thread: "Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide.
"""


@dataclass(frozen=True)
class TooManyRegisters:
    """A launch whose blocks take more than `most` registers, all that a block can have: `registers` for each of
    `threads`."""

    kernel: str
    line: Line
    threads: int
    registers: int
    most: int


@dataclass(frozen=True)
class TooManyTogether:
    """A cooperative launch of more programs than the device holds at a time, at most `most`. Each thread takes
    `registers`; 0 if the launch asks for too many programs at any number of registers."""

    kernel: str
    line: Line
    option: str
    programs: int
    most: int
    registers: int = 0


def misfit(
    launch: Launch, kernel: Kernel, device: Device, facts: Facts | None = None
) -> TooManyTogether | TooManyRegisters | None:
    """Return the reason why a device does not start a launch; None if it does. The `facts` of the machine code have the
    registers and shared memory that a program takes, beside the shared memory that the launch asks for. Without them
    only the launch's threads and shared memory count."""
    registers = 0 if facts is None else facts.registers
    if registers and not occupancy(device, launch.threads, registers, 0)[0]:
        return TooManyRegisters(kernel.name, launch.line, launch.threads, registers, device.regs_per_multiprocessor)
    most = _resident(launch, device, facts)
    if not launch.cooperative or prod(launch.grid) * launch.cluster <= most:
        return None
    return TooManyTogether(
        kernel.name, launch.line, languages.of(kernel).launch_options["cooperative"], prod(launch.grid),
        most // launch.cluster, registers)


def tight_kernels(plan: Plan, device: Device) -> list[Kernel]:
    """Return the kernels of a plan whose number of registers decides whether a device starts their launches, or whether
    the programs of these wait for ever."""
    traits = _traits(plan)
    return [plan.kernels[number] for number in dict.fromkeys(
        launch.kernel for launch in _launches(plan) if launch.cooperative or "waits" in traits[launch.kernel] or (
            "unbounded" in traits[launch.kernel] and not occupancy(device, launch.threads, MOST_REGISTERS, 0)[0]))]


def misfits(
    plan: Plan, device: Device, facts: Mapping[int, Facts]
) -> Iterator[TooManyTogether | TooManyRegisters]:
    """Yield the reasons why the device does not start launches of a plan. `facts` has the facts of the plan's kernels,
    by number."""
    for launch in _launches(plan):
        if (problem := misfit(launch, plan.kernels[launch.kernel], device, facts.get(launch.kernel))) is not None:
            yield problem


def waits(plan: Plan, device: Device, facts: Mapping[int, Facts]) -> bool:
    """Return whether programs of a launch may wait for later ones that the device cannot hold beside them. That counts
    only if registers or shared memory are the reason: the programs' threads alone would let it hold more."""
    traits = _traits(plan)
    return any(
        "waits" in traits[launch.kernel] and not launch.cooperative
        and _resident(launch, device, facts.get(launch.kernel)) < min(prod(launch.grid), _resident(launch, device))
        for launch in _launches(plan))


def crowded_kernels(plan: Plan, device: Device, facts: Mapping[int, Facts]) -> dict[int, int]:
    """Return the kernels, by number, whose programs may wait for each other and are in some launch more than the device
    holds at a time, with the number that it holds of the first such launch."""
    traits, crowded = _traits(plan), dict[int, int]()
    for launch in _launches(plan):
        held = _resident(launch, device, facts.get(launch.kernel))
        if "waits" in traits[launch.kernel] and not launch.cooperative and held < prod(launch.grid):
            crowded.setdefault(launch.kernel, held)
    return crowded


def _launches(plan: Plan) -> list[Launch]:
    return [operation for call in (plan.setup, *plan.calls()) for operation in call if isinstance(operation, Launch)]


def _traits(plan: Plan) -> list[frozenset[languages.Trait]]:
    """Return the traits of a plan's kernels. A text may be large, and its launches many: it is read once for all."""
    return [languages.of(kernel).traits(kernel) for kernel in plan.kernels]


def _resident(launch: Launch, device: Device, facts: Facts | None = None) -> int:
    registers, shared = (1, 0) if facts is None else (facts.registers, facts.shared)
    per_multiprocessor, _ = occupancy(device, launch.threads, registers, shared + launch.shared)
    return per_multiprocessor * device.multi_processor_count
