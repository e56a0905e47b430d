"""Mistakes of students' kernels that a GPU forgives or hides, with their lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.judging.explain.findings import PROMISED_BY_NOBODY
from grader.plan.findings import Assertion, Misaligned, OutOfBounds, Race, Undefined, Unwritten
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
    found = _run(body).findings
    assert found and all(isinstance(one, Undefined) and one.tensor.endswith("s") for one in found)
    assert {one.what for one in found if isinstance(one, Undefined)} >= {"shared"}
    body = REDUCTION.replace("    __syncthreads();\n    for", "    for")
    found = [one for one in _run(body).findings if isinstance(one, Undefined) and one.what == "shared"]
    _lines(body, found, "// add")


def test_lanes_that_run_in_step_are_seen_and_no_failure() -> None:
    body = """    __shared__ float s[64];
    int t = threadIdx.x;
    volatile float* v = s;
    v[t] = x[t];
    v[t + 32] = x[t + 32];
    v[t] = v[t] + v[t + 16];
    y[t] = v[0];
"""
    found = _run(body, block=32).findings
    assert {one.what for one in found if isinstance(one, Undefined)} == {"warp"} and len(found) == 2
    assert "warp" in PROMISED_BY_NOBODY
    apart = body.replace("v[t] = v[t] + v[t + 16];", "float sum = v[t] + v[t + 16]; __syncwarp(); v[t] = sum;")
    synced = apart.replace("    float sum", "    __syncwarp(); float sum").replace("    y[t]", "    __syncwarp(); y[t]")
    assert not _run(synced, block=32).findings


@pytest.mark.parametrize(("block", "down", "what"), [(45, 16, ["index"]), (45, 0, []), (64, 16, [])])
def test_a_warp_that_is_not_full_reads_lanes_that_it_does_not_have(block: int, down: int, what: list[str]) -> None:
    body = f"    y[threadIdx.x] = __shfl_down_sync(0xffffffff, x[threadIdx.x], {down}); // here\n"
    found = _run(body, block=block).findings
    assert [one.what for one in found if isinstance(one, Undefined) and not one.certain] == what
    if what:
        _lines(body, found, "// here")


def test_a_barrier_in_a_branch_of_a_warp() -> None:
    body = """    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < 100) {
        s[t] = x[t];
        __syncthreads(); // here
        y[t] = s[99 - t];
    } else {
        s[t] = 2 * x[t];
        __syncthreads(); // there
        y[t] = s[t] + 1;
    }
"""
    found = _run(body).findings
    assert [(one.kind, getattr(one, "what", "")) for one in found] == [("undefined", "divergent")]
    _lines(body, found, "// here")


def test_threads_that_have_ended_do_not_hold_up_a_barrier() -> None:
    body = """    __shared__ float s[256];
    int t = threadIdx.x;
    if (t >= 200) return;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[199 - t];
"""
    found = _run(body).findings
    assert all(isinstance(one, Undefined) and one.what == "divergent" and not one.certain for one in found)


def test_blocks_that_add_to_one_element_race() -> None:
    body = "    y[0] = 0;\n    y[0] += x[blockIdx.x * 256 + threadIdx.x] + blockIdx.x; // add\n"
    found = _run(body, grid=4, block=1).findings
    assert any(isinstance(one, Race) and one.certain and one.given == "y" and one.element == 0 for one in found)
    body = "    y[threadIdx.x + 128 * blockIdx.x] = blockIdx.x; // store\n"
    found = _run(body, grid=2).findings
    assert [(type(one), getattr(one, "certain", None)) for one in found] == [(Race, True)]
    _lines(body, found, "// store")
    assert isinstance(found[0], Race) and found[0].programs == ((0, 0, 0), (1, 0, 0))
    # The same value is the same whoever stores it last.
    assert _run("    y[threadIdx.x] = n;\n", grid=3).findings == []


def test_blocks_that_read_what_others_write() -> None:
    body = "    int i = blockIdx.x * 256 + threadIdx.x;\n    y[i] = 1;\n    y[i] = y[(i + 256) & 1023] + 2; // shift\n"
    found = [one for one in _run(body, grid=4).findings if isinstance(one, Race)]
    assert found and not any(one.certain for one in found)
    _lines(body, found, "// shift")


def test_an_element_is_counted_in_its_own_size() -> None:
    body = """    ((char*)y)[2048 + 256 * blockIdx.x + threadIdx.x] = 1;
    if (blockIdx.x == 0) y[5] = 1;
    else if (threadIdx.x == 0) y[6] = y[5] + 2;
