"""Mistakes of students' kernels that a GPU forgives or hides, with their lines."""

from typing import Any

import numpy as np
import pytest

from grader.judging.explain.findings import UNPROMISED
from grader.plan.findings import Assertion, MisalignedAccess, OutOfBounds, Race, UndefinedBehaviour, UnwrittenAccess
from tests.languages.cuda.compiling import needs_nvcc
from tests.rows import each_row
from tests.simulation.ptx.launching import Outcome, compiled, empty, run, tensor

pytestmark = needs_nvcc

ONES = np.ones(1024, np.float32)


def _run(body: str, *, grid: Any = 1, block: Any = 256, before: str = "", **options: Any) -> Outcome:
    """Runs a kernel `(const float* x, float* y, int n)`, whose body begins in line 3."""
    source = f"#include <cstdio>\n#include <cassert>\n{before}__global__ void k(const float* x, float* y, int n) {{\n"
    text = compiled(source.replace("\n", " ", 0) + body + "\n}\n")
    return run(text, grid, block, tensor(ONES, "x"), options.pop("out", None) or empty(1024, "y"), 1024, **options)


def _lines(body: str, found: list[Any], mark: str) -> None:
    """All findings are in the line of the body that has the mark."""
    line = next(number for number, text in enumerate(body.split("\n"), 4) if mark in text)
    assert {one.line for one in found} == {line}


REDUCTION = """    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d]; // add
        __syncthreads(); // between
    }
    y[t] = s[0]; // use
"""


def test_a_reduction_with_its_barriers() -> None:
    out = empty(1024)
    assert _run(REDUCTION, out=out).findings == []
    assert (out.values("f4")[:256] == 256).all()


def test_missing_barriers_are_races_of_shared_memory() -> None:
    body = REDUCTION.replace("        __syncthreads(); // between\n", "")
    findings = _run(body).findings
    assert findings and all(isinstance(one, UndefinedBehaviour) and one.tensor.endswith("s") for one in findings)
    assert {finding.what for finding in findings if isinstance(finding, UndefinedBehaviour)} >= {"shared"}
    body = REDUCTION.replace("    __syncthreads();\n    for", "    for")
    findings = [one for one in _run(body).findings if isinstance(one, UndefinedBehaviour) and one.what == "shared"]
    _lines(body, findings, "// add")


def test_lanes_that_run_in_step_are_seen_and_no_failure(text: str) -> None:
    findings = _run(text, block=32).findings
    assert {one.what for one in findings if isinstance(one, UndefinedBehaviour)} == {"warp"} and len(findings) == 2
    assert "warp" in UNPROMISED
    apart = text.replace("v[t] = v[t] + v[t + 16];", "float sum = v[t] + v[t + 16]; __syncwarp(); v[t] = sum;")
    synced = apart.replace("    float sum", "    __syncwarp(); float sum").replace("    y[t]", "    __syncwarp(); y[t]")
    assert not _run(synced, block=32).findings


@pytest.mark.parametrize(("block", "down", "what"), [(45, 16, ["index"]), (45, 0, []), (64, 16, [])])
def test_a_warp_that_is_not_full_reads_lanes_that_it_does_not_have(block: int, down: int, what: list[str]) -> None:
    body = f"    y[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], {down}); // here\n"
    findings = _run(body, block=block).findings
    assert [one.what for one in findings if isinstance(one, UndefinedBehaviour) and not one.certain] == what
    if what:
        _lines(body, findings, "// here")


def test_a_barrier_in_a_branch_of_a_warp(text: str) -> None:
    findings = _run(text).findings
    assert [(finding.kind, getattr(finding, "what", "")) for finding in findings] == [("undefined", "divergent")]
    _lines(text, findings, "// here")


def test_threads_that_have_ended_do_not_hold_up_a_barrier(text: str) -> None:
    findings = _run(text).findings
    assert all(isinstance(one, UndefinedBehaviour) and one.what == "divergent" and not one.certain for one in findings)


