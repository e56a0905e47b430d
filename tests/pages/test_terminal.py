"""What a terminal shows of a result: maps that fit, speed in the words of the page, no control of the terminal."""

import io

import pytest
from rich.console import Console

from grader.pages import terminal
from grader.pages.speed import how_far, how_fast, ladder_place, why_points
from grader.results.result import (
    AssignmentResult,
    CheckResult,
    Correctness,
    Detail,
    ErrorMap,
    Performance,
    WorstElement,
)
from tests.pages import samples


def shown(assignment: AssignmentResult, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(terminal.kernel(assignment, "silu.py", "silu.py"), crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def wrong(cells: list[str], shape: list[int], cell: list[int]) -> AssignmentResult:
    worst = WorstElement(index=[0] * len(shape), got="1", expected="2", error="1", allowed="0.5")
    detail = Detail(kind="wrong_values", message="wrong", worst=worst, error_map=ErrorMap(
        output_shape=shape, cell_shape=cell, cells=cells))
    check = CheckResult(id="case-a", stage="case", case="a", outcome="failed", detail=detail)
    return AssignmentResult(
        title="", signature="", verdict="wrong_answer", score=0, max_score=1, message="wrong", shown="case-a",
        correctness=Correctness(max_points=1, checks=[check]), performance=Performance(max_points=0))


def rows(said: str) -> list[str]:
    found = [line.split() for line in said.splitlines()]
    return ["".join(signs) for signs in found if signs and set(signs) <= set("·■□")]


# A map, the elements of the output, those of a cell, what is drawn, and what a sign covers.
MAPS = {
    "an element a sign": ((["..9", "u.1"], [2, 3], [1, 1]), ["··■", "□·■"], "a sign is an element"),
    "joined, the worst first": (
        (["." * 39 + "1" + "." * 24] * 16 + ["." * 63 + "u"] * 16, [64, 128], [2, 2]),
        ["·" * 19 + "■" + "·" * 12] * 8 + ["·" * 31 + "□"] * 8, "a sign covers 4 × 4 elements"),
    "not a power of two": ((["." * 33 + "1"] * 3, [3, 34], [1, 1]), ["·" * 16 + "■"] * 3, "covers 1 × 2 elements"),
    "a vector, folded again": (
        (["." * 64] * 31 + ["." * 62 + "1"], [2047], [1, 1]), ["·" * 32] * 15 + ["·" * 31 + "■"],
        "a sign covers 4 elements"),
    "a vector as it is": ((["." * 32, ".u"], [34], [1, 1]), ["·" * 32, "·□"], "a sign is an element"),
    "wrong everywhere": ((["99", "99"], [2, 2], [1, 1]), [], ""),
}


@pytest.mark.parametrize(("given", "drawn", "covers"), MAPS.values(), ids=MAPS)
def test_a_map_fits_and_says_what_a_sign_covers(
    given: tuple[list[str], list[int], list[int]], drawn: list[str], covers: str
) -> None:
    output = shown(wrong(*given))
    assert rows(output) == drawn and covers in output
    assert all(len(line) <= 80 for line in output.splitlines())


def test_each_wrong_output_is_told_and_the_right_ones_are_named() -> None:
    output = shown(samples.several_outputs().assignments["gemm"], 100)
    for line in ("Where out is wrong in 512x384 (M=512, N=384).", "□ left as it was; a sign is an element",
                 "Where scale is wrong in 512x384 (M=512, N=384), left to right, then down.",
                 "scale: 1 of 9 elements is wrong. Worst element scale[3]: got 0, expected 0.345, off by 0.345",
                 "state: 8 of 16 elements were left as they were. Worst element state[0, 2]",
                 "count: All 9 elements were never written.",
                 "rest: right."):
        assert line in output, line
    assert output.count("Where ") == 3


def test_speed_is_told_as_the_page_tells_it() -> None:
    for a in samples.result("A", speed=True).assignments.values():
        assert ladder_place(a.performance) or not a.performance.ladder
        text = " ".join(shown(a).split())
        assert how_fast(a.performance) in text and why_points(a) in text and how_far(a.performance) in text
        assert ladder_place(a.performance) in text


DIFF = [f"{line[0]} {line[1:].strip()}" for line in samples.REPAIR.diff.splitlines()]
# What a student has of a change, and what is shown beside its place and its sentence.
CHANGES: dict[str, tuple[dict[str, object], str, list[str]]] = {
    "a line": ({"diff": ""}, ":9", [samples.SOURCE.splitlines()[8].strip()]),
    "the change itself": ({"level": "edit"}, ":9", DIFF),
    "several lines": ({"line": 0, "diff": ""}, "", []),
    "beyond what is shown of the file": ({"line": 500, "diff": ""}, ":500", []),
}


@pytest.mark.parametrize(("given", "place", "lines"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_a_place_a_sentence_and_its_line_or_the_change_itself(
    given: dict[str, object], place: str, lines: list[str]
) -> None:
    a = samples.assignment("gemm", "wrong_answer").model_copy(update={
        "source": samples.SOURCE, "repair": samples.REPAIR.model_copy(update=given)})
    console = Console(file=io.StringIO(), width=200, highlight=False)
    console.print(terminal.mended(a, "hw/gemm.py"), crop=False)
    assert isinstance(console.file, io.StringIO)
    assert [line.strip() for line in console.file.getvalue().splitlines()] == [
        f"Δ hw/gemm.py{place}  found by trying", samples.REPAIR.told, *lines, ""]


def test_text_of_a_submission_does_not_reach_the_terminal_as_it_is() -> None:
    a = wrong(["1."], [1, 2], [1, 1])
    hostile = a.model_copy(update={"message": samples.ANSI + " [red]not markup[/red]", "hint": samples.REORDERED})
    output = shown(hostile)
    assert "\x1b" not in output and "\u202e" not in output and "\x00" not in output
    assert "[red]not markup[/red]" in output
