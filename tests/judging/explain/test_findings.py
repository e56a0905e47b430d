"""What a simulator saw becomes sentences: the place, how far, which program, and a hint that follows from it."""

from typing import Any, get_args

import pytest
import torch

from grader.course.assignment import Mistake
from grader.course.parameters import DType, Output
from grader.judging.answers.answers import AnswerComparisons
from grader.judging.answers.compare import compare
from grader.judging.explain import explain_case, explain_findings, explain_remarks, findings
from grader.languages import front_ends
from grader.languages.triton.phrases import PHRASES
from grader.plan.findings import (
    Assertion,
    EmptyGrid,
    Finding,
    MaskedUse,
    OutOfBounds,
    Overflow,
    Race,
    Undefinable,
    UndefinedBehaviour,
    UnwrittenAccess,
)
from grader.results.result import Detail
from tests.judging import faults
from tests.judging.toys import LINE, SILU, Fault, called, explain, judge
from tests.rows import each_row

SOURCE = "\n" * 8 + "    x = tl.load(x_ptr + offsets)\n"


def outside(**changed: Any) -> OutOfBounds:
    """The last block of 64 lanes over 45 elements, loaded without a mask."""
    fields: dict[str, Any] = {
        "access": "load", "kernel": "silu_kernel", "line": 9, "tensor": "x_ptr", "given": "x", "elements": 45,
        "lowest": 45, "highest": 63, "lanes": 19, "active": 64, "programs": 1, "program": (0, 0, 0), "masked": False}
    return OutOfBounds(**{**fields, **changed})


BYTE = Overflow(kernel="k", line=8, type="int8", operation="add", program=(0, 0, 0))
OVERFLOW = Overflow(kernel="k", line=8, type="int32", operation="mul", program=(70_000, 0, 0))
ASSERTION = Assertion(kernel="k", line=7, message="x is too\nlarge", program=(3, 1, 0))
RACE = Race(kernel="k", line=12, tensor="out_ptr", given="out", element=1700, programs=((0, 0, 0), (3, 0, 0)),
            certain=True)
TOO_EARLY = Race(kernel="k", line=12, tensor="total_ptr", element=0, programs=((1, 0, 0), (0, 0, 0)), certain=False)
READS_OUT = UnwrittenAccess(kernel="k", line=11, tensor="out_ptr", given="out", lanes=64, program=(0, 0, 0))
READS_SCRATCH = UnwrittenAccess(kernel="k", line=11, tensor="parts_ptr", lanes=1, program=(0, 0, 0))
MASKED = MaskedUse(kernel="k", line=9, tensor="x_ptr")
EMPTY = EmptyGrid(kernel="k", line=20, grid=(4, 0, 1))


def stops(*findings: Finding) -> Detail:
    detail = explain_findings(SILU, SOURCE, findings)
    assert detail is not None
    return detail


def test_an_access_out_of_bounds_names_tensor_line_program_and_distance() -> None:
    detail = stops(outside())
    assert detail.kind == "out_of_bounds"
    assert detail.message == (
        "The load in line 9 reaches up to 19 elements past the end of x (`x_ptr` in the kernel), which has 45: 19 of "
        "64 active lanes lie outside in program 0.")
    assert detail.place is not None and detail.place.text == "x = tl.load(x_ptr + offsets)"


@pytest.mark.parametrize(
    ("changed", "message", "hint"),
    [
        ({}, "19 of 64 active lanes", "This tl.load has no mask, and the last block"),
        ({"access": "store", "given": "out"}, "The store in line 9", "such as offsets < n with the names of this"),
        ({"access": "atomic"}, "The atomic operation in line 9", "This atomic operation has no mask"),
        ({"masked": True}, "19 elements past", "Does the mask compare the offsets with the right size"),
        ({"masked": True, "highest": 45, "lanes": 1}, "1 of 64 active lanes lies", "One element too far"),
        ({"highest": 45, "lanes": 1, "active": 1}, "which has 45, in program 0.", "One element too far"),
        ({"lowest": -3, "highest": -1}, "up to 3 elements before the start of x", "Offsets are below 0"),
        ({"lowest": -3}, "past the end and up to 3 elements before the start", "Offsets are below 0"),
        ({"highest": 2**24 + 60}, "16,777,232 elements past", "the offsets themselves are wrong"),
        ({"lowest": -(2**24)}, "16,777,216 elements before", "before the start are more than any block has"),
        ({"programs": 4, "program": (1, 2, 0)}, "in 4 programs: 19 of 64 active lanes lie outside in program (1, 2)",
         "no mask"),
        ({"given": "", "tensor": "parts"}, "past the end of your buffer `parts`", "no mask"),
        ({"given": "", "tensor": "", "line": 0}, "The load reaches", "no mask"),
    ],
)
def test_what_an_access_out_of_bounds_shows_by_itself(changed: dict[str, Any], message: str, hint: str) -> None:
    detail = stops(outside(**changed))
    assert message in detail.message and hint in detail.hint
    assert ("an `other` that changes nothing" in detail.hint) == (
        changed.get("access", "load") == "load" and "no mask" in detail.hint)


