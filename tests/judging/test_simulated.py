"""The line that is marked for a wrong answer follows from evidence, and where several could be meant none is."""

from pathlib import Path

import pytest

from grader.course.course import LimitsTable
from grader.results.result import Detail, Place
from tests.graded import results
from tests.rows import beside

DATA = beside(__file__)
RIGHT = "    tl.store(out_ptr + at, y, mask=at < n)"


def details(folder: Path, body: str, other: str = "") -> list[Detail]:
    (folder / "silu.py").write_text(DATA["kernel"].format(body=body, other=other))
    checks = results(folder, LimitsTable())["silu"].correctness.checks
    return [check.detail for check in checks if check.detail and check.outcome == "failed"]


def test_the_store_of_the_wrong_elements_is_marked_among_several(tmp_path: Path) -> None:
    body = f"{RIGHT}\n    tl.store(out_ptr + at, y + 1, mask=(at < n) & (at % 64 == 40))"
    places = [detail.place for detail in details(tmp_path, body) if detail.place]
    assert places and {place.line for place in places} == {12}
    assert places[0].text.startswith("tl.store(out_ptr + at, y + 1")
    assert "stores the wrong elements: program 0 stored the first of them, out[4, 4]" in places[0].seen


def test_where_two_stores_leave_wrong_elements_no_line_is_marked(tmp_path: Path) -> None:
    body = RIGHT.replace("y,", "y + 1,") + "\n    tl.store(out_ptr + at, y - 1, mask=(at < n) & (at % 2 == 0))"
    found = details(tmp_path, body)
    assert found and all(detail.place is None for detail in found if (detail.wrong or 0) > 1)


def test_what_a_mask_leaves_out_is_marked_at_its_store(tmp_path: Path) -> None:
    found = details(tmp_path, RIGHT.replace("at < n", "at < n - 1"))
    places = [detail.place for detail in found if (detail.total or 0) > 1]
    assert places and all(place is not None and place.line == 11 and not place.seen for place in places)


@pytest.mark.parametrize("marked", [True, False])
def test_the_load_whose_masked_lanes_are_used_is_no_guess(tmp_path: Path, marked: bool) -> None:
    """A finding of the simulator has its line: memory that nothing has written is read in line 10 of 10."""
    body = "    y += tl.load(out_ptr + at, mask=at < n, other=0.0)\n" + RIGHT if marked else RIGHT
    places: list[Place | None] = [detail.place for detail in details(tmp_path, body)]
    assert [place.line if place else 0 for place in places] == [11] * len(places) and bool(places) == marked
