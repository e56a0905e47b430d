"""Plans of host code: what it may ask for, and in which operations that ends."""

from collections.abc import Sequence

import pytest

from grader.home import ROOT
from grader.judging.plans.rules import check
from grader.plan.device import TARGETS, with_features
from grader.plan.messages import Answers, Given, Resources, kernel_key
from grader.plan.plan import Copy, Data, Fill, Integer, Launch, Operation, Plan, Pointer, Structure
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import (
    DEVICE,
    File,
    build,
    contents_of,
    elementwise,
    plan,
    size,
    tensor,
)
from tests.rows import beside

DATA = beside(__file__)
pytestmark = needs_nvcc
SIZE = 1000

FILE = File("calls", "plain", elementwise(SIZE))


def planned(symbol: str, *, copies: bool = False, answers: Answers | None = None) -> Plan:
    """The plan of a function, which the judge takes."""
    found = FILE.plan(symbol, copies=copies, answers=answers)
    assert isinstance(found, Plan), found
    assert not check(found, elementwise(SIZE), device=DEVICE, copies=copies)
    return found


def words(operations: Sequence[Operation]) -> str:
    return " ".join(operation.op for operation in operations)


@pytest.mark.parametrize(("symbol", "copies", "first", "steady"), DATA["operations"])
def test_host_code_asks_for_operations(symbol: str, copies: bool, first: str, steady: str) -> None:
    found = planned(symbol, copies=copies)
    assert words(found.first) == first
    assert words(found.steady or []) == steady and (found.steady is None) == (not steady)


def test_a_launch_has_the_students_names_lines_and_numbers() -> None:
    found = planned("plain")
    assert [(buffer.given, buffer.bytes, buffer.place) for buffer in found.buffers] == [
        ("x", 4 * SIZE, "device"), ("out", 4 * SIZE, "device")]
    (kernel,), (launch,) = found.kernels, found.first
    assert isinstance(launch, Launch)
    assert (kernel.language, kernel.name, kernel.line) == ("cuda", "scale", FILE.line("__global__ void scale"))
    assert (launch.grid, launch.block, launch.line) == ((4, 1, 1), (256, 1, 1), FILE.line("void plain"))
    assert launch.arguments == [Pointer(buffer=0), Pointer(buffer=1), Integer(type="u32", value=SIZE)]


def test_a_structure_has_pointers_and_nothing_of_what_was_in_memory() -> None:
    first, second = (operation.arguments[0] for operation in planned("halves").first if isinstance(operation, Launch))
    assert isinstance(first, Structure) and isinstance(second, Structure)
    assert [(one.at, one.buffer, one.offset) for one in second.pointers] == [(0, 0, 2 * SIZE), (8, 1, 2 * SIZE)]
    assert first.contents == second.contents


def test_memory_of_an_earlier_call_is_named_as_it_was() -> None:
    found = planned("kept")
    temporary = found.buffers[2]
    assert temporary.line == FILE.line("if (!t) cudaMalloc") and not temporary.kept
    assert found.steady == found.first and len(found.buffers) == 3


def test_variables_are_buffers_with_their_first_contents() -> None:
    found = planned("symbol_address")
    (launch,) = (operation for operation in found.first if isinstance(operation, Launch))
    total, table = (argument.buffer for argument in launch.arguments[2:] if isinstance(argument, Pointer))
    assert [(found.buffers[one].bytes, found.buffers[one].kept) for one in (total, table)] == [(4, True), (16, True)]
    initial = {operation.buffer: operation for operation in found.setup if isinstance(operation, Data)}
    assert initial[table].contents == "AACAPwAAAEAAAEBAAACAQA=="
    assert [operation.target.buffer for operation in found.setup if isinstance(operation, Fill)] == [total]


def test_options_of_launches() -> None:
    def launch(symbol: str) -> Launch:
        return next(operation for operation in planned(symbol).first if isinstance(operation, Launch))

    # It may begin early, and need not.
    assert not launch("extended").programmatic
    assert launch("cooperative").cooperative and launch("cooperative").grid == (2, 1, 1)
    assert launch("shared").shared == 100_000


