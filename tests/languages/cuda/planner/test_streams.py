"""The operations that those of a plan follow, by what host code asks of streams, events, graphs and pinned memory."""

import pytest

from grader.plan.plan import Plan
from tests.languages.cuda.compiling import needs_nvcc
from tests.languages.cuda.planner.harness import File, elementwise

pytestmark = needs_nvcc
FILE = File("streams", "events", elementwise(64))


@pytest.mark.parametrize(("symbol", "after"), [
    ("events", [None, [], [0], [0, 1], [0], None]),
    ("default_stream", [None, None, None, [], [2], [4], [4], [3]]),
    ("pinned", [None, None, [0], None, None, None, [4], [6], [7], [5, 7], None]),
    ("graph", [None, [], [1], [1], [2, 3], [0]]),
])
def test_an_operation_follows_what_something_orders(symbol: str, after: list[list[int] | None]) -> None:
    found = FILE.plan(symbol, copies=True)
    assert isinstance(found, Plan), found
    assert [one.after for one in found.first] == after
    assert found.steady is None
