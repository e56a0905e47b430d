"""The judge's sentences in the terms of each language."""

from __future__ import annotations

import pytest

from grader import languages
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.judging.explain import explain_findings
from grader.judging.explain.accesses import Layout, TensorAccess, misplaced
from grader.judging.explain.stops import explain_stop
from grader.judging.explain.wording import mistaken, say
from grader.judging.plans.rules import BeyondBuffer, GridTooLarge
from grader.languages.phrases import fact
from grader.plan.findings import Access, Finding, Misaligned, OutOfBounds, Race, Undefined
from grader.plan.messages import Exhausted
from tests.rows import each_row

SILU = catalogue.assignments()["silu"]
CUDA = SILU.model_copy(update={"suffix": ".cu"})


def test_places_are_filled_by_values_terms_and_sentences() -> None:
    cuda, triton = (languages.front_ends()[name].phrases for name in ("cuda", "triton"))
    found = fact("race.possible.seen", first="1", second="2", element=1234, tensor=fact("tensor.unnamed"), line="")
    assert say(cuda, found) == (
        "Blocks 1 and 2 of one launch both use element 1,234 of memory of your own, and at least one of them stores to "
        "it.")
    assert say(triton, found).startswith("Programs 1 and 2 of one launch both use element 1,234 of a tensor of your")
    # What a file holds is no template.
    assert say(cuda, fact("kept.look"), fact("outside.vector", name="`{program}`", across="N")) == (
        "Allocate it in each call, or anew where it is too small. `{program}` has N elements: does its index count "
        "up to N, or up to another size?")
    assert say(cuda, fact("sample.wrong", bad=1, of=2000)) == "1 of the 2,000 elements that one block stores is wrong"
    assert say(cuda, mistaken("{Lane}s of the {program} hold {these}.")) == "Threads of the block hold {these}."
    # By default a refusal has the reason of all.
    assert say(cuda, fact("refused.cast.why")) == say(cuda, fact("refused.why"))


OUTSIDE = OutOfBounds(
    access="load", kernel="silu_kernel", line=2, tensor="input", given="x", elements=1000, lowest=1000, highest=1023,
    lanes=24, active=256, programs=1, program=(3, 0, 0), masked=False)


@pytest.mark.parametrize(("assignment", "message", "hint"), [
    (SILU, "24 of 256 active lanes lie outside in program 3.", "This tl.load has no mask"),
    (CUDA, "24 of 256 active threads lie outside in block 3.",
     "The last block has threads past the end: put this load into an `if` such as if (i < n)"),
])
def test_an_access_outside_its_tensor(assignment: Assignment, message: str, hint: str) -> None:
    found = explain_findings(assignment, "\n\n", [OUTSIDE])
    assert found is not None and found.message.endswith(message) and hint in found.hint


def test_what_cuda_alone_can_do_wrong() -> None:
    shared = OUTSIDE.model_copy(update={"space": "shared", "tensor": "tile", "given": "", "elements": 32})
    cases: list[tuple[Finding, str, str]] = [
        (shared, "of the shared array `tile`, which has 32: 24 of 256 active threads lie outside in block 3.",
         "as large as what counts in it"),
        (Misaligned(
            access="load", kernel="k", line=2, tensor="input", given="x", bytes=16, offset=12, program=(1, 0, 0)),
         "moves 16 bytes at once, from byte 12 of x (`input` in the kernel) on in block 1, which is "
         "not a multiple of 16.",
         "an address that is a multiple of 16"),
        (Undefined(what="shared", kernel="k", line=2, tensor="tile", element=31, programs=[(0, 0, 0)]),
         "Threads of block 0 use one element of the shared array", "Call __syncthreads()"),
        (Undefined(what="divergent", kernel="k", line=2, programs=[(2, 1, 0)]),
         "not reached by all threads of block (2, 1)", "Take __syncthreads() out of the `if`"),
        (Race(kernel="k", line=2, tensor="out", given="out", element=5, programs=((0, 0, 0), (1, 0, 0)), certain=True),
         "Blocks 0 and 1 store different values to element 5 of out", "blockIdx.x * blockDim.x + threadIdx.x"),
    ]
    for finding, message, hint in cases:
        told = explain_findings(CUDA, "\n\n", [finding])
        assert told is not None and message in told.message and hint in told.hint, told


IN_TURN = """__shared__ float tile[2][256], sum;
for (int k = 0; k < n; ++k) {
    tile[use][t] = x[k];
    __syncthreads();
    y[k] = tile[use][255 - t];
    use = 1 - use;
}
sum = y[0];
tile[0][t] = sum;
total [0] += tile[0][t];
"""
ONCE = """__global__ void once(const float *x, float *y) {
    __shared__ float tile[256], sum;
    for (int k = 0; k < n; ++k) z += x[k]; { tile[t] = x[t];
    y[t] = tile[255 - t] + sum; }
}
"""
ROUNDS = """__shared__ float sum[256];
for (int k = 0; k < n; ++k) {
    sum[t] = x[k];
    __syncthreads();
    z[k] = sum[0];
}
"""
PREFETCHED = IN_TURN.replace("    tile[use][t] = x[k];\n", "    tile[use][t] = x[k]; tile[next][t] = 0;\n")


