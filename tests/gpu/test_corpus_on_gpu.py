"""The corpus judged on a GPU: the verdicts are those without one, but where a note says otherwise and why:
`on_a_gpu = "a, b; why"`. One whose kernel keeps the GPU from all other processes is judged `alone`.

Attacks by host code end before a GPU has anything to do: one in eight of these stands for all.
"""

import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.course.submission import Submission
from grader.grading.grading import grade
from grader.grading.job import read_job
from grader.home import ROOT
from grader.judging.running.lane import LANE
from grader.results.result import AssignmentResult
from grader.sandbox.confine import processes
from tests import hostile_lane, test_hostile, test_submissions
from tests.graded import FILES, told, unfit
from tests.members import Member

pytestmark = pytest.mark.gpu

# Families of host code and plans, which planners and the sandbox hold.
HOST = (*test_hostile.CONFINED, *test_hostile.PROVED_TWICE, "exhausting", "forged_text", "injection")
HONEST = ["reference", *(f"examples/class/{name}" for name in ("alice", "bob", "dmitri", "fatima"))]


def _noted(member: Member, what: str) -> str:
    return next(iter(member.notes(what)), "")


def _members(members: Sequence[Member]) -> list[ParameterSet]:
    return [pytest.param(member, id=member.name.removeprefix("hostile/"),
                         marks=[pytest.mark.alone] if member.notes("alone_on_a_gpu") else []) for member in members]


def _graded(folder: Path, limits: LimitsTable) -> dict[str, AssignmentResult]:
    present = tuple(name for file, name in FILES.items() if (folder / file).is_file())
    submission = Submission(folder.name, folder, folder.name)
    outcome = grade(read_job(submission, hostile_lane.course(limits=limits), present, "cuda", speed=False))
    assert outcome.result is not None and outcome.result.assignments, outcome.error
    return outcome.result.assignments


@pytest.mark.parametrize("folder", HONEST)
def test_honest_submissions_are_accepted(folder: str) -> None:
    if reason := unfit(ROOT / folder):
        pytest.skip(reason)
    for name, result in _graded(ROOT / folder, LimitsTable()).items():
        assert result.verdict == "accepted" and not result.flags, (name, told(result))
        ran = {check.case for check in result.correctness.checks if check.stage == "case"}
        assert ran == {case.name for case in assignments()[name].cases}


@pytest.mark.parametrize("member", _members(test_submissions.MEMBERS))
def test_a_submission_gets_the_verdict_that_it_gets_without_a_gpu(member: Member) -> None:
    limits = LimitsTable()
    if member.verdict == "time_limit":
        # A file in CUDA C++ has to be built, too.
        limits = hostile_lane.BRIEF.model_copy(update={"assignment_seconds": 20})
    for result in _graded(member.folder(), limits).values():
        expected = _noted(member, "on_a_gpu").partition(";")[0] or member.verdict
        assert result.verdict in expected.split(", "), told(result)
        # A GPU only stops: the line is what a simulator has seen of the same case.
        assert member.verdict != "time_limit" or _noted(member, "expect") in told(result), told(result)


def test_a_race_that_only_large_sizes_have_fails_on_a_gpu_too() -> None:
    member = Member("wrong_answer/cuda_transpose_second_barrier_missing")
    (result,) = _graded(member.folder(), LimitsTable()).values()
    assert result.verdict == "wrong_answer" and "__syncthreads()" in told(result), told(result)


def _reaches_a_gpu(member: Member) -> bool:
    noted = any(member.notes(note) for note in ("on_a_gpu", "alone_on_a_gpu", "needs"))
    return noted or test_hostile.family(member) not in HOST or zlib.crc32(member.title.encode()) % 8 == 0


@pytest.mark.parametrize("member", _members([member for member in test_hostile.MEMBERS if _reaches_a_gpu(member)]))
def test_an_attack_scores_zero_and_leaves_no_process(member: Member) -> None:
    # One that a submission has ended is replaced.
    versions = LANE.fork_server.handle.ready
    _ = LANE.executors
    hostile_lane.start_builders()
    before = len(processes.descendants())
    results = _graded(member.folder(), hostile_lane.LIMITS)
    assert LANE.fork_server.handle.ready == versions
    # An executor that was taken stays until the next one is.
    assert len(processes.descendants()) <= before + 2
    for result in results.values():
        expected = (_noted(member, "on_a_gpu") or _noted(member, "verdict")).partition(";")[0]
        assert result.score == 0 and result.verdict in expected.split(", "), told(result)


def test_after_all_of_them_an_honest_submission_is_accepted() -> None:
    results = _graded(ROOT / "examples" / "class" / "alice", LimitsTable())
    assert {result.verdict for result in results.values()} == {"accepted"}
