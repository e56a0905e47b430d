"""Attempts planned ahead by another thread, while simulators of the one before are at work."""

from __future__ import annotations

from pathlib import Path

from grader.model.catalogue import ROOT, assignments
from grader.model.course import Course
from grader.model.job import read
from grader.suite.context import Context

NAMES = ("silu", "transpose", "rmsnorm_vector")


def context(folder: Path) -> Context:
    return Context(
        handed_in=read(folder, NAMES, Course()), assignments={name: assignments()[name] for name in NAMES},
        course=Course(), device="cpu", seed=bytes(32), asked_for_speed=False)


def test_what_is_planned_ahead_is_judged_as_ever(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text((ROOT / "reference" / "silu.py").read_text())
    (tmp_path / "transpose.py").write_text("import no_such_module\n")
    ahead = context(tmp_path)
    # What was handed in is judged, not what has become of it since.
    (tmp_path / "silu.py").unlink()
    ahead.read_ahead()
    attempts = {name: ahead.attempt(ahead.assignments[name]) for name in NAMES}
    silu = ahead.assignments["silu"]
    cases = [attempts["silu"].check(case).outcome for case in silu.cases_for("cpu")]
    ahead.wait_until_read()
    assert set(cases) == {"passed"}
    found = {name: attempt.read() for name, attempt in attempts.items()}
    assert [check.outcome for check in found.values()] == ["passed", "failed", "failed"]
    kinds = [check.detail and check.detail.kind for check in found.values()]
    assert kinds == [None, "missing_function", "missing_file"]
    for attempt in attempts.values():
        attempt.close()
