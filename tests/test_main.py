"""However a command ends, by an interruption, a closed pipe, a poor terminal or a full disk, it says a line at most."""

import os
import random
import re
import secrets
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import pytest

from grader.course.submission import Submission
from grader.grading.job import JobOutcome
from grader.home import INSTALL, ROOT
from tests.classroom.attempts.made import kept
from tests.command import SECONDS, hand_in
from tests.pages import samples

COMMAND = ("env", "--default-signal", sys.executable, "-m", "grader")
# Commands that print, in the words of {out} and {all}; none grades. All end in grader/__main__.py: the first two
# are enough for `make test`.
PRINTS = {
    "explain-grade": "explain-grade --out {out}", "help": "--help", "intake": "intake {all} --dry-run",
    "check": "check {all}/ann",
}
EACH = [pytest.param(PRINTS[name], id=name, marks=[pytest.mark.full] * (name == "check"))
        for name in ("explain-grade", "help", "check")]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("desk")
    hand_in(root / "all", "ann")
    hand_in(root / "all", "müller [x]").joinpath("silu.py").rename(root / "all" / "müller [x]" / "SiLU.py")
    (out := root / "out").mkdir()
    for student in ("ada", "jürgen"):
        result = samples.result(student, {"gemm": "wrong_answer"})
        assert kept(JobOutcome(Submission(student, out, student), result, "log"), out) == []
    return {"out": out, "all": root / "all"}


def command(words: str, desk: dict[str, Path]) -> list[str]:
    return [*COMMAND, *words.format(**desk).split()]


def quiet(said: bytes) -> bool:
    return not re.search(rb"Traceback|most recent call|Exception ignored|\bError:", said)


@pytest.mark.parametrize(("words", "stream"), [
    *(pytest.param(*each.values, "stdout", id=f"{each.id}-stdout", marks=each.marks) for each in EACH),
    pytest.param(PRINTS["check"], "stderr", id="check-stderr", marks=pytest.mark.full)])
def test_nobody_has_to_read_to_the_end(desk: dict[str, Path], words: str, stream: str) -> None:
    read, write = os.pipe()
    os.close(read)
    other = "stderr" if stream == "stdout" else "stdout"
    done = subprocess.run(command(words, desk), cwd=ROOT, timeout=SECONDS, check=False,
                          **{stream: write, other: subprocess.PIPE})  # type: ignore[call-overload]
    os.close(write)
    assert quiet(getattr(done, other)) and done.returncode in (0, 1, 2), done
    if words.startswith(("explain", "export", "apply", "rescore", "intake", "diff --out {out}")):
        # It does its work all the same.
        assert done.returncode == 0, done


def test_colours_asked_for_make_a_pipe_no_terminal(desk: dict[str, Path]) -> None:
    """A notebook and many CI systems set FORCE_COLOR: what is redrawn on a terminal would be lines upon lines there."""
    result = subprocess.run(
        command("check {all}/ann/silu.py", desk), cwd=ROOT, timeout=SECONDS, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "100"})
    assert result.returncode == 0 and b"starting" not in result.stdout, result
    # Colours alone: nothing moves the cursor, clears a line or hides it.
    assert b"\x1b[32m" in result.stdout and not re.search(rb"\r|\x1b\[[^m]*[^m\d;]", result.stdout), result


FEW = b"kernelmark: at most 64 open files are allowed here, and 256 are needed; raise the limit (ulimit -n)\n"


@pytest.mark.parametrize(("limit", "status", "said"), [("-n 64", 2, FEW), ("-Sn 64", 0, b"")])
def test_too_few_open_files_are_a_line_unless_the_limit_can_be_raised(
    desk: dict[str, Path], limit: str, status: int, said: bytes
) -> None:
    words = command("check {all}/ann/silu.py", desk)
    result = subprocess.run(["sh", "-c", f'ulimit {limit}; exec "$@"', "sh", *words], cwd=ROOT, check=False,
                            capture_output=True, timeout=SECONDS)
    assert (result.returncode, result.stderr) == (status, said), result


def test_the_version_tells_which_of_several_installations_runs() -> None:
    result = subprocess.run([*COMMAND, "--version"], cwd=ROOT, check=False, capture_output=True, text=True)
    assert result.stdout == f"kernelmark {metadata.version('kernelmark')}, {ROOT / 'grader'}\n"


def test_output_and_errors_may_be_closed(desk: dict[str, Path]) -> None:
    for words, status in (("explain-grade --out {out}", 0), ("explain-grade --out {all}", 2)):
        result = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command(words, desk)], cwd=ROOT, check=False)
        assert result.returncode == status


