"""The machine's fitness for timing: clocks, heat and neighbours by NVML, and whether the baseline drifts.

nvidia-ml-py is optional, and a driver need not answer every question: a figure that cannot be read is None, the report
says so, and nothing fails. No figure here changes a score: on an unfit machine the measurement is repeated.
"""

from __future__ import annotations

import importlib
import math
import os
import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from grader.judging.running.gpu_lock import GPU_LOCK
from grader.sandbox.confine import processes

REASONS: dict[int, str] = {
    0x001: "idle",
    0x002: "a fixed application clock",
    0x004: "the power limit",
    0x008: "a hardware slowdown",
    0x010: "clocks synchronised with another GPU",
    0x020: "heat (driver)",
    0x040: "heat (hardware)",
    0x080: "the power brake",
    0x100: "the display's clock",
    0x200: "the board's limit",
    0x400: "voltage reliability",
}
"""Reasons for lower clocks, by NVML's bits (nvml.h, nvmlClocksEventReason and ThrottleReason)."""

UNFIT_REASONS = frozenset(REASONS[bit] for bit in (0x008, 0x020, 0x040, 0x080))
"""The power limit is not among them: a card at work runs at it, and so does the baseline."""

CLOCK_FALL = 0.05
"""A clock that falls by more than this share is reported."""

WARMING_CELSIUS = 15
USE_WINDOW_SECONDS = 2.0
"""Window over which a neighbour's use of the device is read; NVML keeps some seconds of samples."""


@dataclass(frozen=True)
class Neighbour:
    """A compute process that is not ours. It kept the device busy for `percent` of the time; None: unknown."""

    pid: int
    percent: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """The state of a device at one moment. None: the driver does not say.

    Clocks are in MHz, power in watts. `reasons` are reasons for lower clocks. `neighbours` is None if our own processes
    cannot be distinguished from others. `unavailable` is the reason why nothing at all could be read, else "".
    """

    unavailable: str = ""
    sm_mhz: int | None = None
    sm_max_mhz: int | None = None
    memory_mhz: int | None = None
    celsius: int | None = None
    watts: float | None = None
    limit_watts: float | None = None
    reasons: tuple[str, ...] | None = None
    neighbours: tuple[Neighbour, ...] | None = None


def take(uuid: str, ours: Collection[int] = ()) -> Snapshot:
    """Return the current state of the device `uuid` ("GPU-…", see `uuid_of`). Takes some milliseconds, never raises.

    `ours` are the pids, in this process's namespace, of our processes that hold a context on the device, this one
    included. Clocks and reasons mean most while the device works: an idle device has low clocks.
    """
    nvml = _nvml()
    if isinstance(nvml, str):
        return Snapshot(unavailable=nvml)
    try:
        handle = nvml.nvmlDeviceGetHandleByUUID(uuid)
    except nvml.NVMLError as error:
        return Snapshot(unavailable=f"NVML does not know the device {uuid}: {error}")

    def ask(function: str, *arguments: int) -> Any:
        try:
            return getattr(nvml, function)(handle, *arguments)
        except (nvml.NVMLError, AttributeError):
            return None

    # Drivers before 535 have the reasons under an older name.
    bits = ask("nvmlDeviceGetCurrentClocksEventReasons")
    if bits is None:
        bits = ask("nvmlDeviceGetCurrentClocksThrottleReasons")
    celsius = ask("nvmlDeviceGetTemperatureV", nvml.NVML_TEMPERATURE_GPU)
    if celsius is None:
        celsius = ask("nvmlDeviceGetTemperature", nvml.NVML_TEMPERATURE_GPU)
    return Snapshot(
        sm_mhz=ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_SM),
        sm_max_mhz=ask("nvmlDeviceGetMaxClockInfo", nvml.NVML_CLOCK_SM),
        memory_mhz=ask("nvmlDeviceGetClockInfo", nvml.NVML_CLOCK_MEM),
        celsius=celsius,
        watts=_watts(ask("nvmlDeviceGetPowerUsage")),
        limit_watts=_watts(ask("nvmlDeviceGetEnforcedPowerLimit")),
        reasons=None if bits is None else reasons_of(bits),
        neighbours=_neighbours(nvml, ask, handle, frozenset(ours)),
    )


def state() -> Snapshot:
    """Return the current state of the device. This process and those below it are ours; in a lane that shares its GPU,
    also the other lanes, which are held while a replay is timed."""
    ours = os.getppid() if GPU_LOCK in os.environ else os.getpid()
    return take(uuid_of(), ours={ours, *processes.descendants(ours)})


