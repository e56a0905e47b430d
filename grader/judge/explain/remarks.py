"""What costs no points and is worth knowing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.judge.explain.lines import in_line, quoted
from grader.judge.explain.refusals import WHY_SKIPPED
from grader.judge.explain.undefined import is_failure, remark
from grader.plan.findings import Finding, MaskedUsed, Undefined
from grader.plan.messages import Skipped

MOST_LISTED = 6
MASKED = (
    "The load of {tensor}{line} has a mask and no `other`, and the answer depends on the lanes that the mask switches "
    "off. NVIDIA GPUs leave 0 there, but Triton does not promise it: give tl.load other=0.0."
)
SHOWN = (
    "Skipped in {lines}{texts}: host code has no numbers to print or check. In a kernel use tl.device_print or "
    "tl.device_assert. This costs no points."
)


def explain_remarks(skipped: Iterable[Skipped], findings: Iterable[Finding] = ()) -> list[str]:
    """A sentence for each reason why statements of the file were left out, for each load that relies on masked
    lanes, and for what is left to chance."""
    reasons: dict[tuple[str, str], list[Skipped]] = {}
    for one in skipped:
        # Each exception is a reason of its own.
        reasons.setdefault((one.why, one.text if one.why == "exception" else ""), []).append(one)
    said = [_said(why, group) for (why, _), group in reasons.items()]
    said += [MASKED.format(tensor=quoted(found.tensor), line=in_line(found.line))
             for found in findings if isinstance(found, MaskedUsed)]
    said += [remark(found) for found in findings
             if isinstance(found, Undefined) and found.certain and not is_failure(found)]
    return list(dict.fromkeys(said))


def _said(why: str, group: Sequence[Skipped]) -> str:
    quotes = list(dict.fromkeys(quoted(" ".join(one.text.split())) for one in group if one.text))
    texts = f" ({_listed(quotes)})" if quotes else ""
    numbers = list(dict.fromkeys(str(one.line) for one in group))
    lines = f"line{'s' * (len(numbers) > 1)} {_listed(numbers)}"
    if why == "print":
        return SHOWN.format(lines=lines, texts=texts)
    return f"{lines.capitalize()} {'were' if len(numbers) > 1 else 'was'} skipped: {WHY_SKIPPED[why]}{texts}."


def _listed(words: Sequence[str]) -> str:
    more = [f"{len(words) - MOST_LISTED} more"] if len(words) > MOST_LISTED + 1 else []
    words = [*words[:MOST_LISTED], *more] if more else words
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