@pytest.mark.parametrize(("words", "encoding"), [
    *(pytest.param(words, "ascii", id=f"{name}-ascii", marks=[pytest.mark.full] * (name == "check"))
      for name, words in PRINTS.items() if name in ("explain-grade", "intake", "check")),
    pytest.param(PRINTS["explain-grade"], "latin-1", id="explain-grade-latin-1", marks=pytest.mark.full)])
def test_a_terminal_without_unicode_shows_everything(desk: dict[str, Path], words: str, encoding: str) -> None:
    result = subprocess.run(
        command(words, desk), cwd=ROOT, timeout=SECONDS, check=False, capture_output=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": encoding, "COLUMNS": "200"})
    assert quiet(result.stdout + result.stderr) and result.returncode in (0, 1, 2), result
    output = (result.stdout + result.stderr).decode(encoding)
    if words.startswith("explain-grade --out"):
        assert "ada: " in output and ("jürgen: " if encoding == "latin-1" else r"j\xfcrgen: ") in output
    if words.startswith("intake"):
        assert "silu.py <- SiLU.py" in output and "[x]" in output


@pytest.mark.parametrize("words", EACH)
def test_a_full_disk_under_the_output_is_a_line(desk: dict[str, Path], words: str) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(command(words, desk), cwd=ROOT, timeout=SECONDS, check=False, stdout=full,
                                stderr=subprocess.PIPE)
    assert result.returncode in (2, 3) and quiet(result.stderr), result
    (line,) = result.stderr.splitlines()
    assert line.endswith(b"No space left on device; free space there, or choose another disk")


def catches(pid: int) -> bool:
    """Whether a process has a handler for SIGINT."""
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(fields["SigCgt"], 16) >> signal.SIGINT - 1 & 1)


@pytest.mark.parametrize("times", [4, pytest.param(24, marks=pytest.mark.full)])
def test_an_interruption_at_any_moment_says_nothing(desk: dict[str, Path], tmp_path: Path, times: int) -> None:
    seed = secrets.randbelow(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    asked = [*PRINTS.values(), "intake {all} --into {all}/../taken --force"]
    for number in range(times):
        process = subprocess.Popen(command(dice.choice(asked), desk), cwd=tmp_path, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            # Until the command begins, Python itself starts, which tells where it was.
            while not catches(process.pid):
                time.sleep(0.0005)
            while catches(process.pid):
                time.sleep(0.0005)
            time.sleep(dice.uniform(0, 0.3 if number % 2 else 2))
            process.send_signal(signal.SIGINT)
            said, errors = process.communicate(timeout=60)
        finally:
            process.kill()
        assert quiet(said + errors) and process.returncode in (0, 1, 2, 130, -signal.SIGINT), (process.args, errors)


@pytest.mark.full
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interruption_waits_for_an_import(tmp_path: Path, desk: dict[str, Path], name: str) -> None:
    """In the middle of an import it would leave modules half imported, or make C++ abort the process."""
    (tmp_path / "torch.py").write_text(
        f"import os, signal\nos.kill(os.getpid(), signal.{name})\nprint('imported', flush=True)\n")
    result = subprocess.run(command("check {all}/ann", desk), cwd=tmp_path, capture_output=True, check=False,
                            env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert (result.returncode, result.stdout, result.stderr) == (130, b"imported\n", b""), result


@pytest.mark.parametrize(("text", "says"), [
    pytest.param('raise OSError("libcudart.so.13: cannot open shared object file")',
                 "OSError: libcudart.so.13: cannot open"),
    pytest.param("import _none_of_these", "ModuleNotFoundError: No module named '_none_of_these'",
                 marks=pytest.mark.full),
], ids=["a library", "a module"])
def test_a_broken_torch_is_a_line(tmp_path: Path, desk: dict[str, Path], text: str, says: str) -> None:
    (tmp_path / "torch.py").write_text(text)
    broken = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}", "COLUMNS": "300"}
    result = subprocess.run(command("check {all}/ann", desk), cwd=tmp_path, env=broken, capture_output=True, text=True,
                            check=False)
    assert result.returncode == 3 and len(result.stderr.splitlines()) == 1, result
    assert result.stderr.startswith(f"kernelmark: {says}") and result.stderr.endswith("; run kernelmark doctor\n")
    result = subprocess.run(command("doctor", desk), cwd=tmp_path, env=broken, capture_output=True, text=True,
                            check=False)
    assert result.returncode == 3 and not result.stderr, result
    (line,) = [line for line in result.stdout.splitlines() if "import torch" in line]
    assert line.split()[0] == "FAIL" and says in line


def test_where_doctor_cannot_be_imported_its_remedy_is_another(tmp_path: Path, desk: dict[str, Path]) -> None:
    (tmp_path / "packaging.py").write_text("import _none_of_these")
    done = subprocess.run(command("doctor", desk), cwd=tmp_path, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.returncode == 3 and done.stderr.endswith(f"No module named '_none_of_these'; run {INSTALL}\n"), done