def test_blocks_that_add_to_one_element_race() -> None:
    body = "    y[0] = 0;\n    y[0] += x[blockIdx.x * 256 + threadIdx.x] + blockIdx.x; // add\n"
    findings = _run(body, grid=4, block=1).findings
    assert any(isinstance(one, Race) and one.certain and one.given == "y" and one.element == 0 for one in findings)
    body = "    y[threadIdx.x + 128 * blockIdx.x] = blockIdx.x; // store\n"
    findings = _run(body, grid=2).findings
    assert [(type(finding), getattr(finding, "certain", None)) for finding in findings] == [(Race, True)]
    _lines(body, findings, "// store")
    assert isinstance(findings[0], Race) and findings[0].programs == ((0, 0, 0), (1, 0, 0))
    # The same value is the same whoever stores it last.
    assert _run("    y[threadIdx.x] = n;\n", grid=3).findings == []


def test_blocks_that_read_what_others_write() -> None:
    body = "    int i = blockIdx.x * 256 + threadIdx.x;\n    y[i] = 1;\n    y[i] = y[(i + 256) & 1023] + 2; // shift\n"
    findings = [finding for finding in _run(body, grid=4).findings if isinstance(finding, Race)]
    assert findings and not any(finding.certain for finding in findings)
    _lines(body, findings, "// shift")


def test_an_element_is_counted_in_its_own_size(text: str) -> None:
    assert [finding.element for finding in _run(text, grid=2).findings if isinstance(finding, Race)] == [5]


