"""A student's own check: what it says, what it returns, and that it sees files under other names and saved again."""

import io
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from grader.commands import check
from grader.commands.check import Checker, CheckOptions
from grader.console import NOT_RIGHT, RIGHT
from grader.course import workspace
from grader.course.catalogue import files
from grader.course.course import HintsTable, read_course
from grader.errors import InfrastructureError
from grader.home import ROOT
from grader.results.result import Repair, with_assignments
from tests.command import SECONDS, SILU, kernelmark, refused
from tests.members import Member
from tests.pages.samples import REPAIR

COURSE = read_course(ROOT / "course.toml", frozenset(files()))
TAUGHT = COURSE.select(files(), ())


def checked(
    target: Path, *only: str, width: int = 80, out: Path | None = None, mend: bool = False
) -> tuple[int, str]:
    """What a check of `target` returns and says, in this process's lane, which stays open. Looking for a change takes
    seconds: with `mend`."""
    console = Console(file=io.StringIO(), width=width, highlight=False)
    found = workspace.find(target, files(), only or TAUGHT, named=bool(only))
    checker = Checker(CheckOptions(COURSE, only, out=out), "cpu", (), console)
    results = checker.check(found, list(found.files))
    results = checker.mend(found, results) if mend else results
    checker.close(target, found, results, list(results))
    assert isinstance(console.file, io.StringIO)
    return checker.status(found, results), console.file.getvalue()


def words(said: str) -> str:
    """Without line breaks, which depend on the width."""
    return " ".join(said.split())


def test_a_right_kernel_is_status_0_and_says_by_what_margin(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text(SILU)
    status, said = checked(tmp_path / "silu.py")
    assert status == RIGHT
    assert words(said).startswith(f"● {tmp_path}/silu.py passed 60 of 60 points measured Right in all ")
    assert re.search(r"Right in all \d+ cases. The worst error is \d+ % of what is allowed.", words(said))
    assert "Speed (40 points): Graded without a GPU" in words(said)


def test_a_wrong_kernel_shows_the_line_and_where_and_what_to_try() -> None:
    path = ROOT / "examples" / "class" / "carol" / "transpose.py"
    line = "x = tl.load(x_ptr + rows[:, None] * N + cols[None, :])"
    number = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if text.strip() == line)
    status, said = checked(path, width=120)
    assert status == NOT_RIGHT
    assert "examples/class/carol/transpose.py  run-time error  0 of 60 points measured\n" in said
    assert f"  examples/class/carol/transpose.py:{number}\n" in said and line in said
    assert "in each of which a size is not a multiple of 32;" in words(said)
    assert "Try: This tl.load has no mask" in said and "● 64x64" in said and "■ 1x37" in said


# Wrong in one place.
WRONG = SILU.replace("        tl.store(out_ptr + offsets, x / (1 + tl.exp(-x)), mask=mask)",
                     "        tl.store(out_ptr + offsets, x / (1 + tl.exp(x)), mask=mask)")


@pytest.mark.parametrize(("text", "level", "says"), [
    (WRONG, "kind", "One change in line 27 makes every case right"), (WRONG, "edit", "+ tl.store(out_ptr"),
    (WRONG, "off", ""), (SILU, "kind", "")], ids=["wrong", "told whole", "off", "right"])
def test_a_change_that_makes_every_case_right_is_told_after_the_verdict(
    tmp_path: Path, text: str, level: str, says: str
) -> None:
    (tmp_path / "silu.py").write_text(text)
    console = Console(file=io.StringIO(), width=200, highlight=False)
    found = workspace.find(tmp_path / "silu.py", files(), ["silu"], named=True)
    course = COURSE.model_copy(update={"hints": HintsTable.model_validate({"level": level})})
    checker = Checker(CheckOptions(course, ["silu"]), "cpu", (), console)
    results = checker.check(found, ["silu"])
    assert isinstance(console.file, io.StringIO)
    verdict = console.file.getvalue()
    mended = checker.mend(found, results)
    output = console.file.getvalue().removeprefix(verdict)
    repair = mended["silu"].assignments["silu"].repair
    assert verdict.startswith("● " if text == SILU else "■ ") and "by trying" not in verdict
    if not says:
        assert output == "" and repair is None
        return
    assert output.startswith(f"Δ {tmp_path}/silu.py:27  found by trying\n") and says in output
    assert repair is not None and bool(repair.diff) == (level == "edit")
    # A save ends the search, without a word.
    asked = iter([False, False, True])
    assert checker.mend(found, results, lambda: next(asked)) == results
    assert console.file.getvalue() == verdict + output


