"""Of hidden cases a student is told the kind of failure and what to look at; those who grade are told all."""

import re
import shutil
import stat
from pathlib import Path
from typing import get_args

import pytest

from grader.classroom.attempts.store import Store
from grader.classroom.attempts.student_files import refresh
from grader.course.catalogue import assignments, read
from grader.course.late import LatePolicy
from grader.course.submission import Submission
from grader.errors import UserError
from grader.grading.job import JobOutcome
from grader.home import ROOT
from grader.judging.explain import explain_assignment
from grader.pages.load import load_results
from grader.pages.pages import class_page, student_page
from grader.results.hidden import for_student, staff
from grader.results.result import CheckResult, Detail, ErrorMap, Flag, Place, Result, WorstElement
from grader.results.verdicts import FailureKind
from tests.classroom.attempts.made import kept as keep
from tests.command import SILU, hand_in, kernelmark
from tests.pages import samples

SECRET = "7919"
# Sizes that stand nowhere else.
HIDDEN = 'cases = "1213x7 3x7919-extreme"\ngpu = "6007x5"\n'
TOLD = re.compile(r"(?<![\d.])(1213|7919|6007|8491|23757|30035)(?!\d)")


def secret_of(kind: FailureKind) -> Detail:
    """A detail that tells all it can."""
    return Detail(
        kind=kind, message=f"M = {SECRET}", hint=SECRET, guess=SECRET, pattern=SECRET, fits=[SECRET], traceback=SECRET,
        output=SECRET, place=Place(file="silu.py", line=3, text=f"if M == {SECRET}:"), wrong=7919, total=7919,
        unwritten=7919, worst=WorstElement(index=[7919], got=SECRET, expected=SECRET, error=SECRET, allowed=SECRET),
        error_map=ErrorMap(output_shape=[7919], cell_shape=[7919], cells=["1"]))


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_of_a_hidden_check_its_student_gets_stage_outcome_and_kind(kind: FailureKind) -> None:
    result = samples.result("ada")
    silu = result.assignments["silu"]
    detail = secret_of(kind)
    silu.correctness.checks += [
        CheckResult(id="case-7919", stage="case", case=SECRET, sizes={"M": 7919}, hidden=True, outcome="failed",
                    seconds=7919, worst_ratio=7919, detail=detail),
        CheckResult(id="target", stage="target", hidden=True, outcome="failed", detail=detail)]
    silu.flags.append(Flag(what="policy", evidence=detail.message, place=detail.place))
    # These follow from public checks alone.
    silu.seconds = result.seconds = 7919
    shown = for_student(result)
    assert SECRET not in shown.model_dump_json() and SECRET in result.model_dump_json()
    assert for_student(shown) == shown
    assert SECRET not in student_page(result).replace(",", "")
    case = next(check for check in shown.assignments["silu"].correctness.checks if check.case == "hidden 1")
    assert case.outcome == "failed" and case.detail is not None and case.detail.kind == kind
    assert case.detail.message.startswith("In a hidden case ")


def test_where_nothing_is_hidden_a_result_stays_as_it_is() -> None:
    result = samples.result("ada")
    assert for_student(result) is result


# What of a change is told at each level, and whether staff alone has the rest.
LEVELS: dict[str, tuple[set[str], bool]] = {
    "place": ({"told"}, True), "kind": ({"told", "kind"}, True), "edit": ({"told", "kind", "diff"}, False)}


@pytest.mark.parametrize(("level", "told", "withheld"), [(level, *row) for level, row in LEVELS.items()],
                         ids=LEVELS)
