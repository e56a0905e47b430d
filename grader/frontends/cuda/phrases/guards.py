"""What the text of a file adds to what was seen of an access outside its tensor: what its condition compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.frontends.cuda.source import code_words
from grader.frontends.phrases import Slip
from grader.plan.findings import OutOfBounds

_LONG = 256
"""Words of a condition, an index or a loop's head, at most."""
_FEW = 8
"""Uses of a tensor in a line, at most."""


def outside(source: str, found: OutOfBounds) -> Slip | None:
    """`if (y < n)` around `x[y + j]`, where a loop counts `j`; None if an access is not of this kind."""
    words = code_words(source)
    # None of a few words behind another one lies behind the end.
    texts = [*(word.text for word in words), "", "", "", ""]
    counted = {_counter(texts, at) for at, word in enumerate(words) if word.text == "for" and word.line <= found.line}
    used = [at for at, word in enumerate(words) if word.line == found.line and texts[at:at + 2] == [found.tensor, "["]]
    for at in used[:_FEW]:
        for guard in _guards(texts, at):
            for name, bound in _compared(texts, guard):
                for other in _added(texts, at + 1, name):
                    counter = next((one for one in other if one in counted), None)
                    whole = " ".join([name, "+", *other])
                    if counter is not None and bound not in other and whole not in " ".join(
                            texts[guard:_closed(texts, guard + 1)]):
                        return Slip(
                            words[guard].line, f"The condition in line {words[guard].line} compares `{name}`, and the "
                            f"index in line {found.line} holds `{whole}`, in which a loop counts `{counter}`.",
                            f"Compare `{whole}` with the size.")
    return None


def _counter(texts: Sequence[str], at: int) -> str:
    """The variable that a `for` sets first."""
    end = next((one for one in range(at, min(at + _LONG, len(texts))) if texts[one] == "="), at + 1)
    return texts[end - 1]


def _closed(texts: Sequence[str], at: int) -> int:
    """The place of the bracket that closes the one at a place; the last that is looked at where it is far."""
    depth = 0
    for end in range(at, min(at + _LONG, len(texts))):
        depth += (texts[end] in ("(", "[")) - (texts[end] in (")", "]"))
        if not depth:
            return end
    return min(at + _LONG, len(texts)) - 1


def _guards(texts: Sequence[str], at: int) -> Iterator[int]:
    """The `if` right around a place, with a block of its own or one statement."""
    depth = 0
    for before in range(at - 1, max(-1, at - 4 * _LONG), -1):
        depth += (texts[before] == "}") - (texts[before] == "{")
        if texts[before] != "if" or depth > 0:
            continue
        body = _closed(texts, before + 1) + 1
        # Heads of loops hold semicolons; a statement without a block ends with its first other one.
        while body < at and texts[body] == "for":
            body = _closed(texts, body + 1) + 1
        if depth < 0 or ";" not in texts[body:at]:
            yield before
            return


def _compared(texts: Sequence[str], guard: int) -> Iterator[tuple[str, str]]:
    """The names that a condition takes for less than something, each with what that begins with."""
    for at in range(guard + 1, _closed(texts, guard + 1)):
        if texts[at] in ("(", "&&") and texts[at + 1].isidentifier() and texts[at + 2] in ("<", "<="):
            yield texts[at + 1], texts[at + 3]


def _added(texts: Sequence[str], bracket: int, name: str) -> Iterator[list[str]]:
    """What an index adds to a name: the words of each product."""
    end = _closed(texts, bracket)
    for at in range(bracket + 1, end if texts[end] == "]" else bracket):
        if texts[at] != name or texts[at - 1] not in ("[", "(", "+") or texts[at + 1] != "+":
            continue
        last = next((one for one in range(at + 2, end) if texts[one] in ("+", "-", ")", "]", ",")), end)
        yield list(texts[at + 2:last])