def driver_version() -> str:
    """Return the version of NVIDIA's driver; "" if nvidia-ml-py is missing or does not know it."""
    nvml = _nvml()
    if isinstance(nvml, str):
        return ""
    try:
        version = nvml.nvmlSystemGetDriverVersion()
    except nvml.NVMLError:
        return ""
    # Older bindings return bytes.
    return version.decode() if isinstance(version, bytes) else str(version)


def uuid_of() -> str:
    """Return NVML's name for the CUDA device, which does not depend on CUDA_VISIBLE_DEVICES."""
    # Imported here, since commands that time nothing start faster without torch.
    import torch

    return f"GPU-{torch.cuda.get_device_properties(0).uuid}"


def reasons_of(bits: int) -> tuple[str, ...]:
    """Return the reasons in NVML's bit mask, in words; unknown bits by their numbers."""
    known = [name for bit, name in REASONS.items() if bits & bit]
    rest = bits & ~sum(REASONS)
    return (*known, *([f"reason 0x{rest:x}"] if rest else []))


def other_processes(
    listed: Sequence[int], ours: Collection[int], percents: Mapping[int, int] | None
) -> tuple[Neighbour, ...] | None:
    """Return the compute processes of `listed` that are not `ours`, each with its use; None if ours cannot be
    distinguished.

    `percents` holds the use of processes that had any; None if it is unknown. In a container NVML may list the host's
    pids: if none of ours is listed, the pids belong to another namespace.
    """
    if listed and ours and not set(listed) & set(ours):
        return None
    return tuple(
        Neighbour(pid, None if percents is None else percents.get(pid, 0))
        for pid in sorted(set(listed) - set(ours))
    )


def unfit(snapshot: Snapshot) -> str | None:
    """Return the reason why the machine is unfit for measuring now, in a sentence; None if it is fit.

    A neighbour whose use is unknown counts as computing; a neighbour that only holds memory does not.
    """
    if slow := UNFIT_REASONS.intersection(snapshot.reasons or ()):
        return f"The GPU is slowed down by {_and(sorted(slow))}."
    busy = [n for n in snapshot.neighbours or () if n.percent is None or n.percent > 0]
    if busy:
        return f"Other processes compute on the GPU: {_and([_use(n) for n in busy])}."
    return None


def describe(before: Snapshot, after: Snapshot) -> list[str]:
    """Return sentences for a report about the machine between two snapshots, the most important first."""
    if reason := after.unavailable or before.unavailable:
        return [f"The GPU's clocks and temperature could not be watched: {reason}."]
    sentences = [s for s in (unfit(after) or unfit(before),) if s]
    # An idle device has low clocks, which says nothing.
    if "idle" not in (before.reasons or ()) and "idle" not in (after.reasons or ()):
        clocks = [("SM", before.sm_mhz, after.sm_mhz), ("memory", before.memory_mhz, after.memory_mhz)]
        for name, was, now in clocks:
            if was and now is not None and now < was * (1 - CLOCK_FALL):
                sentences.append(f"The {name} clock fell from {was} to {now} MHz, by {100 * (1 - now / was):.0f} %.")
    seen = dict.fromkeys((*(before.reasons or ()), *(after.reasons or ())))
    held = [reason for reason in seen if reason not in UNFIT_REASONS and reason != "idle"]
    if held:
        sentences.append(f"The clocks were held by {_and(held)}.")
    if before.celsius is not None and after.celsius is not None and after.celsius - before.celsius >= WARMING_CELSIUS:
        sentences.append(f"The GPU warmed up from {before.celsius} to {after.celsius} °C.")
    quiet = [n for n in after.neighbours or () if n.percent == 0]
    if quiet:
        sentences.append(f"Other processes hold the GPU without computing: {_and([f'pid {n.pid}' for n in quiet])}.")
    if after.neighbours is None:
        sentences.append("The grader cannot tell here whether other processes use the GPU.")
    return [*sentences, _figures(after)]


def _figures(snapshot: Snapshot) -> str:
    of_most = f" of at most {snapshot.sm_max_mhz}" if snapshot.sm_max_mhz else ""
    of_limit = f" of at most {snapshot.limit_watts:.0f}" if snapshot.limit_watts else ""
    parts = [
        f"SM clock {snapshot.sm_mhz}{of_most} MHz" if snapshot.sm_mhz is not None else "",
        f"memory clock {snapshot.memory_mhz} MHz" if snapshot.memory_mhz is not None else "",
        f"{snapshot.celsius} °C" if snapshot.celsius is not None else "",
        f"{snapshot.watts:.0f}{of_limit} W" if snapshot.watts is not None else "",
    ]
    return f"{', '.join(filter(None, parts)) or 'The driver gives no clocks, temperature or power'}."


