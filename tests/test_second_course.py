"""The second course, `examples/llm`: each file of its test class gets what it says of itself.

`# verdict: accepted` passes every case, any other fails one, each `# expect: words` stands in what its student is told,
of all cases together or of one, and no `# never: words`. The judge is the real one. In `make test-all` changes are
tried on files that have a line `# proved: words`, which must stand in what is told of the change that was found.
"""

import hashlib
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.course import Course, read_course
from grader.course.submission import Source
from grader.home import ROOT
from grader.judging.explain import explain_assignment
from grader.judging.judgement import Judgement
from grader.judging.prepared import PreparedTask, Task
from grader.judging.repair import repaired
from grader.results.result import CheckResult

COURSE = ROOT / "examples" / "llm"
FILES = sorted((COURSE / "class").glob("*/*.py"))
RIGHT, WRONG = 2, 5
# Two of each assignment are judged every time, but for attention, which takes half a minute in the simulator.
EVERY_TIME = {"ben", "hugo"}
CASES = [pytest.param(path, id=f"{path.parent.name}/{path.stem}", marks=[pytest.mark.full] * (
    path.parent.name not in EVERY_TIME or path.stem.startswith("flash_attention"))) for path in FILES]


def notes(text: str, what: str) -> list[str]:
    """What a file says of itself in lines `# what: …`."""
    return re.findall(rf"^# {what}: (.+)$", text, re.MULTILINE)


@cache
def course() -> Course:
    return read_course(COURSE / "course.toml", frozenset(catalogue.files(COURSE)))


def task_of(path: Path) -> Task:
    source = Source(content=path.read_bytes(), file=path.name)
    # The same each time: what is drawn at random here makes a run red that nobody can repeat.
    seed = hashlib.sha256(path.parent.name.encode()).digest()
    return Task(catalogue.assignments(COURSE)[path.stem], source, course(), seed, "cpu")


def judged(path: Path) -> tuple[Assignment, list[CheckResult]]:
    task = task_of(path)
    return task.assignment, Judgement(PreparedTask(task)).take_all()


@pytest.mark.parametrize("path", CASES)
def test_what_a_file_says_of_itself(path: Path) -> None:
    (assignment, checks), text = judged(path), path.read_text(encoding="utf-8")
    failed = [check for check in checks if check.outcome == "failed"]
    summary = explain_assignment(assignment, checks)
    said = "\n".join([f"{summary.message} {summary.hint}", *(
        f"{check.id}: {check.detail.message} {check.detail.hint}" for check in failed if check.detail)])
    assert bool(failed) == (notes(text, "verdict") != ["accepted"]), said
    for words in notes(text, "expect"):
        assert words.lower() in said.lower(), said
    assert not [words for words in notes(text, "never") if words in said], said


@pytest.mark.full
@pytest.mark.parametrize("path", [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in FILES
                                  if notes(path.read_text(encoding="utf-8"), "proved")])
def test_a_change_is_found_where_no_hint_names_the_mistake(path: Path) -> None:
    prepared = PreparedTask(task_of(path))
    repair = repaired(prepared, Judgement(prepared).take_all())
    assert repair is not None
    for words in notes(path.read_text(encoding="utf-8"), "proved"):
        assert words in repair.told, repair


def test_launches_that_each_update_a_tensor_of_their_own_are_looked_at_in_part() -> None:
    _, checks = judged(COURSE / "class" / "ada" / "rope.py")
    (note,) = [check.note for check in checks if check.stage == "target"]
    assert {check.outcome for check in checks} == {"passed"} and "programs of 4099x32x8x128x8192" in note, note


def test_every_assignment_has_right_and_wrong_ones() -> None:
    counts = Counter((path.stem, *notes(path.read_text(encoding="utf-8"), "verdict")) for path in FILES)
    for name in catalogue.files(COURSE):
        wrong = sum(count for (of, verdict), count in counts.items() if of == name and verdict != "accepted")
        assert counts[name, "accepted"] >= RIGHT and wrong >= WRONG, (name, counts)