@pytest.mark.parametrize("hidden", [False, True])
def test_of_a_change_that_makes_every_case_right_its_student_gets_what_the_course_tells(
    tmp_path: Path, level: str, told: set[str], withheld: bool, hidden: bool
) -> None:
    result = samples.result("ada", {"gemm": "wrong_answer"})
    secrets = {"told": "T7919", "kind": "K7919", "diff": "D7919"}
    result.assignments["gemm"].repair = samples.REPAIR.model_copy(
        update={"level": level, **secrets, "diff": "+D7919"})
    if hidden:
        result.assignments["silu"].correctness.checks.append(CheckResult(
            id="case-1213", stage="case", case="1213", hidden=True, outcome="passed"))
    assert keep(JobOutcome(Submission("ada", tmp_path / "class", "ada"), result), tmp_path) == []
    own, whole = tmp_path / "ada", staff(tmp_path / "ada")
    assert {name for name, secret in secrets.items() if secret in (own / "result.json").read_text()} == told
    # A page shows no kind but in its sentence.
    page = (own / "report.html").read_text()
    assert {name for name, secret in secrets.items() if secret in page} == told - {"kind"}
    assert (whole / "result.json").exists() == (withheld or hidden) and (whole / "checks.log").exists() == hidden
    assert (own / "checks.log").exists() != hidden
    assignment = load_results(tmp_path).entries[0].result.assignments["gemm"]
    assert assignment.repair == result.assignments["gemm"].repair
    assert "D7919" in class_page(load_results(tmp_path).entries)
    shown = for_student(result)
    assert for_student(shown) == shown and (shown is result) == (not withheld and not hidden)


def test_what_is_kept_whole_is_read_for_the_class_and_goes_when_nothing_is_hidden_any_more(tmp_path: Path) -> None:
    ada = Submission("ada", tmp_path / "class/ada", "ada")
    ada.folder.mkdir(parents=True)
    (tmp_path / "out").mkdir()
    told, own = staff(tmp_path / "out/ada"), tmp_path / "out/ada"

    def kept(result: Result, error: FailureKind | None = None) -> list[str]:
        if error is not None:
            result.assignments["silu"].correctness.checks.append(CheckResult(
                id="case-7919x1", stage="case", case="7919x1", hidden=True, outcome="failed", detail=secret_of(error)))
        return keep(JobOutcome(ada, result, log=SECRET), tmp_path / "out")

    assert kept(samples.result("ada"), "wrong_values") == []
    assert stat.S_IMODE(told.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in told.iterdir()) == ["checks.log", "result.json"]
    assert load_results(tmp_path / "out").entries[0].result.assignments["silu"].correctness.checks[-1].case == "7919x1"
    ours = samples.result("ada", {"silu": "infrastructure_error"})
    (line,) = kept(ours, "infrastructure")
    assert f"M = {SECRET} (the earlier result was kept)" in line
    assert sorted(path.name for path in own.iterdir()) == ["report.html", "result.json"]
    assert not [path for path in own.iterdir() if SECRET in path.read_text()]
    assert kept(samples.result("ada")) == [] and (told / "checks.log").exists()
    with Store.existing(tmp_path / "out") as store:
        store.decide(store.attempts("ada")[-len(samples.KERNELS):])
        assert refresh(store, tmp_path / "out", LatePolicy()) == []
    assert list(told.iterdir()) == []
    assert sorted(path.name for path in own.iterdir()) == ["checks.log", "report.html", "result.json"]


