"""Whatever host code is refused, its author learns where, why, and what to do in a kernel instead."""

from typing import get_args

from grader.judging.explain import explain_stop
from grader.plan.messages import Refusal, Refused
from tests.judging.toys import SILU
from tests.rows import beside, each_row

SOURCE = "import torch\n\ndef silu(x, out):\n    out.copy_(x * torch.sigmoid(x))\n"

SAID: list[tuple[Refusal, str, str, str]] = beside(__file__)["said"]


@each_row(("why", "operator", "message", "hint"), SAID, ids=[why for why, *_ in SAID])
def test_a_refusal_says_what_was_asked_and_what_to_do(why: Refusal, operator: str, message: str, hint: str) -> None:
    detail = explain_stop(SILU, SOURCE, Refused(seq=1, why=why, operator=operator, line=4, traceback="…"))
    assert detail.kind == "policy" and detail.traceback == "…"
    assert message in detail.message and detail.message.startswith("Line 4 ")
    assert hint in detail.hint
    assert detail.place is not None and detail.place.text == "out.copy_(x * torch.sigmoid(x))"
    assert "{" not in detail.message + detail.hint


def test_there_is_a_sentence_for_every_refusal() -> None:
    assert set(get_args(Refusal)) == {why for why, *_ in SAID}


def test_an_operator_is_quoted_as_code_and_shortened() -> None:
    named = "`{out}" + "x" * 190
    detail = explain_stop(SILU, SOURCE, Refused(seq=1, why="other", operator=named))
    assert "`{out}" + "x" * 75 + "`" in detail.message
    assert detail.message.startswith("The function calls") and detail.place is None
