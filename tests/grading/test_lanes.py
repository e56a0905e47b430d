"""Lanes start at once; one that ends or does not answer costs nobody a grade, or all of them are ended."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.course.course import Course, HintsTable
from grader.course.submission import Submission
from grader.grading import grading, lanes
from grader.grading.job import Job, JobOutcome, read_job
from grader.grading.lanes import LocalLanes
from grader.home import ROOT
from grader.judging.running import device
from tests.command import SILU, hand_in

# Wrong in one place, which one change mends.
WRONG = SILU.replace("x / (1 + tl.exp(-x)), mask=mask", "x / (1 + tl.exp(x)), mask=mask")


class Ended(Exception):
    pass


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr("os._exit", end)
    monkeypatch.setattr(grading, "grade", lambda job, begun, following: JobOutcome(job.submission, None, "log"))


def job(device: str) -> Job:
    return read_job(Submission("carol", Path("carol"), "carol"), Course(), device=device)


def test_a_lane_that_is_well_goes_on(ends: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "sane", lambda: True)
    assert lanes.grade_in_lane(job("cuda")).log == "log"


def test_a_lane_whose_device_is_lost_ends(ends: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "sane", lambda: False)
    with pytest.raises(Ended):
        lanes.grade_in_lane(job("cuda"))
    # Without a GPU nothing is asked of one.
    assert lanes.grade_in_lane(job("cpu")).log == "log"


def test_what_supplies_lanes_imports_neither_torch_nor_matplotlib() -> None:
    late = "{'torch', 'triton', 'matplotlib'}"
    imported = "import sys, grader.commands.cli, grader.grading.whole_class"
    result = subprocess.run(
        [sys.executable, "-c", f"{imported}; print({late} & set(sys.modules))"],
        cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def jobs() -> list[Job]:
    folders = [ROOT / "examples/class" / name for name in ("alice", "bob", "carol")]
    # Changes that mend what is wrong take seconds to find.
    course = Course(hints=HintsTable(level="off"))
    return [read_job(Submission(folder.name, folder, folder.name), course, ("silu",)) for folder in folders]


@pytest.mark.full
def test_a_lane_that_dies_between_two_gradings_costs_nobody_a_grade() -> None:
    outcomes = []
    with LocalLanes([{"OF_A_LANE": "7"}]) as lanes:
        for outcome in lanes.grade(jobs()[:2], 1):
            outcomes.append(outcome)
            if len(outcomes) == 1:
                (lane,) = multiprocessing.active_children()
                lane.kill()
                # As storing a result may take: the executor sees meanwhile what has become of it.
                lane.join()
                time.sleep(0.5)
        # The environment of the one that died.
        assert lanes.ask(os.getenv, "OF_A_LANE").result() == "7"
    assert sorted(outcome.submission.student for outcome in outcomes) == ["alice", "bob"]
    assert all(outcome.result is not None for outcome in outcomes) and "OF_A_LANE" not in os.environ


def test_a_lane_that_dies_at_work_costs_nobody_a_grade_and_no_other_lane_its_work() -> None:
    began: dict[str, set[float]] = {}
    killed: list[str] = []
    with LocalLanes([{}, {}]) as lanes:
        def look() -> bool:
            running = lanes.running()
            for one in running:
                began.setdefault(one.student, set()).add(one.since)
            children = multiprocessing.active_children()
            if len(running) == 2 and len(children) == 2 and not killed:
                # Processes are started in the order of their jobs.
                oldest = min(children, key=lambda process: process.pid or 0)
                killed.append(running[0].student)
                oldest.kill()
            return False

        outcomes = list(lanes.grade(jobs(), 2, look))
    assert killed and sorted(outcome.submission.student for outcome in outcomes) == ["alice", "bob", "carol"]
    assert all(outcome.result is not None for outcome in outcomes)
    # The time of a job is that of its first try, on whatever process.
    assert all(len(times) == 1 for times in began.values())


def test_a_lane_whose_process_dies_twice_over_one_job_gives_up_that_one_alone() -> None:
    with LocalLanes([{}]) as lanes:
        def kill_alices() -> bool:
            for one in lanes.running():
                if one.student == "alice":
                    for process in multiprocessing.active_children():
                        process.kill()
            return False

        found = {outcome.submission.student: outcome for outcome in lanes.grade(jobs()[:1], 1, kill_alices)}
        later = {outcome.submission.student: outcome for outcome in lanes.grade(jobs()[1:], 1)}
    assert found["alice"].result is None and found["alice"].error == "the grading process died, twice"
    assert later["bob"].result is not None and later["carol"].result is not None


@pytest.mark.timeout(400)
def test_wrong_files_are_searched_side_by_side_and_on_spare_lanes(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", WRONG)
    text = (ROOT / "reference/transpose.py").read_text()
    (folder / "transpose.py").write_text(text.replace("tl.store(", "tl.store(1 + "))
    hand_in(tmp_path, "cy", SILU)
    wanted = [read_job(Submission(name, tmp_path / name, name), Course(), only, seed=3)
              for name, only in (("cy", ("silu",)), ("ada", ("silu", "transpose")))]
    outcomes: list[dict[tuple[str, str], Any]] = []
    for side_by_side, spare in ((2, 0), (1, 1)):
        most = 0

        def look() -> bool:
            nonlocal most
            most = max(most, sum(grading.assignment.endswith(", for a hint") for grading in helped.running()))
            return False

        with LocalLanes([{}] * side_by_side, spare=spare) as helped:
            found = {outcome.submission.student: outcome.result for outcome in helped.grade(wanted, side_by_side, look)}
        assert most == side_by_side + spare
        outcomes.append({(student, name): (graded.verdict, graded.repair) for student, result in found.items()
                         if result is not None for name, graded in result.assignments.items()})
    assert {verdict for verdict, _ in outcomes[0].values()} == {"accepted", "wrong_answer", "runtime_error"}
    assert outcomes[0]["ada", "silu"][1] is not None and outcomes[0]["cy", "silu"][1] is None
    assert len(outcomes[0]) == 3 and outcomes[1] == outcomes[0]


def test_an_interruption_keeps_what_lacks_a_hint_alone() -> None:
    nothing = read_job(job("cpu").submission, Course(), ("silu",)).handed_in
    wanted = [replace(job, handed_in=nothing, course=Course()) for job in jobs()]
    mended: set[str] = set()
    outcomes = []
    with pytest.raises(KeyboardInterrupt), LocalLanes([{}], spare=1) as lanes:
        def look() -> bool:
            mended.update(grading.student for grading in lanes.running() if grading.assignment.endswith(", for a hint"))
            return bool(mended)

        for outcome in lanes.grade(wanted, 1, look):
            outcomes.append(outcome)
    assert mended and mended <= {outcome.submission.student for outcome in outcomes}
    assert all(outcome.wrong for outcome in outcomes)


def test_a_lane_that_cannot_be_told_to_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "END_SECONDS", 1)

    def interrupted() -> bool:
        for lane in multiprocessing.active_children():
            assert lane.pid is not None
            os.kill(lane.pid, signal.SIGSTOP)
        return bool(multiprocessing.active_children())

    with pytest.raises(KeyboardInterrupt), LocalLanes([{}]) as started:
        list(started.grade(jobs(), 1, interrupted))
    assert not multiprocessing.active_children()
