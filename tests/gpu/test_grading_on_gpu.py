"""Every way in which a kernel can fail on a GPU, as a student is told of it.

    pytest -m gpu tests/gpu
"""

from pathlib import Path

import pytest
import torch

from grader.course.course import LimitsTable
from tests.graded import results, told

pytestmark = [pytest.mark.gpu, pytest.mark.alone]

# Those of a course: one that compiles long has this much time.
LIMITS = LimitsTable()
# Endless kernels are ended by the judge.
SHORT = LimitsTable(call_seconds=8, assignment_seconds=40)


KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def silu_kernel(x, out, n, {parameters}BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    {body}

def silu(x, out):
    n = x.numel()
    {before}
    silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    {after}
"""
STORE = "tl.store(out + i, v * tl.sigmoid(v), mask=i < n)"


def source(body: str = STORE, before: str = "pass", after: str = "pass") -> str:
    return KERNEL.format(parameters="", body=body, before=before, after=after)


SPINS = """

@triton.jit
def spin_kernel(flag_ptr):
    while tl.load(flag_ptr, volatile=True) == 0:
        pass
"""
# What is wrong, the verdict, and words that the message or hint must hold.
FAULTS = {
    "illegal access": (
        source("tl.store(out + i + (1 << 40), v, mask=i < n)"), "runtime_error", "illegal memory access"),
    "misaligned access": (
        source("tl.store((out.to(tl.int64, bitcast=True) + 1).to(tl.pointer_type(tl.float32), bitcast=True) + i, v, "
               "mask=i < n)"), "runtime_error", "not a multiple of its element's size"),
    # What a simulator sees beside a right answer does not make a call right that the GPU did not finish.
    "a false promise of alignment, and a hash that overflows": (
        source("h = ((i + 7) * 2147483647) * 0\n    w = tl.load(x + i + 1, mask=i + 1 < n) + h.to(tl.float32)\n"
               "    j = tl.max_contiguous(tl.multiple_of(i + 1, 4), 4)\n"
               "    tl.store(out + j, w * tl.sigmoid(w), mask=j < n)\n"
               "    tl.store(out + i, v * tl.sigmoid(v), mask=i == 0)"), "runtime_error", "promise what is not true"),
    "too much shared memory": (
        source("a = tl.load(x + tl.arange(0, 256)[:, None] * 0 + tl.arange(0, 256)[None, :] * 0).to(tl.float16)\n"
               "    s = tl.sum(tl.dot(a, tl.trans(a) + 1.0))\n    tl.store(out + i, v + s, mask=i < n)"),
        "runtime_error", "shared memory"),
    "memory of the student's own": (
        source(before="torch.empty(1 << 40, dtype=torch.uint8, device='cuda')"), "memory_limit", "out of memory"),
    "endless kernel": (
        source("t = tl.atomic_add(out, 0.0)\n    while t != 1.5:\n        t = tl.atomic_add(out, 0.0)\n    " + STORE),
        "time_limit", "ever become false?"),
    "endless host loop": (source(before="while True: pass"), "time_limit", "longer than the grader's limit"),
    "compile error": (source("tl.store(out + i, undefined_name, mask=i < n)"), "runtime_error", "undefined_name"),
    "a block that is no power of two": (
        source("j = tl.arange(0, 1000)\n    " + STORE), "runtime_error", "power of 2"),
    "torch did it": (source(after="torch.nn.functional.silu(x, out=out) if 0 else out.copy_(x * torch.sigmoid(x))"),
                     "policy_violation", "sigmoid"),
    "a failed assertion": (
        source("tl.device_assert(v > 1e9, 'too small')\n    " + STORE).replace(
            "@triton.jit", "@triton.jit(debug=True)"), "runtime_error", "tl.device_assert in line 10"),
    "a kernel left running on another stream": (
        source(after="\n    with torch.cuda.stream(torch.cuda.Stream()):\n"
                     "        spin_kernel[(1,)](torch.zeros(1, dtype=torch.int32, device='cuda'))") + SPINS,
        "time_limit", "wait for each other in line"),
    "a stream never joined": (
        source(before="torch.cuda.set_stream(torch.cuda.Stream())\n    torch.cuda._sleep(1)"), "accepted", ""),
}


@pytest.mark.parametrize(("text", "verdict", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_ends_as_a_verdict_and_leaves_the_lane_healthy(
    tmp_path: Path, text: str, verdict: str, words: str
) -> None:
    folder = tmp_path / "student"
    folder.mkdir()
    (folder / "silu.py").write_text(text)
    # Compiling takes its time where many are at it.
    result = results(folder, SHORT if verdict == "time_limit" else LIMITS, "cuda")["silu"]
    assert result.verdict == verdict, told(result)
    assert words in told(result), told(result)
    if verdict == "runtime_error" and "compile" in words:
        assert any(c.detail and c.detail.place for c in result.correctness.checks)
    healthy = torch.ones(1 << 20, device="cuda")
    assert healthy.sum().item() == 1 << 20


def test_the_line_of_a_compile_error_is_the_students(tmp_path: Path) -> None:
    folder = tmp_path / "student"
    folder.mkdir()
    text = source("tl.store(out + i, undefined_name, mask=i < n)")
    (folder / "silu.py").write_text(text)
    result = results(folder, LIMITS, "cuda")["silu"]
    places = [c.detail.place for c in result.correctness.checks if c.detail and c.detail.place]
    assert places and "undefined_name" in places[0].text, told(result)
