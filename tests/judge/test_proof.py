"""The sizes that a proof adds to those of the cases."""

from __future__ import annotations

import random

from grader.home import ROOT
from grader.judge.repair.proof import fresh
from grader.model.catalogue import assignments


def test_fresh_sizes_keep_to_choices_and_fit_each_other() -> None:
    topk = assignments(ROOT / "examples" / "llm")["topk"]
    found = [case.sizes for seed in range(20) for case in fresh(topk, topk.cases[0], random.Random(seed))]
    assert found and all(one["k"] in topk.choices["k"] and one["k"] <= one["N"] for one in found)
    assert {one["k"] for one in found} == set(topk.choices["k"])
