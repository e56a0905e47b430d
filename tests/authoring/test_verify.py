"""Every assignment is fit to be handed out; a new one is from the start; and what one lacks is said in words."""

import runpy
from pathlib import Path

import pytest

from grader.authoring import handout, new
from grader.authoring.verify import verify
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.course.catalogue import assignments
from grader.course.course import read_course
from grader.errors import UserError
from grader.home import ROOT
from tests.authoring.written import change, with_small_cases, write_handout
from tests.command import kernelmark, refused
from tests.rows import beside

COURSE = read_course(ROOT / "course.toml", frozenset(assignments()))
EVERY_TIME = ("silu", "rmsnorm_vector", "copy_first_column")

@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.full] * (name not in EVERY_TIME)) for name in assignments()])
def test_each_assignment_lacks_nothing(name: str) -> None:
    found = dict(verify(name))
    assert len(found) == 10 and not any(found.values()), found


@pytest.fixture
def root(course: Path) -> Path:
    """A course of one new assignment."""
    new.write("shifted", course)
    with_small_cases(course / "assignments/shifted/assignment.py", "67x131")
    write_handout(course, catalogue.read(course / "assignments/shifted/assignment.py"))
    drawn(course)
    return course


def drawn(root: Path) -> Assignment:
    """The assignment as it is written now, of which the handout says what it says."""
    assignment = catalogue.read(root / "assignments/shifted/assignment.py")
    handout.draw(handout.handout("shifted", root), handout.parts(assignment, COURSE))
    return assignment


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
    assert len(said) == len(new.PLACEHOLDERS) == 7 and all("is the template's; write yours" in line for line in said)


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
    output = kernelmark("new", "scaled", cwd=course).stdout.splitlines()
    assert sorted(line for line in output if line.endswith(".cu")) == files and len(output) == 6 + len(files)
    # Under another name: what this process has read of the course before is kept.
    course = course.rename(tmp_path / "moved")
    verified = kernelmark("verify", "scaled", cwd=course).stdout
    assert verified.count("✓") == 9 and verified.count("is the template's; write yours") == len(new.PLACEHOLDERS)
    assert ("scaled.cu" in (course / "assignments/scaled/handout.md").read_text()) == bool(files)


def test_figures_of_a_good_kernel_that_are_another_kernels_are_told(root: Path) -> None:
    kept = root / "assignments/shifted/good.json"
    kept.write_text((ROOT / "assignments/silu/good.json").read_text())
    assert told(root).startswith(f"{kept}: not the figures of {root}/reference/shifted.py; run kernelmark inspect")


DATA = beside(__file__)
CHANGES = {what: (path, *row) for path, rows in DATA["changes"].items() for what, row in rows.items()}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_missing_is_said(root: Path, what: str) -> None:
    path, before, after, words = CHANGES[what]
    change(root / path, (before, after))
    output = told(root)
    assert words in output and "Traceback" not in output, output
    assert len(set(output.splitlines())) == len(output.splitlines()), "each once"


def test_an_assignment_of_bytes_works_and_a_byte_that_is_never_written_is_told(root: Path) -> None:
    for path, changes in DATA["negative"].items():
        change(root / path, *changes)
    drawn(root)
    assert told(root) == ""
    reference = root / "reference" / "shifted.py"
    change(reference, ("255 - x, mask=offsets < n", "255 - x, mask=offsets < n - 1"))
    output = told(root)
    assert "case-1x1: out was never written" in output
    # Some of them hold the very byte that marks what was never written, and were written.
    first = "out[66, 130]"
    assert (f"case-67x131: 1 of 8,777 elements was never written (the first is {first}); its other elements are right."
            in output)
    change(reference, ("255 - x, mask=offsets < n - 1", "254 - x, mask=offsets < n"))
    output = told(root)
    assert "case-67x131: All 8,777 elements are wrong" in output and "never written" not in output


def test_an_autograd_function_works_and_a_file_without_it_is_named(root: Path) -> None:
    for path, changes in DATA["layer"].items():
        # The stub is the last: all but it ask for a class.
        said = told(root) if path.startswith("student_template") else ""
        change(root / path, *changes)
    assignment = drawn(root)
    assert f"{root / path}: no class {assignment.signature}; add it" in said
    assert told(root) == "" and "| contiguous, returned by `forward` |" in handout.parts(assignment, COURSE)["task"]


def test_a_file_that_is_missing_is_named(root: Path) -> None:
    (root / "assignments" / "shifted" / "baseline.py").unlink()
    assert "baseline.py: no such file; write one with eager and compiled(x, out)" in told(root)


def test_a_name_that_is_none_and_files_that_are_there_are_refused(root: Path) -> None:
    with pytest.raises(UserError, match="'Shifted': not a function"):
        new.write("Shifted", root)
    with pytest.raises(UserError, match="'class': not a function's name; use small letters"):
        new.write("class", root)
    with pytest.raises(UserError, match="'copy': is a Python module; choose another name"):
        new.write("copy", root)
    with pytest.raises(UserError, match=r"shifted/assignment\.py: already exists; choose another name"):
        new.write("shifted", root)


def test_the_command_tells_what_it_has_looked_at() -> None:
    result = kernelmark("verify", "vector_copy")
    assert result.returncode == 0 and result.stdout.count("✓ vector_copy: ") == 10, result.stdout
    refused("'nope' is no assignment; choose from", "verify", "nope")
