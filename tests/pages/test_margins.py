"""What an inspection shows: figures of the launch, the line that wastes most first, advice where there is cause."""

from typing import Any

import pytest

from grader.pages.inspected import instructions, picture
from grader.pages.margins import advised, annotated, compared, launches, line_words, notes
from grader.pages.pages import student_page
from grader.results.launched import AccessFacts, Inspection, LaunchFacts
from tests.pages import samples
from tests.pages.elements import Elements
from tests.rows import each_row


def inspection(launch: dict[str, Any], /, **access: Any) -> Inspection:
    facts: dict[str, Any] = {
        "access": "load", "line": 9, "tensor": "x", "lanes": 4096, "masked": 0, "needed": 16384, "moved": 16384,
        "widths": {128: 2}}
    one: dict[str, Any] = {
        "kernel": "k", "line": 14, "grid": [1024, 1, 1], "counted": 4, "threads": 128, "registers": 30, "spills": 0,
        "shared": 0, "tensor_cores": "none", "resident": 16, "bound": "threads", "occupancy": 1.0}
    return Inspection(case="a", sizes={}, target="sm_90", multiprocessors=132, launches=[
        LaunchFacts(**one | launch, accesses=[AccessFacts(**facts | access)])])


def test_the_worst_line_is_first_and_figures_are_of_all_programs() -> None:
    first, second = notes(samples.INSPECTION)
    assert (first.line, second.line) == (10, 9)
    assert first.figures == "store of out: about 33.6 MB moved, 4.19 MB needed; 32 bits at a time"
    assert second.figures.endswith("3.1 % of its lanes masked") and second.advice == ""
    assert samples.INSPECTION.figures.moved == 16 * ((1 << 18) + (1 << 21))
    assert ("bytes moved", "37.7 MB", "8.39 MB") in compared(samples.INSPECTION)
    assert ("narrowest access", "32 bits", "128 bits") in compared(samples.INSPECTION)


@each_row(("launch", "access", "said"), [
    ({}, {}, ""),
    ({}, {"moved": 131072}, "This moves 8 times what it needs"),
    ({}, {"masked": 2048}, "The mask switches off 50 % of its lanes"),
    ({}, {"widths": {32: 8}}, "A thread moves 32 bits at a time, and could 128"),
    # Fewer lanes than threads are scalars and short vectors, and an atomic moves what it must.
    ({"counted": 64}, {"widths": {32: 1}}, ""),
    ({}, {"access": "atomic", "moved": 131072}, ""),
])
def test_a_line_has_advice_where_there_is_cause(launch: dict[str, Any], access: dict[str, Any], said: str) -> None:
    found = advised(inspection(launch, **access))
    assert (said in found[0][1] and found[0][0] == [9] and len(found) == 1) if said else not found


def test_what_hardly_counts_has_no_advice_and_lines_share_a_sentence() -> None:
    much = inspection({}, moved=131072)
    (launch,) = much.launches
    (wasteful,) = launch.accesses
    little = wasteful.model_copy(update={"line": 12, "needed": 528, "moved": 4224, "lanes": 256, "masked": 256})
    store = wasteful.model_copy(update={"line": 10, "access": "store"})
    launch.accesses += [little, store]
    ((lines, _),) = advised(much)
    assert lines == [9, 10] and line_words(lines) == "Lines 9 and 10" and line_words([9]) == "Line 9"


@each_row(("launch", "said"), [
    ({}, ""),
    ({"spills": 64}, "registers go to memory and back"),
    ({"products": True}, "without tensor cores"),
    ({"products": True, "tensor_cores": "wgmma"}, ""),
    ({"products": True, "tensor_cores": "mma"}, "tiles of 64 rows or more"),
    ({"warps": {"counted": 2, "barriers": 8}}, "Its warps pass 1 barrier each."),
    ({"warps": {"counted": 2, "barriers": 16}}, "Its warps pass 2 barriers each."),
    ({"grid": [16, 8, 1]}, ""),
    ({"grid": [16, 2, 1], "counted": 1, "cut": True}, "132 multiprocessors: with fewer programs some are idle"),
    # What moves little is over before it matters.
    ({"grid": [16, 2, 1]}, ""),
    ({"occupancy": 0.125, "bound": "registers"}, ""),
])
def test_a_launch_has_advice_where_there_is_cause(launch: dict[str, Any], said: str) -> None:
    (found,) = launches(inspection(launch))
    assert found.endswith("bound by registers." if launch.get("bound") else "bound by threads.") if not said \
        else said in found


