"""What the text of a file in Triton adds to what was seen of its kernels."""

from __future__ import annotations

import pytest

from grader.frontends.triton.phrases import PHRASES
from tests.frontends.outside import outside

KERNEL = """@triton.jit
def k(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * 4 * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    for number in range(4):
        tl.store(x + at, 0.0, mask=mask)
        at += BLOCK
"""


@pytest.mark.parametrize(("before", "after", "said"), [
    ("", "", "Line 4 computes `mask` once, before the loop, and `at` moves on in each round."),
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
])
def test_a_mask_that_stays_while_its_loop_moves_on(before: str, after: str, said: str) -> None:
    source = KERNEL.replace(before, after)
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "tl.store" in text)
    slip = PHRASES.outside(source, outside(line))
    assert said in slip.seen if said and slip else slip is None and not said, slip
