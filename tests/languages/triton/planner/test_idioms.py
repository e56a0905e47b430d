"""Host code that people write around a kernel: each plans, and its launch is in the plan."""

import textwrap

import pytest

from grader.plan.plan import Fill, Launch, Plan
from tests.languages.triton.planner.harness import answer
from tests.rows import beside

DATA = beside(__file__)
KERNEL: str = DATA["kernel"]
FILES = {name: "def silu(x, out):\n" + textwrap.indent(body, "    ") for name, body in DATA["bodies"].items()}
FILES |= DATA["files"]


@pytest.mark.parametrize("rest", FILES.values(), ids=FILES)
def test_an_idiom_plans(rest: str) -> None:
    assert any(isinstance(operation, Launch) for operation in answer(Plan, KERNEL + rest).first)


def test_fills_are_written_down_as_they_were_asked_for() -> None:
    fill = answer(Plan, KERNEL + "def silu(x, out):\n    out[1:, ::2] = 7\n").first[0]
    assert isinstance(fill, Fill)
    view = fill.target
    assert (fill.value, fill.line) == (7.0, 16)
    assert (view.buffer, view.offset, view.shape, view.strides) == (1, 9 * 4, [4, 5], [9, 2])
