"""The sandbox costs no honest student a point, at whatever isolation a machine offers.

`tests/test_submissions.py` has every honest variant at the strongest. Here are a few references at what a machine
without bubblewrap has; with `make test-all` all of them, and honest work that imports or includes what others do not,
and a few references at each of the others, which only lack layers of that.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.course.submission import Submission
from grader.home import ROOT
from grader.sandbox.confine import bubblewrap
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.isolation import name_of
from tests import hostile_lane, members
from tests.graded import FILES, NUMBA, told
from tests.hostile_lane import TABLE, Lane

Record = Callable[[str, object], None]
UNUSUAL = re.compile(
    r"^\s*(?:import|from)\s+(?!(?:torch|triton|math|typing|functools|__future__)\b)(\w+)"
    r"|#include\s+(?!<cuda_runtime\.h>)[<\"](\w+)", re.MULTILINE)
CONFINED = "Landlock + seccomp"
# With it as many as there are: the name of each set of layers without a cgroup
# (`grader.sandbox.forkserver.isolation.name_of`).
OTHERS = (
    "namespaces + another user + Landlock + seccomp", "namespaces + Landlock + seccomp",
    "another user + Landlock + seccomp", "another user + seccomp", "seccomp", "another user", "no layer",
)


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


@pytest.mark.parametrize(
    "lane", [CONFINED, *(pytest.param(layers, marks=pytest.mark.full) for layers in OTHERS)], indirect=True)
def test_a_few_references_get_full_points_without_a_flag(lane: Lane, tmp_path: Path, record_property: Record) -> None:
    for name in ("silu.py", "cuda/transpose.cu", *([] if NUMBA else ["numba/gemm.py"])):
        shutil.copy(ROOT / "reference" / name, tmp_path)
    _assert_accepted(lane, tmp_path, record_property)


@pytest.mark.full
@pytest.mark.timeout(240)
@pytest.mark.parametrize("lane", [CONFINED], indirect=True)
def test_the_references_get_full_points_without_a_flag(lane: Lane, record_property: Record) -> None:
    _assert_accepted(lane, ROOT / "reference", record_property)


def _unusual() -> Iterator[members.Member]:
    """Members that import or include what nearly no kernel does, so that a sandbox may miss it: one for each name."""
    known: set[str] = set()
    for member in members.select("accepted"):
        names = {"".join(found) for text in member.files.values() for found in UNUSUAL.findall(text)}
        if names - known:
            yield member
        known |= names


@pytest.mark.full
@pytest.mark.parametrize("lane", [CONFINED], indirect=True)
@pytest.mark.parametrize("member", list(_unusual()), ids=lambda one: one.title)
def test_honest_work_gets_full_points_without_a_flag(
    lane: Lane, member: members.Member, record_property: Record,
) -> None:
    _assert_accepted(lane, member.folder(), record_property)


def _assert_accepted(lane: Lane, folder: Path, record_property: Record) -> None:
    outcome = lane.graded(Submission("honest", folder, "honest"), limits=None)
    assert outcome.result is not None, outcome.error
    assert outcome.result.environment.isolation == str(lane.isolation)
    record_property(TABLE, lane.row("honest", list(outcome.result.assignments.values())))
    assert set(outcome.result.assignments) == {name for file, name in FILES.items() if (folder / file).exists()}
    for result in outcome.result.assignments.values():
        output = told(result)
        assert result.verdict == "accepted" and result.score == result.correctness.max_points, output
        assert not result.flags, output
