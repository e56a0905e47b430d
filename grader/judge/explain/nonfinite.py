"""Why an output is NaN or infinite."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from grader.judge.explain.evidence import AGREEMENT, Evidence, Finding
from grader.judge.explain.regions import locate

LARGEST16 = 65504.0


def not_finite(evidence: Evidence) -> Finding:
    """Why elements that were written are NaN or infinite. Call it only when some are."""
    return replace(_cause(evidence), pattern="not finite")


def _cause(evidence: Evidence) -> Finding:
    bad = ~evidence.got.isfinite() & evidence.written
    nan = bool(evidence.got[bad].isnan().any())
    what = "NaN" if nan else "infinite"
    every = "The only element" if evidence.got.numel() == 1 else "Every element written"
    for name, x in evidence.tensors.items():
        if x.shape != bad.shape:
            continue
        at = x[bad]
        large = float(at.abs().min())
        rest = x[~bad & evidence.written]
        same_sign = bool((at > 0).all()) or bool((at < 0).all())
        of_that_sign = rest[rest.sign() == at.flatten()[0].sign()]
        if same_sign and large > 8 and (of_that_sign.numel() == 0 or float(of_that_sign.abs().max()) <= large):
            below = float(at.flatten()[0]) < 0
            return Finding(
                f"The output is {what} exactly where {name} is {'below -' if below else 'above '}{large:.3g}.",
                "exp overflows there (in float32 beyond 88), and inf / inf or inf * 0 is NaN: rewrite the formula so "
                "that exp is taken of numbers that are not positive.",
            )
    if (finding := _product(evidence, bad)) is not None:
        return finding
    if nan and int(bad.sum()) == int(evidence.written.sum()):
        return Finding(
            f"{every} is NaN.",
            evidence.words.all_nan,
        )
    if evidence.is_matrix and torch.equal(bad.any(dim=1), bad.all(dim=1)):
        rows = int(bad.all(dim=1).sum())
        return Finding(
            f"Whole rows are {what} ({rows:,} of {bad.shape[0]:,}), the others are finite.",
            evidence.words.rows_not_finite,
        )
    if not nan and evidence.comparison.got.dtype == torch.float16:
        return Finding(
            "Some elements are infinite.",
            "float16 ends at 65,504: were too many products added, or were they added in float16? Accumulate in "
            "float32.",
        )
    found = locate(bad)
    edge = found is not None and found.kind in {"tail", "columns", "corner"}
    if edge:
        return Finding(
            f"The output is {what} only at the end of the data.",
            evidence.words.edge_not_finite,
        )
    return Finding(
        f"Some elements are {what}.",
        evidence.words.some_not_finite,
    )


def _product(evidence: Evidence, bad: Tensor) -> Finding | None:
    """A matrix product that fits into float16 where the sums on the way to it do not."""
    if evidence.comparison.got.dtype != torch.float16 or evidence.got.ndim != 2:
        return None
    matrices = [x for x in evidence.tensors.values() if x.ndim == 2]
    for a in matrices:
        for b in matrices:
            if a is b or a.shape[1] != b.shape[0] or (a.shape[0], b.shape[1]) != tuple(evidence.got.shape):
                continue
            # Terms of one sign or the other, whichever are more: the largest sum that some order of adding passes.
            largest = (a.abs() @ b.abs() + (a @ b).abs()) / 2
            if int((largest[bad] > LARGEST16).sum()) >= AGREEMENT * int(bad.sum()):
                return Finding(
                    "Sums on the way to these elements pass 65,504, the largest number of float16, though the results "
                    "do not: they become infinite, and inf - inf is NaN.",
                    evidence.words.large_sums,
                )
    return None
