"""Remarks that cost no points and are worth knowing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.frontends.phrases import Phrases
from grader.judge.explain.lines import in_line, phrases_of, quoted
from grader.judge.explain.undefined import is_failure, undefined
from grader.model.assignment import Assignment
from grader.plan.findings import Finding, MaskedUsed, Undefined
from grader.plan.messages import Skipped, Why

MOST_LISTED = 6


def explain_remarks(
    assignment: Assignment, skipped: Iterable[Skipped], findings: Iterable[Finding] = ()
) -> list[str]:
    """A sentence for each reason why statements were skipped, for each load that relies on masked lanes, and for each
    operation that goes right by chance."""
    words = phrases_of(assignment)
    reasons: dict[tuple[Why, str], list[Skipped]] = {}
    for one in skipped:
        # Each exception is a reason of its own.
        reasons.setdefault((one.why, one.text if one.why == "exception" else ""), []).append(one)
    said = [_said(why, group, words) for (why, _), group in reasons.items()]
    said += [words.sights.masked_remark.format(tensor=quoted(found.tensor), line=in_line(found.line))
             for found in findings if isinstance(found, MaskedUsed)]
    said += [undefined(found, words).text for found in findings
             if isinstance(found, Undefined) and found.certain and not is_failure(found, words)]
    return list(dict.fromkeys(said))


def _said(why: Why, group: Sequence[Skipped], words: Phrases) -> str:
    quotes = list(dict.fromkeys(quoted(" ".join(one.text.split())) for one in group if one.text))
    texts = f" ({_listed(quotes)})" if quotes else ""
    numbers = list(dict.fromkeys(str(one.line) for one in group))
    lines = f"line{'s' * (len(numbers) > 1)} {_listed(numbers)}"
    if why == "print":
        return words.calls.skipped_print.format(lines=lines, texts=texts)
    return f"{lines.capitalize()} {'were' if len(numbers) > 1 else 'was'} skipped: {words.skips[why].why}{texts}."


def _listed(words: Sequence[str]) -> str:
    more = [f"{len(words) - MOST_LISTED} more"] if len(words) > MOST_LISTED + 1 else []
    words = [*words[:MOST_LISTED], *more] if more else words
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