def test_atomics_order_blocks(text: str) -> None:
    out = tensor(np.zeros(1024, "f4"), "y")
    assert _run(text, grid=2, out=out).findings == []
    assert out.values("f4")[1] == 512
    _tells_of_a_fence(text)
    early = text.replace("    __syncthreads(); // all have stored\n", "")
    findings = _run(early, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings
    # The first warp may take its ticket before the others have stored.
    assert [(one.what, one.element) for one in findings if isinstance(one, UndefinedBehaviour)] == [("unordered", 36)]
    _lines(early, findings, "// told")


# Accesses of two blocks to y[0], from line 4 on.
@each_row("body", [
    "    if (!t) atomicAdd(y, 1.0f);\n    __syncthreads();\n    y[1 + i] = y[0]; // here\n",
    "    y[1 + i] = y[0];\n    if (blockIdx.x && !t) atomicAdd(y, 1.0f); // here\n",
    "    if (!i) y[0] = 0;\n    if (blockIdx.x && !t) atomicAdd(y, 1.0f); // here\n",
    "    if (blockIdx.x && !t) atomicAdd(y, 1.0f);\n    __syncthreads();\n    if (!i) y[0] = 3; // here\n",
])
def test_atomics_race_with_loads_and_stores_of_other_blocks(body: str) -> None:
    body = f"    int t = threadIdx.x, i = blockIdx.x * 64 + t;\n{body}"
    findings = _run(body, grid=2, block=64, out=tensor(np.zeros(1024, "f4"), "y")).findings
    assert [(type(one), one.certain, one.element) for one in findings if isinstance(one, Race)] == [(Race, False, 0)]
    _lines(body, findings, "// here")


def test_atomics_race_with_nothing_that_is_ordered(text: str) -> None:
    assert _run(text, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings == []


def test_readers_of_its_own_block_hide_no_reader_of_another(text: str) -> None:
    findings = _run(text, grid=2, block=64, out=tensor(np.zeros(1024, "f4"), "y")).findings
    assert [(type(one), getattr(one, "programs", ())) for one in findings] == [(Race, ((1, 0, 0), (0, 0, 0)))]
    _lines(text, findings, "// here")


def test_the_last_block_of_many_overwrites_what_the_others_told_it(text: str) -> None:
    out = tensor(np.zeros(1024, "f4"), "y")
    # More blocks than run at once.
    assert _run(text, grid=100, out=out).findings == []
    assert out.values("f4")[1] == 100
    _tells_of_a_fence(text)


def _tells_of_a_fence(body: str) -> None:
    """Where the other blocks' stores are read, whatever fence there is but one before the atomic."""
    fence = "__threadfence();"
    assert fence in body
    for other in ("", "__threadfence_block();"):
        less = body.replace(fence, other)
        (finding,) = _run(less, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings
        assert isinstance(finding, UndefinedBehaviour) and finding.what == "relaxed" and finding.certain
        assert len(finding.programs) == 2
        _lines(less, [finding], "// told")
    late = body.replace(fence, "").replace("atomicAdd(", "(__threadfence(), 0) + atomicAdd(")
    assert _run(late, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings == []


def test_atomics_of_shared_memory_need_barriers_too(text: str) -> None:
    assert _run(text).findings == []
    for missing, where in (("first", "// add"), ("then", "// read")):
        less = text.replace(f"    __syncthreads(); // {missing}\n", "")
        (finding,) = [one for one in _run(less).findings if isinstance(one, UndefinedBehaviour) and one.certain]
        assert finding.what == "shared"
        _lines(less, [finding], where)


def test_shared_arrays_end_before_the_next_one(text: str) -> None:
    (found,) = _run(text).findings
    assert isinstance(found, OutOfBounds)
    assert (found.space, found.access, found.elements, found.highest, found.lanes) == ("shared", "load", 256, 256, 1)
    assert found.tensor.endswith("1a")
    _lines(text, [found], "// over")
    body = "    extern __shared__ float s[];\n    s[threadIdx.x + n - 1024] = x[0];\n    __syncthreads();\n" \
        "    y[threadIdx.x] = s[threadIdx.x];\n"
    assert _run(body, shared=1024).findings == []
    found = _run(body, shared=1020).findings[0]
    assert isinstance(found, OutOfBounds) and (found.elements, found.lowest) == (255, 255)
    found = _run(body.replace("n - 1024", "n - 1025"), shared=1024).findings[0]
    assert isinstance(found, OutOfBounds) and (found.lowest, found.highest, found.lanes) == (-1, -1, 1)


def test_shared_memory_that_nothing_has_written(text: str) -> None:
    (finding,) = _run(text).findings
    assert isinstance(finding, UnwrittenAccess) and finding.lanes == 1 and finding.tensor.endswith("1s")
    assert (finding.access, finding.space) == ("load", "shared")
    _lines(text, [finding], "// read")
    (finding,) = _run("    atomicAdd(y, x[threadIdx.x]);\n").findings
    assert isinstance(finding, UnwrittenAccess) and (finding.access, finding.space) == ("atomic", "global")


def test_misaligned_vectors() -> None:
    body = "    float4 v = *(const float4*)(x + 1 + 4 * threadIdx.x); // load\n    y[threadIdx.x] = v.x + v.w;\n"
    (finding,) = _run(body, block=64).findings
    assert isinstance(finding, MisalignedAccess)
    assert (finding.access, finding.bytes, finding.offset, finding.given) == ("load", 16, 4, "x")
    _lines(body, [finding], "// load")


@pytest.mark.parametrize(("by", "bytes_", "found"), [
    ("1", "16", [(16, 4)]), ("1", "8", [(16, 4)]), ("4", "16", []),
    # A copy of no bytes fills with zeros, and reads nowhere.
    ("1", "0", []), ("t % 2", "t % 2 ? 0 : 16", []), ("t % 2", "t % 2 ? 16 : 0", [(16, 20)]),
])
def test_copies_of_a_part_are_aligned_as_whole_ones(by: str, bytes_: str, found: list[tuple[int, int]]) -> None:
    copied = 'asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(from), "r"(bytes)); // copy'
    body = f"""    __shared__ __align__(16) float s[256]; int t = threadIdx.x;
    unsigned to = __cvta_generic_to_shared(s + 4 * t), bytes = {bytes_}; const float* from = x + 4 * t + {by};
    {copied}
    asm volatile("cp.async.wait_all;" ::: "memory"); y[t] = s[4 * t];
"""
    findings = _run(body, block=64).findings
    assert [(one.bytes, one.offset) for one in findings if isinstance(one, MisalignedAccess)] == found
    assert len(findings) == len(found)
    if found:
        _lines(body, findings, "// copy")


def test_pointers_to_nowhere() -> None:
    (finding,) = _run("    y[threadIdx.x] = *(const float*)(long long)(n - 1024);\n").findings
    assert isinstance(finding, OutOfBounds) and finding.tensor == "" and finding.elements == 0
    body = "    y[threadIdx.x] = x[(int)threadIdx.x - 1];\n"
    (finding,) = _run(body).findings
    assert isinstance(finding, OutOfBounds) and (finding.given, finding.lowest, finding.lanes) == ("x", -1, 1)


def test_assertions_and_printing(text: str) -> None:
    out = empty(1024)
    outcome = _run(text, out=out)
    assert outcome.printed == "".join(f"{t}: 0.25 text q     7|3   |%\n" for t in (0, 1))
    (finding,) = outcome.findings
    assert isinstance(finding, Assertion) and finding.message == 't < 200 && "too many"'
    _lines(text, [finding], "assert")
    assert out.written is not None and out.written[:800].all() and not out.written[800:].any()


def test_a_warp_whose_lanes_part_at_a_shuffle(text: str) -> None:
    (finding,) = [one for one in _run(text, block=32).findings if isinstance(one, UndefinedBehaviour) and one.certain]
    assert finding.what == "divergent"
    _lines(text, [finding], "// half")


COPY = "__pipeline_memcpy_async(s + t, x + t, 4);"
AGAIN = "__pipeline_memcpy_async(s + 256 + t, x + 256 + t, 4);"
COMMIT, SYNC = "__pipeline_commit();", "__syncthreads();"


@pytest.mark.parametrize(("before", "read", "found"), [
    (f"{COPY} {COMMIT} __pipeline_wait_prior(0); {SYNC}", "s[255 - t]", ""),
    # A thread knows what it has copied itself once it has waited.
    (f"{COPY} {COMMIT} __pipeline_wait_prior(0);", "s[t]", ""),
    (f"{COPY} {COMMIT} __pipeline_wait_prior(0);", "s[255 - t]", "shared"),
    (f"{COPY} {COMMIT} {SYNC}", "s[t]", "pending"),
    # Others see what a thread has copied after a barrier behind its wait.
    (f"{COPY} {COMMIT} {SYNC} __pipeline_wait_prior(0);", "s[255 - t]", "shared"),
    (f"{COPY} {COMMIT} {AGAIN} {COMMIT} __pipeline_wait_prior(1); {SYNC}", "s[255 - t]", ""),
    (f"{COPY} {COMMIT} {AGAIN} {COMMIT} __pipeline_wait_prior(1); {SYNC}", "s[511 - t]", "pending"),
    # An empty group counts, and what no group holds is waited for by a wait for all alone.
    (f"{COPY} {COMMIT} {COMMIT} __pipeline_wait_prior(1); {SYNC}", "s[255 - t]", ""),
    (f"{COPY} __pipeline_wait_prior(0); {SYNC}", "s[255 - t]", "pending"),
    (f'{COPY} asm volatile("cp.async.wait_all;" ::: "memory"); {SYNC}', "s[255 - t]", ""),
    (f"{COPY} {COMMIT} if (t < 128) __pipeline_wait_prior(0); {SYNC}", "s[t]", "pending"),
    # A copy that another one follows lands with the later.
    (f"{COPY} {COMMIT} {COPY} {COMMIT} __pipeline_wait_prior(1); {SYNC}", "s[t]", "pending"),
    (f"{COPY} {COMMIT} {COPY} {COMMIT} __pipeline_wait_prior(0); {SYNC}", "s[t]", ""),
    # Half of a block copies, in vectors, and the other half reads.
    (f"if (t < 64) __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16); {COMMIT} __pipeline_wait_prior(0); {SYNC}",
     "s[255 - t]", ""),
    (f"if (t < 64) __pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16); {SYNC}", "s[255 - t]", "pending"),
])
def test_copies_are_there_once_their_threads_have_waited(before: str, read: str, found: str) -> None:
    body = f"    __shared__ __align__(16) float s[512];\n    int t = threadIdx.x; {before}\n    y[t] = {read}; // use\n"
    findings = _run(body, before="#include <cuda_pipeline.h>\n").findings
    assert {one.what for one in findings if isinstance(one, UndefinedBehaviour)} == ({found} if found else set())
    assert len(findings) == bool(found)
    if found:
        _lines(body.replace("    __shared__", "\n    __shared__"), findings, "// use")


@pytest.mark.parametrize("threads", [31, 33, 100])
def test_blocks_of_any_size(text: str, threads: int) -> None:
    out = empty(1024)
    assert _run(text, block=threads, out=out).findings == []
    last = threads % 32 or 32
    assert out.values("f4")[threads - 1] == last + 100 * (last // 2)
