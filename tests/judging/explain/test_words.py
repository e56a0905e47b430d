"""The judge's sentences in the terms of each language."""

from typing import Any

import pytest

from grader import languages
from grader.course import catalogue
from grader.course.assignment import Assignment
from grader.judging.explain import explain_findings
from grader.judging.explain.accesses import Layout, TensorAccess, merge_threads, misplaced
from grader.judging.explain.stops import explain_stop
from grader.judging.explain.wording import mistaken, say
from grader.judging.plans.rules import BeyondBuffer, GridTooLarge
from grader.languages.phrases import fact
from grader.plan.findings import Access, Finding, MisalignedAccess, OutOfBounds, Race, UndefinedBehaviour
from grader.plan.messages import Exhausted
from tests.rows import beside, each_row

DATA = beside(__file__)
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
    assert say(cuda, fact("kept.advice"), fact("outside.vector", name="`{program}`", across="N")) == (
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
    detail = explain_findings(assignment, "\n\n", [OUTSIDE])
    assert detail is not None and detail.message.endswith(message) and hint in detail.hint


def test_what_cuda_alone_can_do_wrong() -> None:
    shared = OUTSIDE.model_copy(update={"space": "shared", "tensor": "tile", "given": "", "elements": 32})
    cases: list[tuple[Finding, str, str]] = [
        (shared, "of the shared array `tile`, which has 32: 24 of 256 active threads lie outside in block 3.",
         "as large as what counts in it"),
        (MisalignedAccess(
            access="load", kernel="k", line=2, tensor="input", given="x", bytes=16, offset=12, program=(1, 0, 0)),
         "moves 16 bytes at once, from byte 12 of x (`input` in the kernel) on in block 1, which is "
         "not a multiple of 16.",
         "an address that is a multiple of 16"),
        (UndefinedBehaviour(what="shared", kernel="k", line=2, tensor="tile", element=31, programs=[(0, 0, 0)]),
         "Threads of block 0 use one element of the shared array", "Call __syncthreads()"),
        (UndefinedBehaviour(what="divergent", kernel="k", line=2, programs=[(2, 1, 0)]),
         "not reached by all threads of block (2, 1)", "All threads of the block have to come to it"),
        (Race(kernel="k", line=2, tensor="out", given="out", element=5, programs=((0, 0, 0), (1, 0, 0)), certain=True),
         "Blocks 0 and 1 store different values to element 5 of out", "blockIdx.x * blockDim.x + threadIdx.x"),
    ]
    for finding, message, hint in cases:
        detail = explain_findings(CUDA, "\n\n", [finding])
        assert detail is not None and message in detail.message and hint in detail.hint, detail


IN_TURN: str = DATA["in_turn"]
PREFETCHED = IN_TURN.replace("    tile[use][t] = x[k];\n", "    tile[use][t] = x[k]; tile[next][t] = 0;\n")


@each_row(("source", "tensor", "line", "message", "hint"), [
    (PREFETCHED, "tile", 5, "use one element of the shared array `tile` in line 5",
     "Line 3 stores to `tile[use]`, and line 5 loads from `tile[use]`: both use the same stage of the array."),
    (PREFETCHED, "tile", 3, "in line 3", "Line 3 stores to `tile[use]`, and line 5 loads"),
    # It is filled and used in turn.
    (IN_TURN, "tile", 5, "in line 5", "where all threads of the block reach it."),
    (IN_TURN, "sum", 8, "use the shared variable `sum` in line 8", "where all threads of the block reach it."),
    (IN_TURN, "total", 10, "in line 10", "use atomicAdd"),
])
def test_the_file_tells_more_of_a_race_in_shared_memory(
    source: str, tensor: str, line: int, message: str, hint: str,
) -> None:
    detail = explain_findings(CUDA, source, [UndefinedBehaviour(what="shared", kernel="k", line=line, tensor=tensor)])
    assert detail is not None and message in detail.message and hint in detail.hint


def test_no_barrier_that_threads_miss_explains_a_sum_without_atomics() -> None:
    missed = UndefinedBehaviour(what="divergent", kernel="k", line=4)
    for tensor, line, hint in (("total", 10, "use atomicAdd"), ("sum", 8, "Some threads do not reach")):
        race = UndefinedBehaviour(what="shared", kernel="k", line=line, tensor=tensor)
        detail = explain_findings(CUDA, IN_TURN, [race, missed])
        assert detail is not None and hint in detail.hint


MEETS: str = DATA["meets"]


@each_row(("before", "after", "first", "line", "hint"), [
    ("", "", 5, 7, "Call __syncthreads() after line 5, where all threads reach it, and before line 7."),
    ("", "", 7, 5, "after line 7, where all threads reach it, and before line 5 of the next iteration."),
    ("", "", 6, 6, "Call __syncthreads() after line 6 in each iteration of the loop in line 4"),
    ("", "", 2, 2, "between the store and the load"),
    # A function that is called in the loop stands above it.
    ("", "", 7, 1, "after line 7, where all threads reach it, and before line 1."),
    ("__syncthreads();", 'asm("bar.sync 1, 64;");', 7, 5, "those that load (line 5 or 7) have to meet at one"),
    ("x[k] = s;", "init(x, 8); // cuda::barrier", 5, 7, "Call __syncthreads() after line 5"),
    ("__syncthreads();", "ready.arrive(); // cuda::barrier", 7, 5, "before its own line (5 or 7) each side waits"),
])
def test_two_lines_of_a_race_say_where_a_barrier_belongs(
    before: str, after: str, first: int, line: int, hint: str,
) -> None:
    detail = explain_findings(CUDA, MEETS.replace(before, after), [
        UndefinedBehaviour(what="shared", kernel="k", line=line, earlier=first, tensor="x")])
    lines = f"in line {line} at" if first == line else f"in line {first} and in line {line} at"
    assert detail is not None and lines in detail.message and hint in detail.hint, detail


@each_row(("before", "after", "line", "message", "hint"), [
    ("", "", 8, "The `__syncthreads()` in line 8 is not",
     "stands in the loop in line 4: all threads of the block have to make as many"),
    ("", "", 11, "The `grid.sync()` in line 11 is not",
     "stands under the condition in line 10, where all threads of the grid have to go the same way"),
    ("    float s", "    if (t > n)\n        return; // none\n    float s", 14, "The `block.sync()` in line 14",
     "Threads that return in line 4 never come to it"),
    ("", "", 12, "The `block.sync()` in line 12 is not", "All threads of the block have to come to it, each as often"),
    ("block.sync()", 'asm("bar.sync 1, 64;")', 12, "The barrier by number in line 12 is", "Count the threads that"),
    ("block.sync()", "MEET", 12, "The barrier in line 12 is", "All threads of the block have to come to it"),
])
def test_the_lines_around_a_barrier_say_why_threads_miss_it(
    before: str, after: str, line: int, message: str, hint: str,
) -> None:
    detail = explain_findings(CUDA, MEETS.replace(before, after, 1) if before else MEETS, [
        UndefinedBehaviour(what="divergent", kernel="k", line=line, programs=[(0, 0, 0)])])
    assert detail is not None and message in detail.message and hint in detail.hint, detail


@each_row(("language", "what", "source", "message", "hint"), [
    ("cuda", {"what": "stalled", "ended": 3, "line": 11}, MEETS,
     "wait at `grid.sync()` in line 11, and in 3 of them some threads have ended",
     "It stands under the condition in line 10, where all threads of the grid"),
    ("cuda", {"what": "stalled", "ended": 0, "line": 8}, MEETS, "wait for each other in line 8.",
     "All blocks of a cooperative launch run at the same time"),
    ("cuda", {"what": "endless", "line": 2}, "__shared__ int ready;\nwhile (ready == 0) {}",
     "waits for the shared variable `ready`, which the compiler loads once", "Declare it `volatile`"),
    ("numba", {"what": "endless", "line": 3}, "import numba\nready = cuda.shared.array(1, int32)\nwhile ready[0] == 0:",
     "waits for the shared variable `ready`", "Load it with cuda.atomic.add"),
    ("cuda", {"what": "unmet"}, "mbarrier.try_wait.parity", "for a barrier", "for (round - 1) & 1"),
    ("cuda", {"what": "unmet", "line": 1}, "void meet() { mbarrier(); }\nvoid k() {\n    meet();\n    meet();\n}\n",
     "threads wait in line 1 (called in lines 3 and 4) for", "in each phase as the barrier expects"),
    ("cuda", {"what": "unmet", "line": 2}, "void k() {\n    while (1);\n}\n", "wait in line 2 for",
     "Which thread should change it"),
    ("cuda", {"what": "unmet"}, "cuda::barrier", "for a barrier", "may be a phase ahead of the others."),
])
def test_threads_that_wait_for_ever(
    language: str, what: dict[str, Any], source: str, message: str, hint: str,
) -> None:
    detail = explain_stop(SILU.model_copy(update={"language": language}), source, Exhausted(seq=0, kernel="k", **what))
    assert message in detail.message and hint in detail.hint, detail


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
        lane_strides=list(lanes), program_strides=(1024, None, None), even=True, loop_stride=None, times=1,
        live=live, last=live)
    found, several = merge_threads(access)
    assert several == (1 if found.tile == tile else tile[-1])
    assert (found.tile, found.lane_strides, found.live) == joined


