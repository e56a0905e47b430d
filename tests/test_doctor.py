"""What `kernelmark doctor` says of a machine that lacks something: a line, and what to do about it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from grader import doctor
from grader.cli import app
from grader.forkserver import isolation
from grader.forkserver.handle import InfrastructureError


def test_a_gpu_on_which_no_worker_starts_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where there is a GPU the workers do not see it.
    monkeypatch.setattr("grader.judge.device.no_gpu", lambda: "")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(isolation, "measure", isolation.measure.__wrapped__)
    (finding,) = doctor._isolation()
    assert finding.mark == "FAIL" and finding.found.startswith("on the GPU no worker could be had: ")
    assert "nvidia-smi" in finding.remedy and "--device cpu" in finding.remedy


def test_whatever_a_failure_says_every_finding_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(cuda: bool) -> isolation.Isolation:
        raise InfrastructureError("no worker could be had: [/usr] is closed")

    monkeypatch.setattr("grader.judge.device.no_gpu", lambda: "there is none")
    monkeypatch.setattr(isolation, "measure", fails)
    done = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    assert done.exit_code == 3, done.output
    lines = [line.split(maxsplit=2) for line in done.output.splitlines()]
    for what in ("worker", "isolation"):
        assert ["FAIL", what, "no worker could be had: [/usr] is closed"] in [
            [word.rstrip() for word in line] for line in lines], done.output
    assert done.output.count("→ make clean setup") == 2 and "browser" in done.output
