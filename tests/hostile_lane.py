"""What a lane of its own does for tests of whole submissions: grades them at an isolation of the machine's, and says
what they left behind."""

import gc
import json
import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from grader.course.catalogue import assignments
from grader.course.course import Course, LimitsTable, read_course
from grader.course.submission import Submission
from grader.errors import InfrastructureError
from grader.grading.grading import grade
from grader.grading.job import JobOutcome, read_job
from grader.home import ROOT
from grader.judging.running.builders import AT_ONCE
from grader.judging.running.lane import LANE, start_lane
from grader.judging.running.time_budget import TimeBudget
from grader.languages.cuda.toolkit import problem
from grader.plan import wire
from grader.plan.device import TARGETS
from grader.plan.messages import Build
from grader.results.result import AssignmentResult
from grader.sandbox.confine import processes
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.isolation import Isolation
from tests.graded import FILES, SEED

# In the name of every file that a hostile submission writes outside its own folder.
MARK = "kernelmark-hostile"
SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run/lock", "/run/shm")
SYSV = ("shm", "sem", "msg")
# No member meets them on a machine that is busy with other tests, too.
LIMITS = LimitsTable(call_seconds=15, assignment_seconds=20, attempt_seconds=25, memory_mb=2048)
# For those that may run out of time: no need to wait longer.
BRIEF = LimitsTable(call_seconds=1, assignment_seconds=3, memory_mb=2048)
STRONGEST = "strongest"
# At this level and above, nothing that a submission makes outlives it: weaker ones are not meant to hold.
CONTAINED = 2
# The property of a test that holds a line of the table that tests/conftest.py prints.
TABLE = "isolation"


@dataclass
class Traces:
    """What is there of a lane's making, to be compared before and after; `level` is that of its isolation."""

    level: int
    processes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    segments: list[str] = field(default_factory=list)
    mounts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Lane:
    """A process that grades, and the isolation of its workers."""

    pool: ProcessPoolExecutor
    isolation: Isolation

    def graded(
        self, submission: Submission, *, only: tuple[str, ...] = (), limits: LimitsTable | None = LIMITS,
    ) -> JobOutcome:
        return self.pool.submit(_graded, submission, only, limits).result()

    def traces(self) -> Traces:
        """Asked while none of its workers lives."""
        return self.pool.submit(_traces).result()

    def row(self, kind: str, results: list[AssignmentResult]) -> str:
        """A line for the table that tests/conftest.py prints at the end."""
        flagged = sum(bool(result.flags) for result in results)
        full = sum(result.score == result.correctness.max_points for result in results)
        scored = sum(result.score > 0 for result in results)
        return json.dumps({
            "user": "root" if os.geteuid() == 0 else "a user", "isolation": str(self.isolation),
            "layers": self.isolation.summary, "kind": kind, "graded": len(results), "full": full, "scored": scored,
            "flagged": flagged})


def at(wanted: str) -> Isolation | None:
    """The strongest isolation of this machine, or its first of a level below that, or of a name (`isolation.name_of`)
    without a cgroup; None if there is none."""
    strongest = isolation.measure()
    if wanted == STRONGEST:
        return strongest
    for layers in isolation.weaker(strongest.layers):
        if not strongest.cgroup and layers == strongest.layers:
            continue
        if wanted == isolation.name_of(layers):
            return _without_cgroup(layers)
        if wanted.isdigit() and (one := _without_cgroup(layers)) and one.level == int(wanted) < strongest.level:
            return one
    return None


@cache
def _without_cgroup(layers: wire.Layers) -> Isolation | None:
    level = 0
    # Without seccomp it is 0 anyway; and two probes of one user that trace each other would wait for each other.
    if layers.seccomp:
        try:
            managed, trouble = isolation.probe(layers)
        except InfrastructureError:
            return None
        if trouble:
            return None
        level = isolation.level(layers, managed)
    return replace(isolation.measure(), level=level, layers=layers, cgroup=False)


@contextmanager
def opened(measured: Isolation) -> Iterator[Lane]:
    """A lane whose temporary files lie in a folder that nobody else uses."""
    with tempfile.TemporaryDirectory(prefix="kernelmark-test-") as temporary:
        # Workers of another user have to pass through it, as they do through /tmp.
        Path(temporary).chmod(0o711)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context, initializer=_start, initargs=(temporary, measured)) as pool:
            yield Lane(pool, measured)


def _start(temporary: str, measured: Isolation) -> None:
    os.environ["TMPDIR"] = temporary
    tempfile.tempdir = None
    start_lane(measured=measured)
    _ = LANE.fork_server.handle.ready
    # pytest collects garbage ten times at the end of each grading: most of its time, if what was imported takes part.
    gc.freeze()


def course(*, limits: LimitsTable | None = LIMITS) -> Course:
    """The course as shipped, with small limits, or (None) its own."""
    shipped = read_course(ROOT / "course.toml", frozenset(assignments()))
    return shipped.model_copy(update={"limits": limits or shipped.limits})


def _graded(submission: Submission, only: tuple[str, ...], limits: LimitsTable | None) -> JobOutcome:
    """Grades the assignments that the submission holds a file of, or those of `only`."""
    present = only or tuple(name for file, name in FILES.items() if (submission.folder / file).exists())
    return grade(read_job(submission, course(limits=limits), present, seed=SEED))


@cache
def start_builders() -> None:
    """Builders start with the first files that are built, and stay: they are nothing that a file has left."""
    if problem():
        return
    request = Build(seq=0, file="silu.cu", function="silu", device=TARGETS["sm_90"], given=[])
    limits = wire.Limits(memory_mb=2048, file_mb=64, processes=32, cpu_seconds=60)
    building = [LANE.builders.submit("cuda/builder", request, b"", limits, TimeBudget(60)) for _ in range(AT_ONCE)]
    assert not any(isinstance(future.result(), bytes) for future in building)


def _traces() -> Traces:
    start_builders()
    temporary = Path(tempfile.gettempdir())
    return Traces(
        level=LANE.isolation.level,
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
