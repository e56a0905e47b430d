"""The sandbox costs no honest student a point, at whatever isolation a machine offers.

`tests/test_submissions.py` has every honest variant at the strongest. Here are all of them at what a machine without
bubblewrap has, and the references at each of the others, which only lack layers of those two.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import pytest

from grader.catalogue import ROOT
from grader.confine import bubblewrap
from grader.forkserver import isolation
from grader.forkserver.isolation import name_of
from grader.submission import Submission
from tests import hostile_lane
from tests.graded import FILES, told
from tests.hostile_lane import TABLE, Lane

HERE = Path(__file__).parent / "submissions" / "accepted"
CONFINED = "Landlock + seccomp"
# As many as there are: the name of each set of layers without a cgroup (`grader.forkserver.isolation.name_of`).
WEAKER = (
    "namespaces + another user + Landlock + seccomp", "namespaces + Landlock + seccomp",
    "another user + Landlock + seccomp", "another user + seccomp", "seccomp", "another user", "no layer",
)


def _students() -> list[list[Path]]:
    """The variants and the references dealt out to students, each with one file of an assignment at most."""
    files = [sorted((path for path in HERE.glob(f"*/{file}")), reverse=True) for file in FILES]
    references = [ROOT / "reference" / file for file in FILES]
    return [references, *([path for path in dealt if path is not None] for dealt in zip_longest(*files))]


# The first has the references.
STUDENTS = _students()


def test_every_variant_is_some_students() -> None:
    dealt = [path for student in STUDENTS[1:] for path in student]
    assert sorted(dealt) == sorted(path for folder in HERE.iterdir() for path in folder.glob("*.py"))


def test_the_confined_level_is_what_a_machine_without_bubblewrap_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    confined = hostile_lane.at("2")
    if confined is None:
        pytest.skip("this machine has no level 2 of its own")
    (tmp_path / "python3").symlink_to(str(shutil.which("python3")))
    monkeypatch.setenv("PATH", str(tmp_path))
    bubblewrap.trouble.cache_clear()
    try:
        measured = isolation.measure.__wrapped__()
    finally:
        bubblewrap.trouble.cache_clear()
    assert measured.level == confined.level
    assert name_of(measured.layers) == name_of(confined.layers)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("lane", "student"), [
    *((CONFINED, number) for number in range(len(STUDENTS))),
    *((layers, 0) for layers in WEAKER)], indirect=["lane"])
def test_honest_work_gets_full_points_without_a_flag(
    lane: Lane, student: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    for path in STUDENTS[student]:
        shutil.copy(path, tmp_path)
    graded = lane.graded(Submission("honest", tmp_path, "honest"), limits=None)
    assert graded.result is not None, graded.error
    assert graded.result.environment.isolation == str(lane.isolation)
    record_property(TABLE, lane.row("honest", list(graded.result.assignments.values())))
    sources = {path.name: path for path in STUDENTS[student]}
    assert len(graded.result.assignments) == len(sources)
    for name, result in graded.result.assignments.items():
        said = f"{sources[f'{name}.py']}\n{told(result)}"
        assert result.verdict == "accepted" and result.score == result.correctness.max_points, said
        assert not result.flags, said
