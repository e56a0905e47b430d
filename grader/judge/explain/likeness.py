"""What a wrong output looks like where nothing that was seen of its kernels explains it.

A likeness is claimed only where nearly all wrong elements show it and they are enough to exclude chance.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from grader.judge.explain.evidence import AGREEMENT, ENOUGH, Evidence, Hint

# Smaller shares of an output are no precision.
ROUNDED_SHARE = 0.05
# Relative error that one conversion to 16 bits and a few sums leave at most.
HELD = 2.0**-6
# Relative error that arithmetic of a lower precision leaves: between what float32 itself may do after sums, and a few
# units of float16's or TF32's last place (2^-11). A factor that is wrong for all elements mostly leaves more.
ROUNDED_FROM, ROUNDED_TO = 2.0**-18, 2.0**-8
# exp of numbers beyond 11 overflows float16, beyond 88 float32.
LARGE = 8


def likeness(evidence: Evidence) -> Hint | None:
    """The most telling likeness of the wrong elements that were written; None if they are like nothing known."""
    if evidence.count == 0:
        return None
    if not bool(evidence.got.isfinite().all()):
        return _overflow(evidence)
    return _zero(evidence) or _input(evidence) or _precision(evidence)


def _overflow(evidence: Evidence) -> Hint | None:
    """NaN or infinity exactly where an input is largest, or least."""
    bad = ~evidence.got.isfinite() & evidence.written
    for name, x in evidence.tensors.items():
        for sign, side in ((1, "above "), (-1, "below -")):
            if x.shape != bad.shape or not bool(bad.any()):
                continue
            large, rest = float((sign * x)[bad].min()), (sign * x)[~bad & evidence.written]
            if large > LARGE and (rest.numel() == 0 or float(rest.max()) <= large):
                what = "NaN" if bool(evidence.got[bad].isnan().any()) else "infinite"
                return Hint(
                    f"The output is {what} exactly where {name} is {side}{large:.3g}.",
                    "exp overflows there (in float32 beyond 88), and inf / inf or inf * 0 is NaN: rewrite the formula "
                    "so that exp is taken of numbers that are not positive.", pattern="not finite")
    return None


def _zero(evidence: Evidence) -> Hint | None:
    if bool(evidence.got[evidence.wrong].any()):
        return None
    return Hint(
        f"Every {'' if evidence.count == evidence.got.numel() else 'wrong '}element is 0.",
        "Does the kernel store the result that it computed? A load whose mask is false gives 0, and so does an "
        "accumulator that nothing is added to.", pattern="zero")


def _input(evidence: Evidence) -> Hint | None:
    for name, x in evidence.tensors.items():
        if x.shape == evidence.got.shape and evidence.is_explained_by(x):
            return Hint(
                f"The output is {name} itself.",
                "Does the kernel store the value that it loaded, in place of the one that it computed?",
                pattern="input copied")
    return None


def _precision(evidence: Evidence) -> Hint | None:
    """Right to a few digits: arithmetic in half precision, bfloat16 or TF32."""
    comparison, written = evidence.comparison, evidence.got[evidence.written]
    if comparison.got.dtype != torch.float32 or evidence.count < max(ENOUGH, ROUNDED_SHARE * written.numel()):
        return None
    relative = ((evidence.got - evidence.expected).abs() / _scale(evidence.expected))[evidence.wrong]
    if float(relative.max()) > HELD:
        return None
    # How many leading digits most elements have right.
    most = float(relative.kthvalue(max(1, int(0.9 * relative.numel()))).values)
    digits = max(1, math.floor(-math.log10(max(most, 1e-16))))
    for dtype, name in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
        if float((written == written.to(dtype).to(torch.float64)).double().mean()) >= AGREEMENT:
            return Hint(
                f"Every value is one that {name} can hold: right to about {digits} digits.",
                f"Something is converted to {name} on the way; keep loads, sums and results in float32.",
                pattern="precision")
    if comparison.exact or float(relative.median()) < ROUNDED_FROM or float(relative.max()) > ROUNDED_TO:
        return None
    return Hint(
        f"The values are right to only about {digits} digits, where float32 gives 7.",
        "Something is computed in a lower precision (float16, bfloat16, TF32) or with an approximation.",
        pattern="precision")


def _scale(expected: Tensor) -> Tensor:
    """The size of the numbers around each element: its own, or its row's root mean square if that is larger."""
    around = (expected * expected).mean(dim=-1, keepdim=True).sqrt() if expected.ndim == 2 else expected.abs()
    return torch.maximum(expected.abs(), around).clamp_min(1e-300)
