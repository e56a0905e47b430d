"""Several assignments of a submission judged at once, as on a GPU, with workers and zygotes of their own."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.assignment import Assignment, Case
from grader.catalogue import ROOT, assignments
from grader.course import Course, LimitsTable, read_course
from grader.forkserver.handle import InfrastructureError
from grader.grading import Job, grade
from grader.judge import company, lane
from grader.judge.attempt import Attempt
from grader.judge.policy import Violation
from grader.judge.session import Session
from grader.result import AssignmentResult, CheckResult
from grader.submission import find_submissions
from grader.suite.context import Context

NAMES = ("silu", "transpose", "copy_first_column")
SIGNATURES = {"silu": "silu(x, out)", "transpose": "transpose(x, out)",
              "copy_first_column": "copy_first_column(matrix, out)"}
ENDLESS = "import triton\nimport triton.language as tl\n\n\ndef silu(x, out):\n    while True:\n        pass\n"


@pytest.fixture(autouse=True, params=[3, 2], ids=["a place for each", "fewer places"])
def places(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr("grader.suite.context.at_once", lambda device: request.param)
    yield request.param
    # Nobody else wants so many.
    lane.close_lane()


def course(call_seconds: float = 3) -> Course:
    found = read_course(ROOT / "course.toml", frozenset(assignments()))
    return found.model_copy(update={"limits": LimitsTable(call_seconds=call_seconds, assignment_seconds=60)})


def graded(folder: Path, **sources: str) -> dict[str, AssignmentResult]:
    for name in NAMES:
        shutil.copy(ROOT / "reference" / f"{name}.py", folder)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    (submission,) = find_submissions(folder, [f"{name}.py" for name in NAMES])
    done = grade(Job(submission, course(), NAMES))
    assert done.result is not None, done.error
    return done.result.assignments


def full(result: AssignmentResult) -> bool:
    return result.verdict == "accepted" and result.score == 60


def test_they_run_side_by_side_and_each_is_judged_as_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, set[int]] = {}
    zygotes = set()
    seen: list[str] = []
    # Who is judged alone waits here in vain.
    both = threading.Barrier(2, timeout=60)
    inner = Session.call

    def call(self: Session, case: Case, inputs: object) -> object:
        name = self.assignment.name
        threads.setdefault(name, set()).add(threading.get_ident())
        zygotes.add(self.zygote.pid)
        if name in NAMES[:2] and name not in seen:
            seen.append(name)
            both.wait()
        return inner(self, case, inputs)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "call", call)
    results = graded(tmp_path, transpose="def transpose(x, out):\n    out.copy_(x.t())\n")
    assert full(results["silu"]) and full(results["copy_first_column"]), results
    assert results["transpose"].verdict == "policy_violation", results["transpose"].message
    assert threading.get_ident() not in set.union(*threads.values()) and len(zygotes) >= 2


def test_a_worker_with_a_place_of_its_own_is_stopped_until_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    states: list[tuple[str, str]] = []
    settled: list[bool] = []
    inner = company.Company.settle

    def settle(self: company.Company, *, alone: bool = False) -> None:
        inner(self, alone=alone)
        settled.append(alone)
        for name, member in self.members.items():
            session = member.attempt._session
            if session is not None:
                stat = Path(f"/proc/{session.worker.pid}/stat").read_text()
                states.append((name, stat.rpartition(")")[2].split()[0]))

    monkeypatch.setattr(company.Company, "settle", settle)
    # Without a GPU nobody asks for speed, which is what waits for all.
    monkeypatch.setattr(company.Member, "close", lambda self: (self._company.settle(), self.attempt.close())[1])
    results = graded(tmp_path)
    assert all(map(full, results.values())), results
    assert settled == [False] * len(NAMES)
    assert {state for _, state in states} == ({"T"} if places == len(NAMES) else set())


@pytest.mark.parametrize("places", [3], indirect=True)
def test_what_runs_out_of_time_in_company_has_another_try_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Counter[str] = Counter()
    inner = Attempt._open

    def open_(self: Attempt) -> object:
        opened[self.assignment.name] += self._session is None
        return inner(self)

    monkeypatch.setattr(Attempt, "_open", open_)
    results = graded(tmp_path, silu=ENDLESS)
    assert results["silu"].verdict == "time_limit" and results["silu"].score == 0
    assert full(results["transpose"]) and full(results["copy_first_column"])
    # Two cases, then no more; and once again.
    assert opened["silu"] == 4 and opened["transpose"] == 1, opened


def test_a_failure_of_ours_in_company_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[str] = []
    inner = Attempt.check

    def check(self: Attempt, case: Case) -> CheckResult:
        if self.assignment.name == "silu" and not failed:
            failed.append(case.name)
            raise InfrastructureError("no worker could be had")
        return inner(self, case)

    monkeypatch.setattr(Attempt, "check", check)
    results = graded(tmp_path)
    assert failed and all(map(full, results.values())), results


ENDLESS_AT_LAST = (ROOT / "reference" / "silu.py").read_text() + """

