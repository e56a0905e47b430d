"""Plans of calls that come after one with other sizes: what that has left behind is theirs."""

import pytest

from grader.judging.plans.rules import check
from grader.languages.cuda.confined.planner.memories import Memories, RecordedMemory
from grader.plan.messages import Failed
from grader.plan.plan import Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import DEVICE, File, column, elementwise

pytestmark = needs_nvcc
SMALL, LARGE = 7, 1000

FILE = File("earlier", "nothing_kept", elementwise(SMALL))
COLUMNS = File("earlier", "column_kept", column(SMALL, 3))


@pytest.mark.parametrize(("symbol", "setup", "first", "kept"), [
    ("of_the_first_call", "", "launch launch", [4 * SMALL]),
    ("grows", "", "launch launch", []),
    ("by_size", "", "launch launch", []),
    ("large_enough", "", "launch launch launch", [1 << 20, 1 << 20]),
    ("symbol_once", "fill data", "launch", [16]),
    ("sizes_once", "fill data", "launch", [16]),
    ("prepared_once", "data launch", "launch", [16]),
    # Of a call on its own: in an earlier one, it was given other memory.
    ("input_kept", "", "launch", []),
    ("nothing_kept", "", "launch", []),
    ("fails_when_small", "", "launch", []),
])  # fmt: skip
def test_memory_that_an_earlier_call_keeps(symbol: str, setup: str, first: str, kept: list[int]) -> None:
    small, large = FILE.plans(symbol, elementwise(SMALL), elementwise(LARGE))
    assert isinstance(small, Failed if symbol == "fails_when_small" else Plan), small
    assert isinstance(large, Plan), large
    assert not check(large, elementwise(LARGE), device=DEVICE, copies=False)
    assert " ".join(operation.op for operation in large.setup) == setup
    assert " ".join(operation.op for operation in large.first) == first
    assert [buffer.bytes for buffer in large.buffers if buffer.kept] == kept


def test_contents_of_an_earlier_calls_sizes_are_stale() -> None:
    for symbol, lines in (("sizes_once", [FILE.line("cudaMemcpyToSymbol", "sizes_once")]), ("symbol_once", [])):
        small, large = FILE.plans(symbol, elementwise(SMALL), elementwise(LARGE))
        assert isinstance(small, Plan) and isinstance(large, Plan)
        assert (small.stale, large.stale) == ([], lines)


def test_kept_memory_has_the_line_that_took_it() -> None:
    _, found = FILE.plans("of_the_first_call", elementwise(SMALL), elementwise(LARGE))
    assert isinstance(found, Plan)
    (kept,) = (buffer for buffer in found.buffers if buffer.kept)
    assert kept.line == FILE.line("cudaMalloc(", "of_the_first_call")
    # The same sizes again: as if nothing had been before.
    _, found = FILE.plans("of_the_first_call", elementwise(SMALL), elementwise(SMALL))
    assert isinstance(found, Plan) and not any(buffer.kept for buffer in found.buffers)


def test_pinned_memory_of_a_smaller_call_is_too_small() -> None:
    small, large = COLUMNS.plans("pinned_of_the_first_call", column(SMALL, 3), column(LARGE, 3), copies=True)
    assert isinstance(small, Plan), small
    assert isinstance(large, Failed), large
    assert (large.failure, large.line) == ("exception", FILE.line("cudaMemcpy", "pinned_of_the_first_call"))
    assert large.message == (f"host code writes past the end of pinned memory, which has {4 * SMALL} bytes, after a "
                             "call with other sizes")


@pytest.mark.parametrize("symbol", ["pinned_large_enough", "column_kept"])
def test_what_host_code_keeps_of_inputs_is_planned_without_an_earlier_call(symbol: str) -> None:
    _, found = COLUMNS.plans(symbol, column(SMALL, 3), column(LARGE, 3), copies=True)
    (alone,) = COLUMNS.plans(symbol, column(LARGE, 3), copies=True)
    assert isinstance(found, Plan) and found == alone


def test_addresses_are_those_of_the_newest_memory_there() -> None:
    memories = Memories()
    for base, size in ((0x7000, 0x1000), (0x9000, 0x1000), (0x5000, 0x2800), (0xC000, 0)):
        memories.take(RecordedMemory(len(memories.all), base, size, "host"))
    found = [memories.find(address) for address in (0x5000, 0x7000, 0x77FF, 0x7900, 0x9000, 0xC000)]
    assert [memory and memory.number for memory in found] == [2, 2, 2, None, 1, 3]