def test_a_number_that_wrapped_around_explains_offsets_far_outside() -> None:
    detail = stops(outside(highest=2**31), OVERFLOW)
    assert detail.kind == "out_of_bounds"
    assert "does not fit into int32" in detail.hint and "row.to(tl.int64)" in detail.hint
    assert "program 70,000" in detail.hint


def test_an_assertion_of_the_kernel_speaks_before_what_it_guards_against() -> None:
    detail = stops(outside(), ASSERTION)
    assert detail.kind == "exception"
    assert detail.message == "The tl.device_assert in line 7 does not hold in program (3, 1): x is too large."
    assert "kernel checks this" in detail.hint


def test_different_values_for_one_element_fail_a_run_and_name_both_programs() -> None:
    detail = stops(RACE)
    assert (detail.kind, detail.pattern) == ("race", "race")
    assert detail.message == (
        "Programs 0 and 3 store different values to element 1,700 of out (`out_ptr` in the kernel) in line 12: which "
        "of them stays is left to chance.")
    assert "tl.atomic_add" in detail.hint


@each_row("finding", [TOO_EARLY, READS_OUT, READS_SCRATCH, MASKED, EMPTY, OVERFLOW])
def test_other_findings_fail_no_run_that_is_right(finding: Finding) -> None:
    assert explain_findings(SILU, SOURCE, [finding]) is None
    assert told(_answers_rightly, finding) is None


@each_row("what", get_args(Undefinable))
@each_row("language", front_ends())
def test_what_is_left_to_chance_fails_a_run_or_is_a_remark(language: str, what: Undefinable) -> None:
    front_end = front_ends()[language]
    if not front_end.phrases.sentences[f"undefined.{what}.seen"]:
        pytest.skip(f"{front_end.title} has no threads")
    silu = SILU.model_copy(update={"suffix": front_end.suffix})
    finding = UndefinedBehaviour(what=what, kernel="silu_kernel", line=9, tensor="x_ptr", given="x", element=1700,
                                 programs=[(1, 0, 0), (3, 2, 0)])
    kind = None if what in findings.UNPROMISED else "exception" if what == "descriptor" else "undefined"
    detail, remarks = explain_findings(silu, SOURCE, [finding]), explain_remarks(silu, [], [finding])
    assert (detail is None) == (kind is None) == bool(remarks)
    if detail is not None:
        assert (detail.kind, detail.pattern) == (kind, f"undefined: {what}") and detail.message and detail.hint
        assert detail.place is not None and detail.place.line == 9
    said = remarks[0] if detail is None else f"{detail.message} {detail.hint}"
    assert not set("{}") & set(said) and said.endswith(".")
    # Seen, but not to matter.
    open_ = finding.model_copy(update={"certain": False})
    assert explain_findings(silu, SOURCE, [open_]) is None and not explain_remarks(silu, [], [open_])
    assert told(_answers_rightly, open_) is None


def test_a_remark_that_holds_for_several_lines_is_made_once() -> None:
    found = [UndefinedBehaviour(what="tuner", kernel="silu_kernel", line=line, tensor="x_ptr")
             for line in (12, 7, 7, 14, 12)]
    (remark,) = explain_remarks(SILU, [], found)
    assert remark.count("triton.autotune tries") == 1 and remark.endswith("The same holds for lines 7 and 14."), remark


@pytest.mark.parametrize("finding", [outside(), ASSERTION, RACE])
def test_a_right_answer_does_not_excuse_what_fails_a_run(finding: Finding) -> None:
    detail = told(_answers_rightly, finding)
    assert detail == explain_findings(LINE, SOURCE, [finding])


