"""What the text of a file in Triton adds to what was seen of its kernels."""

import re

import pytest
from triton.experimental.gluon import language as gl

from grader.judging.explain.wording import say
from grader.languages.triton.phrases import PHRASES
from tests.languages.outside import outside
from tests.rows import each_row
from tests.sentences import printed

KERNEL = """@triton.jit
def k(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 4 * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    for number in range(4):
        tl.store(x + at, 0.0, mask=mask)
        at += BLOCK
"""


@each_row(("before", "after", "said"), [
    ("", "", "Line 4 computes `mask` once, before the loop, and `at` moves on in each iteration."),
    ("mask=mask", "mask", "Line 4 computes `mask` once"),
    ("x + at, 0.0, mask=mask", "\n            x + at, 0.0,\n            mask=mask", "Line 4 computes `mask` once"),
    ("mask=mask", "mask=tl.arange(0, BLOCK) < n", "line 6 compares nothing that the loop changes, and `at` moves on"),
    ("        tl.store", "        mask = number < 2\n        tl.store", ""),
    ("mask=mask", "mask=at < n", ""),
    ("mask=mask", "mask=mask & (number < 2)", ""),
    (", mask=mask", "", ""),
    ("at += BLOCK", "pass", ""),
    ("tl.store(x + at, 0.0, mask=mask)", "tl.store(x + at, 0.0, mask=mask); tl.store(x + at, 0.0, mask=mask)", ""),
    ("mask=mask)", "mask=mask", ""),
    ("for number in range(4):", "if n:", ""),
    # What is not read whole: several lines, several targets, several statements.
    ("        tl.store", "        mask = (\n            at < n\n        )\n        tl.store", ""),
    ("        tl.store", "        mask = n > \\\n            at\n        tl.store", ""),
    ("        tl.store", "        mask &= at < n\n        tl.store", ""),
    ("        tl.store", "        mask %= at\n        tl.store", ""),
    ("        tl.store", "        mask |= at < n\n        tl.store", ""),
    ("        tl.store", "        mask <<= at\n        tl.store", ""),
    ("        tl.store", "        mask >>= at\n        tl.store", ""),
    ("        tl.store", "        mask = at < n\n        mask = mask & (n > 2)\n        tl.store", ""),
    ("        tl.store", "        left, right = n - at, n\n        mask = left > 0\n        tl.store", ""),
    ("        tl.store", "        (left, right) = n - at, n\n        mask = left > 0\n        tl.store", ""),
    ("        tl.store", "        left: tl.tensor = n - at\n        mask = left > 0\n        tl.store", ""),
    ("        tl.store", "        last = mask = at < n\n        tl.store", ""),
    ("        tl.store", "        if n: mask = at < n\n        tl.store", ""),
    ("at += BLOCK", "at += BLOCK; mask = at < n", ""),
    ("    mask = at < n", "    mask = (\n        at < n)", ""),
    ("    mask = at < n", "    mask, last = at < n, 0", ""),
    ("    mask = at < n", "    if n:\n        mask = at < n", ""),
    # A parameter, and another function's mask.
    ("    mask = at < n\n", "", ""),
    ("@triton.jit", "def other(at, n):\n    mask = at < n\n\n\n@triton.jit",
     "Line 8 computes `mask` once, before the loop"),
])
def test_a_mask_that_stays_while_its_loop_moves_on(before: str, after: str, said: str) -> None:
    source = KERNEL.replace(before, after)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "tl.store" in text)
    slip = PHRASES.outside(source, outside(line))
    assert said in say(PHRASES, slip.seen) if said and slip else slip is None and not said, slip


def test_a_mask_of_another_function_is_not_this_one() -> None:
    source = "def other(at, n):\n    mask = at < n\n\n\n" + KERNEL.replace("    mask = at < n\n", "")
    assert PHRASES.outside(source, outside(9)) is None
    assert PHRASES.outside(source.replace("x, n", "x, n, mask"), outside(9)) is None


@pytest.mark.parametrize(("compared", "look"), [
    ("at < n", "Compute `mask` anew in each iteration, before line 6."),
    ("tl.arange(0, BLOCK)[:, None] < n", "Compare what moves on, too: `at`."),
])
def test_a_mask_of_what_stays_is_not_computed_anew(compared: str, look: str) -> None:
    slip = PHRASES.outside(KERNEL.replace("mask = at < n", f"mask = {compared}"), outside(6))
    assert slip and say(PHRASES, slip.look) == look, slip


@pytest.mark.parametrize(("loop", "empty"), [
    ("range(n, 0)", True), ("range(n, 0, BLOCK)", True), ("tl.range(0, n, -1)", True), ("range(4, 4)", True),
    ("range(n, n)", True), ("tl.static_range(0)", True), ("range(8, 2, 2)", True),
    ("range(n)", False), ("range(0, n, BLOCK)", False), ("range(n, 0, -1)", False), ("range(n - 1, -1, -1)", False),
    ("range(n, m)", False), ("range(n, 0, step * -1)", False), ("range(-n, 0)", False), ("range(1, n)", False),
    ("range(tl.cdiv(n, BLOCK))", False), ("range(*bounds)", False), ("range()", False), ("range(1, 2, 3, 4)", False),
    ("range(-4, 0)", False), ("range(0, -4, -1)", False),
])
def test_a_loop_that_makes_no_round_is_seen(loop: str, empty: bool) -> None:
    found = list(PHRASES.slips(KERNEL.replace("range(4)", loop)))
    assert [slip.line for slip in found] == [5] * empty, found
    assert not empty or f"makes no iteration: {loop} is empty" in say(PHRASES, found[0].seen)


def test_sentences_about_gluon_name_what_gluon_has() -> None:
    text = printed(PHRASES.dialects["triton.experimental"])
    # Later versions call thread_barrier barrier.
    named = set(re.findall(r"\bgl\.(\w+)", text)) - {"barrier", "thread_barrier"}
    assert {"load", "store", "program_id"} <= named <= set(dir(gl))
    # Block pointers are Triton's alone.
    assert set(re.findall(r"\btl\.\w+", text)) == {"tl.make_tensor_descriptor"}