def test_a_thread_may_have_a_part_for_itself() -> None:
    # Each of 256 threads has 17 of 4,099 elements: a loop that the compiler unrolled by 4 goes over 16 of them.
    access = Access(
        access="load", kernel="k", line=2, tensor="weight", buffer=1, grid=(3, 1, 1), tile=[256], first=0,
        lane_strides=[17], program_strides=(None, None, None), even=True, loop_stride=4, times=4, live=[256],
        last=[256])
    layout = Layout(name="weight", is_output=False, down="", across="cols", rows=1, columns=4099)
    for suffix, told in ((".cu", False), (".py", True)):
        words = languages.by_suffix(suffix).phrases
        hint = misplaced([TensorAccess(access, layout, {"cols": 4099}, 5, "", words)])
        assert (hint is not None and "neighbour" in hint.text(words)) == told
        # A lane takes four elements in four rounds, as Gluon's layouts give them.
        four = access.model_copy(update={"lane_strides": [4], "loop_stride": 1})
        assert misplaced([TensorAccess(four, layout, {"cols": 4099}, 5, "", words)]) is None


@pytest.mark.parametrize(("moved", "loop", "said"), [
    (2048, 512, ""), (512, 512, ""), (4096, 512, "covers 512 elements"), (2048, 640, "covers 512 elements")])
