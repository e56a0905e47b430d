"""What costs no points and is worth knowing."""

from __future__ import annotations

from collections.abc import Iterable

from grader.judge.explain.lines import in_line, quoted
from grader.plan.findings import Finding, MaskedUsed
from grader.plan.messages import Skipped

MASKED = (
    "The load of {tensor}{line} has a mask and no `other`, and the answer depends on the lanes that the mask switches "
    "off. NVIDIA GPUs leave 0 there, but Triton does not promise it: give tl.load other=0.0."
)
WHY_SKIPPED = {
    "numbers": "it needs the numbers of a tensor, and tensors have none while a file is imported",
    "benchmark": "it measures time, which is the grader's work",
    "exception": "it raised an exception",
}


def explain_remarks(skipped: Iterable[Skipped], findings: Iterable[Finding] = ()) -> list[str]:
    """A sentence for each statement of the file that was left out, and for each load that relies on masked lanes."""
    said = [f"Line {one.line} was skipped: {WHY_SKIPPED[one.why]}{f' ({_short(one.text)})' if one.text else ''}."
            for one in skipped]
    said += [MASKED.format(tensor=quoted(found.tensor), line=in_line(found.line))
             for found in findings if isinstance(found, MaskedUsed)]
    return list(dict.fromkeys(said))


def _short(text: str) -> str:
    return quoted(" ".join(text.split()))
