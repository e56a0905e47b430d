"""The example of docs/authoring.md is fit to be handed out as it stands there; and what one of several outputs lacks is
said in words."""

import re
from pathlib import Path

import pytest

from grader import home
from grader.authoring import handout, new
from grader.authoring.verify import verify
from grader.course import catalogue
from grader.course.course import read_course
from tests.authoring.written import change, with_small_cases, write_handout
from tests.rows import beside

FILE = re.compile(r"^`([\w/]+\.py)`:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPEC, REFERENCE, BASELINE = (
    "assignments/row_powers/assignment.py", "reference/row_powers.py", "assignments/row_powers/baseline.py")
SMALLER = "419x13"
DOCUMENT = Path(__file__).parents[2] / "docs/authoring.md"


@pytest.fixture
def root(course: Path) -> Path:
    """A course of the example alone."""
    new.write("row_powers", course)
    for path, text in FILE.findall(DOCUMENT.read_text(encoding="utf-8")):
        assert (course / path).is_file()
        (course / path).write_text(text, encoding="utf-8")
    write_handout(course, catalogue.read(course / SPEC))
    _drawn(course)
    return course


@pytest.fixture
def small(root: Path) -> Path:
    """The same with smaller cases."""
    with_small_cases(root / SPEC, SMALLER)
    _drawn(root)
    return root


def _drawn(root: Path) -> None:
    """Writes what the handout says of the assignment as it is written now."""
    course = read_course(home.file(), frozenset(catalogue.files()))
    assignment = catalogue.read(root / SPEC)
    handout.draw(handout.handout("row_powers", root), handout.parts(assignment, course))


def told(root: Path, words: str = "") -> str:
    """What is said of the example, up to the check that says these words."""
    said = ""
    for _, problems in verify("row_powers", root):
        said += "\n".join(problems)
        if words and words in said:
            break
    return said


def test_the_example_lacks_nothing(root: Path) -> None:
    assert told(root) == ""
    text = (root / "assignments/row_powers/handout.md").read_text()
    assert "| `k` | | int | whole numbers from 2 to 5, another one at each call |" in text
    assert "| `places` | (M,) | int64 | contiguous, arrives full of one arbitrary number |" in text
    assert "* `places`: Every bit must match." in text and "* `powers`: Each element may differ" in text


CHANGES = {what: (path, *row) for path, rows in beside(__file__).items() for what, row in rows.items()}


@pytest.mark.parametrize("what", CHANGES)
def test_what_one_of_several_outputs_lacks_is_said(small: Path, what: str) -> None:
    path, before, after, words = CHANGES[what]
    change(small / path, (before, after))
    output = told(small, words)
    assert words in output and "Traceback" not in output, output
