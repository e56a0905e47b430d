"""Plans of host code that reads a host input: what it gathers becomes copies, and it may do nothing else with it."""

from collections.abc import Sequence

import pytest

from grader.judging.plans.rules import check
from grader.languages.cuda.confined.planner.tokens import TokenSource
from grader.plan.messages import Failed, Refused
from grader.plan.plan import Copy, Fill, Launch, Operation, Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import DEVICE, File, column
from tests.rows import beside

DATA = beside(__file__)
ROWS, COLS = 96, 2048

FILE = File("first_column", "vector", column(ROWS, COLS))


def outcome(symbol: str, rows: int = ROWS, cols: int = COLS) -> Plan | Refused | Failed:
    found = FILE.plan(symbol, column(rows, cols), copies=True)
    assert isinstance(found, Plan | Refused | Failed)
    return found


def told(operations: Sequence[Operation]) -> list[str]:
    """Copies as `0+4[96:2048] -> 2`: buffers, offsets in bytes, extents and strides in elements; others as words."""

    def view(one: Copy, which: str) -> str:
        of = one.source if which == "source" else one.target
        sizes = ",".join(f"{size}:{stride}" for size, stride in zip(of.shape, of.strides, strict=True))
        return f"{of.buffer}{f'+{of.offset}' if of.offset else ''}[{sizes}]"

    return [f"{view(one, 'source')} -> {view(one, 'target')}" if isinstance(one, Copy) else one.op
            for one in operations]


STAGED = [f"0[{ROWS}:{COLS}] -> 2[{ROWS}:1]", f"2[{ROWS}:1] -> 1[{ROWS}:1]"]


@needs_nvcc
@pytest.mark.parametrize(("symbol", "expected"), [
    ("rows_at_once", [f"0[{ROWS}:{COLS},1:1] -> 1[{ROWS}:1,1:1]"]),
    ("vector", STAGED),
    ("by_threads", STAGED),
    ("pinned", STAGED),
    ("in_chunks", [line for part in range(3) for line in (
        f"0{f'+{part * 32 * COLS * 4}' if part else ''}[32:{COLS}] -> 2{f'+{part * 128}' if part else ''}[32:1]",
        f"2{f'+{part * 128}' if part else ''}[32:1] -> 1{f'+{part * 128}' if part else ''}[32:1]")]),
    ("pinned_kept", [STAGED[0], "launch"]),
    ("whole", [f"0[{ROWS * COLS}:1] -> 2[{ROWS * COLS}:1]", "launch"]),
    ("whole_by_the_host", [f"0[{ROWS * COLS}:1] -> 2[{ROWS * COLS}:1]",
                           f"2[{ROWS * COLS}:1] -> 3[{ROWS * COLS}:1]", "launch"]),
    ("two_columns", [f"0[{ROWS}:{COLS},2:1] -> 2[{ROWS}:2,2:1]", f"2[{2 * ROWS}:1] -> 3[{2 * ROWS}:1]", "launch"]),
    ("whole_pinned", [f"0[{ROWS * COLS}:1] -> 2[{ROWS * COLS}:1]", f"2[{ROWS}:{COLS},1:1] -> 1[{ROWS}:1,1:1]"]),
    ("wide", [f"0[{ROWS}:{COLS},40:1] -> 2[{ROWS}:40,40:1]", f"2[{40 * ROWS}:1] -> 3[{40 * ROWS}:1]", "launch"]),
    ("half_constant", [f"0[{ROWS // 2}:{COLS}] -> 2[{ROWS // 2}:1]", "fill", STAGED[1]]),
])  # fmt: skip
def test_what_is_gathered_becomes_copies(symbol: str, expected: list[str]) -> None:
    found = outcome(symbol)
    assert isinstance(found, Plan), found
    assert told(found.first) == expected
    assert not check(found, column(ROWS, COLS), device=DEVICE, copies=True)


@needs_nvcc
def test_walks_meet_what_lies_between_the_pages_of_others() -> None:
    found = outcome("in_walks", 300, 8192)
    assert isinstance(found, Plan), found
    assert told(found.first) == [
        "0[2:1024,300:8192] -> 2[2:300,300:1]", "0[300:8192] -> 2+2400[300:1]", "2[900:1] -> 3[900:1]", "launch"]


