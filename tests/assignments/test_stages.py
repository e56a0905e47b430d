"""The ladder of `reference/stages/`: each stage is graded like a student's folder, by the real judge."""

from pathlib import Path

import pytest

from grader.course.catalogue import assignments
from grader.course.course import LimitsTable
from grader.course.submission import find_submissions
from grader.home import ROOT
from tests.graded import FILES, needs_numba, results, told

STAGES = ROOT / "reference" / "stages"
LADDERS = sorted(folder for folder in STAGES.iterdir() if folder.is_dir())
# PyTorch, then four steps.
LENGTH = 5
MAX_LINES = 60
# Tighter than a course's: no stage takes more than a few seconds, on a busy machine.
LIMITS = LimitsTable(call_seconds=4, assignment_seconds=20, memory_mb=2048)


def stages(ladder: Path) -> list[Path]:
    """A ladder's folders, in order; Python's own litter is none."""
    return sorted((folder for folder in ladder.iterdir() if not folder.name.startswith("_")),
                  key=lambda folder: int(folder.name[1 : folder.name.index("_")]))


ALL = [stage for ladder in LADDERS for stage in stages(ladder)]
every_stage = pytest.mark.parametrize("stage", ALL, ids=lambda path: f"{path.parent.name}/{path.name}")


def test_the_two_ladders_are_found() -> None:
    assert [ladder.name for ladder in LADDERS] == ["gemm", "transpose"]
    assert {ladder.name for ladder in LADDERS} <= set(assignments())


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda path: path.name)
def test_a_ladder_is_a_class_in_order(ladder: Path) -> None:
    names = [submission.student for submission in find_submissions(ladder, FILES)]
    assert names == [stage.name for stage in stages(ladder)]
    assert [name.partition("_")[0] for name in names] == [f"v{number}" for number in range(LENGTH)]
    table = (STAGES / "README.md").read_text()
    assert all(f"| `{name}` |" in table for name in names)


@every_stage
def test_a_stage_is_one_short_file(stage: Path) -> None:
    (file,) = (path for path in stage.iterdir() if path.name != "__pycache__")
    assert file.name == assignments()[stage.parent.name].file
    lines = file.read_text().splitlines()
    assert len(lines) < MAX_LINES
    # Every stage of a ladder begins with the same formula and count of bytes.
    first = (stages(stage.parent)[0] / file.name).read_text().splitlines()
    assert lines[:4] == first[:4]
    assert "Bytes that must move: " in "\n".join(lines[:4])


# The first and the last of each ladder every time.
@pytest.mark.parametrize("stage", [
    pytest.param(stage, marks=[pytest.mark.full] * (stage not in (stages(stage.parent)[0], stages(stage.parent)[-1])))
    for stage in ALL], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_stage_gets_full_marks_and_torch_none(stage: Path) -> None:
    graded = results(stage, LIMITS)
    assert list(graded) == [stage.parent.name]
    result = graded[stage.parent.name]
    if stage.name.startswith("v0_"):
        assert (result.verdict, result.score) == ("policy_violation", 0), told(result)
    else:
        assert result.verdict == "accepted", told(result)
        assert result.score == result.correctness.max_points and not result.flags, told(result)


@needs_numba
@pytest.mark.full
@pytest.mark.parametrize("stage", sorted((ROOT / "reference/numba/stages").glob("*/v*")), ids=lambda path: path.name)
def test_a_stage_in_numba_gets_full_marks(stage: Path) -> None:
    (result,) = results(stage, LIMITS).values()
    assert result.verdict == "accepted" and not result.flags, told(result)


def test_stages_are_no_part_of_the_reference_as_a_submission() -> None:
    (submission,) = find_submissions(ROOT / "reference", FILES)
    assert submission.folder == ROOT / "reference"
