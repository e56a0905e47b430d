"""Hostile submissions get zero points and leave nothing behind: `tests/submissions/hostile/<family>.toml`.

The real judge decides, in a lane of its own, at the strongest isolation that this machine offers; families that the
sandbox holds are tried once more without namespaces by `make test-all`. Notes of a member say what must come of it:
`verdict = "a, b"` the verdicts that will do, `expect` what the message must hold;
`least = "level, why"` weaker levels do not promise to hold it, as docs/security.md says;
`needs = "gpu"` it does its harm on a GPU alone, `on_a_gpu = "a, b; why"` other verdicts will do there: those are looked
at by tests/gpu/test_corpus_on_gpu.py.
"""

import csv
import ctypes
import hashlib
import io
import os
import re
import shutil
import socket
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from grader.course.course import HintsTable
from grader.course.submission import Submission, find_submissions
from grader.grading.job import JobOutcome, read_job
from grader.grading.lanes import LocalLanes
from grader.home import ROOT
from grader.pages.load import load_results
from grader.pages.pages import write_class
from grader.results.verdicts import ACCEPTED, INFRASTRUCTURE_ERROR, VERDICTS, Verdict
from grader.sandbox.forkserver.isolation import SEALED
from tests import hostile_lane
from tests.classroom.attempts.made import kept
from tests.corpus import MemberOutcome, Taking, name_of
from tests.graded import FILES, told, unfit
from tests.hostile_lane import STRONGEST, TABLE, Lane
from tests.members import Member, select

MEMBERS = select("hostile")
HONEST = ROOT / "reference" / "silu.py"
SOURCE_BYTES = 128 * 1024
RESULT_BYTES = 256 * 1024
LEAST_MEMBERS = 300
SETTLE_SECONDS = 5.0
# The key of replay/shared_memory_segment, and the numbers of shmctl(2).
SEGMENT_KEY = 0x4B4D4831
IPC_RMID = 0
# What a browser or a terminal would act on, from the texts of the family "injection".
ACTED_ON = ("<script>alert", "<img src=x", "\x1b", "\x9b", "\u202e", "\u2066", "\x00", "\ud800")
# Families that the sandbox holds. The others meet the judge's own limits and checks, which are the same at each level.
CONFINED = ("attacking_the_grader", "exhausting_the_machine", "network", "reading_the_answer", "wire_attacks",
            "forged_verdict")
# Families whose members unit tests of plans and planners refuse as well: half of them are graded.
PROVED_TWICE = ("forged_plans", "not_a_kernel")
# Graded as one class, with an honest neighbour before and after each.
IN_CLASS = (
    "early_done/replies_in_advance", "exhausting_the_machine/spins_on_every_core", "forged_verdict/exits_at_import",
    "forged_verdict/planted_conftest", "forged_verdict/shadow_modules", "injection/names",
    "not_a_kernel/refuse_patched", "wire_attacks/closed_descriptors", "wire_attacks/forked_child_replies",
    "wire_attacks/plan_rewritten_after_the_answer",
)


@pytest.fixture(scope="module", autouse=True)
def shared_places() -> Iterator[None]:
    yield
    _clean_up()


def _clean_up() -> None:
    """Below the level that contains them, a few small files and a segment of memory stay."""
    for folder in hostile_lane.SHARED_FOLDERS:
        for path in Path(folder).glob(f"{hostile_lane.MARK}*"):
            path.unlink(missing_ok=True) if not path.is_dir() else shutil.rmtree(path)
    libc = ctypes.CDLL(None)
    if (segment := libc.shmget(SEGMENT_KEY, 0, 0)) >= 0:
        libc.shmctl(segment, IPC_RMID, None)


def _alone(folder: Path) -> Submission:
    return Submission(folder.name, folder, folder.name)


def _contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            for path in sorted(folder.rglob("*"))}


