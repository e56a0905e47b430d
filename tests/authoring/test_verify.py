"""Every assignment is fit to be handed out; a new one is from the start; and what one lacks is said in words."""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.authoring import handout, new
from grader.authoring.verify import verify
from grader.course import catalogue
from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.home import ROOT
from tests.authoring.written import with_small_cases, write_handout
from tests.command import kernelmark, refused

COURSE = read_course(ROOT / "course.toml", frozenset(assignments()))
EVERY_TIME = ("silu", "rmsnorm_vector", "copy_first_column")

@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.full] * (name not in EVERY_TIME)) for name in assignments()])
def test_each_assignment_lacks_nothing(name: str) -> None:
    found = dict(verify(name))
    assert len(found) == 10 and not any(found.values()), found


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A course of one new assignment. What is loaded from it leaves again."""
    before = set(sys.modules)
    new.write("shifted", tmp_path)
    with_small_cases(tmp_path / "assignments/shifted/assignment.py", "67x131")
    made = catalogue.read(tmp_path / "assignments/shifted/assignment.py")
    write_handout(tmp_path, made)
    handout.draw(handout.handout("shifted", tmp_path), handout.parts(made, COURSE))
    yield tmp_path
    for module in set(sys.modules) - before:
        if module.startswith(("assignments.", "reference.")):
            del sys.modules[module]


def told(root: Path) -> str:
    return "\n".join(problem for _, problems in verify("shifted", root) for problem in problems)


def test_a_new_assignment_works(root: Path) -> None:
    assert told(root) == ""
    stub = runpy.run_path(str(root / "student_template" / "shifted.py"))
    with pytest.raises(NotImplementedError, match="shifted"):
        stub["shifted"](None, None)


def test_a_new_assignment_lacks_sentences_alone(tmp_path: Path) -> None:
    new.write("scaled", tmp_path)
    said = [problem for _, problems in verify("scaled", tmp_path) for problem in problems]
    assert len(said) == len(new.PLACEHOLDERS) == 7 and all("is the template's; write yours" in one for one in said)


@pytest.mark.parametrize(("languages", "files"), [
    ('["cuda", "triton"]', ["reference/cuda/scaled.cu", "student_template/cuda/scaled.cu"]), ('["triton"]', []),
], ids=["both", "Triton alone"])
def test_a_new_assignment_is_in_each_language_that_its_course_names(
    languages: str, files: list[str], tmp_path: Path
) -> None:
    assert kernelmark("init", "course", "--with", "gelu", cwd=tmp_path).returncode == 0
    course = tmp_path / "course"
    rules = (course / "course.toml").read_text()
    (course / "course.toml").write_text(
        rules.replace('# languages = ["triton", "numba", "cuda"]', f"languages = {languages}"))
    made = kernelmark("new", "scaled", cwd=course).stdout.splitlines()
    assert sorted(line for line in made if line.endswith(".cu")) == files and len(made) == 6 + len(files)
    # Under another name: what this process has read of the course before is kept.
    course = course.rename(tmp_path / "moved")
    verified = kernelmark("verify", "scaled", cwd=course).stdout
    assert verified.count("✓") == 9 and verified.count("is the template's; write yours") == len(new.PLACEHOLDERS)
    assert ("scaled.cu" in (course / "assignments/scaled/handout.md").read_text()) == bool(files)


def test_figures_of_a_good_kernel_that_are_another_kernels_are_told(root: Path) -> None:
    kept = root / "assignments/shifted/good.json"
    kept.write_text((ROOT / "assignments/silu/good.json").read_text())
    assert told(root).startswith(f"{kept}: not the figures of {root}/reference/shifted.py; run kernelmark inspect")


# What is changed in which file, and words of what is said of it.
CHANGES = {
    "a handout of another function": (
        "assignments/shifted/handout.md", "shifted(x, out)", "f(x)", "handout.md: the part 'task' is out of date"),
    "a sentence of the template": (
        "assignments/shifted/handout.md", "## What you may use", "Say what is to be learned.",
        "handout.md: 'Say what is to be learned.' is the template's; write yours"),
    "another title than the handout's": (
        "assignments/shifted/assignment.py", 'title="Shifted"', 'title="Twice, and one"',
        "begins with '# Shifted', expected the assignment's title; write '# Twice, and one'"),
    "other cases than the handout's": (
        "assignments/shifted/assignment.py", "64x64", "32x32", "handout.md: the part 'checks' is out of date"),
    "a handout without points": (
        "assignments/shifted/handout.md", "<!-- points:", "<!-- p:", "lines <!-- points: --> and <!-- end -->"),
    "another function": ("reference/shifted.py", "def shifted(", "def other(", "no function shifted(x, out); add it"),
    "another parameter": ("student_template/shifted.py", "out: torch", "y: torch", "no function shifted(x, out)"),
    "no compiled baseline": ("assignments/shifted/baseline.py", "def compiled(", "def fused(", "no function compiled("),
    "one size": (
        "assignments/shifted/assignment.py", "1x1 5x9 1x1009 64x64 67x131", "5x9", "M in the first case must be 1"),
    "nothing for a GPU": ("assignments/shifted/assignment.py", ', gpu="8192x8192"', "", "none is for a GPU alone"),
    "an oracle that raises": (
        "assignments/shifted/assignment.py", "2 * x.double() + 1\n", "2 * y.double() + 1\n",
        "assignment.py, line 15: NameError: name 'y' is not defined"),
    "an oracle in single precision": (
        "assignments/shifted/assignment.py", "2 * x.double() + 1\n", "2 * x + 1\n",
        "oracle: expected a tensor of float64, got float32"),
    "an oracle of another shape": (
        "assignments/shifted/assignment.py", "2 * x.double() + 1\n", "2 * x.double()[:1] + 1\n",
        "5x9: oracle: expected a tensor of shape (5, 9), got (1, 9)"),
    "an oracle without an answer": (
        "assignments/shifted/assignment.py", "    return 2 * x.double() + 1\n", "    2 * x.double() + 1\n",
        "oracle: expected a tensor of float64, got NoneType"),
    "an oracle of another parameter": (
        "assignments/shifted/assignment.py", "oracle(x: Tensor)", "oracle(y: Tensor)",
        "oracle: expected the parameters (x), got (y: 'Tensor') -> 'Tensor'"),
    "a tolerance that is a number": (
        "assignments/shifted/assignment.py", "    return allowed\n", "    return 1e-6\n",
        "tolerance: expected a tensor of float64, got float"),
    "a case of one size": (
        "assignments/shifted/assignment.py", "1x1 5x9", "1x1 5by9", "case '5by9': not 2 sizes; name it after MxN"),
    "a file that ends Python": (
        "assignments/shifted/assignment.py", "ASSIGNMENT = ", "raise SystemExit\nASSIGNMENT = ",
        "assignment.py, line 29: SystemExit"),
    "a file that is no Python": (
        "assignments/shifted/assignment.py", "ASSIGNMENT = ", "ASSIGNMENT := ",
        "assignment.py, line 29: SyntaxError: invalid syntax"),
    "a field that there is not": (
        "assignments/shifted/assignment.py", '    rows="x",\n', '    rows="x", points=3,\n',
        "points: Extra inputs are not permitted"),
    "other rows": (
        "assignments/shifted/assignment.py", '    rows="x",\n', '    rows=lambda inputs, index: inputs,\n',
        "rows: its inputs must give these rows"),
    "work that is a number": (
        "assignments/shifted/assignment.py", '    rows="x",\n', '    rows="x", work=lambda sizes: 8,\n',
        "8192x8192: work: expected a Work, got int"),
    "a stub that is solved": (
        "student_template/shifted.py", '    raise NotImplementedError("shifted: not written yet")',
        "    shifted_kernel[(1,)](x, out, 1, BLOCK=1)",
        "shifted must end with raise NotImplementedError"),
    "a baseline that is wrong": ("assignments/shifted/baseline.py", "alpha=2", "alpha=3", "the baseline's answer is"),
    "a baseline of another shape": (
        "assignments/shifted/baseline.py", "alpha=2, out=out)", "alpha=2, out=out).resize_(x.numel())",
        "1x1: baseline.py: eager changed the shape of out: expected (1, 1), got (1,)"),
    "a tolerance too wide": (
        "assignments/shifted/assignment.py", "EPS32 * (2 *", "(2 *", "5x9: zeros, ones, the input, "),
    "a tolerance without room": (
        "assignments/shifted/assignment.py", "EPS32 * (2 *", "EPS32 / 1.8 * (2 *", "of what is allowed; widen it"),
    "inputs that are the same": (
        "assignments/shifted/assignment.py", "scale=(0.1, 10.0), offset=2.0", "scale=(1e-30, 1e-30)", "would pass"),
    "an exception that is none": (
        "assignments/shifted/assignment.py", '    rows="x",\n', '    rows="x", right_by_nature={"5x9: zeros": "w"},\n',
        "5x9: zeros fails, but right_by_nature says that it passes (w)"),
    "an exception for nothing": (
        "assignments/shifted/assignment.py", '    rows="x",\n', '    rows="x", right_by_nature={"5x9: two": "w"},\n',
        "right_by_nature: '5x9: two' is no case"),
    "a mistake that is right": (
        "assignments/shifted/assignment.py", "lambda x: 2 * x.double())", "lambda x: 2 * x.double() + 1)",
        "mistake 'no offset' is right on every case"),
    "two mistakes of one answer": (
        "assignments/shifted/assignment.py", "2 * (x.double() + 1))", "2 * x.double())",
        "mistakes 'no offset' and 'offset first' give the same answer on all cases"),
    "a reference that is wrong": (
        "reference/shifted.py", "2 * x + 1,", "2 * x - 1,", "case-1x1: The only element is wrong"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_missing_is_said(root: Path, change: str) -> None:
    path, before, after, words = CHANGES[change]
    text = (root / path).read_text()
    assert before in text
    (root / path).write_text(text.replace(before, after))
    said = told(root)
    assert words in said and "Traceback" not in said, said
    assert len(set(said.splitlines())) == len(said.splitlines()), "each once"


# The negative of a picture, made of the new assignment.
NEGATIVE = {
    "assignments/shifted/assignment.py": (
        ("2 * x.double() + 1\n", "255 - x.double()\n"), ("Spread(scale=(0.1, 10.0), offset=2.0)", "Bytes()"),
        ("Baseline, Case", "Baseline, Bytes, Case"), ("    tolerance=tolerance,\n", ""),
        ('shape=("M", "N"))', 'shape=("M", "N"), dtype="uint8")'),
        ("lambda x: 2 * x.double())", "lambda x: x.double())"), ("2 * (x.double() + 1))", "254 - x.double())")),
    "assignments/shifted/baseline.py": (
        ("torch.add(torch.ones((), device=x.device), x, alpha=2, out=out)", "torch.bitwise_not(x, out=out)"),),
    "reference/shifted.py": (("2 * x + 1", "255 - x"),),
}


def test_an_assignment_of_bytes_works_and_a_byte_that_is_never_written_is_told(root: Path) -> None:
    for path, changes in NEGATIVE.items():
        text = (root / path).read_text()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        (root / path).write_text(text)
    made = catalogue.read(root / "assignments" / "shifted" / "assignment.py")
    handout.draw(handout.handout("shifted", root), handout.parts(made, COURSE))
    assert told(root) == ""
    reference = root / "reference" / "shifted.py"
    text = reference.read_text()
    reference.write_text(text.replace("255 - x, mask=offsets < n", "255 - x, mask=offsets < n - 1"))
    said = told(root)
    assert "case-1x1: out was never written" in said
    # Some of them hold the very byte that marks what was never written, and were written.
    first = "out[66, 130]"
    assert f"case-67x131: 1 of 8,777 elements was never written (the first is {first}); the others are right." in said
    reference.write_text(text.replace("255 - x, mask=", "254 - x, mask="))
    said = told(root)
    assert "case-67x131: All 8,777 elements are wrong" in said and "never written" not in said


# The new assignment as a class without backward.
CLASS = "class Shifted(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        "
LAYER = {
    "assignments/shifted/assignment.py": (('    rows="x",\n', '    rows="x", autograd="Shifted",\n'),),
    "reference/shifted.py": (
        ("def shifted(x: torch.Tensor, out: torch.Tensor) -> None:\n    ", CLASS),
        ("    n = x.numel()\n    shifted_", "        n, out = x.numel(), torch.empty_like(x)\n        shifted_"),
        ("out, n, BLOCK=BLOCK)", "out, n, BLOCK=BLOCK)\n        return out")),
    "student_template/shifted.py": (
        ("def shifted(x: torch.Tensor, out: torch.Tensor) -> None:\n    ", CLASS),
        ('    raise NotImplementedError("s', '        raise NotImplementedError("S')),
}


def test_an_autograd_function_works_and_a_file_without_it_is_named(root: Path) -> None:
    for path, changes in LAYER.items():
        # The stub is the last: all but it ask for a class.
        said = told(root) if path.startswith("student_template") else ""
        text = (root / path).read_text()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        (root / path).write_text(text)
    made = catalogue.read(root / "assignments" / "shifted" / "assignment.py")
    assert f"{root / path}: no class {made.signature}; add it" in said
    handout.draw(handout.handout("shifted", root), handout.parts(made, COURSE))
    assert told(root) == "" and "| contiguous, returned by `forward` |" in handout.parts(made, COURSE)["task"]


def test_a_file_that_is_missing_is_named(root: Path) -> None:
    (root / "assignments" / "shifted" / "baseline.py").unlink()
    assert "baseline.py: no such file; write one with eager and compiled(x, out)" in told(root)


def test_a_name_that_is_none_and_files_that_are_there_are_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="'Shifted': not a function"):
        new.write("Shifted", root)
    with pytest.raises(ValueError, match="'class': not a function's name; use small letters"):
        new.write("class", root)
    with pytest.raises(ValueError, match="'copy': is a Python module; choose another name"):
        new.write("copy", root)
    with pytest.raises(ValueError, match=r"shifted/assignment\.py: already exists; choose another name"):
        new.write("shifted", root)


def test_the_command_tells_what_it_has_looked_at() -> None:
    done = kernelmark("verify", "vector_copy")
    assert done.returncode == 0 and done.stdout.count("✓ vector_copy: ") == 10, done.stdout
    refused("'nope' is no assignment; choose from", "verify", "nope")
