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
from grader.grading import doctor
from grader.judging.running.lane import LANE
from grader.sandbox.forkserver import isolation
from grader.sandbox.forkserver.handle import InfrastructureError


def test_whatever_a_failure_says_every_finding_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> isolation.Isolation:
        raise InfrastructureError("no worker could be had: [/usr] is closed")

    monkeypatch.setattr("grader.judging.running.device.no_gpu", lambda: "there is none")
    LANE.close()
    monkeypatch.setattr(isolation, "measure", fails)
    done = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    assert done.exit_code == 3, done.output
    lines = [line.split(maxsplit=2) for line in done.output.splitlines()]
    for what in ("grading", "isolation"):
        assert ["FAIL", what, "no worker could be had: [/usr] is closed"] in [
            [word.rstrip() for word in line] for line in lines], done.output
    assert done.output.count("→ rm -rf .venv && make setup") == 2 and "browser" in done.output


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
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 3, done
    lines = [line.split(maxsplit=2) for line in done.output.splitlines()]
    (grading,) = [line for line in lines if line[:2] == ["FAIL", "grading"]]
    assert grading[2].startswith(f"{broken}, line 1: SyntaxError: ")
    (looked,) = [line for line in lines if line[1] == "browser"]
    assert (looked[0], looked[2].rstrip()) == ("note", f"{browser}: does not print its version within 0.2 s")


@pytest.mark.parametrize(("trouble", "installed", "said"), [
    ("", "compiled with a compiler of ours", ["ok   CUDA C++", "compiled with a compiler of ours"]),
    ("no compiler; 1.0 expected; make one", "", ["note CUDA C++", "not graded here: no compiler; 1.0 expected",
        "make one"]),
])
def test_a_language_that_needs_tools_has_a_line(
    trouble: str, installed: str, said: list[str], monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = languages.front_ends()
    other = replace(known["cuda"], problem=lambda: trouble, installed=lambda: installed)
    monkeypatch.setattr(languages, "front_ends", lambda: {**known, "cuda": other})
    monkeypatch.setattr(doctor, "diagnoses", doctor.toolchains)
    done = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    shown = " ".join(done.output.split())
    assert all(" ".join(one.split()) in shown for one in said), done.output
