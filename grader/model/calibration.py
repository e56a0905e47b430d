"""Calibration files, version kernelmark/calibration/v1: what our kernels, and the stages that the course teaches, reach
on one kind of device. `kernelmark calibrate` writes them, grading with speed reads them."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, ValidationError

from grader.model.files import replace
from grader.model.record import Record
from grader.model.result import Interval, Rung

SCHEMA: Final = "kernelmark/calibration/v1"
FOLDER = Path(__file__).resolve().parents[2] / "calibration"

EXPECTED = "a file as `kernelmark calibrate` writes it expected"


class CalibrationError(Exception):
    """A calibration file cannot be used; one line that names it and says what was expected."""

    def __init__(self, message: str) -> None:
        # Keys and values are quoted from the file, line breaks and all.
        super().__init__("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in message))


def _rising(found: Interval) -> Interval:
    if not 0 < found.low <= found.median <= found.high < math.inf:
        raise ValueError("0 < low ≤ median ≤ high expected")
    return found


Ratio = Annotated[Interval, AfterValidator(_rising)]
"""Baseline ÷ kernel, with the bounds of its bootstrap interval."""


class CaseRatio(Record, extra="forbid"):
    case: str
    ratio: Ratio


class MeasuredRung(Record, extra="forbid"):
    """A kernel of ours: its ratio for each timed case, and their geometric mean."""

    name: str
    title: str = Field(default="", description="what the stage teaches")
    ratio: Ratio
    cases: list[CaseRatio] = Field(min_length=1)


class Calibration(Record, extra="forbid"):
    """`assignments` holds the rungs in the order they are taught, the reference first."""

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
        """The assignment's rungs as a result shows them; none if it was not measured."""
        return [Rung(name=one.name, title=one.title, ratio=one.ratio.median)
                for one in self.assignments.get(assignment, [])]


def read(path: Path) -> Calibration:
    """The calibration in `path`. Raises CalibrationError."""
    try:
        return Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CalibrationError(f"{path}: {error.strerror}; {EXPECTED}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        key = ".".join(map(str, first["loc"]))
        what = first["msg"].removeprefix("Value error, ")
        raise CalibrationError(f"{path}: {key + ': ' if key else ''}{what}; {EXPECTED}") from None


def read_folder(folder: Path = FOLDER) -> tuple[Calibration, ...]:
    """Every calibration in `folder`, none if there is no such folder. Raises CalibrationError, also when two are of one
    device."""
    found: dict[str, tuple[Path, Calibration]] = {}
    for path in sorted(folder.glob("*.json")):
        one = read(path)
        if one.device in found:
            raise CalibrationError(f"{path}: of {one.device!r} as is {found[one.device][0].name}; one of them expected")
        found[one.device] = path, one
    return tuple(one for _, one in found.values())


def find(device: str, among: Iterable[Calibration]) -> Calibration | None:
    """The one that was measured on a device of this name."""
    return next((one for one in among if one.device == device), None)


def slug(device: str) -> str:
    """The device's name as a file's: `NVIDIA H200` gives `nvidia-h200`."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-") or "device"


def joined(earlier: Calibration, new: Calibration, taught: Mapping[str, Sequence[str]]) -> Calibration:
    """The new one, with what an earlier one has beside it, if device and versions agree: other assignments, and other
    rungs of the same ones.

    `taught`: by assignment the names of its rungs, in the order that they get. Of an assignment measured now, rungs
    that are not in `taught` are dropped: the course no longer has them.
    """
    def where(one: Calibration) -> tuple[str, ...]:
        return one.device, one.driver, one.torch, one.triton, one.kernelmark

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
    """What lies at `path` so far, None if nothing does; makes its folder. Raises CalibrationError if the file cannot be
    read, or not be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise CalibrationError(f"{path}: {error.strerror}; a writable place expected") from None
    return read(path) if path.exists() else None


def write(one: Calibration, path: Path) -> None:
    """Writes the file as a whole or not at all. Raises CalibrationError."""
    try:
        replace(path, (one.model_dump_json(by_alias=True, indent=1) + "\n").encode())
    except OSError as error:
        raise CalibrationError(f"{path}: {error.strerror}; a writable place expected") from None
