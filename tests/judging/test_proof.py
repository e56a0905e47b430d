"""The sizes that a proof adds to those of the cases, and those for a GPU that it looks at."""

import random

import pytest

from grader.course.cases import cases
from grader.course.catalogue import assignments
from grader.course.course import Course
from grader.course.submission import Source
from grader.home import ROOT
from grader.judging.prepared import Prepared, Task
from grader.judging.repair.proof import fresh, proved
from tests.judging.contract import STRIDED


def test_fresh_sizes_keep_to_choices_and_fit_each_other() -> None:
    topk = assignments(ROOT / "examples" / "llm")["topk"]
    found = [case.sizes for seed in range(20) for case in fresh(topk, topk.cases[0], random.Random(seed))]
    assert found and all(one["k"] in topk.choices["k"] and one["k"] <= one["N"] for one in found)
    assert {one["k"] for one in found} == set(topk.choices["k"])


def test_fresh_sizes_keep_the_elements_of_a_tensor_apart() -> None:
    case = cases("M N", "5x9", strides={"x": (16, 1)})[0]
    found = [one for seed in range(20) for one in fresh(STRIDED, case, random.Random(seed))]
    assert found and all(one.sizes["N"] <= 16 or one.sizes["M"] == 1 for one in found)


@pytest.mark.parametrize(("most", "right"), [(1 << 30, True), (10_000_000, False)])
def test_a_file_that_is_wrong_at_sizes_for_a_gpu_alone_is_not_proved(most: int, right: bool) -> None:
    silu = assignments()["silu"]
    text, formula = (ROOT / "reference" / "silu.py").read_text(encoding="utf-8"), "x / (1 + tl.exp(-x))"
    assert text.count(formula) == 2
    prepared = Prepared(Task(silu, Source(content=b"", file=silu.file), Course(), b"seed", "cpu"))
    proof = proved(prepared, silu.cases[1], text.replace(formula, f"{formula} + (n > {most})"))
    assert (proof is not None) == right and (proof is None or proof.whole)
