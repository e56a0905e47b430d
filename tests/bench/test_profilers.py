"""What NVIDIA's tools print is read: figures as they stand there, and nothing where a tool has nothing to say."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from grader.bench.profilers import (
    READ,
    TENSOR,
    TIME,
    WRITTEN,
    ToolFailure,
    counters,
    findings,
    read_findings,
    read_rows,
    value,
)

NCU = '''==PROF== Connected to process 411 (/usr/bin/python3)
==PROF== Profiling "silu_kernel": 0%....50%....100% - 1 pass
==PROF== Disconnected from process 411
"ID","Process ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum",\
"dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",\
"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",\
"sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","byte","byte","%","ns","%","%"
"0","411","silu_kernel","268,435,456","245,366,784","84.05","127,104","0","77.93"
"1","411","silu_kernel","268435456","","84.05","127104","n/a","77.93"
'''


def test_the_counters_of_each_launch_are_read() -> None:
    first, second = read_rows(NCU)
    assert first["Kernel Name"] == "silu_kernel" and value(first, TIME) == 127_104
    assert value(first, READ) + value(first, WRITTEN) == 513_802_240
    assert math.isnan(value(second, WRITTEN)) and math.isnan(value(second, TENSOR[1]))


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
