"""Matrix product in fp16 with fp32 accumulation: reuse of tiles, and the only assignment that computing limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from grader.kit.author import (
    Baseline,
    Case,
    Distribution,
    Input,
    Loud,
    Mistake,
    Output,
    Spread,
    assignment,
    cases,
    mistakes,
    timed,
)
from grader.kit.products import spot_check, sums_in_fp16, tolerance

STEPS = (16, 32, 64, 128)
"""Blocks of K that mistaken sums are made of."""
RANGES = {"mixed": 1.0, "large": 1500.0, "tiny": 2.0**-15}
"""Size of a typical element of out: in "large" the products pass what fp16 can hold, in "tiny" they fall below it."""


def distributions(case: Case) -> Mapping[str, Distribution]:
    """a (M, K), b (K, N), with a scale of 0.5 to 2 and a small offset for each row of a and each column of b.

    K products of two offsets add up to no more than √K of the random parts do: out stays within fp16.
    """
    k = case.sizes["K"]
    size = math.sqrt(RANGES[case.values] / math.sqrt(k))
    scale, offset = (0.5 * size, 2.0 * size), 0.5 / math.sqrt(math.sqrt(k))
    return {"a": Spread(scale, offset, axis=0, loud=Loud(axis=1, sign=1)),
            "b": Spread(scale, offset, axis=1, loud=Loud(axis=0, sign=-1))}


def _strided(x: Tensor, step: int) -> Tensor | None:
    """x with element (i, j) read at `i + j * step`, from the start again beyond the end; None where that is x."""
    rows, columns = x.shape
    if 1 in (rows, columns):
        return None
    places = torch.arange(rows, device=x.device)[:, None] + torch.arange(columns, device=x.device) * step
    return x.reshape(-1)[places % x.numel()].double()


def _transposed_b(step: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    """`step` 0: columns of b lie K apart, as in its transpose; 1: N apart, as when its two strides are exchanged."""
    return lambda a, b: None if (strided := _strided(b, b.shape[step])) is None else a.double() @ strided


def _transposed_a(step: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    return lambda a, b: None if (strided := _strided(a, a.shape[step])) is None else strided @ b.double()


def _transposed_out(a: Tensor, b: Tensor) -> Tensor | None:
    m, n = a.shape[0], b.shape[1]
    return None if 1 in (m, n) else (a.double() @ b.double()).t().reshape(m, n)


def _summed_to(size: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    return lambda a, b: (
        None if (end := (a.shape[0], b.shape[1])[size]) >= a.shape[1] else a[:, :end].double() @ b[:end].double())


# What is added of K instead of all of it.
WRONG_PARTS: tuple[tuple[str, tuple[int, ...], str, Callable[[int, int], slice]], ...] = (
    ("last block missing", STEPS, "The end of K is missing: the loop over K needs {{steps_of_k}} steps, and in the "
     "last one both loads {{masked_load}}; shares of the steps are rounded up as well.",
     lambda k, step: slice(0, k // step * step)),
    ("rest of {step} shares missing", (4, 8), "The end of K is missing: {step} shares of K // {step} products leave a "
     "rest. Round the share up, and mask what lies past K.", lambda k, step: slice(0, k // step * step)),
    ("first block missing", STEPS, "The first block of K is missing: the loop over K begins at 0.",
     lambda k, step: slice(min(k, step), k)),
    ("first {step} of K only", STEPS, "Only the first {step} products of K were added, one block: does the loop over K "
     "run to its end, and do both tiles move along K in it?", lambda k, step: slice(0, step)),
    ("last block only", STEPS, "Only the last block of K remains: add to the accumulator, do not replace it.",
     lambda k, step: slice((k - 1) // step * step, k)),
)


def _wrong_parts() -> Iterator[Mistake]:
    for name, steps, hint, part in WRONG_PARTS:
        for step in steps:
            def answer(a: Tensor, b: Tensor, _part: Callable[[int, int], slice] = part, _step: int = step) -> Any:
                added = _part(a.shape[1], _step)
                return None if a[:, added].shape == a.shape else a[:, added].double() @ b[added].double()
            yield Mistake(name=name.format(step=step), hint=hint.format(step=step), answer=answer)


ASSIGNMENT = assignment(
    name="gemm",
    title="Matrix product",
    formula="out[i, j] = Σ over k of a[i, k] · b[k, j], summed in fp32",
    order=6,
    parameters=(
        Input(name="a", shape=("M", "K"), dtype="float16"), Input(name="b", shape=("K", "N"), dtype="float16"),
        Output(shape=("M", "N"), dtype="float16")),
    forms={"cuda": "gemm(A=a, B=b, C=out, M, N, K)", "numba": "gemm(a, b, out)"},
    oracle=lambda a, b: a.double() @ b.double(),
    cases=cases(
        "M N K", "1x1x1 5x9x7 16x16x16 1x17x257-large 31x1x130 3x5x1999 33x65x127-tiny 64x64x64-large 136x72x264 "
        "1412x1537x7", gpu="17x4099x8191 1031x1031x4096-large 2048x1999x2053 4096x4096x4096"),
    timed=timed(
        "M N K", "4096x4096x4096 2048x2048x2048 1024x1024x1024", "8192x8192x8192 6144x6144x6144 3072x3072x3072",
        "8192x8192x512 4096x4096x512 2048x2048x512"),
    structure={"tensor_cores": True, "flop_per_byte_at_least": 24, "coalesced": True, "bank_conflicts_at_most": 1},
    baseline=Baseline(name="torch.mm", compiled="torch.compile of mm"),
    distributions=distributions,
    tolerance=tolerance,
    rows="a",
    columns=lambda inputs, index: {**inputs, "b": inputs["b"][:, index]},
    spot_check=spot_check,
    flop=lambda sizes: 2 * sizes["M"] * sizes["N"] * sizes["K"],
    mistakes=mistakes(
        *(("b transposed", "b was read transposed: element (k, j) lies at k · N + j, look at b's two strides.",
           _transposed_b(step)) for step in (0, 1)),
        *(("a transposed", "a was read transposed: element (i, k) lies at i · K + k, look at a's two strides.",
           _transposed_a(step)) for step in (0, 1)),
        ("b times a", "This is b · a: the first factor is a, of M rows.",
         lambda a, b: b.double() @ a.double() if a.shape == b.shape[::-1] == b.shape else None),
        ("out transposed", "The product is right but stored transposed: element (i, j) of out lies at i · N + j.",
         _transposed_out),
        ("half of K overwritten", "Only the second half of K is in the result: {program}s that share K must add their "
         "parts, not store them over one another.",
         lambda a, b: a[:, (a.shape[1] + 1) // 2 :].double() @ b[(a.shape[1] + 1) // 2 :].double()),
        *((f"sum to {name}", f"Only the first {name} products of K were added: which size does the loop over K end at?",
           _summed_to(number)) for number, name in enumerate("MN")),
        ("columns modulo M", "Columns of b were taken modulo M: they are counted by N.",
         lambda a, b: a.double() @ b.double()[:, torch.arange(b.shape[1], device=b.device) % a.shape[0]]
         if a.shape[0] < b.shape[1] else None),
        ("rows modulo N", "Rows of a were taken modulo N: they are counted by M.",
         lambda a, b: a.double()[torch.arange(a.shape[0], device=a.device) % b.shape[1]] @ b.double()
         if b.shape[1] < a.shape[0] else None),
        *(("8-bit floats", "a and b were converted to 8-bit floats on the way{dot_takes_fp16}.",
           lambda a, b, _to=to: a.to(_to).double() @ b.to(_to).double())
          for to in (torch.float8_e5m2, torch.float8_e4m3fn)),
        *_wrong_parts(),
        # Product by product, as a thread adds them, and tile by tile.
        *sums_in_fp16((1, *STEPS)),
    ),
)
