"""What a course asks of its students, as it follows from what the reference reaches; and which rungs there are."""

from pathlib import Path

import pytest

from grader.course import catalogue
from grader.course.course import read_course
from grader.errors import InfrastructureError
from grader.grading import calibrate
from grader.home import ROOT

ALL = catalogue.assignments()
STAGES = ["reference", "V1 rowwise", "V2 writes", "V3 tiled", "V4 tuned"]


def test_each_stage_of_the_course_says_what_it_teaches() -> None:
    for name, ladder in (("transpose", STAGES), ("gemm", None), ("silu", ["reference"])):
        rungs = calibrate.rungs_of(ALL[name])
        assert [rung.name for rung in rungs] == (ladder or [rung.name for rung in rungs])
        assert all(rung.title and rung.source.is_file() for rung in rungs)
        assert len({rung.title for rung in rungs}) == len(rungs)
    titles = {rung.name: rung.title for rung in calibrate.rungs_of(ALL["gemm"])}
    assert "tl.dot" in titles["V2 tiled"] and "V0 torch" not in titles


def test_stages_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    stages = tmp_path / "reference" / "stages"
    for name in ("v10_last", "v2_next", "v1_first", "v0_torch", "__pycache__", "vx"):
        (stages / "silu" / name).mkdir(parents=True)
    (stages / "README.md").write_text(
        "# x\n\n## Another\n| `v1_first` | not this | y |\n\n## SiLU\n| stage | idea |\n| `v1_first` | this | y |\n")
    assert [(rung.name, rung.title) for rung in calibrate.rungs_of(ALL["silu"], tmp_path)[1:]] == [
        ("V1 first", "this"), ("V2 next", ""), ("V10 last", "")]


@pytest.mark.parametrize(("ratio", "floor", "target"), [(1.0, 0.17, 0.7), (3.5, 0.6, 2.4), (0.0213, 0.0035, 0.014)])
def test_a_proposal_has_two_digits_and_is_never_harder_than_its_share(
    ratio: float, floor: float, target: float
) -> None:
    proposed = calibrate.proposal(ratio)
    assert [proposed.floor, proposed.target] == pytest.approx([floor, target])


def test_a_kernel_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    course = read_course(ROOT / "course.toml", frozenset(ALL))
    with pytest.raises(InfrastructureError, match=r"none\.py: No such file or directory; restore the course's kernel"):
        calibrate.time_cases(ALL["silu"], course, tmp_path / "none.py")
