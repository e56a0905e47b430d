"""RMSNorm of one vector: a sum over everything, then a pass that needs it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from grader.assignment import Assignment, Baseline, Case, Input, Inputs, Mistake, Output, Scalar, TimedCase, Work
from grader.kit.inputs import Distribution, Number, Outliers, Spread, maker

EPS32 = 2.0**-23
SMALLEST_NORMAL32 = 2.0**-126

CASES = (
    Case(name="1", sizes={"N": 1}),
    Case(name="7-tiny", sizes={"N": 7}, values="tiny"),
    Case(name="31", sizes={"N": 31}),
    Case(name="1009-tiny", sizes={"N": 1009}, values="tiny"),
    Case(name="1024", sizes={"N": 1024}),
    Case(name="4099", sizes={"N": 4099}),
    Case(name="16411-extreme", sizes={"N": 16411}, values="extreme"),
    Case(name="131101", sizes={"N": 131101}),
    Case(name="1048576-tiny", sizes={"N": 2**20}, values="tiny", needs="gpu"),
    Case(name="7999993-extreme", sizes={"N": 7999993}, values="extreme", needs="gpu"),
    Case(name="16777219", sizes={"N": 2**24 + 3}, needs="gpu"),
)
TIMED = (
    # 16 MiB a slot: no device is too small.
    TimedCase(name="1048576", sizes={"N": 2**20}),
    TimedCase(name="16777216", sizes={"N": 2**24}, smaller=({"N": 2**23}, {"N": 2**22})),
)

SCALES = {"mixed": (0.05, 10.0), "extreme": (1.0, 100.0), "tiny": (1e-4, 3e-3)}
"""Standard deviation of x, lowest and highest: eps, 1e-6 to 1e-4, outweighs the mean square of "tiny" ones."""


EPS = Number(1e-6, 1e-4)


def distributions(case: Case) -> Mapping[str, Distribution]:
    """x has a random scale and offset, and outliers; the weights have both signs."""
    x = Spread(scale=SCALES[case.values], offset=2.0, outliers=Outliers(256, times=30))
    return {"x": x, "weight": Spread(), "eps": EPS}


def tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each element."""
    return EPS32 * _growth(expected.numel()) * expected.abs() + SMALLEST_NORMAL32


def _growth(n: int) -> float:
    """The error allowed in units of EPS32."""
    # Squares, mean, eps, reciprocal root and the two products err by about 8 units of EPS32 together, 2 of them for a
    # GPU's rsqrt. N squares added one after another, the worst of sensible orders, err by EPS32/2 of the sum each, at
    # random: √N/2 units together, which the root halves. Sums by blocks stay far below.
    return 8 + math.sqrt(n) / 4


PLACES = 1 << 15
"""Elements of a timed answer that are computed in full."""


def spot_check(
    inputs: Sequence[Inputs], generator: torch.Generator
) -> Callable[[Sequence[Inputs], Sequence[Tensor]], Tensor]:
    """Keeps what gives PLACES secret elements of each output, and returns the check of those and of any NaN elsewhere.

    All of x has part in each of them through the mean, which is taken before the call: one huge element of x, changed
    by a kernel, would make it known without a sum. A kernel that leaves out a share p of the elements of n outputs gets
    by with probability (1 − p)^(n·PLACES): 0.1 % of a single output with 1e-14. What was kept is all that is needed, so
    this is so whatever has become of the inputs.
    """
    x, weight = (torch.stack([one[name] for one in inputs]) for name in ("x", "weight"))
    calls, n = x.shape
    places = torch.randint(n, (calls, PLACES), generator=generator, device=generator.device)
    mean = torch.linalg.vector_norm(x, dim=1, dtype=torch.float64).square() / n
    eps = torch.tensor([one["eps"] for one in inputs], dtype=torch.float64).to(x.device)
    expected = _answer(x.gather(1, places), weight.gather(1, places), torch.sqrt(mean + eps)[:, None])
    allowed = EPS32 * _growth(n) * expected.abs() + SMALLEST_NORMAL32

    def check(now: Sequence[Inputs], outputs: Sequence[Tensor]) -> Tensor:
        output = torch.stack(list(outputs))
        worst = ((output.gather(1, places).double() - expected).abs_() / allowed).amax(dim=1)
        # A sum is not finite if an element is not, and 0 times it is NaN then.
        return (worst + 0 * output.sum(dim=1)).nan_to_num(nan=math.inf, posinf=math.inf)

    return check


def work(sizes: Mapping[str, int]) -> Work:
    """x and weight are read and out written, 4 bytes an element. x again for the scaling is no part of the least:
    what registers or a cache can hold need not be read twice."""
    return Work(bytes=12 * sizes["N"])


def _answer(x: Tensor, weight: Tensor, divisor: Tensor) -> Tensor:
    return x.double() * weight.double() / divisor


def _mean_square(x: Tensor) -> Tensor:
    return x.double().square().mean()


