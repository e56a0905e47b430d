"""Matrix products in fp16: the error allowed, and a check of large products at a small share of their cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from grader.course.assignment import Mistake
from grader.course.parameters import Inputs
from grader.kit.author import EPS16, EPS32, SMALLEST16

GROUP = 32
"""Neighbouring columns of out that are checked by one sum: a full product costs GROUP times as much."""
SINGLES = 4096
"""Elements that are checked one by one."""
SUMMED = 1
"""Number of outputs of a replay that are checked as a whole."""
LINES = 64
"""Number of rows of a, and of columns of b, that are saved before the call."""
SIDE_BY_SIDE = 2**25
"""Number of float32 partial products that are in memory at a time, for a mistake that rounds each of them."""
PART = {"cpu": 2**22, "cuda": 2**25}
"""Number of float64 elements that are processed at a time. They fit a processor's cache; on a GPU they take 256 MiB, so
that few launches are needed."""


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """Return the absolute error allowed for each element of the product a (M, K) times b (K, N), summed in fp32 and
    rounded to fp16."""
    a, b = inputs["a"].double(), inputs["b"].double()
    lengths: Tensor = a.norm(dim=1)[:, None] * b.norm(dim=0)[None, :]
    return _rounding(expected) + _adding(a.shape[1]) * lengths


def sums_in_fp16(steps: Sequence[int]) -> Iterator[Mistake]:
    """Yield mistakes that round to fp16 on the way: the products of blocks of K, or their sums, or both. There is a
    mistake for each of these and each length of blocks in `steps`."""
    types = (torch.float32, torch.float16), (torch.float16, torch.float16), (torch.float16, torch.float32)
    for parts, total in types:
        for step in steps:
            def answer(
                a: Tensor, b: Tensor, _step: int = step, _parts: torch.dtype = parts, _total: torch.dtype = total
            ) -> Tensor | None:
                if a.shape[1] <= _step:
                    return None
                acc = torch.zeros(a.shape[0], b.shape[1], dtype=_total, device=a.device)
                for products in _products(a.float(), b.float(), _step):
                    # The sum of two fp16 numbers is rounded once, from fp32.
                    for product in products.to(_parts):
                        torch.add(acc, product, out=acc)
                return acc.double()

            yield Mistake(
                name="sums in fp16", answer=answer,
                hint="Sums, or the products in them, were kept in fp16 on the way: {accumulate}.")


def _products(a: Tensor, b: Tensor, step: int) -> Iterator[Tensor]:
    """Yield the products of blocks of K of length `step`, some blocks at a time: shape (blocks, M, N)."""
    rows, k, columns = *a.shape, b.shape[1]
    some = max(1, SIDE_BY_SIDE // max(1, rows * columns))
    whole = k // step
    for first in range(0, whole, some):
        blocks = min(some, whole - first)
        taken = slice(first * step, (first + blocks) * step)
        yield torch.bmm(a[:, taken].view(rows, blocks, step).transpose(0, 1), b[taken].view(blocks, step, columns))
    if k % step:
        yield (a[:, whole * step :] @ b[whole * step :])[None]


def _rounding(answer: Tensor) -> Tensor:
    # Rounding the answer to fp16 errs by half of EPS16·|answer|, or by half the distance of subnormal numbers. Twice
    # that is allowed.
    return EPS16 * answer.abs() + SMALLEST16


def _adding(k: int) -> float:
    """Return the error allowed for a sum in fp32, as a share of the product of the row's and the column's lengths."""
    # Products of fp16 are exact in fp32. Partial sums of products with random signs are about |a_i|·|b_j|/√K (lengths
    # of row and column). K additions that round at random err by √K·EPS32/2 of that, hence |a_i|·|b_j|·EPS32/2; eight
    # times that is allowed. Tensor cores truncate, always to the same side, about once in 16 products: √K/16 more.
    return EPS32 * (4 + math.sqrt(k) / 16)


def spot_check(
    inputs: Sequence[Inputs], generator: torch.Generator
) -> Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]:
    """Save LINES secret rows of a and columns of b of each call. Return a check that computes each output again where
    these lines cross, and SUMMED secret outputs as a whole, with about 1 / GROUP of a product's arithmetic.

    The check takes the inputs as they are after the calls. It checks each row of the SUMMED outputs in groups of GROUP
    columns. It adds the group's elements with secret random signs r, and adds the columns of b with the same signs,
    once for all rows; then it compares out·r with a·(b·r) in float64 (R. Freivalds, "Probabilistic machines can use
    less running time", 1977). It also computes SINGLES secret elements in full, and the crossings, from the saved lines
    alone.

    A right answer passes for all signs. NaN and infinity fail at any place. A single wrong element fails for certain if
    it errs by more than twice its group's tolerance, some 64 times its own; if it errs by half of that, it fails in one
    of two draws. A tile left at zero errs by its own size, which is 30 tolerances and more for half of its elements in
    the timed cases: a tile of 16×16 passes in about one of 1e14 draws. If a share p of all elements is wrong by any
    amount, the singles miss it with probability (1 − p)^SINGLES, 1e-18 for 1 %. A few elements in ten thousand, each
    wrong by some tolerances, may pass; the cases that are checked in full leave no such gap.

    These checks take the inputs as they are after the calls, so a kernel could change a few of them to save work: with
    one huge column of a, 1 / K of its elements, a product of two vectors is right. But that changes out in every row
    where it saves work. If a kernel changes inputs so that a share p of out, in any pattern, is wrong for the original
    inputs, the crossings in n outputs meet it with probability 1 − (1 − p)^(n·LINES) at least: a kernel wrong in 1 % of
    50 outputs passes in one of 1e14 draws. The crossings need the saved lines only, so changing the inputs back does
    not help either.
    """
    m, n, k = inputs[0]["a"].shape[0], inputs[0]["b"].shape[1], inputs[0]["a"].shape[1]
    calls = len(inputs)
    rows, columns = (_drawn(size, calls * LINES, generator).view(calls, LINES) for size in (m, n))
    a = torch.stack([call["a"][at] for call, at in zip(inputs, rows, strict=True)])
    b = torch.stack([call["b"][:, at] for call, at in zip(inputs, columns, strict=True)])
    right = a.double() @ b.double()
    allowed = _rounding(right) + _adding(k) * _length(a, dim=2)[:, :, None] * _length(b, dim=1)[:, None, :]
    summed = torch.randperm(calls, generator=generator, device=generator.device)[:SUMMED].tolist()

    def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
        got = torch.stack([
            output[i[:, None], j] for output, i, j in zip(outputs, rows, columns, strict=True)])
        crossings = ((got.double() - right).abs_() / allowed).amax(dim=(1, 2))
        # If an element is not finite, the sum is not finite either, and 0 times the sum is NaN.
        worst = crossings + 0 * torch.stack([output.sum(dtype=torch.float32) for output in outputs])
        for number in summed:
            a, b, output = now[number]["a"], now[number]["b"], outputs[number]
            ratios = [*_singles(a, b, output, generator), *_sums(a, b, output, generator)]
            worst[number] = torch.stack([worst[number], *ratios]).max()
        # The maximum of numbers with a NaN among them is NaN, and so is infinity over infinity.
        return worst.nan_to_num(nan=math.inf, posinf=math.inf)

    return check


def _sums(a: Tensor, b: Tensor, output: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """Yield the largest error over the error allowed, for the groups of some rows at a time."""
    (m, k), n = a.shape, b.shape[1]
    signs = 2 * _drawn(2, n, generator) - 1
    # Multiplying by a sign is exact in any type.
    for_b, for_output = signs.to(b.dtype), signs.to(output.dtype)
    step = max(1, PART[b.device.type] // n)
    signed_b = torch.cat([
        _groups(b[first : first + step] * for_b).sum(dim=2, dtype=torch.float64) for first in range(0, k, step)])
    lengths = _groups(_length(b, dim=0)[None, :]).sum(dim=2, dtype=torch.float64)
    least = _groups(torch.full((1, n), SMALLEST16, dtype=torch.float64, device=b.device)).sum(dim=2)
    # fp32 for fp16: a GPU then adds without making a wider copy, a temporary that would cost more time than all the
    # rest. Sums of GROUP numbers err by less than GROUP·EPS32, which is allowed.
    wide = torch.promote_types(output.dtype, torch.float32)
    step = max(1, PART[a.device.type] // max(n, k))
    for first in range(0, m, step):
        # The output is read once, so that sizes and sums follow from the same numbers.
        part, signed = a[first : first + step], _groups(output[first : first + step] * for_output)
        # An element's tolerance is t = rounding(right answer) + adding, and the right answer is at most the answer got
        # plus t, so t ≤ (rounding(got) + adding) / (1 − EPS16). For any signs |Σ r·error| ≤ Σ |error| ≤ Σ t. For 32
        # elements this is less than a probabilistic bound (Hoeffding: λ·√Σt², λ = 10 for one false alarm in 1e21). The
        # rounding of float64 itself is a millionth of Σ t.
        sizes = torch.linalg.vector_norm(signed, ord=1, dim=2, dtype=wide).double()
        rounding = (EPS16 + GROUP * EPS32) * sizes + least
        allowed = (rounding + _adding(k) * _length(part, dim=1)[:, None] * lengths) / (1 - EPS16)
        yield _worst(signed.sum(dim=2, dtype=wide), part.double() @ signed_b, allowed)


def _singles(a: Tensor, b: Tensor, output: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """Yield the largest error over the error allowed, for some of SINGLES elements at a time."""
    k = a.shape[1]
    rows, columns = (_drawn(size, SINGLES, generator) for size in output.shape)
    step = max(1, PART[a.device.type] // (2 * k))
    for first in range(0, SINGLES, step):
        i, j = rows[first : first + step], columns[first : first + step]
        row, column = a[i], b.index_select(1, j)
        # Products of fp16 are exact in fp32; their sum needs float64.
        right = row.float().mul_(column.t()).sum(dim=1, dtype=torch.float64)
        allowed = _rounding(right) + _adding(k) * _length(row, dim=1) * _length(column, dim=0)
        yield _worst(output[i, j], right, allowed)


def _drawn(high: int, count: int, generator: torch.Generator) -> Tensor:
    return torch.randint(high, (count,), generator=generator, device=generator.device)


def _length(x: Tensor, dim: int) -> Tensor:
    # fp32 has enough digits for a tolerance.
    length: Tensor = torch.linalg.vector_norm(x, dim=dim, dtype=torch.float32)
    return length.double()


def _worst(got: Tensor, right: Tensor, allowed: Tensor) -> Tensor:
    ratio: Tensor = (got.double() - right).abs_() / allowed
    return ratio.max()


def _groups(x: Tensor) -> Tensor:
    """Return x (rows, N) in groups of GROUP neighbouring columns (rows, ⌈N / GROUP⌉, GROUP), the last padded with
    zeros."""
    missing = -x.shape[1] % GROUP
    # `pad` copies even if it adds nothing.
    padded = torch.nn.functional.pad(x, (0, missing)) if missing else x
    return padded.view(x.shape[0], -1, GROUP)
