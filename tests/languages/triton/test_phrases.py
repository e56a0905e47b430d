"""What the text of a file in Triton adds to what was seen of its kernels."""

import re

import pytest
from triton.experimental.gluon import language as gl

from grader.judging.explain.wording import say
from grader.languages.triton.phrases import PHRASES
from tests.languages.outside import outside
from tests.rows import beside, each_row
from tests.sentences import printed

DATA = beside(__file__)
KERNEL = """@triton.jit
def k(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 4 * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    for number in range(4):
        tl.store(x + at, 0.0, mask=mask)
        at += BLOCK
"""


@each_row(("before", "after", "said"), DATA["masks"])
def test_a_mask_that_stays_while_its_loop_moves_on(before: str, after: str, said: str) -> None:
    source = KERNEL.replace(before, after)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "tl.store" in text)
    slip = PHRASES.outside(source, outside(line))
    assert said in say(PHRASES, slip.seen) if said and slip else slip is None and not said, slip


def test_a_mask_of_another_function_is_not_this_one() -> None:
    source = "def other(at, n):\n    mask = at < n\n\n\n" + KERNEL.replace("    mask = at < n\n", "")
    assert PHRASES.outside(source, outside(9)) is None
    assert PHRASES.outside(source.replace("x, n", "x, n, mask"), outside(9)) is None


@pytest.mark.parametrize(("compared", "advice"), [
    ("at < n", "Compute `mask` anew in each iteration, before line 6."),
    ("tl.arange(0, BLOCK)[:, None] < n", "Compare what moves on, too: `at`."),
])
def test_a_mask_of_what_stays_is_not_computed_anew(compared: str, advice: str) -> None:
    slip = PHRASES.outside(KERNEL.replace("mask = at < n", f"mask = {compared}"), outside(6))
    assert slip and say(PHRASES, slip.advice) == advice, slip


@pytest.mark.parametrize(("loop", "empty"), DATA["loops"])
def test_a_loop_that_makes_no_round_is_seen(loop: str, empty: bool) -> None:
    slips = list(PHRASES.slips(KERNEL.replace("range(4)", loop)))
    assert [slip.line for slip in slips] == [5] * empty, slips
    assert not empty or f"makes no iteration: {loop} is empty" in say(PHRASES, slips[0].seen)


def test_sentences_about_gluon_name_what_gluon_has() -> None:
    text = printed(PHRASES.dialects["triton.experimental"])
    # Later versions call thread_barrier barrier.
    named = set(re.findall(r"\bgl\.(\w+)", text)) - {"barrier", "thread_barrier"}
    assert {"load", "store", "program_id"} <= named <= set(dir(gl))
    # Block pointers are Triton's alone.
    assert set(re.findall(r"\btl\.\w+", text)) == {"tl.make_tensor_descriptor"}
