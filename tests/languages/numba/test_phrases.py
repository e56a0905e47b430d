"""Mistakes that the text of a Numba file shows by itself."""

import pytest

from grader.judging.explain.wording import say
from grader.languages.numba.phrases import PHRASES

KERNEL = """
@cuda.jit
def kernel(x, out):
    acc = cuda.local.array(4, float32)
    {}
    for q in range(4):
        acc[q] += x[q]  # acc[q] = 0 stands nowhere
    out[0] = acc[0]

acc = [0]
acc[0] = 1
"""


@pytest.mark.parametrize(("begins", "unset"), [
    ("pass", True), ("if acc[0] == 1: pass", True), ("acc[0] = 0", False), ("acc[0], acc[1] = 0, 0", False),
    ("cleared(acc)", False), ("acc[:] = 0", False)])
def test_a_local_array_that_is_added_to_and_never_set_is_seen(begins: str, unset: bool) -> None:
    found = list(PHRASES.slips(KERNEL.format(begins)))
    assert [(slip.line, slip.undefined) for slip in found] == [(7, True)] * unset
    assert not unset or "Line 7 adds to `acc`, and nothing sets it before: line 4 declares" in say(
        PHRASES, found[0].seen)