def _assert_nothing_left(lane: Lane, before: hostile_lane.Traces) -> None:
    """Looks again while there is something, since tests beside this one leave traces of their own for a moment."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        after = lane.traces()
        left = {
            "processes": Counter(after.processes) - Counter(before.processes),
            "files": after.files if len(after.files) > len(before.files) else [],
            "mounts": Counter(after.mounts) - Counter(before.mounts),
        }
        if before.level >= hostile_lane.CONTAINED:
            left["marked"] = sorted({*after.marked} - {*before.marked})
            left["segments"] = sorted({*after.segments} - {*before.segments})
        if not any(left.values()) or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    assert not any(left.values()), left


def _assert_tame(graded: JobOutcome, out: Path) -> None:
    """What is written of it is small, and holds nothing that acts."""
    failures = kept(graded, out)
    assert graded.result is not None
    assert not failures
    (folder,) = (path for path in out.iterdir() if path.is_dir() and not path.name.startswith("."))
    assert (folder / "result.json").stat().st_size <= RESULT_BYTES
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert not [text for text in ACTED_ON if text in page]


def family(member: Member) -> str:
    """What a member tries."""
    return member.name.split("/")[1]


def _least(member: Member) -> int:
    """The weakest level that promises to hold a member."""
    return max([hostile_lane.CONTAINED, *(int(text.split(",")[0]) for text in member.notes("least"))])


def _members(level: int, families: tuple[str, ...], *, one_in: int = 1) -> pytest.MarkDecorator:
    """Runs a test with each member of these families that the level promises to hold, or a sample of them."""
    return pytest.mark.parametrize("member", [
        pytest.param(member, id=member.name.removeprefix("hostile/")) for member in MEMBERS
        if family(member) in families
        and zlib.crc32(member.title.encode()) % (2 if family(member) in PROVED_TWICE else one_in) == 0
        and _least(member) <= level and "gpu" not in member.notes("needs")])


at_the_strongest = pytest.mark.parametrize("lane", [STRONGEST], indirect=True)
Record = Callable[[str, object], None]


@pytest.mark.timeout(240)
@at_the_strongest
@_members(SEALED, tuple(map(family, MEMBERS)))
def test_zero_points_and_nothing_left(
    member: Member, lane: Lane, tmp_path: Path, record_property: Record, got: Taking,
) -> None:
    found = _assert_held(member, lane, tmp_path, record_property)
    got({name_of("graded", member, name): one for name, one in found.items()})


@pytest.mark.full
@pytest.mark.timeout(240)
@pytest.mark.parametrize("lane", ["2"], indirect=True)
@_members(2, CONFINED, one_in=6)
def test_the_same_without_namespaces(
    member: Member, lane: Lane, tmp_path: Path, record_property: Record,
) -> None:
    _assert_held(member, lane, tmp_path, record_property)


def _assert_held(member: Member, lane: Lane, tmp_path: Path, record_property: Record) -> dict[str, MemberOutcome]:
    """Returns what is to come of it at any grading: no hint where several verdicts will do."""
    folder = member.folder()
    if reason := unfit(folder):
        pytest.skip(reason)
    if lane.isolation.level < _least(member):
        pytest.skip(f"holds from level {_least(member)} on")
    (verdicts,) = member.notes("verdict")
    limits = hostile_lane.BRIEF if "time_limit" in verdicts else hostile_lane.LIMITS
    contents = _contents(folder)
    before = lane.traces()
    outcome = lane.graded(_alone(folder), limits=limits)
    assert outcome.result is not None, outcome.error
    record_property(TABLE, lane.row("hostile", list(outcome.result.assignments.values())))
    assert _contents(folder) == contents
    _assert_nothing_left(lane, before)
    _assert_tame(outcome, tmp_path)
    found = {}
    for name, result in outcome.result.assignments.items():
        output = told(result)
        # A hint may hang on where an attack's objects lie in memory.
        found[name] = MemberOutcome.of(verdicts, result.score, "")
        assert result.score == 0, output
        assert result.verdict in verdicts.split(", "), output
        for words in member.notes("expect"):
            assert words.lower() in output.lower(), output
    return found


def test_the_corpus_is_large_and_says_what_must_come_of_each() -> None:
    assert len(MEMBERS) >= LEAST_MEMBERS
    for member in MEMBERS:
        assert member.notes("about") and any(file in FILES for file in member.files), member
        (verdicts,) = member.notes("verdict")
        assert not any(not re.fullmatch(r"[34], .+", text) for text in member.notes("least")), member
        # No file takes itself out of the points that count: what it does is told of it.
        assert set(verdicts.split(", ")) <= set(VERDICTS) - {ACCEPTED, INFRASTRUCTURE_ERROR}, member


@pytest.mark.timeout(180)
@pytest.mark.parametrize("between", [
    pytest.param(IN_CLASS[-1:], id="one"), pytest.param(IN_CLASS, id="all", marks=pytest.mark.full)])
def test_neighbours_in_a_class_are_untouched(between: Sequence[str], tmp_path: Path) -> None:
    folders = [tmp_path / "class" / f"{number:02}" for number in range(2 * len(between) + 1)]
    for number, folder in enumerate(folders):
        if number % 2:
            Member(f"hostile/{between[number // 2]}").written(folder)
        else:
            folder.mkdir(parents=True)
            shutil.copy(HONEST, folder)
    out = tmp_path / "out"
    out.mkdir()
    # A search for a change is begun for each that is wrong, and no more than begun: it takes long.
    # Nor is it waited for those that would use up their time.
    courses = [hostile_lane.course(limits=limits).model_copy(update={"hints": HintsTable(tries=1)})
               for limits in (hostile_lane.LIMITS, hostile_lane.BRIEF)]
    jobs = [read_job(submission, courses[number % 2], ("silu",))
            for number, submission in enumerate(find_submissions(tmp_path / "class", FILES))]
    with LocalLanes([{}]) as lanes:
        for outcome in lanes.grade(jobs, 1):
            assert kept(outcome, out) == []
    loaded_results = load_results(out)
    assert not loaded_results.failures
    results = {entry.folder: entry.result.assignments["silu"] for entry in loaded_results.entries}
    assert sorted(results) == [folder.name for folder in folders]
    for number, folder in enumerate(folders):
        result = results[folder.name]
        if number % 2:
            assert result.score == 0, (between[number // 2], told(result))
        else:
            assert result.verdict == "accepted" and result.score == result.correctness.max_points, told(result)
            assert [path.name for path in folder.iterdir()] == [HONEST.name]


def _socket(place: Path, outside: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))


def _sparse(place: Path, outside: Path) -> None:
    with place.open("wb") as stream:
        stream.truncate(1 << 40)


def _through_a_folder(place: Path, outside: Path) -> None:
    """A link within the folder, to a name below a link that leaves it."""
    (place.parent / "sub").symlink_to(outside.parent)
    place.symlink_to(f"sub/{outside.name}")


def _device(place: Path, outside: Path) -> None:
    try:
        os.mknod(place, 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("making a device takes root")


def _other_case(place: Path, outside: Path) -> None:
    for name in ("SILU.PY", "Silu.py", "silu.PY", "silu.py ", "silu.py.", "silu\u200b.py", "sılu.py"):
        shutil.copy(outside, place.parent / name)


# What lies where silu.py should be, with an honest silu.py outside: how it is made, verdict and words.
INTAKE: dict[str, tuple[Callable[[Path, Path], object], Verdict, str]] = {
    "link out of the folder": (lambda place, outside: place.symlink_to(outside), "runtime_error", "symbolic link"),
    "link by a folder": (_through_a_folder, "runtime_error", "symbolic link"),
    "link to a device": (lambda place, outside: place.symlink_to("/dev/zero"), "runtime_error", "symbolic link"),
    "link to the judge": (lambda place, outside: place.symlink_to("/proc/self/environ"), "runtime_error", "link"),
    "link to itself": (lambda place, outside: place.symlink_to(place.name), "runtime_error", "link"),
    "link to nothing": (lambda place, outside: place.symlink_to("nothing"), "runtime_error", "link"),
    "pipe": (lambda place, outside: os.mkfifo(place), "runtime_error", "regular file"),
    "folder": (lambda place, outside: shutil.copytree(outside.parent, place), "runtime_error", "regular file"),
    "socket": (_socket, "runtime_error", "regular file"),
    "device": (_device, "runtime_error", "regular file"),
    "a tebibyte of holes": (_sparse, "runtime_error", "bytes"),
    "null bytes": (lambda place, outside: place.write_bytes(outside.read_bytes() + b"\0"), "runtime_error", "null"),
    "other encoding": (lambda place, outside: place.write_text(outside.read_text(), "utf-16"), "runtime_error", ""),
    "other case": (_other_case, "missing", "silu.py"),
}  # fmt: skip


@at_the_strongest
@pytest.mark.parametrize("kind", INTAKE)
def test_odd_files_are_refused(kind: str, lane: Lane, tmp_path: Path) -> None:
    make, verdict, words = INTAKE[kind]
    outside, folder = tmp_path / "outside" / HONEST.name, tmp_path / "student"
    outside.parent.mkdir()
    folder.mkdir()
    shutil.copy(HONEST, outside)
    make(folder / HONEST.name, outside)
    before = lane.traces()
    outcome = lane.graded(_alone(folder), only=("silu",))
    _assert_nothing_left(lane, before)
    assert outcome.result is not None, outcome.error
    result = outcome.result.assignments["silu"]
    assert (result.verdict, result.score) == (verdict, 0), told(result)
    assert words in result.message, told(result)
    (tmp_path / "out").mkdir()
    _assert_tame(outcome, tmp_path / "out")


# As a student's folder is named. Some file systems refuse some of them.
NAMES = (
    "<script>alert('name')</script>", "=cmd|' /C calc'!A1", "@SUM(1+1)", "-1+1", "\u202egpj.exe", "a\nb\tc",
    "\x1b[31mred", "Alice", "alice", "ALICE", "..\\..\\evil", "%2e%2e%2f", "index.html", "n" * 255, "\udcff\udcfe",
    "{{ 7 * 7 }}",
)


@at_the_strongest
def test_odd_names_are_harmless(lane: Lane, tmp_path: Path) -> None:
    for name in NAMES:
        folder = tmp_path / "class" / name
        try:
            folder.mkdir(parents=True)
        except OSError:
            continue
        (folder / HONEST.name).write_text("def silu(out):\n    pass\n")
        (folder / "<script>alert(1)<").touch()
    out = tmp_path / "out"
    out.mkdir()
    submissions = find_submissions(tmp_path / "class", FILES)
    assert len(submissions) == sum(1 for _ in (tmp_path / "class").iterdir()) > 3
    for submission in submissions:
        outcome = lane.graded(submission, only=("silu",))
        assert kept(outcome, out) == []
    results = load_results(out)
    assert len(results.entries) == len(submissions) and not results.failures
    write_class(results.entries, out)
    assert {path.name for path in tmp_path.iterdir()} == {"class", "out"}
    pages = [path.read_text(encoding="utf-8") for path in out.rglob("*.html")]
    assert not [text for page in pages for text in ACTED_ON if text in page]
    gradebook = io.StringIO((out / "gradebook.csv").read_text(encoding="utf-8"), newline="")
    for cell in (cell for row in csv.reader(gradebook) for cell in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell
