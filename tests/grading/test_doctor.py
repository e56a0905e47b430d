"""What `kernelmark doctor` says of a machine that lacks something: a line, and what to do about it."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader import languages
from grader.commands.cli import app
from grader.console import console
from grader.course import catalogue
from grader.errors import InfrastructureError
from grader.grading import doctor
from grader.judging.running.lane import LANE
from grader.plan import wire
from grader.sandbox.forkserver import isolation
from tests.graded import break_numba, needs_numba


def test_whatever_a_failure_says_every_finding_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> isolation.Isolation:
        raise InfrastructureError("no worker could be had: [/usr] is closed")

    monkeypatch.setattr("grader.judging.running.device.no_gpu", lambda: "there is none")
    LANE.close()
    monkeypatch.setattr(isolation, "measure", fails)
    result = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    assert result.exit_code == 3, result.output
    lines = [line.split(maxsplit=2) for line in result.output.splitlines()]
    for what in ("grading", "isolation"):
        assert ["FAIL", what, "no worker could be had: [/usr] is closed"] in [
            [word.rstrip() for word in line] for line in lines], result.output
    assert result.output.count("→ rm -rf .venv && make setup") == 2 and "browser" in result.output


def test_a_broken_assignment_and_a_browser_that_does_not_answer_are_lines_among_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "assignments" / "silu" / "assignment.py"
    broken.parent.mkdir(parents=True)
    broken.write_text("(")
    browser = tmp_path / "chromium"
    browser.write_text(f"#!/bin/sh\nexec {shutil.which('sleep')} 60\n")
    browser.chmod(0o755)
    real = catalogue.assignments
    monkeypatch.setattr(catalogue, "assignments", lambda: real(tmp_path))
    monkeypatch.setattr(doctor, "BROWSER_SECONDS", 0.2)
    # This process's lane stays open for the tests that follow.
    monkeypatch.setattr("grader.judging.running.lane.LANE.close", lambda: None)
    # Once for this process: with the PATH below it would be measured without bubblewrap, for all tests that follow.
    isolation.measure()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(console, "_width", 300)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 3, result
    lines = [line.split(maxsplit=2) for line in result.output.splitlines()]
    (grading,) = [line for line in lines if line[:2] == ["FAIL", "grading"]]
    assert grading[2].startswith(f"{broken}, line 1: SyntaxError: ")
    (looked,) = [line for line in lines if line[1] == "browser"]
    assert (looked[0], looked[2].rstrip()) == ("note", f"{browser}: does not print its version within 0.2 s")


@pytest.mark.parametrize(("trouble", "broken", "said"), [
    ("", {}, ["ok   CUDA C++", "compiled with a compiler of ours"]),
    ("no compiler; 1.0 expected; make one", {}, ["note CUDA C++", "not graded here: no compiler; 1.0 expected",
        "make one"]),
    ("", {"cuda": "it compiles no kernel; make another"}, ["note CUDA C++", "not graded here: it compiles no kernel",
        "make another"]),
])
def test_a_language_that_needs_tools_has_one_line(
    trouble: str, broken: dict[str, str], said: list[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = languages.front_ends()
    other = replace(
        known["cuda"], problem=lambda: trouble, installed=lambda: trouble or "compiled with a compiler of ours")
    monkeypatch.setattr(languages, "front_ends", lambda: {**known, "cuda": other})
    monkeypatch.setattr(doctor, "diagnoses", lambda: doctor.toolchains(broken))
    result = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    shown = " ".join(result.output.split())
    assert all(" ".join(line.split()) in shown for line in said), result.output
    assert shown.count("CUDA C++") == 1, result.output


@needs_numba
def test_a_language_whose_tools_compile_nothing_is_not_called_ok(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A fork server in a sandbox does not see this folder.
    measured = replace(isolation.measure(), layers=wire.Layers(), cgroup=False)
    monkeypatch.setattr(isolation, "measure", lambda: measured)
    monkeypatch.setattr("grader.judging.running.device.no_gpu", lambda: "there is none")
    break_numba(tmp_path, monkeypatch)
    LANE.close()
    (numba,) = [line for line in doctor.diagnoses() if line.subject == "Numba-CUDA"]
    assert not numba.ok and numba.text.startswith("not graded here: Numba compiles no kernel ("), numba