@each_row(("source", "tensor", "line", "message", "hint"), [
    (PREFETCHED, "tile", 5, "use one element of the shared array `tile` in line 5",
     "Line 3 stores to `tile[use]`, and line 5 loads from `tile[use]`: both use the same stage of the array."),
    (PREFETCHED, "tile", 3, "in line 3", "Line 3 stores to `tile[use]`, and line 5 loads"),
    # It is filled and used in turn.
    (IN_TURN, "tile", 5, "in line 5", "where all threads of the block reach it. Call it once more"),
    (IN_TURN, "tile", 9, "`tile` in line 5 and in line 9 at", "Call __syncthreads() after line 5"),
    (ROUNDS, "sum", 3, "`sum` in line 5 and in line 3 at", "after line 5, where all threads reach it, and before "
                                                           "line 3 of the next iteration."),
    # Two lines load what line 3 stores: either may be meant.
    (ROUNDS.replace("z[k]", "y[k] = sum[t];\n    z[k]"), "sum", 3, "`sum` in line 3 at", "Call it once more"),
    (ONCE, "tile", 3, "in line 3", "where all threads of the block reach it."),
    (ONCE.replace("__global__", "__device__"), "tile", 3, "in line 3", "reach it. Call it once more"),
    (IN_TURN, "sum", 8, "use the shared variable `sum` in line 8", "where all threads of the block reach it."),
    (IN_TURN, "total", 10, "in line 10", "use atomicAdd"),
])
def test_the_file_tells_more_of_a_race_in_shared_memory(
    source: str, tensor: str, line: int, message: str, hint: str,
) -> None:
    told = explain_findings(CUDA, source, [Undefined(what="shared", kernel="k", line=line, tensor=tensor)])
    assert told is not None and message in told.message and hint in told.hint
    assert "once more" in hint or "once more" not in told.hint


def test_what_stops_a_call() -> None:
    stalled = explain_stop(CUDA, "", Exhausted(seq=0, what="stalled", kernel="k", resident=264))
    assert "its blocks wait for each other" in stalled.message and "launch no more blocks" in stalled.hint
    large = explain_stop(CUDA, "", GridTooLarge("k", 2, "y", 70000, 65535))
    assert "asks for 70,000 blocks along y" in large.message and "each block work on a larger part" in large.hint


@each_row(("tile", "lanes", "live", "joined"), [
    # A float4 of each thread is one tile of all.
    ([256, 4], [4, 1], [64, 4], ([1024], [1], [256])),
    # Of one thread that takes part it is not known how far it is from the next.
    ([256, 4], [0, 1], [1, 4], ([1024], [1], [4])),
    ([8, 32, 2], [64, 2, 1], [8, 32, 2], ([8, 64], [64, 1], [8, 64])),
    # Rows of a matrix are not.
    ([16, 16], [16, 1], [16, 16], ([16, 16], [16, 1], [16, 16])),
    ([8, 4], [9, 1], [5, 4], ([8, 4], [9, 1], [5, 4])),
    ([256], [1], [45], ([256], [1], [45])),
])
def test_what_a_thread_takes_at_once_lies_in_a_row(
    tile: list[int], lanes: list[int], live: list[int], joined: tuple[list[int], ...],
) -> None:
    access = Access(
        access="load", kernel="k", line=2, tensor="input", buffer=0, grid=(2, 1, 1), tile=tile, first=0,
        lanes=list(lanes), programs=(1024, None, None), even=True, step=None, times=1, live=live, last=live)
    found, several = TensorAccess.of_threads(access)
    assert several == (1 if found.tile == tile else tile[-1])
    assert (found.tile, found.lanes, found.live) == joined


def test_a_thread_may_have_a_part_for_itself() -> None:
    # Each of 256 threads has 17 of 4,099 elements: a loop that the compiler unrolled by 4 goes over 16 of them.
    access = Access(
        access="load", kernel="k", line=2, tensor="weight", buffer=1, grid=(3, 1, 1), tile=[256], first=0,
        lanes=[17], programs=(None, None, None), even=True, step=4, times=4, live=[256], last=[256])
    layout = Layout(name="weight", is_output=False, down="", across="cols", rows=1, columns=4099)
    for suffix, told in ((".cu", False), (".py", True)):
        words = languages.by_suffix(suffix).phrases
        found = misplaced([TensorAccess(access, layout, {"cols": 4099}, 5, "", words)])
        assert (found is not None and "neighbour" in found.text(words)) == told
        # A lane takes four elements in four rounds, as Gluon's layouts give them.
        four = access.model_copy(update={"lanes": [4], "step": 1})
        assert misplaced([TensorAccess(four, layout, {"cols": 4099}, 5, "", words)]) is None


def test_memory_without_room_for_one_element() -> None:
    found = explain_findings(CUDA, "\n\n", [OUTSIDE.model_copy(update={
        "access": "atomic", "tensor": "sum", "given": "", "elements": 0, "lowest": 0, "highest": 0, "lanes": 1,
        "active": 1, "masked": True})])
    assert found is not None and "of the type that the kernel uses" in found.hint


def test_copies_past_the_end_in_words_of_pointers() -> None:
    found = explain_stop(CUDA, "", BeyondBuffer("out", 10, 128))
    assert found.message == "The copy or fill in line 10 goes on for 128 bytes after the end of output."
    assert "a pitch of its own" in found.hint
