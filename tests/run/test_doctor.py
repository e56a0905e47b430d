"""What `kernelmark doctor` says of a machine that lacks something: a line, and what to do about it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from grader.cli import app
from grader.forkserver import isolation
from grader.forkserver.handle import InfrastructureError
from grader.judge.lane import close_lane


def test_whatever_a_failure_says_every_finding_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> isolation.Isolation:
        raise InfrastructureError("no worker could be had: [/usr] is closed")

    monkeypatch.setattr("grader.judge.device.no_gpu", lambda: "there is none")
    close_lane()
    monkeypatch.setattr(isolation, "measure", fails)
    done = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    assert done.exit_code == 3, done.output
    lines = [line.split(maxsplit=2) for line in done.output.splitlines()]
    for what in ("grading", "isolation"):
        assert ["FAIL", what, "no worker could be had: [/usr] is closed"] in [
            [word.rstrip() for word in line] for line in lines], done.output
    assert done.output.count("→ rm -rf .venv && make setup") == 2 and "browser" in done.output