def test_a_copy_of_rows_keeps_their_distance() -> None:
    _, rows = (operation for operation in planned("copies", copies=True).first if isinstance(operation, Copy))
    assert (rows.source.offset, rows.source.shape, rows.source.strides) == (4, [10, 1], [4, 1])
    assert (rows.target.offset, rows.target.shape, rows.target.strides) == (0, [10, 1], [2, 1])


def test_pinned_memory_holds_what_was_written_since() -> None:
    first, second = (operation for operation in planned("pinned").first if isinstance(operation, Fill))
    assert (first.target.shape, second.target.shape, second.target.offset) == ([2], [1], 4)


def test_an_occupancy_is_a_guess_until_the_kernel_is_compiled() -> None:
    guessed = planned("occupied")
    assert guessed.resource_queries == [0]
    known = Answers(resources={kernel_key(guessed.kernels[0]): Resources(registers=64, spills=0, shared=0)})
    told = planned("occupied", answers=known)
    assert told.resource_queries == []
    first, second = guessed.first[0], told.first[0]
    assert isinstance(first, Launch) and isinstance(second, Launch)
    assert (first.grid, second.grid) == ((2 * 132, 1, 1), (132, 1, 1))


def test_calls_of_several_cases_know_of_the_first_alone() -> None:
    cases = [elementwise(size) for size in (5, 300, 7)]
    found = FILE.plans("kept", *cases)
    assert [one.buffers[2].bytes for one in found if isinstance(one, Plan)] == [4 * 5] * 3


def test_the_builder_finds_the_function_and_the_names_of_its_parameters() -> None:
    found = contents_of(FILE.built)
    assert found.symbol == "plain"
    assert [(parameter.name, parameter.type) for parameter in found.parameters] == [
        ("input", "pointer"), ("output", "pointer"), ("n", "int")]
    assert {entry.name for entry in found.entries} == {"scale", "paired", "add", "tiled", "bounded<64>"}


@pytest.mark.parametrize(("target", "sizes", "kernel", "blocks"), [
    ("sm_90", (4096, 4096, 512), "hopper_kernel", 132), ("sm_90", (4096, 4097, 512), "gemm_kernel", 4160),
    ("sm_80", (4096, 4096, 512), "gemm_kernel", 512), ("sm_100", (4096, 4096, 512), "gemm_kernel", 512),
    ("sm_121", (4096, 4096, 512), "gemm_kernel", 4096)])
def test_code_for_one_generation_alone(target: str, sizes: tuple[int, int, int], kernel: str, blocks: int) -> None:
    """The reference's kernel for Hopper is there if it was compiled for Hopper, with features that no later GPU has."""
    rows, columns, inner = sizes
    given: list[Given] = [
        tensor("a", rows, inner, dtype="float16"), tensor("b", inner, columns, dtype="float16"),
        tensor("out", rows, columns, dtype="float16", output=True),
        *(size(name, value) for name, value in zip("MNK", sizes, strict=True))]
    source = (ROOT / "reference/cuda/gemm.cu").read_text(encoding="utf-8")
    made = build(source, "gemm", given, TARGETS[target])
    assert isinstance(made, bytes), made
    (found,) = plan(made, given, device=TARGETS[target], text=source)
    assert isinstance(found, Plan), found
    (launch,) = (operation for operation in found.first if isinstance(operation, Launch))
    name = found.kernels[launch.kernel].name.partition("<")[0]
    assert (name, launch.grid) == (kernel, (blocks, 1, 1))
    assert f".target {with_features(target)}\n" in found.kernels[launch.kernel].text


STREAMS = File("streams", "events", elementwise(64))


@pytest.mark.parametrize(("symbol", "after"), [
    ("events", [None, [], [0], [0, 1], [0], None]),
    ("default_stream", [None, None, None, [], [2], [4], [4], [3]]),
    ("pinned", [None, None, [0], None, None, None, [4], [6], [7], [5, 7], None]),
    ("graph", [None, [], [1], [1], [2, 3], [0]]),
])
def test_an_operation_follows_what_something_orders(symbol: str, after: list[list[int] | None]) -> None:
    found = STREAMS.plan(symbol, copies=True)
    assert isinstance(found, Plan), found
    assert [operation.after for operation in found.first] == after
    assert found.steady is None
