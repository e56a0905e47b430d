"""What a report says is clean text, readable figures, and findings with the worst first."""

import pytest

from grader.pages.findings import findings, headline, not_measured
from grader.pages.text import figure, points, seconds
from grader.results.text import clean
from grader.results.verdicts import Verdict
from tests.pages import samples
from tests.rows import each_row


@each_row(("text", "shown"), [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b]0;title\x07after", "after"),
    ("\x1b]0;never ended, then text", "0;never ended, then text"),
    ("bell\x07 nul\x00 del\x7f", "bell\u2407 nul\u2400 del\u2421"),
    ("exe\u202egpj", "exe[U+202E]gpj"),
    ("lone \ud800", "lone \ufffd"),
    ("tab\tand\r\nline", "tab\tand\nline"),
    ("Zoë 李小龙 √", "Zoë 李小龙 √"),
])
def test_text_is_cleaned(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(shown) == shown


def test_long_text_loses_its_middle() -> None:
    short = clean("first" + "名" * 20_000 + "last")
    assert len(short.encode()) < 20_100
    assert short.startswith("first") and short.endswith("last") and "left out" in short


def test_unfinished_escapes_take_linear_time() -> None:
    assert len(clean("\x1b]" * 500_000 + "\x1bP" * 500_000)) < 20_100


@each_row(("shown", "expected"), [
    (points(312.5), "312.5"), (points(60), "60"), (points(0.333333), "0.33"), (points(float("nan")), "?"),
    (figure(0.0123456), "0.0123"), (figure(12345.6), "12,346"), (figure(4.2e7), "4.2e+07"), (figure(None), "–"),
    (figure(float("inf")), "infinite"), (seconds(0.0456), "45.6 ms"), (seconds(1.5), "1.5 s"),
    (seconds(4e-6), "4 µs"), (seconds(600), "10 min"), (seconds(None), "–"),
])
def test_figures(shown: str, expected: str) -> None:
    assert shown == expected


@each_row(("verdicts", "sentence"), [
    ({}, "All six kernels are right."),
    ({"gemm": "wrong_answer"}, "Five of six kernels are right; GEMM is the one to fix first."),
    ({"gemm": "wrong_answer", "silu": "policy_violation"},
     "Four of six kernels are right; SiLU is the one to fix first."),
    (dict.fromkeys(samples.KERNELS, "wrong_answer"),
     "None of the six kernels is right yet; SiLU is the one to fix first."),
    (dict.fromkeys(list(samples.KERNELS)[1:], "time_limit"),
     "One of six kernels is right; RMSNorm, one vector is the one to fix first."),
    ({"gemm": "infrastructure_error", "silu": "time_limit"},
     "Four of five kernels are right; SiLU is the one to fix first. One could not be judged."),
    ({"gemm": "missing"}, "Five of six kernels are right."),
    (dict.fromkeys(list(samples.KERNELS)[1:], "missing") | {"gemm": "time_limit"},
     "One of six kernels is right; GEMM is the one to fix first."),
    (dict.fromkeys(samples.KERNELS, "missing"), "None of the six files was found."),
    (dict.fromkeys(samples.KERNELS, "infrastructure_error"),
     "The grader failed before it could judge anything: that is our fault and costs no points."),
    ({"gemm": "needs_gpu"}, "All five kernels are right. One could not be judged."),
    (dict.fromkeys(samples.KERNELS, "needs_gpu"),
     "Nothing could be judged on this machine: all points stay open until a GPU has judged it."),
])
def test_headline(verdicts: dict[str, Verdict], sentence: str) -> None:
    assert headline(samples.result("A", verdicts)) == sentence


@pytest.mark.parametrize(("names", "sentence"), [
    (list(samples.KERNELS), "None of the six kernels is written yet."),
    (["silu", "gemm"], "Neither of the two kernels is written yet."), (["gemm"], "The kernel is not written yet.")])
def test_a_stub_that_was_handed_in_is_not_a_file_that_is_missing(names: list[str], sentence: str) -> None:
    result = samples.result("A", dict.fromkeys(samples.KERNELS, "missing"))
    result.assignments = {name: result.assignments[name] for name in names}
    assert "found" in headline(result)
    for check in result.assignments[names[-1]].correctness.checks:
        if check.detail and check.outcome == "failed":
            check.detail.kind = "not_attempted"
    assert headline(result) == sentence


@pytest.mark.parametrize(("names", "sentence"), [
    (list(samples.KERNELS), "None of the six files has the name and place that are expected."),
    (["gemm"], "The file has not the name and place that are expected.")])
def test_a_file_under_another_name_is_not_one_that_was_not_found(names: list[str], sentence: str) -> None:
    result = samples.result("A", dict.fromkeys(samples.KERNELS, "missing"))
    result.assignments = {name: result.assignments[name] for name in names}
    for assignment in result.assignments.values():
        assignment.elsewhere = ["gemm (1).py"]
    assert headline(result) == sentence


def test_a_file_that_is_not_there_is_not_one_of_another_name() -> None:
    result = samples.result("A", dict.fromkeys(samples.KERNELS, "missing"))
    unread = result.model_copy(update={"unread": ["homework.py"]})
    result.assignments["gemm"].elsewhere = ["gemm (1).py"]
    said = "None of the six files was found; other files were handed in."
    assert headline(result) == headline(unread) == said


def test_findings_are_worst_first_and_show_the_smallest_case() -> None:
    result = samples.every_verdict()
    assignments = findings(result)
    assert [f.name for f in assignments] == ["rmsnorm_matrix", "silu", "rmsnorm_vector", "transpose"]
    transpose = next(f for f in assignments if f.name == "transpose")
    assert transpose.check is not None and transpose.check.case == "5x9"
    assert transpose.hint == samples.HINTS["transpose"]


def test_finding_is_titled_without_its_example() -> None:
    result = samples.typical()
    transpose = result.assignments["transpose"]
    transpose.summary, transpose.shown = "Wrong in 2 of 4 cases, exactly those where M ≠ N", "5x9"
    transpose.message = f"{transpose.summary}; first 5x9: out[1, 0] is 0"
    assignment = findings(result)[0]
    assert assignment.title == "Wrong in 2 of 4 cases, exactly those where M ≠ N."
    assert assignment.text == "42 of 45 elements are wrong."


def test_what_was_not_measured_is_said_with_its_reason() -> None:
    lines = not_measured(samples.every_verdict())
    assert any("GEMM (100 points)" in line and "A worker could not be started." in line for line in lines)
    assert f"Speed of the other five kernels (200 points): {samples.NO_GPU}" in lines
    assert not_measured(samples.result("A", speed=True)) == []
