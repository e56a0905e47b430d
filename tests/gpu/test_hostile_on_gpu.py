"""The corpus of hostile submissions, judged on a GPU: zero points there, too, and nothing left running.

Their notes say what verdict they get without one; a GPU may be the first to find them out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.catalogue import ROOT, assignments
from grader.confine import processes
from grader.course import LimitsTable
from grader.grading import grade
from grader.judge.lane import lane_executors, lane_zygote
from grader.lanes import Job
from grader.submission import Submission
from tests import hostile_lane
from tests.graded import FILES, results, told
from tests.test_hostile import MEMBERS

pytestmark = pytest.mark.gpu

DEVICE = "cuda"
LIMITS = LimitsTable(call_seconds=8, assignment_seconds=20, memory_mb=2048)
HONEST = ROOT / "examples" / "class" / "alice"


@pytest.mark.parametrize("folder", MEMBERS, ids=[f"{path.parent.name}/{path.name}" for path in MEMBERS])
def test_an_attack_scores_zero_and_leaves_no_process(folder: Path) -> None:
    present = tuple(name for file, name in FILES.items() if (folder / file).is_file())
    notes = "".join((folder / assignments()[name].file).read_text(errors="replace") for name in present)
    if re.search(r"^# (residual|gap): ", notes, re.MULTILINE):
        pytest.skip("it earns points, as the README says it may")
    # One that a submission has ended is replaced.
    versions = lane_zygote().versions
    lane_executors()
    before = len(processes.descendants())
    submission = Submission(folder.name, folder, folder.name)
    graded = grade(Job(submission, hostile_lane.course(limits=LIMITS), present, DEVICE, speed=False))
    assert graded.result is not None, graded.error
    for result in graded.result.assignments.values():
        assert result.score == 0 and result.verdict not in ("accepted", "infrastructure_error"), told(result)
    assert lane_zygote().versions == versions
    # An executor that was taken stays until the next one is.
    assert len(processes.descendants()) <= before + 2


def test_after_all_of_them_an_honest_submission_is_accepted() -> None:
    assert {result.verdict for result in results(HONEST, LimitsTable(), DEVICE).values()} == {"accepted"}