def _use(neighbour: Neighbour) -> str:
    how = "use unknown" if neighbour.percent is None else f"{neighbour.percent} % of the time"
    return f"pid {neighbour.pid} ({how})"


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def _neighbours(
    nvml: Any, ask: Callable[..., Any], handle: Any, ours: frozenset[int]
) -> tuple[Neighbour, ...] | None:
    listed = ask("nvmlDeviceGetComputeRunningProcesses")
    if listed is None:
        return None
    pids = [int(process.pid) for process in listed]
    ours |= {os.getpid()}.intersection(pids)
    since = int((time.time() - USE_WINDOW_SECONDS) * 1e6)
    percents: dict[int, int] = {}
    try:
        for sample in nvml.nvmlDeviceGetProcessUtilization(handle, since):
            percents[int(sample.pid)] = max(int(sample.smUtil), percents.get(int(sample.pid), 0))
    except nvml.NVMLError as error:
        # "Not found" means that no process used the device in that time.
        if error.value != nvml.NVML_ERROR_NOT_FOUND:
            return other_processes(pids, ours, None)
    return other_processes(pids, ours, percents)


@cache
def _nvml() -> Any:
    """Return the initialised NVML module, or the reason why there is none."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return "nvidia-ml-py is not installed"
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return f"NVML does not start: {error}"
    return nvml


def sm_clock() -> float | None:
    """Return the device's current SM clock in MHz; None if it cannot be read."""
    nvml = _nvml()
    if isinstance(nvml, str):
        return None
    try:
        return float(nvml.nvmlDeviceGetClockInfo(nvml.nvmlDeviceGetHandleByUUID(uuid_of()), nvml.NVML_CLOCK_SM))
    except nvml.NVMLError:
        return None


# A baseline is odd if it takes longer than before by more than this share,
SLOWER = 0.10
# and by more than this many times the scatter of its replays and earlier figures.
SPREADS = 4.0
# With fewer figures the first might be the wrong one. Only the latest count, since over a long class a machine may warm
# up, or change for good.
FEWEST_FIGURES, RECENT = 3, 5
# On a device that no other process uses, half of a measurement's replays lie this close to their median.
UNSTEADY = 0.05


@dataclass(frozen=True)
class Figure:
    """A baseline's median seconds a call, and the median distance of its replays from the median."""

    seconds: float
    spread: float


def figure(replays: Sequence[float]) -> Figure:
    """Return the figure of a measurement's replays, in seconds a call. Raises ValueError unless there is at least one
    and all are positive and finite."""
    if not replays or not all(0 < seconds < math.inf for seconds in replays):
        raise ValueError("a figure needs positive, finite times of at least one replay")
    centre = statistics.median(replays)
    return Figure(centre, statistics.median(abs(seconds - centre) for seconds in replays))


def unsteady(took: Figure) -> str | None:
    """Return a sentence if a baseline's replays vary too much among themselves, else None."""
    share = took.spread / took.seconds
    return f"The baseline's time varied by {share:.0%} from one replay to the next." if share > UNSTEADY else None


class Drift:
    """A lane's earlier baseline times, by which it notices that a baseline has become slow.

    All students of a lane are measured against the same baselines: a baseline that is slowed down, while the student's
    side is not, would raise the student's ratios. Such a measurement is not trusted; no student is suspected for it.
    """

    def __init__(self, fewest: int = FEWEST_FIGURES) -> None:
        self._fewest = fewest
        self._figures: dict[tuple[str, str], deque[Figure]] = defaultdict(lambda: deque(maxlen=RECENT))

    def odd(self, assignment: str, case: str, seconds: float) -> str | None:
        """Return a sentence if `seconds` a call is odd for this baseline; None if it is not, or too little is known
        yet.

        It is compared with the lower median of the latest figures, so a single bad figure among three or more decides
        nothing. A faster baseline is never odd.
        """
        figures = self._figures.get((assignment, case), ())
        if len(figures) < self._fewest:
            return None
        usual = statistics.median_low(figure.seconds for figure in figures)
        # Some baselines mostly wait for the host, whose speed varies from minute to minute.
        between = statistics.median_low(abs(figure.seconds - usual) for figure in figures)
        spread = max(between, statistics.median_low(figure.spread for figure in figures))
        if seconds <= usual + max(SLOWER * usual, SPREADS * spread):
            return None
        return (f"The baseline of {assignment} took {seconds * 1e6:.4g} µs a call on {case}, "
                f"{seconds / usual - 1:.0%} longer than the {usual * 1e6:.4g} µs that it took here before.")

    def record(self, assignment: str, case: str, took: Figure) -> None:
        """Add the figure of a measurement that was accepted, or given up because it stayed odd.

        Odd measurements count too: so a lane whose first figure was wrong, or whose machine has changed for good, can
        grade again once most of the latest figures agree.
        """
        self._figures[assignment, case].append(took)