def fails(*_: object) -> None:
    raise InfrastructureError("no planner")


# What a search comes to, and what is said of it where a part of the hint was guessed.
SEARCHES: dict[str, tuple[Callable[..., Repair | None], str]] = {
    "nothing found": (lambda *_: None, "{path}\n  Try: Look at this.\n\n"),
    "a failure of ours": (fails, "kernelmark: {path}: the search for a change failed: InfrastructureError: no planner; "
                                 "the check itself stands\n{path}\n  Try: Look at this.\n\n"),
    "a change": (lambda *_: REPAIR, "Δ {path}:9  found by trying\n  " + REPAIR.told),
}


@pytest.mark.parametrize(("search", "says"), SEARCHES.values(), ids=SEARCHES)
def test_a_guess_is_told_where_no_change_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    search: Callable[..., Repair | None], says: str,
) -> None:
    monkeypatch.setattr("grader.grading.grading.repaired", search)
    path = tmp_path / "silu.py"
    path.write_text(WRONG)
    console = Console(file=io.StringIO(), width=200, highlight=False)
    found = workspace.find(path, files(), ["silu"], named=True)
    checker = Checker(CheckOptions(COURSE, ["silu"]), "cpu", (), console)
    (result,) = checker.check(found, ["silu"]).values()
    guessed = result.assignments["silu"].model_copy(update={"hint": "Sure. Look at this.", "guess": "Look at this."})
    assert isinstance(console.file, io.StringIO)
    verdict = console.file.getvalue()
    checker.mend(found, {"silu": with_assignments(result, {"silu": guessed})})
    output = capsys.readouterr().err + console.file.getvalue().removeprefix(verdict)
    says = says.format(path=path)
    assert output == says if search is not SEARCHES["a change"][0] else output.startswith(says) and "Try:" not in output


def test_a_wrong_answer_has_a_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Member("wrong_answer/gemm_multiples_of_block_only").folder())
    status, said = checked(Path("gemm.py"))
    assert status == NOT_RIGHT and "gemm.py wrong answer 0 of 60 points" in words(said)
    assert re.search(r"Where \S+ is wrong \(M=\d+, N=\d+, K=\d+\)\.", words(said))
    assert re.search(r"^ +([·■□] )+ *$", said, re.MULTILINE)
    assert all(len(line) <= 80 for line in said.splitlines()[1:])
    # The legend has the signs that are drawn, and no others.
    drawn = {sign for row in re.findall(r"^ +((?:[·■□] )+) *$", said, re.MULTILINE) for sign in row.split()}
    told = {sign for sign, meaning in (("·", "right"), ("■", "wrong"), ("□", "never written"))
            if f"{sign} {meaning}" in said}
    assert drawn == told


def test_a_stub_is_not_right() -> None:
    status, said = checked(Member("missing/stub_left_in").folder() / "silu.py")
    assert status == NOT_RIGHT and "silu.py:13 not written yet: it still raises NotImplementedError" in words(said)
    assert "Seed" not in said


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "silu.py").write_text(SILU + "\ndef broken(:\n")
    status, said = checked(tmp_path)
    assert status == NOT_RIGHT and "silu.py  syntax error  " in said and "run-time" not in said
    assert f"silu.py:{len(SILU.splitlines()) + 2}" in said and "def broken(:" in said and "Missing: " in said
    # No case was run.
    assert "Seed" not in said


