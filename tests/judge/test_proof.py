"""The sizes that a proof adds to those of the cases."""

from __future__ import annotations

import random

from grader.home import ROOT
from grader.judge.repair.proof import fresh
from grader.model.cases import cases
from grader.model.catalogue import assignments
from tests.judge.contract import STRIDED


def test_fresh_sizes_keep_to_choices_and_fit_each_other() -> None:
    topk = assignments(ROOT / "examples" / "llm")["topk"]
    found = [case.sizes for seed in range(20) for case in fresh(topk, topk.cases[0], random.Random(seed))]
    assert found and all(one["k"] in topk.choices["k"] and one["k"] <= one["N"] for one in found)
    assert {one["k"] for one in found} == set(topk.choices["k"])


def test_fresh_sizes_keep_the_elements_of_a_tensor_apart() -> None:
    case = cases("M N", "5x9", strides={"x": (16, 1)})[0]
    found = [one for seed in range(20) for one in fresh(STRIDED, case, random.Random(seed))]
    assert found and all(one.sizes["N"] <= 16 or one.sizes["M"] == 1 for one in found)
