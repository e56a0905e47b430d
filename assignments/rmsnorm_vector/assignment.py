"""RMSNorm of one vector: a sum over everything, then a pass that needs it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from grader.kit import sums
from grader.kit.author import Baseline, Input, Output, Scalar, assignment, cases, mistakes, timed
from grader.kit.norms import allowed, by_mean, by_sum, distributions, norm_mistakes, oracle, tolerance
from grader.kit.places import secret_places

BLOCKS = (256, 512, 1024, 2048, 4096, 8192)
"""Sizes of the blocks that mistaken sums are made of."""


def _at(places: Tensor, inputs: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """The answer at places of many vectors: all of x has part in it through the mean."""
    x, n = inputs["x"], inputs["x"].shape[1]
    mean = torch.linalg.vector_norm(x, dim=1, keepdim=True, dtype=torch.float64).square() / n
    expected = by_mean(mean, x.gather(1, places), inputs["weight"].gather(1, places), inputs["eps"])
    return expected, allowed(expected, n)


# Each name stands for all sizes of blocks.
WRONG_SUMS = (
    ("own block only", "Each block was divided by the sum of its own squares: the sum goes over all blocks.",
     sums.own_block),
    ("own block's mean", "Each block was divided by its own mean square: the mean goes over all blocks.",
     sums.mean_of_own_block),
    ("first block only", "Only the squares of the first block are in the sum: it goes over all blocks.",
     sums.first_block),
    ("last block only", "Only the squares of the last block are in the sum: {program}s (or {step}s of a loop) replace "
     "the total instead of adding to it. Use {atomic_add}, or store a sum for each block and add those.",
     sums.last_block),
    ("blocks so far", "Each block was divided by the sum of the squares up to its own end: the total was read before "
     "all {program}s had added to it. They wait for each other only between launches: use two kernels.",
     sums.blocks_so_far),
    ("last block missing", "The last, partial block is missing from the sum: it needs N / {width} blocks, rounded up, "
     "the last one {masked}, and what adds their sums takes all of them.", sums.whole_blocks),
    ("largest block only", "Only the block with the largest sum of squares is in the sum: {atomic_add} adds them, "
     "{atomic_max} keeps the largest.", sums.largest_block),
    ("first element missing", "The first element is missing from the sum: begin at 0.", sums.all_but_first),
    ("last element missing", "The last element is missing from the sum: {compare} < N{halving}.", sums.all_but_last),
    ("overlap counted twice", "The last block of the sum was moved back to end at N, and what it shares with the block "
     "before is counted twice: {mask_partial} instead.", sums.overlap_twice),
    ("padding of ones", "{Lane}s beyond the end entered the sum as ones: {give} {zero}.",
     sums.ones_after_the_end),
)

ASSIGNMENT = assignment(
    name="rmsnorm_vector",
    title="RMSNorm of a vector",
    formula="out = x · weight / √(mean(x²) + eps)",
    order=2,
    parameters=(Input(name="x", shape=("N",)), Input(name="weight", shape=("N",)), Scalar(name="eps"),
                Output(shape=("N",))),
    forms={"cuda": "rms_norm_vector(input=x, weight, output=out, cols=N, epsilon=eps)",
           "numba": "rmsnorm_vector(x, weight, eps, out)"},
    oracle=oracle,
    cases=cases(
        "N", "1 7-tiny 31 1009-tiny 1024 4099 16411-extreme 131120-tiny", gpu="1048576 7999993-extreme 16777219"),
    # 16 MiB a slot of the first: no device is too small.
    timed=timed("N", "1048576", "16777216 8388608 4194304"),
    structure={"reads_at_most": 2.2, "writes_at_most": 1.1, "coalesced": True, "launches_at_most": 2},
    baseline=Baseline(name="x · rsqrt(mean(x²) + eps) · weight, eager", compiled="torch.compile of the same"),
    distributions=distributions,
    tolerance=tolerance,
    spot_check=secret_places(_at),
    mistakes=mistakes(
        *norm_mistakes("N", BLOCKS),
        *sums.wrong_sums(WRONG_SUMS, BLOCKS, lambda x, weight, eps: x.double().square(), by_sum),
    ),
)