def test_a_folder_says_what_is_handed_in_missing_and_misnamed(tmp_path: Path) -> None:
    (tmp_path / "hw1").mkdir()
    (tmp_path / "hw1" / "SiLU.py").write_text(SILU)
    (tmp_path / "utils.py").touch()
    (tmp_path / "transpose.py").write_text((ROOT / "reference" / "transpose.py").read_text())
    for name in ("gemm_final.py", "gemm (1).py"):
        (tmp_path / name).touch()
    page = tmp_path / "page"
    status, said = checked(tmp_path, "silu", "transpose", "gemm", "rmsnorm_vector", width=200, out=page)
    lines = [line.rstrip() for line in said.splitlines()]
    assert status == NOT_RIGHT
    assert "Would be handed in: transpose.py." in lines
    assert "Missing: rmsnorm_vector.py." in lines
    assert "Found hw1/SiLU.py; silu.py expected: as it is, it is not handed in." in lines
    assert "Found gemm (1).py, gemm_final.py; gemm.py expected, so not checked." in lines
    assert "Would not be handed in: utils.py (each file stands alone)." in lines
    # One page of all.
    assert f"Report: {page}/report.html" in lines
    assert all(f'id="kernel-{name}"' in (page / "report.html").read_text() for name in ("silu", "transpose"))
    # What has another name is right, and is not handed in.
    assert any(line.endswith("hw1/SiLU.py  passed  60 of 60 points measured  as silu.py") for line in lines)
    status, said = checked(tmp_path, "gemm", "silu", width=200)
    assert status == NOT_RIGHT and "Would not be handed in: utils.py (" in said
    assert checked(tmp_path, "transpose")[0] == RIGHT


def test_the_command_for_the_same_inputs_gives_the_same_numbers(tmp_path: Path) -> None:
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw/silu.py").write_text(SILU.replace("tl.exp(-x)", "tl.exp(-0.99 * x)"))
    course = (ROOT / "course.toml").read_text().replace('level = "kind"', 'level = "off"')
    (tmp_path / "course.toml").write_text(course)
    said, again = [], ["check", "hw", "--only", "silu", "--device", "cpu", "--course", "course.toml"]
    for _ in range(2):
        result = kernelmark(*again, cwd=tmp_path)
        said.append(result.stdout)
        *_, last = result.stdout.splitlines()
        if last.startswith("Seed "):
            again = shlex.split(last.partition(": kernelmark ")[2])
    assert re.fullmatch(r"Seed (\d+); the same inputs again: kernelmark check hw/silu.py --device cpu --seed \1 "
                        r"--course \S+", said[0].splitlines()[-1])
    assert ", expected " in said[0] and said[0].startswith(said[1].rstrip())


def test_a_name_that_an_editor_made_longer_is_checked(tmp_path: Path) -> None:
    (tmp_path / "silu.py.txt").write_text(SILU)
    status, said = checked(tmp_path / "silu.py.txt", "silu", mend=True)
    assert status == NOT_RIGHT and "silu.py.txt  passed  " in said


def test_where_nothing_can_be_checked_nothing_is_started(tmp_path: Path) -> None:
    for name in ("silu (1).py", "silu (2).py"):
        (tmp_path / name).write_text(SILU)
    console = Console(file=io.StringIO(), width=80)
    assert check.check(tmp_path, CheckOptions(COURSE, ["silu"]), console) == NOT_RIGHT
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == (
        "Nothing would be handed in.\nFound silu (1).py, silu (2).py; silu.py expected, so not checked.\n")


USAGE = {
    "nothing there": (("nowhere",), "nowhere: no such file; name a folder, or a file such as "),
    "another name": (
        ("silu.py",), "silu.py: no such file, but there is SiLU.py; name a folder, or a file such as silu.py"),
    "nothing known": (("empty",), "empty: holds none of "),
    "a folder above": (("kit", "--only", "gemm"), "kit: holds none of gemm.py; name the folder that holds your files, "
                       "such as kit/template\n"),
    "not in the course": (("other",), "other: holds gelu.cu, which is not among the files asked for; check it with "),
    "a notebook": (("work.ipynb",), "work.ipynb: is a notebook; check its cells there, with %%kernelmark "),
    "assignment": (("SiLU.py", "--only", "slu"), "--only: 'slu' is no assignment"),
    "device": (("SiLU.py", "--device", "tpu"), "--device: 'tpu'"),
    "speed of nothing": (("SiLU.py", "--device", "cpu", "--speed"), "--speed: needs a GPU; remove --device cpu"),
    "output is a file": (("SiLU.py", "--out", "SiLU.py"), "--out SiLU.py"),
}


