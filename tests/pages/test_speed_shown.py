"""A report says how fast a kernel is, what the next point takes, and where it stands among the course's stages."""

import re

import pytest

from grader.pages.pages import student_page
from grader.pages.speed import how_far, how_fast, ladder_place, why_points
from grader.pages.speed import rungs as ladder_rungs
from grader.results.result import Interval, Performance, Timing
from grader.results.result import Rung as CourseRung
from tests.pages import samples, speeds
from tests.pages.elements import Elements
from tests.rows import each_row


def test_measured_speed_is_drawn() -> None:
    result = samples.result("A", {"silu": "wrong_answer"}, speed=True)
    page = student_page(result)
    # A ladder and the samples of each kernel that is right.
    assert page.count('class="chart"') == 2 * (len(samples.KERNELS) - 1)
    text = " ".join(Elements(page).text)
    for said in (
        "0.989 times the speed of torch.mm(a, b, out=out) (0.987 to 0.991, over 3 cases).",
        "All 40 points: a ratio of 0.9 or more earns them.",
        "677 of 680 TFLOP/s", "139 %", "looks impossible", "This is flagged for a person to examine",
        "No points for speed here: Speed counts once every case is right.",
    ):
        assert said in text, said
    assert page.count('class="light above"') == 1


@pytest.mark.parametrize(("ratio", "said"), [
    (1.0, "As fast as the baseline (1 to 1)."), (1.0099, "As fast as the baseline (1.01 to 1.01)."),
    (0.9901, "As fast as the baseline (0.99 to 0.99)."), (1.02, "1.02 times the speed of the baseline (1.02 to 1.02)."),
    (0.98, "0.98 times the speed of the baseline (0.98 to 0.98).")])
def test_a_ratio_within_a_hundredth_of_one_is_as_fast(ratio: float, said: str) -> None:
    assert how_fast(Performance(max_points=1, speedup=Interval(median=ratio, low=ratio, high=ratio))) == said


@pytest.mark.parametrize(("shares", "said"), [
    ((0.991,), "It runs at 99 % of"), ((0.996, 1.001), "It runs at 100 % of"),
    ((0.94, 0.51), "It runs at 51 % (1) to 94 % (0) of")])
def test_shares_of_the_roof_are_told_once_where_they_read_the_same(shares: tuple[float, ...], said: str) -> None:
    interval = Interval(median=1, low=1, high=1)
    timings = [Timing(case=str(case), sizes={}, slots=1, student_us=1, baseline_us=1, ratios=[1.0], roof_fraction=share,
                      speedup=interval, roof="device copy") for case, share in enumerate(shares)]
    assert how_far(Performance(max_points=1, timings=timings)).startswith(said)


def test_a_slow_kernel_is_told_what_the_next_point_takes() -> None:
    speed = speeds.performance("rmsnorm_vector", faster=1.0)
    kernel = samples.assignment("rmsnorm_vector", speed=speed)
    assert 0 < speed.points < speed.max_points
    assert re.match(r"[\d.]+ of 40 points: none at a ratio of 0.2, all at 0.9; the next point comes at about 0\.4",
                    why_points(kernel))
    slower = speeds.performance("rmsnorm_vector", faster=0.2)
    output = why_points(samples.assignment("rmsnorm_vector", speed=slower))
    assert output.startswith("None of 40 points: they begin above a ratio of 0.2; the first point comes at about 0.21")


NEXT = {
    "V3": "Next is V3 tiled at 2.9×: “32×32 tiles, turned through shared memory”.",
    "V4": "Next is V4 tuned at 3.52×: “tiles in the order in which `out` is written”.",
    "finished": "Next is the finished kernel at 3.55×.",
}
STANDS = [
    (0.5, 0, "Below every stage of the course. Next is V1 rowwise at 0.99×: “a program a row of x: coalesced reads”."),
    # The baseline's own place: V0 is no stage to stand on, V1 is.
    (1.0, 0.02, "Level with V1 rowwise. Next is V2 writes at 1.98×: “a program a row of out: coalesced writes”."),
    (2.5, 0, f"Between V2 writes and V3 tiled. {NEXT['V3']}"),
    (2.87, 0.04, f"Level with V3 tiled. {NEXT['V4']}"),
    (2.87, 0.01, f"Between V2 writes and V3 tiled. {NEXT['V3']}"),
    (3.535, 0.01, f"Between V4 tuned and the finished kernel. {NEXT['finished']}"),
    (3.53, 0.03, "Level with V4 tuned and the finished kernel."),
    (4.0, 0.1, "Above every stage of the course."),
]


def at(ratio: float, doubt: float, ladder: list[CourseRung]) -> Performance:
    return Performance(status="measured", max_points=40, ladder=ladder, speedup=Interval(
        median=ratio, low=ratio - doubt, high=ratio + doubt))


@each_row(("ratio", "doubt", "said"), STANDS)
def test_where_a_kernel_stands_among_the_stages(ratio: float, doubt: float, said: str) -> None:
    assert ladder_place(at(ratio, doubt, speeds.LADDER)) == said
    # In whatever order they were measured.
    assert ladder_place(at(ratio, doubt, speeds.LADDER[::-1])) == said


def test_where_a_kernel_stands_that_has_no_stages() -> None:
    alone = [speeds.REFERENCE]
    assert ladder_place(at(1.0, 0, alone)) == f"Below the finished kernel. {NEXT['finished']}"
    assert ladder_place(at(3.5, 0.1, alone)) == "Level with the finished kernel."
    assert ladder_place(at(4.0, 0.1, alone)) == "Above the finished kernel."
    # What no axis can show is left out; PyTorch alone is no stage.
    unusable = [CourseRung(name="V1", ratio=ratio) for ratio in (0, -1, float("nan"), float("inf"))]
    for few, drawn in (([], 0), ([speeds.LADDER[1]], 1), (unusable, 0)):
        assert ladder_place(at(1.0, 0.1, few)) == ""
        # You and the baseline are always there.
        assert len(ladder_rungs(at(1.0, 0.1, few))) == 2 + drawn
    assert ladder_place(Performance(max_points=40, ladder=speeds.LADDER)) == ""


def test_the_page_shows_the_stages_and_escapes_them() -> None:
    result = samples.result("A", speed=True)
    speed = result.assignments["transpose"].performance
    without = student_page(result)
    assert "course's stages" not in without and "Circles are" not in without
    speed.ladder = speeds.LADDER
    page = student_page(result)
    text = " ".join(" ".join(Elements(page).text).split())
    assert "Between V3 tiled and V4 tuned. Next is V4 tuned at 3.52×: “tiles in the order in which out is written”." \
        in text
    assert "<code>out</code> is written" in page and page.count("Among the course's stages") == 1
    assert "reference 3.55, V4 tuned 3.52, you 3.4" in page and "V0 torch 1," in page
    hostile = {field: f"{field} {samples.SCRIPT} {samples.REORDERED} {samples.LONG}" for field in ("name", "title")}
    speed.ladder = [rung.model_copy(update=hostile) for rung in speeds.LADDER]
    elements = Elements(student_page(result))
    assert [tag for tag, _ in elements.tags].count("script") == 1
    assert all(tag != "img" and "onerror" not in attributes for tag, attributes in elements.tags)
    assert all(f"{field} {samples.SCRIPT}" in " ".join(elements.text) for field in hostile)
