"""What NVIDIA's tools print is read: figures as they stand there, and nothing where a tool has nothing to say."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.course.course import Course
from grader.course.submission import Submission
from grader.grading.job import JobOutcome, read_job
from grader.grading.profilers import ToolFailure, counted, counters, findings, profiled, read_findings, read_rows
from grader.pages.profile import cells
from grader.results.profile import NO_GPU
from tests.rows import beside

DATA = beside(__file__)
NCU: str = DATA["ncu"]


# In the form of what `ncu --import FILE --csv --page raw --print-units base` prints, with some of its columns; the
# figures are made up.


def test_the_reasons_for_which_warps_wait_are_read() -> None:
    (profile,) = map(counted, read_rows(DATA["whole"]))
    assert profile.stalls == {"long scoreboard": 75, "lg throttle": 25}
    assert cells(profile) == (
        "silu_kernel", "127", "514", "84 %", "32 %", "78 %", "long scoreboard 75 %, lg throttle 25 %")
    assert cells(counted(read_rows(NCU)[1]))[2:] == ("–", "84 %", "–", "78 %", "–")


def test_a_profile_that_cannot_be_costs_nothing() -> None:
    job = read_job(Submission("ada", Path("reference"), "ada"), Course(), ("silu",), profile=True)
    outcome = JobOutcome(job.submission, None, "log")
    told = profiled(job, outcome)
    assert told.profile is not None and told.profile.trouble == NO_GPU and told.log == "log"
    on_gpu = profiled(replace(job, device="cuda"), outcome)
    assert on_gpu.profile is not None and on_gpu.profile.trouble == "Only a right kernel is profiled."
    two = profiled(replace(job, only=("silu", "gemm")), outcome)
    assert two.profile is not None and two.profile.trouble.endswith("ask your course.") and "not profiled" in two.log


def test_the_counters_of_each_launch_are_read() -> None:
    first, second = map(counted, read_rows(NCU))
    assert (first.kernel, first.microseconds, first.dram, first.occupancy, first.tensor, first.moved) == (
        "silu_kernel", 127.104, 84.05, 77.93, 0, 513_802_240)
    assert second.tensor is None and second.moved is None and second.dram == 84.05


@pytest.mark.parametrize("text", ["", "==ERROR== The application returned an error code (1).\n", NCU[:300]])
def test_where_there_are_no_counters_none_are_read(text: str) -> None:
    assert read_rows(text) == []


def test_findings_of_memory_are_told_once_each() -> None:
    text = "\n".join([
        "========= COMPUTE-SANITIZER", "========= Invalid __global__ write of size 4 bytes",
        "=========     at silu_kernel+0x150", "========= Invalid __global__ write of size 4 bytes",
        "========= Invalid __global__ read of size 4 bytes", "========= ERROR SUMMARY: 3 errors"])
    assert read_findings(text) == [
        "Invalid __global__ write of size 4 bytes", "Invalid __global__ read of size 4 bytes",
        "error summary: 3 errors"]
    assert read_findings("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n") == []
    assert read_findings("Error: Device not supported\n") == ToolFailure(
        "compute-sanitizer: Error: Device not supported")


def test_a_tool_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for told, name in ((counters(tmp_path), "ncu"), (findings(tmp_path), "compute-sanitizer")):
        assert isinstance(told, ToolFailure) and told.message.startswith(f"{name} is not installed")