@pytest.mark.parametrize(("arguments", "says"), USAGE.values(), ids=USAGE)
def test_a_usage_error_is_one_line_and_status_2(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/gelu.cu").touch()
    (tmp_path / "work.ipynb").touch()
    for file in ("template/gemm.py", "template/cuda/gemm.cu"):
        (tmp_path / "kit" / file).parent.mkdir(parents=True)
        (tmp_path / "kit" / file).touch()
    (tmp_path / "SiLU.py").write_text(SILU)
    assert "; " in refused(f"kernelmark: {says}", "check", *arguments, cwd=tmp_path)


def test_the_command_checks_the_working_directory_and_names_its_report(tmp_path: Path) -> None:
    for name in ("hw", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "hw" / "silu.py").write_text(SILU)
    result = kernelmark("check", "--only", "silu", "--report", "--seed", "7", cwd=tmp_path / "hw", apart=True,
                        environment={"TMPDIR": str(tmp_path / "tmp")})
    assert (result.returncode, result.stderr) == (0, ""), result
    assert result.stdout.startswith("● silu.py  passed") and "Would be handed in: silu.py.\n" in result.stdout
    (page,) = (tmp_path / "tmp").glob("*/report.html")
    assert f"Report: {page}\n" in result.stdout
    text = page.read_text()
    assert "kernelmark check --seed 7" in text and str(tmp_path) not in text
    assert "<bdi>hw</bdi>" in text
    # The report is all that it leaves.
    assert [*(tmp_path / "tmp").iterdir()] == [page.parent] and [*page.parent.iterdir()] == [page]


def test_on_github_a_files_name_is_no_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hw").mkdir()
    (tmp_path / "hw" / "silu [fast] <img>.py").write_text(SILU)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    result = kernelmark("check", ".", "--github", cwd=tmp_path / "hw")
    assert result.returncode == 1 and "silu [fast] <img>.py" in result.stdout, result
    assert r"silu \[fast\] \<img\>.py" in (tmp_path / "summary.md").read_text()


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A check of a right kernel that watches, and the file."""
    path = tmp_path / "silu.py"
    path.write_text(SILU)
    # As typed at a terminal: what these tests are run by may ignore signals.
    process = subprocess.Popen(
        ["env", "--default-signal", "--unset=COLUMNS", sys.executable, "-m", "grader", "check", path, "--watch"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield path, process
    finally:
        process.kill()
        process.communicate()


def until(process: subprocess.Popen[str], begin: str) -> list[str]:
    """What it says up to a line that begins so. The suite's time limit bounds the wait."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(begin):
            return lines
    raise AssertionError(f"it ended: {lines}")


def test_a_saved_file_is_checked_again_and_only_then(watching: tuple[Path, subprocess.Popen[str]]) -> None:
    path, process = watching
    assert any("● " in line for line in until(process, "Watching"))
    path.write_text("def silu(x, out:\n")
    # What is piped is neither wrapped nor filled up.
    lines = until(process, "Watching")
    assert [line for line in lines if line.startswith("  Try: ") and line.endswith("handing in.\n")]
    assert not [line for line in lines if line.endswith(" \n")]
    assert process.stdout is not None
    # The control: where nothing is saved, nothing is said.
    assert not select.select([process.stdout], [], [], 10 * check.POLL_SECONDS)[0]
    # As an editor saves: another file takes its place.
    new = path.with_name(".silu.py.new")
    new.write_text(SILU.replace("tl.exp(-x)", "tl.exp(x)"))
    new.replace(path)
    until(process, "■ ")
    # While it looks for a change, of which none mends two places, it is saved again, and then interrupted.
    path.write_text(SILU)
    assert not [line for line in until(process, "● ") if "by trying" in line]
    path.write_text(SILU.replace("tl.exp(-x)", "tl.exp(x)"))
    until(process, "■ ")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=SECONDS)
    # That of the last check.
    assert process.returncode == NOT_RIGHT