def test_a_message_says_nothing_of_hidden_cases_but_how_many_failed_and_how() -> None:
    public = CheckResult(id="case-5x9", stage="case", case="5x9", sizes={"M": 5, "N": 9}, outcome="passed")
    hidden = CheckResult(id="case-7919x1", stage="case", case="7919x1", sizes={"M": 7919, "N": 1}, hidden=True,
                         outcome="failed", detail=secret_of("wrong_values"))
    summary = explain_assignment(assignments()["silu"], [public, hidden])
    assert summary.message == (
        "Right in all 1 case. 1 of 1 hidden check did not pass: the answer is wrong.")
    assert summary.hint.startswith("Try sizes of your own") and summary.shown is None


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course, where SiLU has hidden cases."""
    root = tmp_path_factory.mktemp("course")
    for name in ("assignments", "reference", "student_template"):
        shutil.copytree(ROOT / name, root / name)
    shutil.copy(ROOT / "course.toml", root)
    (root / "assignments/silu/hidden.toml").write_text(HIDDEN)
    return root


# The reference, with a few lines before its launch.
def before_the_launch(*lines: str) -> str:
    changed = SILU.replace("def silu(x: torch.Tensor, out: torch.Tensor) -> None:\n",
                           "SEEN = []\ndef silu(x, out):\n    SEEN.append(tuple(x.shape))\n" + "".join(
                               f"    {line}\n" for line in lines))
    assert changed != SILU
    return changed


SPIES = {
    "honest": SILU,
    "raising": before_the_launch("print(SEEN)", "if len(x) == 1213: raise ValueError(SEEN)"),
    "on_a_gpu": before_the_launch("if len(x) == 6007: raise ValueError(SEEN)"),
    "refused": before_the_launch("if x.shape[1] == 7919: x.sum()"),
    "keeping": before_the_launch("print(SEEN)", "if len(SEEN) > 12 or len(x) == 64: raise ValueError(SEEN)"),
    "wrong": before_the_launch("if 3 < x.shape[1] < 8: x, out = x[:, :2], out[:, :2]"),
}


def test_no_file_of_a_student_tells_of_a_hidden_case_and_the_class_page_tells_all(course: Path, tmp_path: Path) -> None:
    for name, text in SPIES.items():
        hand_in(tmp_path / "class", name, text)
    out = tmp_path / "out"
    result = kernelmark("grade", tmp_path / "class", "--out", out, "--only", "silu", "--device", "cpu", "--course",
                        course / "course.toml")
    assert result.returncode == 0, result
    files = [path for name in SPIES for path in (out / name).iterdir()]
    assert {path.name for path in files} == {"result.json", "report.html"}
    for path in files:
        # What these students wrote themselves stands in their results, and names what they look for.
        text = re.sub(r'"source": ".*"', "", path.read_text())
        assert TOLD.search(text.replace(",", "")) is None, path
    found = {name: Result.model_validate_json((out / name / "result.json").read_bytes()).assignments["silu"]
             for name in SPIES}
    assert {name: assignment.verdict for name, assignment in found.items()} == {
        "honest": "accepted", "raising": "runtime_error", "on_a_gpu": "runtime_error", "refused": "policy_violation",
        "keeping": "runtime_error", "wrong": "wrong_answer"}
    assert found["honest"].message == "Right in all 8 cases. Right in 2 hidden checks, too."
    assert "1 of 2 hidden checks did not pass: elements of the output are never written." in found["wrong"].message
    assert found["refused"].flags[0].evidence == "In a hidden case host code asks for what only kernels may do."
    whole = {name: (staff(out / name) / "result.json").read_text() for name in SPIES}
    assert all("1213x7" in text for text in whole.values()) and "6007" in whole["on_a_gpu"]
    assert "1213x7" in (staff(out / "raising") / "checks.log").read_text()
    assert "1213x7" in (out / "index.html").read_text()


def test_a_kit_has_no_hidden_case(course: Path, tmp_path: Path) -> None:
    result = kernelmark("kit", tmp_path / "kernels", "--course", course / "course.toml")
    assert result.returncode == 0, result.stderr
    for path in (path for path in (tmp_path / "kernels").rglob("*") if path.is_file()):
        assert path.name != "hidden.toml" and TOLD.search(path.read_text()) is None, path
    handout = (tmp_path / "kernels/assignments/silu/handout.md").read_text()
    assert "on a GPU also `4099x4093-extreme`, `8192x8192`; 3 more are hidden." in handout
    named = course / "assignments/silu/handout.md"
    before = named.read_text()
    named.write_text(before + "\nTry 1213x7.\n")
    result = kernelmark("kit", tmp_path / "more", "--course", course / "course.toml")
    named.write_text(before)
    assert result.returncode == 2 and "handout.md: names the hidden case 1213x7" in result.stderr, result
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize(("text", "said"), [
    ('cases = "5x9"', "give each a name of its own"),
    ('cases = "5"', "cases = "),
    ('case = "7x9"', "its keys are cases, gpu, right_by_nature"),
    ("cases = ", "write cases = "),
], ids=["named twice", "no sizes", "another key", "no TOML"])
def test_a_file_of_hidden_cases_that_is_wrong_is_named(course: Path, tmp_path: Path, text: str, said: str) -> None:
    shutil.copytree(course / "assignments/gelu", tmp_path / "gelu")
    (tmp_path / "gelu/hidden.toml").write_text(text)
    with pytest.raises(UserError, match=rf"gelu/hidden\.toml: .*{said}"):
        read(tmp_path / "gelu/assignment.py")