"""
    assert [one.element for one in _run(body, grid=2).findings if isinstance(one, Race)] == [5]


def test_atomics_order_blocks() -> None:
    body = """    __shared__ bool last;
    int i = blockIdx.x * 256 + threadIdx.x;
    y[4 + i] = x[i];
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd((int*)y, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int j = 0; j < 512; j++) sum += y[4 + j]; // told
        y[1] = sum;
    }
"""
    out = tensor(np.zeros(1024, "f4"), "y")
    assert _run(body, grid=2, out=out).findings == []
    assert out.values("f4")[1] == 512
    _tells_of_a_fence(body)


# Accesses of two blocks to y[0], from line 4 on.
@each_row("body", [
    "    if (!t) atomicAdd(y, 1.0f);\n    __syncthreads();\n    y[1 + i] = y[0]; // here\n",
    "    y[1 + i] = y[0];\n    if (blockIdx.x && !t) atomicAdd(y, 1.0f); // here\n",
    "    if (!i) y[0] = 0;\n    if (blockIdx.x && !t) atomicAdd(y, 1.0f); // here\n",
    "    if (blockIdx.x && !t) atomicAdd(y, 1.0f);\n    __syncthreads();\n    if (!i) y[0] = 3; // here\n",
])
def test_atomics_race_with_loads_and_stores_of_other_blocks(body: str) -> None:
    body = f"    int t = threadIdx.x, i = blockIdx.x * 64 + t;\n{body}"
    found = _run(body, grid=2, block=64, out=tensor(np.zeros(1024, "f4"), "y")).findings
    assert [(type(one), one.certain, one.element) for one in found if isinstance(one, Race)] == [(Race, False, 0)]
    _lines(body, found, "// here")


def test_atomics_race_with_nothing_that_is_ordered() -> None:
    body = """    __shared__ bool last;
    int t = threadIdx.x;
    if (!t) {
        atomicAdd(y + 4, x[0]);
        atomicAdd(y + blockIdx.x, x[0]);
        __threadfence();
        last = atomicAdd((int*)y + 8, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) y[16 + t] = y[4];
    else y[512 + t] = y[blockIdx.x];
"""
    assert _run(body, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings == []


def test_readers_of_its_own_block_hide_no_reader_of_another() -> None:
    body = """    int t = threadIdx.x;
    float own = 0;
    if (blockIdx.x) y[512 + t] = y[t];
    __syncthreads();
    if (!blockIdx.x) own = y[t] + y[t ^ 32];
    __syncthreads();
    if (!blockIdx.x) y[t] = own + 1; // here
"""
    found = _run(body, grid=2, block=64, out=tensor(np.zeros(1024, "f4"), "y")).findings
    assert [(type(one), getattr(one, "programs", ())) for one in found] == [(Race, ((1, 0, 0), (0, 0, 0)))]
    _lines(body, found, "// here")


def test_the_last_block_of_many_overwrites_what_the_others_told_it() -> None:
    body = """    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[1 + blockIdx.x] = x[blockIdx.x];
        __threadfence();
        last = atomicAdd((int*)y, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int j = 0; j < gridDim.x; j++) sum += ((volatile float*)y)[1 + j]; // told
        y[1] = sum;
    }
