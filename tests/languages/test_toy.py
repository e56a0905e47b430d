"""A language that is no part of the grader: a folder beside it, and its submissions are graded like any other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.plan.language_folders import VARIABLE
from grader.results.result import AssignmentResult, Result

HERE = Path(__file__).parent
CLASS = {
    "right": {"silu.toy": "silu(x, out): x x sigmoid *"},
    "wrong": {"silu.toy": "silu(x, out): x 2 * sigmoid"},
    "known": {"silu.toy": "silu(x, out): x sigmoid"},
    "broken": {"silu.toy": "silu(x, out): x +"},
    "twice": {"silu.toy": "silu(x, out): x x sigmoid *", "silu.py": "# nothing yet\n"},
    "triton": {"silu.py": (ROOT / "reference" / "silu.py").read_text(encoding="utf-8")},
}
MOST_LINES = 150


def _command(*words: object, languages: Path | None = HERE) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "300"}
    environment.pop(VARIABLE, None)
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False,
        env=environment | ({VARIABLE: str(languages)} if languages else {}))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    for student, files in CLASS.items():
        (folder / "class" / student).mkdir(parents=True)
        for name, text in files.items():
            (folder / "class" / student / name).write_text(text, encoding="utf-8")
    result = _command("grade", folder / "class", "--out", folder / "out", "--only", "silu", "--seed", 7,
                      "--jobs", 1)
    assert result.returncode == 0, result
    return folder / "out"


def _result(out: Path, student: str) -> AssignmentResult:
    return Result.model_validate_json((out / student / "result.json").read_bytes()).assignments["silu"]


def test_the_language_is_small() -> None:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in (HERE / "toy").rglob("*.py")]
    assert len(lines) == 4 and sum(lines) <= MOST_LINES


@pytest.mark.parametrize("student", ["right", "triton"])
def test_a_right_submission_gets_its_points(out: Path, student: str) -> None:
    assignment = _result(out, student)
    assert assignment.verdict == "accepted" and assignment.score == assignment.measured_max > 0
    assert {check.outcome for check in assignment.correctness.checks} == {"passed"}


@pytest.mark.parametrize("student, hint", [("known", "This is σ(x) alone"), ("wrong", "")])
def test_a_wrong_one_is_told_what_is_wrong(out: Path, student: str, hint: str) -> None:
    assignment = _result(out, student)
    assert (assignment.verdict, assignment.score) == ("wrong_answer", 0)
    assert "expected" in assignment.message and hint in assignment.hint
    page = (out / student / "report.html").read_text(encoding="utf-8")
    assert "silu(x, out): …" in page and assignment.message.split(";")[0] in page


def test_what_is_not_of_the_language_has_its_line(out: Path) -> None:
    assignment = _result(out, "broken")
    detail = assignment.correctness.checks[0].detail
    assert assignment.verdict == "runtime_error" and detail is not None and detail.place is not None
    assert (detail.place.file, detail.place.line, detail.place.text) == ("silu.toy", 1, "silu(x, out): x +")
    assert detail.hint == "Compare it with the handout's."


def test_of_two_files_for_one_assignment_neither_counts(out: Path) -> None:
    assignment = _result(out, "twice")
    assert assignment.message == "silu.py and silu.toy are both there; hand in one of them"
    assert assignment.hint == "An assignment is graded from one file: leave out the other."


def test_an_intake_takes_files_of_it(tmp_path: Path) -> None:
    for file in ("SiLU_final.toy", "notes.txt"):
        (tmp_path / "all" / "ada").mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / "ada" / file).write_text(CLASS["right"]["silu.toy"], encoding="utf-8")
    result = _command("intake", tmp_path / "all", "--into", tmp_path / "class")
    assert result.returncode == 0, result
    assert [path.name for path in (tmp_path / "class" / "ada").iterdir()] == ["silu.toy"]


def test_a_check_knows_files_of_it(tmp_path: Path) -> None:
    # Of two that may be it none is, so that nothing is started.
    for number in (1, 2):
        (tmp_path / f"silu ({number}).toy").write_text(CLASS["right"]["silu.toy"], encoding="utf-8")
    result = _command("check", tmp_path, "--only", "silu")
    assert result.returncode == 1 and "Found silu (1).toy, silu (2).toy; " in result.stdout, result


@pytest.mark.parametrize("folder, expected", [
    ("nowhere", "nowhere: no such folder; a folder of languages expected"),
    ("twice", "a language named triton is also in "),
    ("same", "other and triton both read files that end in '.py'; mend this language, or leave it out"),
    ("broken", "ZeroDivisionError: division by zero; mend this language, or leave it out"),
])
def test_a_folder_of_languages_that_cannot_be_used_is_one_line(tmp_path: Path, folder: str, expected: str) -> None:
    (tmp_path / "twice" / "triton").mkdir(parents=True)
    (tmp_path / "twice" / "triton" / "__init__.py").touch()
    same = (HERE / "toy" / "__init__.py").read_text(encoding="utf-8").replace(".toy", ".py")
    for name, text in (("same", same), ("broken", "1 / 0")):
        (tmp_path / name / "other").mkdir(parents=True)
        (tmp_path / name / "other" / "__init__.py").write_text(text)
    result = _command("check", tmp_path, languages=tmp_path / folder)
    assert result.returncode == 2 and expected in result.stderr and result.stderr.count("\n") == 1, result


def test_a_language_that_is_not_there_is_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "silu.toy").write_text(CLASS["right"]["silu.toy"], encoding="utf-8")
    done = _command("check", tmp_path, "--only", "silu", languages=None)
    assert done.returncode == 2 and "holds none of silu.py; name the folder that holds your files" in done.stderr, done