def test_more_bytes_than_a_good_kernel_needs_are_told_unless_some_are_unknown() -> None:
    first = inspection({})
    good = first.figures.model_copy(update={"needed": first.figures.needed / 2})
    assert launches(first.model_copy(update={"good": good}))[1].startswith("Its loads and stores need 2 times a good")
    product = inspection({"products": True, "tensor_cores": "wgmma"}).model_copy(update={"good": good})
    assert "a larger tile" in launches(product)[1]
    part = inspection({"cut": True}).model_copy(update={"good": good})
    (said,) = launches(part)
    assert "not to their ends" in said and ("bytes needed", "more than 4.19 MB", "2.1 MB") in compared(part)
    assert notes(part)[0].figures.startswith("load of x: more than")


def test_a_file_that_launches_nothing_says_so() -> None:
    (said,) = launches(inspection({}).model_copy(update={"launches": []}))
    assert said.startswith("It launches no kernel of its own")


def test_the_source_has_figures_beside_its_lines() -> None:
    lines = annotated(samples.INSPECTION, samples.SOURCE)
    assert [line.number for line in lines] == [5, 6, 7, 8, 9, 10]
    assert [line.number for line in lines if line.note] == [9, 10]
    assert [line.number for line in lines if line.marked] == [10]
    assert annotated(samples.INSPECTION, "") == []


def test_a_right_kernel_has_its_inspection_folded_and_a_wrong_one_none() -> None:
    page = student_page(samples.result("A", {"gemm": "wrong_answer"}))
    assert page.count('<details class="inspection">') == len(samples.KERNELS) - 1
    text = " ".join(Elements(page).text)
    assert "about 33.6 MB moved, 4.19 MB needed" in text and "a good kernel's" in text
    assert "once it is graded on a GPU. Before that look at line 10," in text
    assert text.count("This moves 8 times what it needs") == len(samples.KERNELS) - 1


@pytest.mark.parametrize(("shape", "runs", "rows", "words"), [
    ((4, 4), [(0, 16)], ["■■■■"] * 4, "16 of 16 elements rows 0 to 3, columns 0 to 3"),
    ((4, 8), [(9, 2)], ["····", "·■■·", "····"], "2 of 32 elements row 1, columns 1 to 2"),
    ((64, 64), [(64 * row, 1) for row in range(64)], ["■·"] * 16, "64 of 4,096 elements rows 0 to 63, column 0"),
    ((100,), [(0, 10)], ["■" * 10 + "··", "·" * 12], "10 of 100 elements elements 0 to 9"),
])
def test_a_picture_shows_what_is_touched_and_a_little_around(
    shape: tuple[int, ...], runs: list[tuple[int, int]], rows: list[str], words: str
) -> None:
    touch_picture = picture(shape, runs)
    assert touch_picture is not None
    assert (touch_picture.rows, f"{touch_picture.many} {touch_picture.where}") == (rows, words)


def test_a_picture_of_much_joins_elements() -> None:
    touch_picture = picture((8192, 8192), [(8192 * row, 64) for row in range(128)])
    assert touch_picture is not None and touch_picture.cell == (16, 4)
    assert touch_picture.rows == ["■" * 16 + "·" * 4] * 8 + ["·" * 20] * 2
    assert picture((4, 4), []) is None
    # What lies outside is no element.
    assert picture((4, 4), [(16, 4)]) is None


def test_instructions_have_the_line_of_the_kernels_own_file() -> None:
    text = """.visible .entry k(
	.loc	1 9 0                           // a.py:9:0
$L__tmp0:
	.loc	1 10 24                         // a.py:10:24
	ld.global.v4.b32 	{ %r1 }, [ %rd1 + 0 ];
	.loc	2 263 15                        // standard.py:263:15
	add.f32 	%r44, %r3, %r3;
	@%p1 st.global.b32 [ %rd1 + 0 ], { %r1 };
	ret;
	.section	.debug_abbrev
"""
    found = list(instructions(text))
    assert [(one.line, one.kind) for one in found] == [(0, ""), (10, "load"), (10, ""), (10, "store"), (10, "")]