"""
    out = tensor(np.zeros(1024, "f4"), "y")
    # More blocks than run at once.
    assert _run(body, grid=100, out=out).findings == []
    assert out.values("f4")[1] == 100
    _tells_of_a_fence(body)


def _tells_of_a_fence(body: str) -> None:
    """Where the other blocks' stores are read, whatever fence there is but one before the atomic."""
    fence = "__threadfence();"
    assert fence in body
    for other in ("", "__threadfence_block();"):
        less = body.replace(fence, other)
        (found,) = _run(less, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings
        assert isinstance(found, Undefined) and found.what == "relaxed" and found.certain and len(found.programs) == 2
        _lines(less, [found], "// told")
    late = body.replace(fence, "").replace("atomicAdd(", "(__threadfence(), 0) + atomicAdd(")
    assert _run(late, grid=2, out=tensor(np.zeros(1024, "f4"), "y")).findings == []


def test_atomics_of_shared_memory_need_barriers_too() -> None:
    body = """    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) s[t] = 0;
    __syncthreads(); // first
    atomicAdd(&s[t % 32], 1); // add
    __syncthreads(); // then
    if (t < 32) y[t] = s[t]; // read
"""
    assert _run(body).findings == []
    for missing, where in (("first", "// add"), ("then", "// read")):
        less = body.replace(f"    __syncthreads(); // {missing}\n", "")
        (found,) = [one for one in _run(less).findings if isinstance(one, Undefined) and one.certain]
        assert found.what == "shared"
        _lines(less, [found], where)


def test_shared_arrays_end_before_the_next_one() -> None:
    body = """    __shared__ float a[256], b[256];
    int t = threadIdx.x;
    b[t] = 1;
    a[t] = x[t];
    __syncthreads();
    y[t] = a[t + 1] + b[t]; // over
"""
    (found,) = _run(body).findings
    assert isinstance(found, OutOfBounds)
    assert (found.space, found.access, found.elements, found.highest, found.lanes) == ("shared", "load", 256, 256, 1)
    assert found.tensor.endswith("1a")
    _lines(body, [found], "// over")
    body = "    extern __shared__ float s[];\n    s[threadIdx.x + n - 1024] = x[0];\n    __syncthreads();\n" \
        "    y[threadIdx.x] = s[threadIdx.x];\n"
    assert _run(body, shared=1024).findings == []
    found = _run(body, shared=1020).findings[0]
    assert isinstance(found, OutOfBounds) and (found.elements, found.lowest) == (255, 255)
    found = _run(body.replace("n - 1024", "n - 1025"), shared=1024).findings[0]
    assert isinstance(found, OutOfBounds) and (found.lowest, found.highest, found.lanes) == (-1, -1, 1)


def test_shared_memory_that_nothing_has_written() -> None:
    body = """    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < 255) s[t] = x[t];
    __syncthreads();
    y[t] = s[t]; // read
"""
    (found,) = _run(body).findings
    assert isinstance(found, Unwritten) and found.lanes == 1 and found.tensor.endswith("1s")
    assert (found.access, found.space) == ("load", "shared")
    _lines(body, [found], "// read")
    (found,) = _run("    atomicAdd(y, x[threadIdx.x]);\n").findings
    assert isinstance(found, Unwritten) and (found.access, found.space) == ("atomic", "global")


def test_misaligned_vectors() -> None:
    body = "    float4 v = *(const float4*)(x + 1 + 4 * threadIdx.x); // load\n    y[threadIdx.x] = v.x + v.w;\n"
    (found,) = _run(body, block=64).findings
    assert isinstance(found, Misaligned)
    assert (found.access, found.bytes, found.offset, found.given) == ("load", 16, 4, "x")
    _lines(body, [found], "// load")


def test_pointers_to_nowhere() -> None:
    (found,) = _run("    y[threadIdx.x] = *(const float*)(long long)(n - 1024);\n").findings
    assert isinstance(found, OutOfBounds) and found.tensor == "" and found.elements == 0
    body = "    y[threadIdx.x] = x[(int)threadIdx.x - 1];\n"
    (found,) = _run(body).findings
    assert isinstance(found, OutOfBounds) and (found.given, found.lowest, found.lanes) == ("x", -1, 1)


def test_assertions_and_printing() -> None:
    body = """    int t = threadIdx.x;
    if (t < 2) printf("%d: %.2f %s %c %5u|%-4d|%%\\n", t, x[t] / 4, "text", 'q', 7u, 3);
    assert(t < 200 && "too many");
    y[t] = x[t];
"""
    out = empty(1024)
    outcome = _run(body, out=out)
    assert outcome.printed == "".join(f"{t}: 0.25 text q     7|3   |%\n" for t in (0, 1))
    (found,) = outcome.findings
    assert isinstance(found, Assertion) and found.message == 't < 200 && "too many"'
    _lines(body, [found], "assert")
    assert out.written is not None and out.written[:800].all() and not out.written[800:].any()


def test_a_warp_whose_lanes_part_at_a_shuffle() -> None:
    body = """    int t = threadIdx.x;
    float v = x[t];
    if (t < 16) v += __shfl_xor_sync(0xffffffff, v, 1); // half
    __syncthreads();
    y[t] = v;
"""
    (found,) = [one for one in _run(body, block=32).findings if isinstance(one, Undefined) and one.certain]
    assert found.what == "divergent"
    _lines(body, [found], "// half")


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
    seen = _run(body, before="#include <cuda_pipeline.h>\n").findings
    assert {one.what for one in seen if isinstance(one, Undefined)} == ({found} if found else set())
    assert len(seen) == bool(found)
    if found:
        _lines(body.replace("    __shared__", "\n    __shared__"), seen, "// use")


@pytest.mark.parametrize("threads", [31, 33, 100])
def test_blocks_of_any_size(threads: int) -> None:
    body = """    float v = x[threadIdx.x];
    unsigned mask = __activemask();
    v = __reduce_add_sync(mask, (int)v);
    y[threadIdx.x] = v + 100 * __popc(__ballot_sync(mask, threadIdx.x & 1));
"""
    out = empty(1024)
    assert _run(body, block=threads, out=out).findings == []
    last = threads % 32 or 32
    assert out.values("f4")[threads - 1] == last + 100 * (last // 2)
