"""Lines that a failure rests on, by what evidence names."""

import pytest

from grader.languages.triton.confined.edits import FAR, NEAR, SAME, nearness
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import read
from tests.rows import beside

DATA = beside(__file__)
TEXT: str = DATA["text"]


def test_what_a_line_rests_on_is_nearer_than_the_rest() -> None:
    found = nearness(read(SourceTree(TEXT), "silu", ()), [11])
    assert [found.get(line, 0) for line in (11, 10, 8, 7)] == [NEAR[0], NEAR[1], NEAR[1], NEAR[1]]
    assert 9 not in found and 18 not in found
    assert found[14] == found[15] == -FAR


def test_without_evidence_no_line_is_nearer() -> None:
    assert nearness(read(SourceTree(TEXT), "silu", ()), []) == {}


@pytest.mark.parametrize(("chosen", "same"), [
    ("tl.where(i > 3, 1.0 / i, 1.0 / i)", True), ("i if n else i", True), ("tl.where(i > 3, i, -i)", False),
    ("tl.where(i > 3)", False), ("i if n else 1", False)])
def test_a_choice_between_two_of_the_same_is_near(chosen: str, same: bool) -> None:
    text = TEXT.replace("i + 1", chosen)
    assert (nearness(read(SourceTree(text), "silu", ()), []) == {9: SAME}) == same
