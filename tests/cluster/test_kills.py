"""Lanes and schedulers that are killed at any moment cost nobody a grade, and nobody is graded twice."""

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from grader.cluster.lanes import ClusterLanes
from grader.cluster.scheduler import endpoint
from grader.course.catalogue import files
from grader.course.course import read_course
from grader.course.submission import find_submissions
from grader.grading.job import JobOutcome, read_job
from grader.grading.whole_class import survey
from grader.home import ROOT
from tests.cluster.cluster import Cluster, class_of, grading_processes, recorded, until
from tests.command import SILU, hand_in

CLASS = ("ada", "bob", "eve", "zoe")
ONCE = {name: ["accepted"] for name in CLASS}
SLOW = "import time\ntime.sleep(60)\n" + SILU
COURSE = read_course(ROOT / "course.toml", frozenset(files()))
# Seconds that a lane takes for a student; a moment is drawn from them.
WHILE = 1.0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path) as found:
        yield found


def killed(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.mark.full
@pytest.mark.timeout(600)
def test_lanes_are_killed_at_random_moments(cluster: Cluster, tmp_path: Path) -> None:
    submissions = class_of(tmp_path / "class", CLASS)
    lanes = [cluster.lane(wait=False), cluster.lane()]
    for number in range(0, len(CLASS), 2):
        out = tmp_path / f"out-{number}"
        grade, log = cluster.grade(submissions, out, "--only", "silu")
        # So many of the class are graded, and then a moment.
        until(log, f"[{number}/" if number else " joined: ", grade)
        time.sleep(random.uniform(0, WHILE))
        killed(lanes.pop(0))
        lanes.append(cluster.lane(wait=False))
        assert grade.wait(120) == 0, log.read_text()
        assert recorded(out) == ONCE


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_scheduler_is_killed_at_a_random_moment(cluster: Cluster, tmp_path: Path) -> None:
    submissions = class_of(tmp_path / "class", CLASS)
    lanes = [cluster.lane(wait=False), cluster.lane()]
    out = tmp_path / "out"
    grade, log = cluster.grade(submissions, out, "--only", "silu")
    until(log, "[1/", grade)
    time.sleep(random.uniform(0, WHILE))
    killed(cluster.scheduler)
    status = grade.wait(120)
    kept = recorded(out)
    if status != 0:
        assert status == 3 and len(kept) < len(CLASS), log.read_text()
        (said,) = [line for line in log.read_text().splitlines() if "does not answer any more" in line]
        assert "give the same command again" in said and "Traceback" not in log.read_text()
    assert all(kept[name] == ONCE[name] for name in kept)
    for lane in lanes:
        # It says so, and leaves.
        assert lane.wait(60) == 3
    cluster.listen()
    cluster.lane()
    again, log = cluster.grade(submissions, out, "--only", "silu")
    assert again.wait(120) == 0, log.read_text()
    assert recorded(out) == ONCE


@pytest.mark.full
def test_the_page_tells_who_is_on_which_lane_and_that_the_scheduler_was_lost(cluster: Cluster, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "ada")
    hand_in(tmp_path / "class", "eve", SLOW)
    cluster.lane(jobs=2)
    grade, log = cluster.grade(tmp_path / "class", tmp_path / "out", "--only", "silu", "--json")
    until(log, '"student": "ada"', grade)
    page = tmp_path / "out" / "index.html"
    while not ("<b>1 of 2 graded</b>" in (text := page.read_text()) and "; 2 lanes." in text):
        assert grade.poll() is None
        time.sleep(0.1)
    assert "<bdi>eve</bdi>: on " in text
    killed(cluster.scheduler)
    assert grade.wait(60) == 3
    assert "the run was interrupted. The same command continues it." in page.read_text()
    assert recorded(tmp_path / "out") == {"ada": ["accepted"]}


def graded(
    cluster: Cluster, tmp_path: Path, said: list[str], kill: Callable[[str, str], None]
) -> dict[str, JobOutcome]:
    """What the class in `tmp_path / "class"` gets, while `kill` is told of each student at work, and the lane."""
    jobs = [read_job(submission, COURSE, ("silu",)) for submission in find_submissions(tmp_path / "class", ["silu.py"])]
    found = {}

    def say(line: str) -> None:
        # Otherwise all would wait for another lane, without end.
        assert " refused: " not in line, line
        said.append(line)

    with ClusterLanes(endpoint(cluster.address, cluster.key), 0, say) as lanes:
        lanes.survey(survey, "cpu", ("silu",)).result()

        def watched() -> bool:
            for grading in lanes.running():
                # Planning has begun: the sleep is on.
                if time.time() - grading.since > 1:
                    kill(grading.student, grading.lane)
            return False

        for outcome in lanes.grade(jobs, len(jobs), watched):
            assert outcome.submission.student not in found
            found[outcome.submission.student] = outcome
    return found


def test_innocents_survive_a_neighbour_that_kills_lanes(cluster: Cluster, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "0-mallory", SLOW)
    class_of(tmp_path / "class", CLASS)
    lanes = {str(one.pid): one for one in (cluster.lane(wait=False), cluster.lane(wait=False), cluster.lane())}
    dead: set[str] = set()

    def kill(student: str, lane: str) -> None:
        if student == "0-mallory" and lane not in dead:
            dead.add(lane)
            killed(lanes[lane.split("-")[-2]])

    said: list[str] = []
    found = graded(cluster, tmp_path, said, kill)
    assert len(dead) == 2 and found["0-mallory"].error == "the lane that graded it died, twice"
    for name in CLASS:
        result = found[name].result
        assert result is not None and result.assignments["silu"].verdict == "accepted", found[name].error
    assert [line.partition(" died")[2] for line in said if " died" in line] == [
        " while grading 0-mallory, who goes to another lane", " while grading 0-mallory"]


@pytest.mark.full
def test_a_lane_that_is_told_to_end_leaves_its_job_to_others(cluster: Cluster, tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "eve", SLOW.replace("60", "3"))
    lanes = {str(one.pid): one for one in (cluster.lane(wait=False), cluster.lane(wait=False), cluster.lane())}
    told: set[str] = set()

    def end(student: str, lane: str) -> None:
        if lane not in told and len(told) < 2:
            told.add(lane)
            lanes[lane.split("-")[-2]].terminate()

    said: list[str] = []
    eve = graded(cluster, tmp_path, said, end)["eve"]
    # More often than a lane may die over it.
    assert len(told) == 2 and {line for line in said if " has left " in line} == {
        f"lane {lane} has left while grading eve, who goes to another lane" for lane in told}
    assert eve.result is not None and eve.result.assignments["silu"].verdict == "accepted", eve.error
    assert [lanes[lane.split("-")[-2]].wait(60) for lane in told] == [0, 0]


@pytest.mark.full
def test_a_lane_that_fails_twice_is_examined(cluster: Cluster, tmp_path: Path) -> None:
    for name in ("0-mallory", "1-mallory"):
        hand_in(tmp_path / "class", name, SLOW)
    hand_in(tmp_path / "class", "ada")
    lane = psutil.Process(cluster.lane().pid)

    def kill(student: str, at: str) -> None:
        if student != "ada":
            for process in grading_processes(lane):
                process.kill()

    said: list[str] = []
    found = graded(cluster, tmp_path, said, kill)
    assert {name: outcome.error for name, outcome in found.items()} == {
        "0-mallory": "the grading process died, twice", "1-mallory": "the grading process died, twice", "ada": ""}
    assert any(line.endswith("in a row, but kernelmark doctor finds no fault on its machine: the lane goes on")
               for line in said), said


@pytest.mark.full
def test_a_scheduler_that_is_lost_before_anyone_is_graded_is_told(cluster: Cluster, tmp_path: Path) -> None:
    grade, log = cluster.grade(class_of(tmp_path / "class", CLASS), tmp_path / "out", "--only", "silu")
    until(log, "waiting for one", grade)
    killed(cluster.scheduler)
    assert grade.wait(60) == 3
    text = log.read_text().splitlines()
    assert len(text) == 2 and "does not answer any more; start it and give the same command again" in text[1]
