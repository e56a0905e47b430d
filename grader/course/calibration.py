"""Calibration files, version kernelmark/calibration/v1. A file has the speeds of our kernels, and of the stages that
the course teaches, on one kind of device. `kernelmark calibrate` writes it; grading with speed reads it."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationError

from grader import home
from grader.errors import UserError, advised
from grader.results.files import replace
from grader.results.record import Record
from grader.results.result import Interval, Rung

SCHEMA: Final = "kernelmark/calibration/v1"

ADVICE = "write it again with `kernelmark calibrate`, or remove it"



def _rising(interval: Interval) -> Interval:
    if not 0 < interval.low <= interval.median <= interval.high < math.inf:
        raise ValueError("expected 0 < low ≤ median ≤ high")
    return interval


Ratio = Annotated[Interval, AfterValidator(_rising)]
"""The ratio of baseline time to kernel time, with the bounds of its bootstrap interval."""


class CaseRatio(Record, extra="forbid"):
    case: str
    ratio: Ratio


class MeasuredRung(Record, extra="forbid"):
    """A kernel of ours: its ratio in each timed case, and their geometric mean."""

    name: str
    title: str = Field(default="", description="what the stage teaches")
    ratio: Ratio
    cases: list[CaseRatio] = Field(min_length=1)


class Calibration(Record, extra="forbid"):
    """A calibration file; `assignments` holds each assignment's rungs in the order of teaching, the reference first."""

    schema_: Literal["kernelmark/calibration/v1"] = Field(alias="schema")
    device: str = Field(min_length=1, description="as torch.cuda.get_device_name() calls it")
    driver: str = ""
    torch: str
    triton: str
    kernelmark: str
    measured_at: str = Field(description="ISO 8601, UTC")
    command: str
    assignments: dict[str, list[MeasuredRung]]

    def rungs(self, assignment: str) -> list[Rung]:
        """Return the assignment's rungs as a result shows them; none if it was not measured."""
        return [Rung(name=rung.name, title=rung.title, ratio=rung.ratio.median)
                for rung in self.assignments.get(assignment, [])]


def read(path: Path) -> Calibration:
    """Return the calibration in `path`. Raises UserError."""
    with advised(ADVICE, path):
        content = path.read_bytes()
    try:
        return Calibration.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(map(str, first["loc"]))
        problem = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{path}: {key + ': ' if key else ''}{problem}; {ADVICE}") from None


def folder() -> Path:
    """Return the course's folder of calibrations."""
    return home.root() / "calibration"


def read_folder(where: Path | None = None) -> tuple[Calibration, ...]:
    """Return every calibration in the folder `where`, by default the course's; none if the folder does not exist.
    Raises UserError, also if two files are of one device."""
    paths: dict[str, Path] = {}
    calibrations = []
    for path in sorted((where or folder()).glob("*.json")):
        calibration = read(path)
        if (earlier := paths.setdefault(calibration.device, path)) != path:
            raise UserError(f"{path}: of the device {calibration.device!r}, as is {earlier.name}; remove one")
        calibrations.append(calibration)
    return tuple(calibrations)


def find(device: str, among: Iterable[Calibration]) -> Calibration | None:
    """Return the calibration that was measured on a device of this name."""
    return next((calibration for calibration in among if calibration.device == device), None)


def slug(device: str) -> str:
    """Return the device's name as part of a file name: `NVIDIA H200` gives `nvidia-h200`."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") or "device"


def joined(earlier: Calibration, new: Calibration, taught: Mapping[str, Sequence[str]]) -> Calibration:
    """Return the new calibration. If device and versions agree, other assignments and rungs of the earlier one are
    added.

    `taught` has the names of each assignment's rungs, in their order. If an assignment was measured now, its earlier
    rungs that are not in `taught` are dropped: the course no longer has them.
    """
    def where(calibration: Calibration) -> tuple[str, ...]:
        return (calibration.device, calibration.driver, calibration.torch, calibration.triton, calibration.kernelmark)

    if where(earlier) != where(new):
        return new
    assignments = earlier.assignments | new.assignments
    for name in earlier.assignments.keys() & new.assignments.keys() & taught.keys():
        now = {rung.name: rung for rung in new.assignments[name]}
        rungs = {rung.name: rung for rung in earlier.assignments[name] if rung.name in taught[name]} | now
        order = {rung: place for place, rung in enumerate(taught[name])}
        assignments[name] = sorted(rungs.values(), key=lambda rung: order.get(rung.name, len(order)))
    return new.model_copy(update={"assignments": assignments})


def prepare(path: Path) -> Calibration | None:
    """Make the folder of `path`, and return the calibration there, None if there is none. Raises UserError if
    the file cannot be read or written."""
    with advised("choose a writable --out", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    return read(path) if path.exists() else None


def write(calibration: Calibration, path: Path) -> None:
    """Write the file as a whole or not at all. Raises UserError."""
    with advised("choose a writable --out", path):
        replace(path, (calibration.model_dump_json(by_alias=True, indent=1) + "\n").encode())