def test_accesses_of_a_tensor_cover_what_a_program_takes_together(moved: int, loop: int, said: str) -> None:
    # The first of four tiles is loaded ahead of a loop, and each tile in four instructions.
    ahead = Access(
        access="load", kernel="k", line=2, tensor="x", buffer=0, grid=(3, 1, 1), tile=[128], first=0,
        lane_strides=[1], program_strides=(moved, None, None), even=True, loop_stride=128, times=4, live=[128],
        last=[128])
    looped = ahead.model_copy(update={"line": 5, "first": loop, "times": 12})
    words = languages.by_suffix(".py").phrases
    layout = Layout(name="x", is_output=False, down="", across="n", rows=1, columns=12288)
    hint = misplaced([TensorAccess(access, layout, {"n": 12288}, 9, "", words) for access in (ahead, looped)])
    assert (hint is None) == (not said)
    assert hint is None or said in hint.text(words)


def test_a_row_of_constant_length_has_no_name() -> None:
    access = Access(
        access="store", kernel="k", line=2, tensor="out", buffer=1, grid=(67, 1, 1), tile=[256], first=0,
        lane_strides=[1], program_strides=(4099, None, None), even=True, loop_stride=None, times=1,
        live=[256], last=[256])
    words = languages.by_suffix(".py").phrases
    for across, said in (("256", "(a row has 256)"), ("C", "(a row has C = 256)")):
        layout = Layout(name="out", is_output=True, down="M", across=across, rows=67, columns=256)
        found = misplaced([TensorAccess(access, layout, {"M": 67, "N": 4099}, 5, "", words)])
        assert found is not None and said in found.text(words)


def test_memory_without_room_for_one_element() -> None:
    detail = explain_findings(CUDA, "\n\n", [OUTSIDE.model_copy(update={
        "access": "atomic", "tensor": "sum", "given": "", "elements": 0, "lowest": 0, "highest": 0, "lanes": 1,
        "active": 1, "masked": True})])
    assert detail is not None and "of the type that the kernel uses" in detail.hint


def test_copies_past_the_end_in_words_of_pointers() -> None:
    detail = explain_stop(CUDA, "", BeyondBuffer("out", 10, 128))
    assert detail.message == "The copy or fill in line 10 goes on for 128 bytes after the end of output."
    assert "a pitch of its own" in detail.hint
