"""Copy of a vector: the first kernel one writes. Offsets, a mask, and nothing to compute."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Bits,
    Case,
    Distribution,
    Input,
    Mistake,
    Output,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)

CASES = cases("N", "1 7 33-bits 1000 1024 4099 131120-bits", gpu="16777219 33554432-bits")
BLOCKS = (64, 128, 256, 512, 1024, 2048, 4096)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """x (N,) of a random scale and offset, or for "bits" every pattern that is a finite number."""
    return {"x": Bits() if case.values == "bits" else Spread(scale=(0.5, 10.5), offset=2.0, absolute=True)}


def _first_block_everywhere(block: int) -> Mistake:
    def answer(x: Tensor) -> Tensor | None:
        n = x.numel()
        return None if n <= block else x.double()[torch.arange(n, device=x.device) % block]

    return Mistake(
        name="the first block everywhere", answer=answer,
        hint="Every block holds the first block of x: the {program}'s number is missing from the offsets of the load.")


ASSIGNMENT = assignment(
    name="vector_copy",
    title="Copy of a vector",
    formula="out[i] = x[i]",
    order=7,
    parameters=(Input(name="x", shape=("N",)), Output(shape=("N",))),
    forms={"cuda": "vector_copy(input=x, output=out, n=N)", "numba": "vector_copy(x, out)"},
    oracle=lambda x: x.double(),
    cases=CASES,
    timed=timed("N", "33554432 16777216 8388608", "67108864 41943040 20971520"),
    structure={"one_pass": True, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 1},
    baseline=Baseline(name="out.copy_(x)", compiled="torch.compile of the same"),
    distributions=distributions,
    rows="x",
    right_by_nature={
        **{f"{case.name}: the input": "a copy is the input" for case in CASES if case.needs == "any"},
        "1: the mean": "one element is its own mean",
    },
    mistakes=mistakes(
        ("one too far", "Each element is the one after it: offsets begin at 0.",
         lambda x: x.double().roll(-1) if x.numel() > 1 else None),
        ("backwards", "The elements are in the opposite order.",
         lambda x: x.double().flip(0) if x.numel() > 1 else None),
        *map(_first_block_everywhere, BLOCKS),
    ),
)