@needs_nvcc
@pytest.mark.parametrize(("symbol", "place"), [("vector", "host"), ("pinned", "pinned"), ("whole", "device")])
def test_memory_in_between_is_where_the_student_put_it(symbol: str, place: str) -> None:
    found = outcome(symbol)
    assert isinstance(found, Plan) and found.buffers[2].place == place


@needs_nvcc
def test_pieces_in_a_loop_stay_pieces() -> None:
    found = outcome("one_by_one")
    assert isinstance(found, Plan) and len(found.first) == ROWS
    assert told(found.first)[1] == f"0+{4 * COLS}[1:1] -> 1+4[1:1]"
    through = outcome("by_a_variable")
    assert isinstance(through, Plan) and len(through.first) == 2 * ROWS and len(through.buffers) == 3


@needs_nvcc
def test_pieces_beyond_a_plan_are_copied_together() -> None:
    found = outcome("one_by_one", 20_000, 3)
    assert isinstance(found, Plan)
    assert told(found.first) == ["0[20000:3,1:1] -> 1[20000:1,1:1]"]
    assert not check(found, column(20_000, 3), device=DEVICE, copies=True)


@needs_nvcc
def test_a_second_call_has_numbers_of_its_own() -> None:
    found = outcome("pinned_kept")
    assert isinstance(found, Plan) and found.steady is not None
    assert told(found.steady) == told(found.first) and not any(isinstance(one, Fill) for one in found.steady)


@needs_nvcc
@pytest.mark.parametrize(("symbol", "problem"), [
    ("to_a_kernel", "HostMemory"), ("vector_to_a_kernel", "HostMemory"), ("past_the_end", "BeyondBuffer")])
def test_what_a_gpu_cannot_do_is_the_judges_to_say(symbol: str, problem: str) -> None:
    found = outcome(symbol)
    assert isinstance(found, Plan), found
    (first, *_) = check(found, column(ROWS, COLS), device=DEVICE, copies=True)
    assert type(first).__name__ == problem
    assert any(isinstance(operation, Launch | Copy) for operation in found.first)


@needs_nvcc
@pytest.mark.parametrize(("symbol", "why", "operator", "line"), DATA["refused"])
def test_numbers_may_be_moved_alone(symbol: str, why: str, operator: str, line: str) -> None:
    found = outcome(symbol)
    assert isinstance(found, Refused), found
    assert (found.why, found.operator) == (why, operator), found
    assert found.line == FILE.line(line, symbol), found
    assert found.traceback.startswith(f"line {found.line}: ")


@needs_nvcc
def test_what_differs_by_chance_is_not_called_a_value() -> None:
    found = outcome("draws_lots")
    assert isinstance(found, Failed), found
    assert (found.failure, found.message) == (
        "exception", "host code asks the GPU for something else each time it is called, with the same arguments")


@needs_nvcc
def test_a_copy_in_the_wrong_direction_says_where_memory_is() -> None:
    found = outcome("wrong_way")
    assert isinstance(found, Failed)
    assert (found.failure, found.message) == (
        "exception", "cudaMemcpy: its source `h_A` is host memory, and this copy reads from the GPU's")


@needs_nvcc
@pytest.mark.parametrize(("symbol", "rows", "at", "message"), DATA["fails"])
def test_mistakes_with_sizes_break_no_rule(symbol: str, rows: int, at: str, message: str) -> None:
    found = outcome(symbol, rows, 3)
    assert isinstance(found, Failed), found
    assert (found.failure, found.message, found.line) == ("exception", message, FILE.line(at, symbol))


@pytest.mark.parametrize("size", [4, 1 << 20, 1 << 29, (1 << 31) + 4])
def test_a_token_tells_its_place(size: int) -> None:
    numpy = pytest.importorskip("numpy")
    source = TokenSource(0, 0, 0, size)
    words = numpy.array([0x3F800000, 0x7FC00000, 0, 0xFFFFFFFF], numpy.uint32)
    places = source.places(words, 1232)
    assert (places[1:] == -1).all()
    assert -1 <= places[0] < max(size // 4, 1024)
