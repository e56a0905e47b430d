"""The kit at places where students' files come in: a repository on GitHub, an autograder of Gradescope. Their scripts
run here as they stand; only what fetches packages is left out."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

from grader.home import ROOT
from tests.classroom.exports import rules
from tests.classroom.exports.test_sheets import export
from tests.classroom.intake.made import GIT
from tests.command import SECONDS, SILU, kernelmark, refused
from tests.kits import environment_in, program

PRINTS = "print('::error file=silu.py::forged')\n"
# Changes that mend a wrong kernel are not looked for: that takes seconds, and is the same as in any other grading.
NO_CHANGES = '[hints]\nlevel = "off"\n'


def pushed(repository: Path, clone: Path) -> Path:
    """A clone of the repository, as GitHub Actions checks out what was pushed."""
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "kernels"]):
        subprocess.run([*GIT, *words], cwd=repository, check=True, timeout=SECONDS)
    subprocess.run([*GIT, "clone", "--quiet", repository, clone], check=True, timeout=SECONDS)
    return clone


def acted(clone: Path, kit: str, runner: Path) -> tuple[int, str, str]:
    """Runs the workflow's shell steps, as a runner does. Returns the last status, the log and the job's summary."""
    workflow = yaml.safe_load((clone / ".github/workflows/kernelmark.yml").read_text())
    runner.mkdir()
    (runner / "summary.md").touch()
    environment = environment_in(clone / kit / ".venv") | {
        "GITHUB_WORKSPACE": str(clone), "GITHUB_STEP_SUMMARY": str(runner / "summary.md"), "RUNNER_TEMP": str(runner)}
    program(clone / kit / ".venv/bin/pip", f'echo "$@" > "{runner}/compilers"')
    log, status = "", 0
    for step in workflow["jobs"]["check"]["steps"]:
        if "run" in step and not status:
            result = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], env=environment,
                cwd=clone / workflow["defaults"]["run"]["working-directory"], text=True, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
            log, status = log + result.stdout, result.returncode
    return status, log, (runner / "summary.md").read_text()


def commands(log: str) -> list[str]:
    """What a runner takes for commands: lines that begin so, but for those between a stop and its word."""
    taken, word = [], ""
    for line in map(str.strip, log.splitlines()):
        if word:
            word = "" if line == f"::{word}::" else word
        elif line.startswith("::stop-commands::"):
            word = line.removeprefix("::stop-commands::")
        elif line.startswith("::"):
            taken.append(unquote(line))
    return taken


def test_a_push_is_checked_and_shows_the_report(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(
        f'assignments = ["silu", "transpose", "gelu"]\nlanguages = ["triton"]\n{NO_CHANGES}')
    _, said = export("action", "--course", "course.toml", "--out", "repository", cwd=tmp_path)
    assert "checks student_template at each push" in said
    repository = tmp_path / "repository"
    assert not (repository / "reference").exists() and not list(tmp_path.glob("*.zip"))
    shutil.copy(ROOT / "reference/silu.py", repository / "student_template")
    wrong = (ROOT / "examples/class/carol/transpose.py").read_text()
    (repository / "student_template/transpose.py").write_text(PRINTS + wrong)
    status, log, summary = acted(pushed(repository, tmp_path / "clone"), ".", tmp_path / "runner")
    assert status == 1, log
    (error,) = commands(log)
    at, _, said = error.rpartition("::")
    assert at == "::error file=student_template/transpose.py,line=11,title=Transpose: run-time error"
    assert said.startswith("Fails in") and "\nTry: This tl.load has no mask" in said
    rows = re.findall(r"^\| (.) \| `(.*)` \| (.*) \| (.*) \|$", summary, re.MULTILINE)
    assert sorted(rows) == [
        ("■", "student_template/transpose.py", "run-time error", "0 of 60 points measured"),
        ("○", "student_template/gelu.py", "not written yet", "0 of 60 points measured"),
        ("●", "student_template/silu.py", "passed", "60 of 60 points measured")]
    assert summary.startswith("## One of three kernels is right") and "60 of 180 points measured in all." in summary
    assert "`student_template/transpose.py:11`\n\n```\nx = tl.load(" in summary and "**Try:** This tl.load" in summary
    assert "Not written yet: gelu.py." in summary
    assert "The load in line 11" in (tmp_path / "runner/report/report.html").read_text()
    assert not (tmp_path / "runner/compilers").exists()
    (clone,) = tmp_path.glob("clone")
    # What setting up and checking leave is nothing to commit.
    assert subprocess.run([*GIT, "status", "--porcelain"], cwd=clone, capture_output=True, check=True).stdout == b""


IN_A_FOLDER = ("export", "action", "--course", "course.toml", "--out", "repository", "--kit", ".kernelmark",
               "--files", ".")


def test_a_kit_in_a_repository_that_is_there_replaces_itself_alone(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('assignments = ["silu"]\n')
    own = tmp_path / "repository"
    own.mkdir()
    (own / "silu.py").write_text(SILU)
    assert kernelmark(*IN_A_FOLDER, cwd=tmp_path).returncode == 0
    rules.follows("action", own)
    again = kernelmark(*IN_A_FOLDER, cwd=tmp_path)
    assert again.returncode == 2 and re.search(r"repository/\S+: already exists; .* --force", again.stderr), again
    (own / ".kernelmark/grader/gone.py").touch()
    assert kernelmark(*IN_A_FOLDER, "--force", cwd=tmp_path).returncode == 0
    assert not (own / ".kernelmark/grader/gone.py").exists() and (own / "silu.py").read_text() == SILU


# That a push is checked is seen above.
@pytest.mark.full
def test_a_kit_in_a_folder_of_a_repository_checks_files_outside(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('assignments = ["silu"]\n')
    own = tmp_path / "repository"
    own.mkdir()
    (own / "silu.py").write_text(SILU)
    assert kernelmark(*IN_A_FOLDER, cwd=tmp_path).returncode == 0
    status, log, summary = acted(pushed(own, tmp_path / "clone"), ".kernelmark", tmp_path / "runner")
    assert status == 0 and commands(log) == [], log
    assert "| ● | `silu.py` | passed | 60 of 60 points measured |" in summary
    assert (tmp_path / "runner/compilers").read_text() == (
        "install --constraint .venv/constraints.txt --editable .[cuda]\n")


def test_a_repository_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('assignments = ["silu"]\nlanguages = ["triton"]\n')
    own, mine = tmp_path / "repository", tmp_path / "bashrc"
    (own / ".github").mkdir(parents=True)
    mine.write_text("mine")
    (own / ".github/workflows").symlink_to(tmp_path)
    words = ("export", "action", "--course", "course.toml", "--out", "repository", "--kit", "FILES", "--force")
    refused("repository/.github/workflows: is a symbolic link", *words, cwd=tmp_path)
    assert not (own / "FILES").exists()
    (own / ".github/workflows").unlink()
    (own / "FILES").mkdir()
    (own / "FILES/Makefile").symlink_to(mine)
    assert kernelmark(*words, cwd=tmp_path).returncode == 0
    assert mine.read_text() == "mine" and not (own / "FILES/Makefile").is_symlink()
    # And the kit's folder may be called as a word of the workflow's text is.
    workflow = (own / ".github/workflows/kernelmark.yml").read_text()
    assert "working-directory: FILES\n" in workflow and " check student_template --device" in workflow


@pytest.mark.parametrize("words", [("--kit", "../elsewhere"), ("--files", "/tmp"), ("--kit", "a b")])
def test_a_place_that_a_workflow_cannot_name_is_refused(tmp_path: Path, words: tuple[str, str]) -> None:
    refused(f"{words[0]} {words[1]}: give a path from the repository's root", "export", "action", "--out",
            "repository", *words, cwd=tmp_path)
    assert not (tmp_path / "repository").exists()


def unpacked(tmp_path: Path, course: str) -> Path:
    """Gradescope's folder with an autograder of the course: what it would have at /autograder."""
    (tmp_path / "course.toml").write_text(course)
    _, output = export("autograder", "--course", "course.toml", "--visibility", "after_due_date", "--out", "a.zip",
                       cwd=tmp_path)
    assert "no GPU" in output
    root = tmp_path / "autograder"
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(root / "source")
        modes = {name: archive.getinfo(name).external_attr >> 16 for name in ("setup.sh", "run_autograder")}
    assert all(mode & 0o111 for mode in modes.values())
    assert not (root / "source/kernelmark/reference").exists()
    hidden = ROOT / "assignments/silu/hidden.toml"
    assert hidden.is_file() == (root / "source/kernelmark/assignments/silu/hidden.toml").is_file()
    for name in ("results", "submission"):
        (root / name).mkdir()
    return root


