"""Tasks prepared ahead by another thread, while simulators of the one before are at work."""

from __future__ import annotations

from pathlib import Path

from grader.home import ROOT
from grader.judge.checks import SOURCE, expected_checks, results
from grader.judge.judge import judge
from grader.judge.prepared import Prepared, Task, prepare_ahead
from grader.model.catalogue import assignments
from grader.model.course import Course
from grader.model.job import read

NAMES = ("silu", "transpose", "rmsnorm_vector")


def test_what_is_planned_ahead_is_judged_as_ever(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text((ROOT / "reference" / "silu.py").read_text())
    (tmp_path / "transpose.py").write_text("import no_such_module\n")
    handed_in = read(tmp_path, NAMES, Course())
    # What was handed in is judged, not what has become of it since.
    (tmp_path / "silu.py").unlink()
    tasks = {name: Prepared(Task(assignments()[name], handed_in.sources[name], Course(), bytes(32), "cpu"))
             for name in NAMES}
    ready = prepare_ahead(tasks.values())
    silu = expected_checks(assignments()["silu"], "cpu")[1:-1]
    assert {check.outcome for check in results(judge(tasks["silu"], silu))} == {"passed"}
    ready()
    found = [check for one in tasks.values() for check in results(judge(one, [SOURCE]))]
    assert [check.outcome for check in found] == ["passed", "failed", "failed"]
    assert [check.detail and check.detail.kind for check in found] == [None, "missing_function", "missing_file"]
