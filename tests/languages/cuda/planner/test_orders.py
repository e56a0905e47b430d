"""Host inputs may be read in any order: pages of tokens are filled as host code touches them."""

import pytest

from grader.judging.plans.rules import check
from grader.plan.messages import Failed, Given
from grader.plan.plan import Copy, Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import DEVICE, File, column, size, tensor

pytestmark = needs_nvcc

ORDERS = ["up", "down", "twice_down", "down_and_up", "both_ends", "odd_rows_down", "sevenths_down", "blocks_down",
          "any_order", "by_threads"]  # fmt: skip
# Rows of bytes, of less than a page, of a page, of pages.
SHAPES = [(4099, 8), (64, 64), (31, 1031), (300, 1024), (300, 8192)]
N = 100_000
VECTORS: list[Given] = [
    tensor("x", N, place="host"), tensor("y", N, place="host"), tensor("out", 2 * N, output=True), size("n", N)]
FILE = File("orders", "up", column(*SHAPES[0]))
TWO = File("orders", "two_vectors", VECTORS)


@pytest.mark.parametrize("order", ORDERS)
def test_rows_may_be_read_in_any_order(order: str) -> None:
    found = FILE.plans(order, *(column(*shape) for shape in SHAPES), copies=True)
    for (rows, cols), one in zip(SHAPES, found, strict=True):
        assert isinstance(one, Plan), (rows, cols, one)
        gather, copy = one.first
        assert isinstance(gather, Copy) and isinstance(copy, Copy)
        assert (gather.source.offset, gather.source.shape, gather.source.strides) == (0, [rows], [cols])
        assert gather.target.buffer == copy.source.buffer and not gather.backwards


def test_two_host_vectors_may_be_read_side_by_side() -> None:
    found = TWO.plan("two_vectors", copies=True)
    assert isinstance(found, Plan), found
    assert [(one.source.buffer, one.source.shape) for one in found.first if isinstance(one, Copy)] == [
        (0, [N]), (1, [N]), (3, [2 * N])]


def test_pages_are_taken_away_where_no_mapping_is_left() -> None:
    found = FILE.plan("few_mappings", column(300, 8192), copies=True)
    assert isinstance(found, Plan) and len(found.first) == 2, found
    none = FILE.plan("no_mappings", column(300, 8192), copies=True)
    assert isinstance(none, Failed)
    assert (none.failure, none.message) == (
        "out_of_memory", "host code has taken so much memory that none is left to read `matrix` in")


@pytest.mark.parametrize(("symbol", "rows", "shape", "strides", "backwards"), [
    ("reversed", 200_003, [200_003], [8], [0]),
    ("pairs_reversed", 1000, [500, 2], [16, 1], [0]),
    ("turned_pairs", 300, [100, 3], [8, 1], [1]),
    ("reversed", 2, [1], [0], []),
])  # fmt: skip
def test_a_gather_backwards_is_one_copy(
    symbol: str, rows: int, shape: list[int], strides: list[int], backwards: list[int]
) -> None:
    found = FILE.plan(symbol, column(rows, 8), copies=True)
    assert isinstance(found, Plan), found
    gather = found.first[0]
    assert isinstance(gather, Copy)
    assert (gather.source.shape, gather.source.strides, gather.backwards) == (shape, strides, backwards)
    assert gather.source.offset == (0 if rows > 2 else 32)
    assert not check(found, column(rows, 8), device=DEVICE, copies=True)