_right, _calls = silu, []


def silu(x, out):
    _calls.append(1)
    while len(_calls) > 1:
        pass
    _right(x, out)
"""


@pytest.mark.parametrize("places", [3], indirect=True)
@pytest.mark.parametrize("cheats", [True, False])
def test_running_out_of_time_wipes_no_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cheats: bool
) -> None:
    made: Counter[str] = Counter()
    init = Attempt.__init__

    def counted(self: Attempt, *arguments: Any, **named: Any) -> None:
        init(self, *arguments, **named)
        made[self.assignment.name] += 1

    def judged(operators: object, kernels: object, assignment: Assignment) -> set[Violation]:
        return {Violation(3, "aten::silu", "PyTorch did it")} if cheats and assignment.name == "silu" else set()

    monkeypatch.setattr(Attempt, "__init__", counted)
    monkeypatch.setattr("grader.judge.policy.judge_record", judged)
    results = graded(tmp_path, silu=ENDLESS_AT_LAST)
    assert made["silu"] == (1 if cheats else 2)
    assert results["silu"].verdict == ("policy_violation" if cheats else "time_limit")
    assert bool(results["silu"].flags) == cheats and full(results["transpose"])


def test_who_is_interrupted_waits_for_nobody(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(ENDLESS.replace("silu(x, out)", SIGNATURES[name]))
    found = assignments()
    context = Context(
        folder=tmp_path, assignments={name: found[name] for name in NAMES}, course=course(30), device="cpu",
        seed=b"seed", asked_for_speed=False, together=True)
    first = context.attempt(found["silu"])
    assert isinstance(first, company.Member)
    time.sleep(1)
    assert [member.done for member in first._company.members.values()] == [False] * len(NAMES)
    started = time.monotonic()
    first.close()
    context.close()
    # Each would have had a minute.
    assert time.monotonic() - started < 15
    with pytest.raises(InfrastructureError, match="interrupted"):
        first.record()


def test_work_left_on_the_device_ends_all_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[float] = []
    left: list[Session | None] = []
    inner = company.Company.settle

    def quiet(seconds: float = 1.0) -> bool:
        asked.append(seconds)
        return False

    def settle(self: company.Company, *, alone: bool = False) -> None:
        self._cuda = True
        inner(self, alone=alone)
        left.extend(member.attempt._session for member in self.members.values())

    monkeypatch.setattr("grader.judge.company.device.quiet", quiet)
    monkeypatch.setattr(company.Company, "settle", settle)
    monkeypatch.setattr(company.Member, "close", lambda self: (self._company.settle(), self.attempt.close())[1])
    started = time.monotonic()
    results = graded(tmp_path)
    assert all(map(full, results.values())), (results, time.monotonic() - started)
    assert len(asked) == 1 and left and not any(left)
