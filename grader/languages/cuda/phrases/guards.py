"""Condition around an access outside its tensor, read from the file's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.languages.cuda.source import code_words
from grader.languages.phrases import Slip, fact
from grader.plan.findings import OutOfBounds

_LONG = 256
"""The most tokens of a condition, an index or a loop's head."""
_SIGNS = ("<", "<=", ">", ">=")
_FEW = 8
"""The most uses of a tensor in a line."""


def outside(source: str, finding: OutOfBounds) -> Slip | None:
    """Return the slip where `if (y < n)` guards `x[y + j]` and a loop counts `j`; None for any other access."""
    words = code_words(source)
    # Padding, so that a few tokens after any other can be read without a check for the end.
    texts = [*(word.text for word in words), "", "", "", ""]
    counted = {_counter(texts, at) for at, word in enumerate(words) if word.text == "for" and word.line <= finding.line}
    used = [at for at, word in enumerate(words)
            if word.line == finding.line and texts[at:at + 2] == [finding.tensor, "["]]
    for at in used[:_FEW]:
        for guard in _guards(texts, at):
            for name, bound in _compared(texts, guard):
                for terms in _added_terms(texts, at + 1, name):
                    counter = next((term for term in terms if term in counted), None)
                    whole = " ".join([name, "+", *terms])
                    if counter is not None and bound not in terms and whole not in " ".join(
                            texts[guard:_closing_bracket(texts, guard + 1)]):
                        # No other candidate is tried, as `_bounded` reads the whole file.
                        line = words[guard].line
                        return None if _bounded(source, texts, at, whole.split(), counter) else Slip(
                            line, fact("slip.guard.seen", line=line, name=name, index=finding.line, whole=whole,
                                       counter=counter), fact("slip.guard.advice", whole=whole))
    return None


def _bounded(source: str, texts: Sequence[str], at: int, whole: list[str], counter: str) -> bool:
    """Return whether something other than the guard may bound the index at `at`: its kernel compares the index
    elsewhere, or no loop around it plainly counts to a constant."""
    kernel = next((index for index in range(at, -1, -1) if texts[index] == "__global__"), 0)
    loop = next((index for index in range(at, kernel, -1)
                 if texts[index] == "for" and _counter(texts, index) == counter), None)
    if loop is None or not _holds(texts, loop, at):
        return True
    condition = " ".join(texts[loop:_closing_bracket(texts, loop + 1)]).split(" ; ")[1:2]
    bound = condition[0].split() if condition else []
    if len(bound) != 3 or bound[0] != counter or bound[1] not in _SIGNS or not _constant(source, texts, bound[2]):
        return True
    # A comparison before the variable gets its value is about another value.
    begin = next((index for index in range(loop, kernel, -1) if texts[index:index + 2] == [whole[0], "="]), kernel)
    turned, length = [*whole[2:], "+", whole[0]], len(whole)
    for number in range(begin + 1, at):
        if texts[number] in (whole[0], turned[0]) and texts[number:number + length] in (whole, turned):
            end = number + length + (texts[number + length] == ")")
            before = number - 1 - (texts[number - 1] == "(")
            if texts[end] in _SIGNS or texts[before] in (*_SIGNS, "="):
                return True
    return any(texts[index] == counter and (texts[index - 1] in _SIGNS or texts[index + 1] in _SIGNS)
               for index in range(_closing_bracket(texts, loop + 1), at))


def _holds(texts: Sequence[str], loop: int, at: int) -> bool:
    """Return whether the token at `at` lies in the body of a loop in front of it."""
    braces = brackets = 0
    for number in range(_closing_bracket(texts, loop + 1) + 1, at):
        braces += (texts[number] == "{") - (texts[number] == "}")
        brackets += (texts[number] == "(") - (texts[number] == ")")
        if texts[number] in (";", "}") and texts[number + 1] != "else" and braces <= 0 and not brackets:
            return False
    return True


def _constant(source: str, texts: Sequence[str], word: str) -> bool:
    """Return whether a token is a number, or the name of a constant number."""
    if not word.isidentifier():
        return word[0].isdigit()
    if re.search(rf"^[ \t]*+#[ \t]*+define[ \t]++{word}[ \t]++[\d \t()*+-]++(?=$|/)", source, re.MULTILINE):
        return True
    return any(text == word and texts[at + 1] == "=" and (
        "constexpr" in texts[max(0, at - 3):at] or ("const" in texts[max(0, at - 3):at] and texts[at + 2][:1].isdigit()
                                                    and texts[at + 3] in (";", ",")))
               for at, text in enumerate(texts))


def _counter(texts: Sequence[str], at: int) -> str:
    """Return the variable that a `for` sets first."""
    end = next((number for number in range(at, min(at + _LONG, len(texts))) if texts[number] == "="), at + 1)
    return texts[end - 1]


def _closing_bracket(texts: Sequence[str], at: int) -> int:
    """Return the index of the bracket that closes the one at `at`; the last index that is searched if there is none."""
    depth = 0
    for end in range(at, min(at + _LONG, len(texts))):
        depth += (texts[end] in ("(", "[")) - (texts[end] in (")", "]"))
        if not depth:
            return end
    return min(at + _LONG, len(texts)) - 1


def _guards(texts: Sequence[str], at: int) -> Iterator[int]:
    """Yield the index of the innermost `if` around `at`, with a block of its own or one statement."""
    depth = 0
    for before in range(at - 1, max(-1, at - 4 * _LONG), -1):
        depth += (texts[before] == "}") - (texts[before] == "{")
        if texts[before] != "if" or depth > 0:
            continue
        body = _closing_bracket(texts, before + 1) + 1
        # Heads of loops hold semicolons; a statement without braces ends at its first semicolon after them.
        while body < at and texts[body] == "for":
            body = _closing_bracket(texts, body + 1) + 1
        if depth < 0 or ";" not in texts[body:at]:
            yield before
            return


def _compared(texts: Sequence[str], guard: int) -> Iterator[tuple[str, str]]:
    """Yield the names that a condition bounds from above, each with the first token of its bound."""
    for at in range(guard + 1, _closing_bracket(texts, guard + 1)):
        if texts[at] in ("(", "&&") and texts[at + 1].isidentifier() and texts[at + 2] in ("<", "<="):
            yield texts[at + 1], texts[at + 3]


def _added_terms(texts: Sequence[str], bracket: int, name: str) -> Iterator[list[str]]:
    """Yield the tokens of each term that an index adds to a name."""
    end = _closing_bracket(texts, bracket)
    for at in range(bracket + 1, end if texts[end] == "]" else bracket):
        if texts[at] != name or texts[at - 1] not in ("[", "(", "+") or texts[at + 1] != "+":
            continue
        last = next((number for number in range(at + 2, end) if texts[number] in ("+", "-", ")", "]", ",")), end)
        yield list(texts[at + 2:last])
