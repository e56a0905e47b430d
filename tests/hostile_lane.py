"""What a lane of its own does for tests of hostile submissions: grades them, and says what they left behind."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from grader.catalogue import ROOT, assignments
from grader.course import Course, LimitsTable, read_course
from grader.grading import Graded, Job, grade
from grader.judge.lane import lane_isolation, lane_zygote, start_lane
from grader.submission import Submission
from grader.worker import processes
from tests.graded import FILES

# In the name of every file that a hostile submission writes outside its own folder.
MARK = "kernelmark-hostile"
SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/run/shm")
SYSV = ("shm", "sem", "msg")
# Endless ones are ended by the judge: no need to wait as long as for an honest student.
LIMITS = LimitsTable(call_seconds=3, assignment_seconds=9, memory_mb=2048)


@dataclass
class Traces:
    """What is there of a lane's making, to be compared before and after; `level` is that of its isolation."""

    level: int
    processes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    mounts: list[str] = field(default_factory=list)


def start(temporary: str) -> None:
    """Begins a lane whose temporary files lie in a folder that nobody else uses."""
    os.environ["TMPDIR"] = temporary
    tempfile.tempdir = None
    start_lane()
    _ = lane_zygote().versions


def course(*, flags: bool = False) -> Course:
    """The course as shipped, with small limits. `flags`: breaking the rules costs no points, as a TA may choose."""
    shipped = read_course(ROOT / "course.toml", frozenset(assignments()))
    policy = shipped.policy.model_copy(update={"violation": "flag"}) if flags else shipped.policy
    return shipped.model_copy(update={"limits": LIMITS, "policy": policy})


def graded(submission: Submission, *, flags: bool = False, only: tuple[str, ...] = ()) -> Graded:
    """Grades the assignments that the submission holds a file of, or those of `only`."""
    present = only or tuple(name for file, name in FILES.items() if (submission.folder / file).exists())
    return grade(Job(submission, course(flags=flags), present))


def traces() -> Traces:
    """Run in the lane, while none of its workers lives."""
    temporary = Path(tempfile.gettempdir())
    return Traces(
        level=lane_isolation().level,
        processes=sorted(_name(pid) for pid in processes.descendants()),
        files=sorted(str(path.relative_to(temporary)) for path in temporary.glob("*/**/*")),
        marked=sorted(str(path) for folder in (*SHARED_FOLDERS, temporary) for path in Path(folder).glob(f"*{MARK}*")),
        segments=[line for kind in SYSV for line in _lines(f"/proc/sysvipc/{kind}")[1:]],
        # Tests beside this one may mount something in folders of their own.
        mounts=[point for line in _lines("/proc/self/mountinfo") if "/pytest-of-" not in (point := line.split()[4])],
    )


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
