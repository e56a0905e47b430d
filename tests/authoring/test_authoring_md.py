"""The example of docs/authoring.md is fit to be handed out as it stands there; and what one of several outputs lacks is
said in words."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import home
from grader.authoring import handout, new
from grader.authoring.verify import verify
from grader.course import catalogue
from grader.course.course import read_course
from tests.authoring.written import with_small_cases, write_handout

FILE = re.compile(r"^`([\w/]+\.py)`:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPEC, REFERENCE, BASELINE = (
    "assignments/row_powers/assignment.py", "reference/row_powers.py", "assignments/row_powers/baseline.py")
SMALLER = "419x13"
DOCUMENT = Path(__file__).parents[2] / "docs/authoring.md"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A course of the example alone. What is loaded from it leaves again."""
    before = set(sys.modules)
    new.write("row_powers", tmp_path)
    for path, text in FILE.findall(DOCUMENT.read_text(encoding="utf-8")):
        assert (tmp_path / path).is_file()
        (tmp_path / path).write_text(text, encoding="utf-8")
    write_handout(tmp_path, catalogue.read(tmp_path / SPEC))
    _drawn(tmp_path)
    yield tmp_path
    for module in set(sys.modules) - before:
        if module.startswith(("assignments.", "reference.")):
            del sys.modules[module]


@pytest.fixture
def small(root: Path) -> Path:
    """The same with smaller cases."""
    with_small_cases(root / SPEC, SMALLER)
    _drawn(root)
    return root


def _drawn(root: Path) -> None:
    """Writes what the handout says of the assignment as it is written now."""
    course = read_course(home.file(), frozenset(catalogue.files()))
    made = catalogue.read(root / SPEC)
    handout.draw(handout.handout("row_powers", root), handout.parts(made, course))


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


# What is changed in which file, and words of what is said of it.
CHANGES = {
    "an int that is drawn for timed cases": (
        SPEC, 'Fixed(3) if case.values == "cubes" else Whole(2, 5)', "Whole(2, 5)",
        "8192x8192-cubes: k is drawn, and the baseline may have to do more or less with its own; give timed cases a "
        "Fixed int"),
    "one answer of two": (
        SPEC, "    return x.double() ** k, first_of(x)\n", "    return x.double() ** k\n",
        "oracle: expected a tuple (powers, places), got Tensor"),
    "an answer in single precision": (
        SPEC, "return x.double() ** k, first_of(x)", "return x ** k, first_of(x)",
        "oracle: powers: expected a tensor of float64, got float32"),
    "an answer of another shape": (
        SPEC, ".indices[:, 0]\n", ".indices[:1, 0]\n",
        "5x9: oracle: places: expected a tensor of shape (5,), got (1,)"),
    "a tolerance for what is none": (
        SPEC, 'tolerance={"powers"', 'tolerance={"power"', "tolerance: power is no output; name one of powers, places"),
    "a tolerance too wide for one": (
        SPEC, "EPS32 * (inputs", "(inputs", "5x9: powers: zeros, half precision would pass; change the sizes"),
    "an exact output with a tolerance": (
        SPEC, '"powers": within}', '"powers": within, "places": lambda inputs, expected: 2.0 + 0 * expected.double()}',
        "1x1009: places: two more would pass"),
    "an exception that is left out": (
        SPEC, '"1x1: places": "there is one column"', "",
        'or say why they are right: right_by_nature={"1x1: places": "…"}'),
    "an exception for nothing": (
        SPEC, '"1x1: places"', '"5x9: places"', "right_by_nature: '5x9: places' is no case with a wrong answer"),
    "a mistake about what is no output": (
        SPEC, 'output="places"),\n    )', 'output="place"),\n    )', "place is no output; name one of powers, places"),
    "a mistake that is right": (
        SPEC, "x.shape[1] - 1 - first_of(x.flip(1))", "first_of(x)",
        "places: mistake 'last of equal ones' is right on every case"),
    "other rows of one": (
        SPEC, '    rows="x",\n', '    rows={"powers": "x", "places": lambda inputs, index: inputs},\n',
        f"{SMALLER}: places: rows: its inputs must give these rows of the whole answer"),
    "columns where there are none": (
        SPEC, '    rows="x",\n', '    rows="x", columns={"places": lambda inputs, index: inputs},\n',
        f"{SMALLER}: places: columns: the output has none; leave columns out"),
    "a scalar of one value": (
        SPEC, "else Whole(2, 5)", "else Fixed(3)", "k: 3 in every case, so a kernel that ignores it passes"),
    "a sign that is left to luck": (
        SPEC, "else Whole(2, 5)", "else Whole(-1, 5)", "k: below 0 in no case, by the luck of some draws; give it a"),
    "places of numbers that half precision can tell apart": (
        SPEC, "Whole(4060, 4100)", "Whole(60, 100)",
        "would pass in every case; draw a case's floats as Whole(4060, 4100), which half precision rounds, or say"),
    "a scalar that is a float": (
        SPEC, "else Whole(2, 5)", "else Spread()", "1x1: distributions: k: Spread draws no int; take Number"),
    "a value of a choice that no case has": (
        SPEC, "    order=100,\n", '    order=100, choices={"M": (1, 5, 37, 419, 8192, 4096, 2048, 16384, 7)},\n',
        "cases: M is 7 in none, though it may be"),
    "a dtype of timed cases alone": (
        SPEC, '8192x2048 4096x1024")', '8192x2048 4096x1024", dtypes={"x": "bfloat16"})',
        "timed: x is bfloat16 in 8192x8192-cubes, and in no case that is checked; add one"),
    "equal elements nowhere": (
        SPEC, 'Whole(4060, 4100) if case.values == "ties" else Spread', "Spread",
        "places: mistake 'last of equal ones' is right on every case"),
    "a baseline that writes one alone": (
        BASELINE, "    torch.argmax(x, dim=1, out=places)\n\n", "\n",
        "5x9: places: the baseline's answer is wrong"),
    "a reference that writes one alone": (
        REFERENCE, "    tl.store(powers_ptr + row * N + columns, power, mask=columns < N)\n", "",
        "powers was never written"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_one_of_several_outputs_lacks_is_said(small: Path, change: str) -> None:
    path, before, after, words = CHANGES[change]
    text = (small / path).read_text()
    assert before in text
    (small / path).write_text(text.replace(before, after))
    said = told(small, words)
    assert words in said and "Traceback" not in said, said