def _padded(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
    n = x.numel()
    padded = 1 << (n - 1).bit_length()
    return None if padded == n else _answer(x, weight, torch.sqrt(x.double().square().sum() / padded + eps))


def _layer_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    centred = x.double() - x.double().mean()
    return _answer(centred, weight, torch.sqrt(_mean_square(centred) + eps))


BLOCKS = (256, 512, 1024, 2048, 4096, 8192)
"""Sizes of the blocks that mistaken sums are made of."""

Sums = Callable[[Tensor, int], Tensor | None]
"""From the squares (float64) and a block size to what they are taken to add up to, one number or one an element; None
where that is the right sum."""


def _of_blocks(squares: Tensor, block: int) -> Tensor | None:
    """The sum of each block; None if there is but one."""
    n = squares.numel()
    return None if n <= block else torch.nn.functional.pad(squares, (0, -n % block)).view(-1, block).sum(dim=1)


def _first_block(squares: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(squares, block)
    return None if sums is None else sums[0]


def _last_block(squares: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(squares, block)
    return None if sums is None else sums[-1]


def _own_block(squares: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(squares, block)
    return None if sums is None else sums.repeat_interleave(block)[: squares.numel()]


def _mean_of_own_block(squares: Tensor, block: int) -> Tensor | None:
    sums, ones = _own_block(squares, block), _own_block(torch.ones_like(squares), block)
    return None if sums is None or ones is None else sums / ones * squares.numel()


def _blocks_so_far(squares: Tensor, block: int) -> Tensor | None:
    sums = _of_blocks(squares, block)
    return None if sums is None else sums.cumsum(0).repeat_interleave(block)[: squares.numel()]


def _whole_blocks(squares: Tensor, block: int) -> Tensor | None:
    n = squares.numel()
    return None if n % block == 0 else squares[: n // block * block].sum()


def _overlap_twice(squares: Tensor, block: int) -> Tensor | None:
    n = squares.numel()
    return None if n % block == 0 or n < block else squares[: n // block * block].sum() + squares[n - block :].sum()


def _ones_after_the_end(squares: Tensor, block: int) -> Tensor | None:
    n = squares.numel()
    return None if n % block == 0 else squares.sum() + (-n % block)


def _wrong_sum(name: str, hint: str, sums: Sums, block: int) -> Mistake:
    def answer(x: Tensor, weight: Tensor, eps: float) -> Tensor | None:
        total = sums(x.double().square(), block)
        return None if total is None else _answer(x, weight, torch.sqrt(total / x.numel() + eps))

    return Mistake(name=name, hint=hint, answer=answer)


# Each name stands for all sizes of blocks.
WRONG_SUMS: tuple[tuple[str, str, Sums], ...] = (
    ("own block only", "Each block was divided by the sum of its own squares: the sum goes over all blocks.",
     _own_block),
    ("own block's mean", "Each block was divided by its own mean square: the mean goes over all blocks.",
     _mean_of_own_block),
    ("first block only", "Only the squares of the first block are in the sum: it goes over all blocks.", _first_block),
    ("last block only", "Only the squares of the last block are in the sum: programs (or steps of a loop) replace the "
     "total instead of adding to it. Use tl.atomic_add, or store a sum for each block and add those.", _last_block),
    ("blocks so far", "Each block was divided by the sum of the squares up to its own end: the total was read before "
     "all programs had added to it. They wait for each other only between launches: use two kernels.",
     _blocks_so_far),
    ("last block missing", "The last, partial block is missing from the sum: it needs triton.cdiv(N, BLOCK) blocks, "
     "the last one masked.", _whole_blocks),
    ("overlap counted twice", "The last block of the sum was moved back to end at N, and what it shares with the block "
     "before is counted twice: mask the partial block instead.", _overlap_twice),
    ("padding of ones", "Lanes beyond the end entered the sum as ones: give the load other=0.0.", _ones_after_the_end),
)


MISTAKES = (
    Mistake(
        name="no eps",
        hint="eps is missing: it is added to the mean of the squares, and matters when x is small.",
        answer=lambda x, weight, eps: _answer(x, weight, torch.sqrt(_mean_square(x))),
    ),
    Mistake(
        name="eps outside the root",
        hint="eps was added to the root: it belongs inside, √(mean + eps).",
        answer=lambda x, weight, eps: _answer(x, weight, torch.sqrt(_mean_square(x)) + eps),
    ),
    Mistake(
        name="no weight",
        hint="The weight is missing: multiply each element by its own.",
        answer=lambda x, weight, eps: x.double() / torch.sqrt(_mean_square(x) + eps),
    ),
    Mistake(
        name="sum for mean",
        hint="The sum of the squares was used: divide it by N.",
        answer=lambda x, weight, eps: (
            _answer(x, weight, torch.sqrt(x.double().square().sum() + eps)) if x.numel() > 1 else None
        ),
    ),
    Mistake(
        name="mean over the padded block",
        hint="The sum was divided by the block size, a power of two: divide by N.",
        answer=_padded,
    ),
    Mistake(
        name="no root",
        hint="The square root is missing: divide by √(mean + eps).",
        answer=lambda x, weight, eps: _answer(x, weight, _mean_square(x) + eps),
    ),
    Mistake(
        name="layer norm",
        hint="The mean of x was subtracted, as in LayerNorm: RMSNorm does not centre.",
        answer=_layer_norm,
    ),
    *(_wrong_sum(*wrong, block) for wrong in WRONG_SUMS for block in BLOCKS),
)

PARAMETERS = (
    Input(name="x", shape=("N",)),
    Input(name="weight", shape=("N",)),
    Scalar(name="eps"),
    Output(name="out", shape=("N",)),
)
ASSIGNMENT = Assignment(
    name="rmsnorm_vector",
    title="RMSNorm of a vector",
    formula="out = x · weight / √(mean(x²) + eps)",
    order=2,
    parameters=PARAMETERS,
    cases=CASES,
    baseline=Baseline(name="x · rsqrt(mean(x²) + eps) · weight, eager", compiled="torch.compile of the same"),
    distributions=distributions,
    make_inputs=maker(PARAMETERS, distributions),
    tolerance=tolerance,
    mistakes=MISTAKES,
    spot_check=spot_check,
    timed=TIMED,
    work=work,
)
