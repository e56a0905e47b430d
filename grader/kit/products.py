"""Matrix products in fp16: the error allowed, and a check of large ones that costs a small part of the product."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from grader.kit.author import EPS16, EPS32, SMALLEST16
from grader.model.assignment import Inputs, Mistake

GROUP = 32
"""How many neighbouring columns of out are checked by one sum: full products cost GROUP times as much."""
SINGLES = 4096
"""How many elements are checked one by one."""
SUMMED = 1
"""How many outputs of a replay are checked as a whole."""
LINES = 64
"""How many rows of a, and columns of b, are kept from before the call."""
PART = {"cpu": 2**22, "cuda": 2**25}
"""float64 numbers that are worked on at a time: what a processor's cache holds; on a GPU 256 MiB, so that launches are
few."""


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element of a (M, K) times b (K, N), summed in fp32 and rounded to fp16."""
    a, b = inputs["a"].double(), inputs["b"].double()
    lengths: Tensor = a.norm(dim=1)[:, None] * b.norm(dim=0)[None, :]
    return _rounding(expected) + _adding(a.shape[1]) * lengths


def sums_in_fp16(steps: Sequence[int]) -> Iterator[Mistake]:
    """Products of blocks of K, so many `steps` long, or the sums of them, rounded to fp16 on the way."""
    types = (torch.float32, torch.float16), (torch.float16, torch.float16), (torch.float16, torch.float32)
    for parts, total in types:
        for step in steps:
            def answer(
                a: Tensor, b: Tensor, _step: int = step, _parts: torch.dtype = parts, _total: torch.dtype = total
            ) -> Tensor | None:
                k = a.shape[1]
                if k <= _step:
                    return None
                acc = torch.zeros(a.shape[0], b.shape[1], device=a.device)
                for first in range(0, k, _step):
                    part = a[:, first : first + _step].float() @ b[first : first + _step].float()
                    acc = (acc + part.to(_parts).float()).to(_total).float()
                return acc.double()

            yield Mistake(
                name="sums in fp16", answer=answer,
                hint="Sums were kept in fp16 on the way: make the accumulator tl.float32, give tl.dot no out_dtype, "
                     "and round to fp16 once, at the store.")


def _rounding(answer: Tensor) -> Tensor:
    # The answer is rounded to fp16: half of EPS16·|answer|, or of the distance of subnormal numbers. Allowed twice.
    return EPS16 * answer.abs() + SMALLEST16


def _adding(k: int) -> float:
    """The error allowed for the sum in fp32, as a share of the product of the two lengths."""
    # Products of fp16 are exact in fp32. Partial sums of products with random signs are about |a_i|·|b_j|/√K (lengths
    # of row and column). K additions that round at random err by √K·EPS32/2 of that, hence |a_i|·|b_j|·EPS32/2;
    # allowed eight times. Tensor cores truncate, always to the same side, about once in 16 products: √K/16 units more.
    return EPS32 * (4 + math.sqrt(k) / 16)


def spot_check(
    inputs: Sequence[Inputs], generator: torch.Generator
) -> Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]:
    """Keeps LINES secret rows of a and columns of b of each call, and returns a check that has every output computed
    again where those cross, and SUMMED secret ones of them as a whole, from some 1 / GROUP of a product's arithmetic.

    It takes the inputs as they stand after the calls. Every row of the chosen ones is checked in groups of GROUP
    columns: the group's elements are added with secret random signs r, and so are the columns of b, once for all rows;
    then out·r is compared with a·(b·r) in float64 (R. Freivalds, "Probabilistic machines can use less running time",
    1977). SINGLES secret elements are also computed in full. So are those where the lines kept cross, from these alone.

    A right answer passes whatever the signs are. NaN and infinity fail, wherever they are. One wrong element fails for
    certain if it errs by more than twice what its group may, some 64 times its own tolerance; by half of that, in one
    of two draws. A tile left at zero errs by its own size, 30 tolerances and more for half of its elements at the timed
    cases: one of 16×16 passes in about one of 1e14 draws. If a share p of all elements is wrong by any amount, the
    singles miss it with probability (1 − p)^SINGLES, 1e-18 for 1 %. What may pass is a few elements in ten thousand,
    each wrong by some tolerances; the cases that are checked in full leave no such gap.

    All this speaks of the inputs as they stand. Changing few of them can spare much: one huge column of a, 1 / K of its
    elements, and a product of two vectors is right. But it changes out in every row that it is to spare. A kernel that
    changes inputs so that a share p of out is wrong for those that were given, in whatever pattern, meets the lines'
    crossings in n outputs with probability 1 − (1 − p)^(n·LINES) at least: 1 % of 50 outputs pass in one of 1e14 draws.
    Of the inputs these need only what was kept, so it does not help either to change them back and forth meanwhile.
    """
    m, n, k = inputs[0]["a"].shape[0], inputs[0]["b"].shape[1], inputs[0]["a"].shape[1]
    calls = len(inputs)
    rows, columns = (_drawn(size, calls * LINES, generator).view(calls, LINES) for size in (m, n))
    a = torch.stack([one["a"][at] for one, at in zip(inputs, rows, strict=True)])
    b = torch.stack([one["b"][:, at] for one, at in zip(inputs, columns, strict=True)])
    right = a.double() @ b.double()
    allowed = _rounding(right) + _adding(k) * _length(a, dim=2)[:, :, None] * _length(b, dim=1)[:, None, :]
    summed = torch.randperm(calls, generator=generator, device=generator.device)[:SUMMED].tolist()

    def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
        got = torch.stack([
            output[i[:, None], j] for output, i, j in zip(outputs, rows, columns, strict=True)])
        crossings = ((got.double() - right).abs_() / allowed).amax(dim=(1, 2))
        # A sum is not finite if an element is not, and 0 times it is NaN then.
        found = crossings + 0 * torch.stack([output.sum(dtype=torch.float32) for output in outputs])
        for number in summed:
            one, output = now[number], outputs[number]
            ratios = [*_singles(one["a"], one["b"], output, generator), *_sums(one["a"], one["b"], output, generator)]
            found[number] = torch.stack([found[number], *ratios]).max()
        # max() of numbers with a NaN among them is NaN; infinity over infinity is one.
        return found.nan_to_num(nan=math.inf, posinf=math.inf)

    return check


