"""Cross entropy of rows of logits in bfloat16 with labels of int64: a sum of exponentials, and a gather."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from grader.kit import sums
from grader.kit.author import (
    EPS32,
    SMALLEST_NORMAL32,
    Baseline,
    Case,
    Distribution,
    Indices,
    Input,
    Inputs,
    Mistake,
    Output,
    Peaks,
    Spread,
    assignment,
    cases,
    timed,
)

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""Sizes of the blocks that mistaken sums are made of."""
LOGITS = {
    "mixed": Spread(scale=(0.5, 5.0), offset=5.0, absolute=True, peaks=Peaks()),
    "extreme": Spread(scale=(2.0, 20.0), offset=300.0, absolute=True, peaks=Peaks()),
}
"""By the values of a case: of "extreme" rows exp overflows or is zero all over, unless the maximum is subtracted;
some rows have a peak that only their own maximum holds."""

Sum = Callable[[Tensor], Tensor | None]
"""logits (float64) to the logarithms of the sums that a mistaken kernel makes, (M, 1); None where they are right."""
Picked = Callable[[Tensor, Tensor], Tensor | None]
"""logits (float64) and labels to the logits, (M,), that a mistaken kernel takes for the labels'."""


def oracle(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The right loss and lse, each of shape (M,)."""
    lse = torch.logsumexp(logits.double(), dim=1)
    return lse - _picked(logits.double(), labels), lse


def distributions(case: Case) -> Mapping[str, Distribution]:
    """Each row of logits has its own scale, offset and perhaps a peak; the first and the last label occur."""
    return {"logits": LOGITS[case.values], "labels": Indices("V")}


def lse_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each lse."""
    x = inputs["logits"].double()
    top = x.amax(dim=1, keepdim=True)
    # exp(x − max) is exp2 of a product that is rounded twice: relative error 1.5·|x − max|·EPS32, of each term in
    # proportion to its share of the sum; without a maximum 1.5·|x|. Terms added one after another err by √n/2 units of
    # the sum at random, exp2 and log by 4 more, and the last sum by half a unit of what it adds: twice all that.
    shares = torch.softmax(x, dim=1)
    argument = (shares * (top - x)).sum(dim=1) + (shares * x.abs()).sum(dim=1)
    # A kernel may make lse from the loss, which is rounded to its own size.
    loss = (expected - _picked(x, inputs["labels"])).abs()
    size = top.squeeze(1).abs() + (expected - top.squeeze(1)).abs() + expected.abs() + loss
    return EPS32 * (8 + math.sqrt(x.shape[1]) / 2 + 3 * argument + size) + SMALLEST_NORMAL32


def loss_tolerance(inputs: Inputs, expected: Tensor) -> Tensor:
    """The absolute error allowed for each loss: that of the lse, and the rounding of one difference."""
    lse = torch.logsumexp(inputs["logits"].double(), dim=1)
    return lse_tolerance(inputs, lse) + EPS32 * expected.abs()


def _picked(x: Tensor, labels: Tensor) -> Tensor:
    return x.gather(1, labels[:, None]).squeeze(1)


def _terms(x: Tensor) -> Tensor:
    return torch.exp(x - x.amax(dim=1, keepdim=True))


def _log(total: Tensor, x: Tensor) -> Tensor:
    return torch.log(total) + x.amax(dim=1, keepdim=True)


def _by_blocks(wrong: sums.WrongSum, block: int) -> Sum:
    def answer(x: Tensor) -> Tensor | None:
        total = wrong(_terms(x), block)
        return None if total is None else _log(total, x)

    return answer


def _zeros_beyond(block: int) -> Sum:
    """Lanes beyond the end hold 0, and enter maximum and sum as logits of 0."""
    def answer(x: Tensor) -> Tensor | None:
        missing = -x.shape[1] % (block or 1 << (x.shape[1] - 1).bit_length())
        padded = torch.nn.functional.pad(x, (0, missing))
        return None if missing == 0 else torch.logsumexp(padded, dim=1, keepdim=True)

    return answer


def _in_float32(subtracted: Callable[[Tensor], Tensor]) -> Sum:
    """The loss in float32 where another number than the maximum is subtracted."""
    def answer(x: Tensor) -> Tensor:
        top = subtracted(x).float()
        return (torch.log(torch.exp(x.float() - top).sum(dim=1, keepdim=True)) + top).double()

    return answer


def _less_of_block(block: int, last: bool) -> Sum:
    """The maximum of the first block, or of the last, is subtracted from all of the row."""
    def answer(x: Tensor) -> Tensor | None:
        at = slice((x.shape[1] - 1) // block * block, None) if last else slice(block)
        return _in_float32(lambda x: x[:, at].amax(dim=1, keepdim=True))(x) if x.shape[1] > block else None

    return answer


def _not_rescaled(block: int) -> Sum:
    def answer(x: Tensor) -> Tensor | None:
        total = sums.not_rescaled(x, block)
        return None if total is None else _log(total, x)

    return answer


ANOTHER = ("not the row's maximum", "exp overflows where a logit lies over 88 above what is subtracted: that is the "
           "largest of the whole row, and not its first logit, its mean or a block's maximum.")
LSE: tuple[tuple[str, str, Sum], ...] = (
    ("no maximum", "The row's maximum is not subtracted, or 0 takes its place in some lanes: exp overflows beyond "
     "88, and the sum is 0 where all lie below −103.",
     _in_float32(lambda x: torch.zeros_like(x[:, :1]))),
    (*ANOTHER, _in_float32(lambda x: x[:, :1])),
    (*ANOTHER, _in_float32(lambda x: x.mean(dim=1, keepdim=True))),
    *((*ANOTHER, _less_of_block(block, last)) for last in (False, True) for block in BLOCKS),
    ("maximum not below 0", "The maximum is never below 0, even of negative numbers: begin at -float('inf'), and let "
     "no lane put 0 in its place.",
     _in_float32(lambda x: x.amax(dim=1, keepdim=True).clamp(min=0))),
    ("maximum not added", "The maximum is missing: it was subtracted before exp, so add it to the logarithm.",
     lambda x: torch.log(_terms(x).sum(dim=1, keepdim=True))),
    ("base 2", "The sum's logarithm is that to the base 2: tl.log2 is to be multiplied by ln 2, or take tl.log.",
     lambda x: torch.log2(_terms(x).sum(dim=1, keepdim=True)) + x.amax(dim=1, keepdim=True)
     if x.shape[1] > 1 else None),
    ("powers of 2", "2 was raised to x − max: with tl.exp2, multiply by log2(e) first.",
     lambda x: torch.log(torch.exp2(x - x.amax(dim=1, keepdim=True)).sum(dim=1, keepdim=True))
     + x.amax(dim=1, keepdim=True) if x.shape[1] > 1 else None),
    ("no logarithm", "The logarithm is missing: lse is the logarithm of the sum.",
     lambda x: _terms(x).sum(dim=1, keepdim=True) + x.amax(dim=1, keepdim=True)),
    ("largest alone", "This is the largest logit: the logarithm of the sum of all is to be added.",
     lambda x: x.amax(dim=1, keepdim=True) if x.shape[1] > 1 else None),
    ("mean for sum", "The mean of the exponentials was taken: add them.",
     lambda x: _log(_terms(x).mean(dim=1, keepdim=True), x) if x.shape[1] > 1 else None),
    ("one more in the sum", "The sum of each row is 1 too large: does it begin at 0?",
     lambda x: _log(1 + _terms(x).sum(dim=1, keepdim=True), x)),
    ("lse in bfloat16", "lse was rounded to bfloat16: it is a float32 number, and so is what the loss is made of.",
     lambda x: torch.logsumexp(x, dim=1, keepdim=True).bfloat16().double()),
    ("sum in bfloat16", "The exponentials or their sum were rounded to bfloat16: convert the logits to tl.float32 as "
     "you load them.", lambda x: _log(_terms(x).bfloat16().double().sum(dim=1, keepdim=True), x)
     if x.shape[1] > 1 else None),
    *(("sums not rescaled", "The sum so far belongs to an older maximum: multiply it by exp(old − new) when a larger "
       "one comes.", _not_rescaled(block)) for block in BLOCKS),
    *(("zeros beyond the end", "Lanes beyond the end of the row entered the sum as zeros: give the load "
       "other=-float('inf').", _zeros_beyond(block)) for block in (0, *BLOCKS)),
    *((name, hint, _by_blocks(wrong, block)) for name, hint, wrong in (
        ("first block only", "Only the first columns, one block of them, are in the sum: it goes over the whole row.",
         sums.first_block),
        ("last block only", "Only the last block is in the sum: the loop replaces the total, it does not add to it.",
         sums.last_block),
        ("last block missing", "The last columns, a partial block, are missing from the sum: it needs V / BLOCK "
         "blocks, rounded up, the last one masked.", sums.whole_blocks),
    ) for block in BLOCKS),
)
PICKED: tuple[tuple[str, str, Picked], ...] = (
    ("label's logit missing", "The label's logit is missing: loss is lse − logits[i, labels[i]].",
     lambda x, labels: torch.zeros_like(x[:, 0])),
    ("labels in the first row", "Every label's logit was taken from row 0: its place is row · V + label.",
     lambda x, labels: x[0, labels] if len(x) > 1 else None),
    ("label for logit", "The label itself was subtracted: it is the place of a logit in its row.",
     lambda x, labels: labels.double()),
    ("labels as 32 bits", "Labels were read as numbers of 32 bits: they are int64, two of those each.",
     lambda x, labels: _picked(x, labels.to(torch.int64).view(torch.int32)[: len(x)].long()) if len(x) > 1 else None),
    ("label by column", "The label of another row was used: labels[i] belongs to row i.",
     lambda x, labels: _picked(x, labels.roll(1)) if len(x) > 1 else None),
    *(("label's logit lost", "The label's logit is that of the last block alone, 0 if the label is in another: the "
       "loop replaces it, where it has to keep what it found.", lambda x, labels, block=block: torch.where(
           labels >= (x.shape[1] - 1) // block * block, _picked(x, labels), 0.0) if x.shape[1] > block else None)
      for block in BLOCKS),
    ("largest for the label's", "The largest logit was subtracted: take that of the label.",
     lambda x, labels: x.amax(dim=1) if x.shape[1] > 1 else None),
)


def _mistakes() -> Iterator[Mistake]:
    for name, hint, wrong in LSE:
        def loss(logits: Tensor, labels: Tensor, _wrong: Sum = wrong) -> Tensor | None:
            found = _wrong(logits.double())
            return None if found is None else found.squeeze(1) - _picked(logits.double(), labels)

        def lse(logits: Tensor, labels: Tensor, _wrong: Sum = wrong) -> Tensor | None:
            found = _wrong(logits.double())
            return None if found is None else found.squeeze(1)

        yield Mistake(name=name, hint=hint, answer=loss, output="loss")
        yield Mistake(name=name, hint=hint, answer=lse, output="lse")
    for name, hint, picked in PICKED:
        def by_label(logits: Tensor, labels: Tensor, _picked: Picked = picked) -> Tensor | None:
            found = _picked(logits.double(), labels)
            return None if found is None else torch.logsumexp(logits.double(), dim=1) - found

        yield Mistake(name=name, hint=hint, answer=by_label, output="loss")
    yield Mistake(name="sign", hint="These are the logarithms of the probabilities: loss is lse − logit, not logit − "
                  "lse.", answer=lambda logits, labels: -oracle(logits, labels)[0], output="loss")
    yield Mistake(name="mean over rows", hint="Losses were divided by M: each row has its own, and no mean is asked "
                  "for.", output="loss",
                  answer=lambda logits, labels: oracle(logits, labels)[0] / len(logits) if len(logits) > 1 else None)


ASSIGNMENT = assignment(
    name="cross_entropy",
    title="Cross entropy",
    formula="lse[i] = log Σ over j of exp(logits[i, j]);  loss[i] = lse[i] − logits[i, labels[i]]",
    order=7,
    parameters=(
        Input(name="logits", shape=("M", "V"), dtype="bfloat16"), Input(name="labels", shape=("M",), dtype="int64"),
        Output(name="loss", shape=("M",)), Output(name="lse", shape=("M",))),
    oracle=oracle,
    cases=cases(
        "M V", "1x1 5x9 7x1009-extreme 4099x2 37x64 149x31-extreme 3x4099 17x8200 2x32003-extreme",
        gpu="70001x33 257x50257-extreme 4099x4093 16x128256"),
    timed=timed("M V", "8192x32768 4096x32768 2048x32768", "4096x128256 2048x128256 1024x128256"),
    baseline=Baseline(
        name="log_softmax in float32, and two gathers", compiled="torch.compile of logsumexp and a gather"),
    distributions=distributions,
    tolerance={"loss": loss_tolerance, "lse": lse_tolerance},
    rows="logits labels",
    right_by_nature={
        **dict.fromkeys(("1x1: loss: zeros", "1x1: loss: an earlier answer", "1x1: loss: half precision"),
                        "one logit has all of the probability"),
        **dict.fromkeys(("1x1: lse: the input", "1x1: lse: the mean", "1x1: lse: half precision"),
                        "the only logit, which bfloat16 holds, is its own lse")},
    mistakes=tuple(_mistakes()),
)
