"""Matrix product in fp16 with fp32 accumulation: reuse of tiles, and the only assignment that computing limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, TimedCase, Work
from grader.kit.inputs import Distribution, Loud, Spread, maker

EPS16 = 2.0**-10
EPS32 = 2.0**-23
SMALLEST16 = 2.0**-24


def _case(m: int, n: int, k: int, values: str = "mixed", **more: str) -> Case:
    name = f"{m}x{n}x{k}" + ("" if values == "mixed" else f"-{values}")
    return Case.model_validate({"name": name, "sizes": {"M": m, "N": n, "K": k}, "values": values, **more})


CASES = (
    _case(1, 1, 1),
    _case(5, 9, 7),
    _case(16, 16, 16),
    _case(1, 17, 257, "large"),
    _case(31, 1, 130),
    _case(3, 5, 1999),
    _case(33, 65, 127, "tiny"),
    _case(64, 64, 64, "large"),
    _case(130, 70, 257),
    _case(385, 449, 19),
    _case(17, 4099, 8191, needs="gpu"),
    _case(1031, 1031, 4096, "large", needs="gpu"),
    _case(2048, 1999, 2053, needs="gpu"),
    _case(4096, 4096, 4096, needs="gpu"),
)


def _timed(*sizes: tuple[int, int, int]) -> TimedCase:
    first, *smaller = (dict(zip("MNK", one, strict=True)) for one in sizes)
    return TimedCase(name="x".join(map(str, first.values())), sizes=first, smaller=tuple(smaller))


TIMED = (
    _timed((4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024)),
    _timed((8192, 8192, 8192), (6144, 6144, 6144), (3072, 3072, 3072)),
    _timed((8192, 8192, 512), (4096, 4096, 512), (2048, 2048, 512)),
)

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


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    a, b = inputs["a"].double(), inputs["b"].double()
    lengths: Tensor = a.norm(dim=1)[:, None] * b.norm(dim=0)[None, :]
    return _rounding(expected) + _adding(a.shape[1]) * lengths


def _rounding(answer: Tensor) -> Tensor:
    # The answer is rounded to fp16: half of EPS16·|answer|, or of the distance of subnormal numbers. Allowed twice.
    return EPS16 * answer.abs() + SMALLEST16


def _adding(k: int) -> float:
    """Of the product of the two lengths, what the sum in fp32 may err."""
    # Products of fp16 are exact in fp32. Partial sums of products with random signs are about |a_i|·|b_j|/√K (lengths
    # of row and column). K additions that round at random err by √K·EPS32/2 of that, hence |a_i|·|b_j|·EPS32/2;
    # allowed eight times. Tensor cores truncate, always to the same side, about once in 16 products: √K/16 units more.
    return EPS32 * (4 + math.sqrt(k) / 16)


GROUP = 32
"""Neighbouring columns of out that are checked by one sum: full products cost GROUP times as much."""
SINGLES = 4096
"""Elements that are checked alone."""
SUMMED = 1
"""Outputs of a replay that are checked as a whole."""
LINES = 64
"""Rows of a, and columns of b, that are kept from before the call."""
PART = {"cpu": 2**22, "cuda": 2**25}
"""float64 numbers that are worked on at a time: what a processor's cache holds; on a GPU 256 MiB, so that launches are
few."""


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


def work(sizes: Mapping[str, int]) -> Work:
    """a and b are read and out written once, 2 bytes an element; a multiplication and an addition for each product."""
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    return Work(bytes=2 * (m * k + k * n + m * n), flop=2 * m * n * k)


def rows(inputs: Inputs, index: slice | Tensor) -> Inputs:
    return {**inputs, "a": inputs["a"][index]}


def _turned(x: Tensor, step: int) -> Tensor | None:
    """x with element (i, j) read at `i + j * step`, from the start again beyond the end; None where that is x."""
    rows, columns = x.shape
    if 1 in (rows, columns):
        return None
    places = torch.arange(rows, device=x.device)[:, None] + torch.arange(columns, device=x.device) * step
    return x.reshape(-1)[places % x.numel()].double()


def _transposed_b(step: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    """`step` 0: columns of b lie K apart, as in its transpose; 1: N apart, as when its two strides are exchanged."""
    def answer(a: Tensor, b: Tensor) -> Tensor | None:
        turned = _turned(b, b.shape[step])
        return None if turned is None else a.double() @ turned

    return answer


def _transposed_a(step: int) -> Callable[[Tensor, Tensor], Tensor | None]:
    def answer(a: Tensor, b: Tensor) -> Tensor | None:
        turned = _turned(a, a.shape[step])
        return None if turned is None else turned @ b.double()

    return answer


def _transposed_out(a: Tensor, b: Tensor) -> Tensor | None:
    m, n = a.shape[0], b.shape[1]
    return None if 1 in (m, n) else (a.double() @ b.double()).t().reshape(m, n)


def _sums_in_fp16(step: int, parts: torch.dtype, total: torch.dtype) -> Mistake:
    """The product of each block of K is rounded to `parts`, the sum of them to `total` after every step."""
    def answer(a: Tensor, b: Tensor) -> Tensor | None:
        k = a.shape[1]
        if k <= step:
            return None
        acc = torch.zeros(a.shape[0], b.shape[1], device=a.device)
        for first in range(0, k, step):
            part = a[:, first : first + step].float() @ b[first : first + step].float()
            acc = (acc + part.to(parts).float()).to(total).float()
        return acc.double()

    return Mistake(
        name="sums in fp16",
        hint="Sums were kept in fp16 on the way: make the accumulator tl.float32, leave tl.dot its own type of result, "
        "and round to fp16 once, at the store.",
        answer=answer,
    )


def _first_block_only(step: int) -> Mistake:
    return Mistake(
        name=f"first {step} of K only",
        hint=f"Only the first {step} products of K were added, one block: does the loop over K run to its end?",
        answer=lambda a, b: None if a.shape[1] <= step else a[:, :step].double() @ b[:step].double(),
    )


def _last_block_only(step: int) -> Mistake:
    def answer(a: Tensor, b: Tensor) -> Tensor | None:
        k = a.shape[1]
        first = (k - 1) // step * step
        return None if first == 0 else a[:, first:].double() @ b[first:].double()

    return Mistake(
        name="last block only",
        hint="Only the last block of K remains: add to the accumulator, do not replace it.",
        answer=answer,
    )


def _last_block_missing(step: int) -> Mistake:
    def answer(a: Tensor, b: Tensor) -> Tensor | None:
        k = a.shape[1]
        whole = k // step * step
        return None if whole == k else a[:, :whole].double() @ b[:whole].double()

    return Mistake(
        name="last block missing",
        hint="The last products, K mod the block size of them, are missing: the loop over K needs "
        "triton.cdiv(K, BLOCK) steps, the last one masked.",
        answer=answer,
    )


def _halves_overwritten(a: Tensor, b: Tensor) -> Tensor | None:
    """What split-K leaves where the second half of K is stored over the first."""
    first = (a.shape[1] + 1) // 2
    return a[:, first:].double() @ b[first:].double()


STEPS = (16, 32, 64, 128)
SUM_TYPES = ((torch.float32, torch.float16), (torch.float16, torch.float16), (torch.float16, torch.float32))
MISTAKES = (
    *(Mistake(
        name="b transposed", hint="b was read transposed: element (k, j) lies at k · N + j, look at b's two strides.",
        answer=_transposed_b(step)) for step in (0, 1)),
    *(Mistake(
        name="a transposed", hint="a was read transposed: element (i, k) lies at i · K + k, look at a's two strides.",
        answer=_transposed_a(step)) for step in (0, 1)),
    Mistake(
        name="out transposed",
        hint="The product is right but stored transposed: element (i, j) of out lies at i · N + j.",
        answer=_transposed_out,
    ),
    Mistake(
        name="half of K overwritten",
        hint="Only the second half of K is in the result: programs that share K must add their parts, not store them "
        "over one another.",
        answer=_halves_overwritten,
    ),
    *(make(step) for make in (_last_block_missing, _first_block_only, _last_block_only) for step in STEPS),
    *(_sums_in_fp16(step, *types) for types in SUM_TYPES for step in STEPS),
)

PARAMETERS = (
    Input(name="a", shape=("M", "K"), dtype="float16"),
    Input(name="b", shape=("K", "N"), dtype="float16"),
    Output(name="out", shape=("M", "N"), dtype="float16"),
)
ASSIGNMENT = Assignment(
    name="gemm",
    title="Matrix product",
    formula="out[i, j] = Σ over k of a[i, k] · b[k, j], summed in fp32",
    order=6,
    parameters=PARAMETERS,
    cases=CASES,
    baseline=Baseline(name="torch.mm", compiled="torch.compile of mm"),
    distributions=distributions,
    make_inputs=maker(PARAMETERS, distributions),
    tolerance=tolerance,
    mistakes=MISTAKES,
    rows=rows,
    spot_check=spot_check,
    timed=TIMED,
    work=work,
)