def _sums(a: Tensor, b: Tensor, output: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """The largest error over the error allowed, of the groups of some rows at a time."""
    (m, k), n = a.shape, b.shape[1]
    signs = 2 * _drawn(2, n, generator) - 1
    # A sign changes nothing of a number, in any type.
    for_b, for_output = signs.to(b.dtype), signs.to(output.dtype)
    step = max(1, PART[b.device.type] // n)
    signed_b = torch.cat([
        _groups(b[first : first + step] * for_b).sum(dim=2, dtype=torch.float64) for first in range(0, k, step)])
    lengths = _groups(_length(b, dim=0)[None, :]).sum(dim=2, dtype=torch.float64)
    least = _groups(torch.full((1, n), SMALLEST16, dtype=torch.float64, device=b.device)).sum(dim=2)
    # fp32 for fp16, which a GPU then adds without making a wider copy of all first: so large a temporary costs more
    # time than all else. The sums of GROUP numbers each err by less than GROUP·EPS32, which is allowed.
    wide = torch.promote_types(output.dtype, torch.float32)
    step = max(1, PART[a.device.type] // max(n, k))
    for first in range(0, m, step):
        # One look at the output: its sizes and sums are of the same numbers.
        part, signed = a[first : first + step], _groups(output[first : first + step] * for_output)
        # An element's tolerance t = rounding(right answer) + adding, and the right answer is no larger than what was
        # got and t: t ≤ (rounding(got) + adding) / (1 − EPS16). |Σ r·error| ≤ Σ |error| ≤ Σ t for any signs, which for
        # 32 of them is less than a bound by chance (Hoeffding: λ·√Σt², λ = 10 for one false alarm in 1e21) would be.
        # The rounding of float64 itself is a millionth of Σ t.
        sizes = torch.linalg.vector_norm(signed, ord=1, dim=2, dtype=wide).double()
        rounding = (EPS16 + GROUP * EPS32) * sizes + least
        allowed = (rounding + _adding(k) * _length(part, dim=1)[:, None] * lengths) / (1 - EPS16)
        yield _worst(signed.sum(dim=2, dtype=wide), part.double() @ signed_b, allowed)


def _singles(a: Tensor, b: Tensor, output: Tensor, generator: torch.Generator) -> Iterator[Tensor]:
    """The largest error over the error allowed, of some of SINGLES elements at a time."""
    k = a.shape[1]
    rows, columns = (_drawn(size, SINGLES, generator) for size in output.shape)
    step = max(1, PART[a.device.type] // (2 * k))
    for first in range(0, SINGLES, step):
        i, j = rows[first : first + step], columns[first : first + step]
        row, column = a[i], b.index_select(1, j)
        # Products of fp16 are exact in fp32; their sum is not.
        right = row.float().mul_(column.t()).sum(dim=1, dtype=torch.float64)
        allowed = _rounding(right) + _adding(k) * _length(row, dim=1) * _length(column, dim=0)
        yield _worst(output[i, j], right, allowed)


def _drawn(high: int, count: int, generator: torch.Generator) -> Tensor:
    return torch.randint(high, (count,), generator=generator, device=generator.device)


def _length(x: Tensor, dim: int) -> Tensor:
    # In fp32: of a tolerance, so many digits will do.
    length: Tensor = torch.linalg.vector_norm(x, dim=dim, dtype=torch.float32)
    return length.double()


def _worst(got: Tensor, right: Tensor, allowed: Tensor) -> Tensor:
    ratio: Tensor = (got.double() - right).abs_() / allowed
    return ratio.max()


def _groups(x: Tensor) -> Tensor:
    """x (rows, N) as groups of GROUP neighbouring columns (rows, ⌈N / GROUP⌉, GROUP), the last filled with zeros."""
    missing = -x.shape[1] % GROUP
    # Padding copies also where there is nothing to add.
    padded = torch.nn.functional.pad(x, (0, missing)) if missing else x
    return padded.view(x.shape[0], -1, GROUP)