@pytest.mark.parametrize(
    ("finding", "words", "pattern"),
    [
        (TOO_EARLY, ("Programs 1 and 0 of one launch", "element 0 of your buffer `total_ptr`",
                     "none waits for another"), "race"),
        (READS_SCRATCH, ("line 11 reads 1 element of your buffer `parts_ptr`", "torch.zeros"),
         "reads unwritten memory"),
        (OVERFLOW, ("(`mul` in program 70,000)", "row.to(tl.int64)"), "overflow"),
        (BYTE, ("does not fit into 8 bits", ".to(tl.int32)"), "overflow"),
        (RACE, ("store different values",), "race"),
    ],
)
def test_what_was_seen_explains_a_wrong_answer_without_a_pattern(
    finding: Finding, words: tuple[str, ...], pattern: str
) -> None:
    detail = told(faults.noise, finding)
    assert detail is not None and detail.kind == "wrong_values" and detail.pattern == pattern
    assert [word for word in words if word not in detail.hint] == [], detail.hint
    assert detail.wrong and detail.error_map is not None


@pytest.mark.parametrize(("dtype", "full"), [("float16", "NaN"), ("uint8", "one arbitrary byte")])
def test_what_is_said_of_an_output_that_is_read_is_true_of_its_type(dtype: DType, full: str) -> None:
    hint = findings.finding_hint(READS_OUT, Output(shape=("N",), dtype=dtype), PHRASES)
    assert f"out arrives full of {full}, and the kernel reads it in line 11" in hint.text(PHRASES)
    assert ("NaN" in hint.text(PHRASES)) == (dtype == "float16")


def test_a_known_mistake_says_what_comes_of_what_was_seen() -> None:
    late = Mistake(name="late", hint="One late.", answer=lambda x: LINE.oracle(x).roll(1))
    assignment = LINE.model_copy(update={"mistakes": (late,)})
    detail = explain(assignment, LINE.cases[0], faults.one_element_late, findings=[RACE], source=SOURCE)
    assert detail.pattern == "mistake: late"
    assert detail.hint.startswith("Programs 0 and 3") and detail.hint.endswith("left to chance. One late.")
    assert detail.message.startswith("All 5,000 elements are wrong; ")


def test_an_output_that_is_read_is_named_as_the_source_of_nan() -> None:
    """`beta * C`: NaN of the poison goes through the sum, bits and all, and is no element that nobody wrote."""
    def accumulates(inputs: Any, right: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(right + 0.0 * out)

    detail = told(accumulates, READS_OUT)
    assert detail is not None and detail.kind == "not_finite" and detail.unwritten == 0
    assert "NaN" in detail.message and "never written" not in detail.message
    assert detail.worst is not None and detail.worst.got == "nan"
    assert "out arrives full of NaN, and the kernel reads it in line 11" in detail.hint


def test_a_second_call_that_goes_wrong_is_asked_what_it_keeps() -> None:
    for fault in (faults.noise, faults.computed_in_float16):
        assert "keep something from one call to the next" in explain(SILU, SILU.cases[0], fault, call=1).hint
    detail = explain(LINE, LINE.cases[0], faults.noise, call=1, findings=[READS_SCRATCH])
    assert "that nothing has written" in detail.hint and "from one call to the next" not in detail.hint


def test_large_outputs_are_not_searched_for_patterns() -> None:
    size = (1 << 22) + 1
    expected = torch.ones(size, dtype=torch.float64)
    got = torch.full((size,), 2.0)
    comparison = compare(got, expected, torch.tensor(0.1))
    detail = explain_case(called(LINE, LINE.cases[0], got), {"x": got}, AnswerComparisons({"out": comparison}))
    assert detail is not None and detail.hint == "" and detail.wrong == size and detail.error_map is not None


def _answers_rightly(inputs: Any, right: torch.Tensor, out: torch.Tensor) -> None:
    out.copy_(right)


def told(fault: Fault, *seen: Finding) -> Detail | None:
    inputs, got, comparison = judge(LINE, LINE.cases[0], fault)
    return explain_case(
        called(LINE, LINE.cases[0], got, findings=seen, source=SOURCE), inputs, AnswerComparisons({"out": comparison}))