def ran(root: Path, script: str, environment: dict[str, str]) -> str:
    text = (root / "source" / script).read_text().replace("/autograder", str(root))
    result = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=SECONDS, check=False,
                            env=environment)
    assert result.returncode == 0, result
    return result.stdout


def test_an_autograder_for_gradescope_sets_up_and_grades(tmp_path: Path) -> None:
    root = unpacked(tmp_path, f'assignments = ["silu", "transpose"]\n{NO_CHANGES}')
    kit = root / "source/kernelmark"
    # There is no Python 3.12 to install.
    program(tmp_path / "bin/apt-get", f'echo "$@" >> "{tmp_path}/installed"; case "$*" in *python3.12*) exit 100; esac')
    environment = environment_in(kit / ".venv")
    environment["PATH"] = f"{tmp_path / 'bin'}{os.pathsep}{environment['PATH']}"
    program(kit / ".venv/bin/pip", f'echo "$@" > "{tmp_path}/compilers"')
    assert "ready: " in ran(root, "setup.sh", environment)
    assert "python3.11-venv" in (tmp_path / "installed").read_text() and "g++" in (tmp_path / "installed").read_text()
    assert (tmp_path / "compilers").read_text().endswith(" .[cuda]\n")
    # Two archives are no class of two.
    wrong = (ROOT / "examples/class/carol/transpose.py").read_text()
    for name, files in (("hw.zip", {"silu.py": SILU, "transpose.py": wrong}), ("old.zip", {"notes.txt": ""})):
        with zipfile.ZipFile(root / "submission" / name, "w") as archive:
            for file, content in files.items():
                archive.writestr(file, content)
    ran(root, "run_autograder", environment)
    rules.follows("gradescope", root / "results/results.json")
    data = json.loads((root / "results/results.json").read_text())
    assert data["score"] == 60 and data["visibility"] == "after_due_date"
    silu, transpose = (test for test in data["tests"] if "." not in test["number"])
    assert (silu["status"], transpose["status"]) == ("passed", "failed")
    assert "\ntranspose.py:10: x = tl.load(" in transpose["output"] and "has no mask" in transpose["output"]


def test_an_autograder_of_a_course_without_cuda_installs_no_compilers(tmp_path: Path) -> None:
    root = unpacked(tmp_path, 'assignments = ["silu"]\nlanguages = ["triton"]\n')
    assert "cuda" not in (root / "source/setup.sh").read_text()
