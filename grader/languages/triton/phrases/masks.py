"""The evidence in a file's text about an access that was seen to reach outside its tensor in a later iteration."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.languages.phrases import Slip, fact
from grader.plan.findings import OutOfBounds

_NAME = re.compile(r"[A-Za-z_]\w*+")
_SET = re.compile(r"\s*+([A-Za-z_]\w*+)\s*+(?:[-+%&|^@]|\*\*?|//?|<<|>>)?=(?!=)")
_COUNTED = re.compile(r"\s*+for\s++([A-Za-z_]\w*+)\s++in\b")
# Several targets, or one with its type; a statement after the colon of another statement.
_SEVERAL = re.compile(r"\s*+(?:for\s++)?+(?:[(\[*]|[A-Za-z_]\w*+\s*+(?:,|:\s*+\S))")
_HEAD = re.compile(r"\s*+(?:if|elif|for|while|with)\b")
_CALLS = {access: re.compile(rf"\btl\.{access}\(") for access in ("load", "store")}
# The most lines and characters of a call that are read.
_LINES, _CHARACTERS = 8, 2_000


def outside(source: str, finding: OutOfBounds) -> Slip | None:
    """Return the slip in the mask of an access whose pointer advances in a loop: the mask is computed before the loop,
    or compares nothing that the loop changes. None if the text shows neither."""
    lines = source.splitlines()
    at = finding.line - 1
    begin = _loop(lines, at) if 0 <= at < len(lines) else None
    if begin is None or (arguments := _arguments(lines, at, finding.access)) is None:
        return None
    pointer, mask = arguments
    set_at, loop = _set_at(lines), range(begin, _end(lines, begin))
    changed = {name for number in loop if (name := set_at[number])}
    moved = next((name for name in _NAME.findall(pointer) if name in changed), "")
    if not mask or not moved or any(set_at[number] is None for number in loop):
        return None
    if mask not in changed and _NAME.fullmatch(mask):
        before = _line_before_loop(lines, set_at, begin, mask)
        if before is None or (compared := _right_side(lines[before])) is None:
            return None
        advice = "computed_once" if changed.intersection(_NAME.findall(compared)) else "moves_on"
        return Slip(before + 1, fact("slip.computed_once.seen", line=before + 1, mask=mask, moved=moved),
                    fact(f"slip.{advice}.advice", mask=mask, moved=moved, line=finding.line))
    sides = [_right_side(lines[number]) for number in loop if set_at[number] == mask] if mask in changed else [mask]
    if any(side is None or changed.intersection(_NAME.findall(side)) - {mask} for side in sides):
        return None
    return Slip(finding.line, fact("slip.compares_nothing.seen", line=finding.line, moved=moved),
                fact("slip.compares_nothing.advice"))


def _line_before_loop(lines: Sequence[str], set_at: Sequence[str | None], begin: int, mask: str) -> int | None:
    """Return the index of the line before a loop that sets the mask; None if no line does, or not plainly."""
    for number in range(begin - 1, -1, -1):
        text = lines[number].strip()
        if text.startswith("def ") or (set_at[number] is None and mask in _NAME.findall(text)):
            return None
        if set_at[number] == mask:
            # A name that another loop or a branch sets is not set just once.
            return number if _indent(lines[number]) <= _indent(lines[begin]) else None
    return None


def _right_side(line: str) -> str | None:
    """Return the right side of a line that sets a name; None if it goes on in the next line."""
    side = line.partition("=")[2].partition("#")[0].rstrip()
    return None if side.endswith("\\") or _open_brackets(side) else side


def _arguments(lines: Sequence[str], at: int, access: str) -> tuple[str, str] | None:
    """Return the pointer and the mask ("" for none) of the load or store that begins in a line; None if not one call
    begins there, or if it is too long."""
    calls = list(_CALLS[access].finditer(lines[at])) if access in _CALLS else []
    if len(calls) != 1:
        return None
    text = "\n".join([lines[at][calls[0].end():], *lines[at + 1:at + _LINES]])[:_CHARACTERS]
    depth, begin, parts = 1, 0, list[str]()
    for end, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if not depth or (sign == "," and depth == 1):
            parts.append(text[begin:end].strip())
            begin = end + 1
        if not depth:
            break
    if depth:
        return None
    named = next((part.partition("=")[2].strip() for part in parts if re.match(r"mask\s*+=(?!=)", part)), "")
    at = 1 if access == "load" else 2
    return parts[0], named or next((part for part in parts[at:at + 1] if not re.match(r"\w++\s*+=(?!=)", part)), "")


def _loop(lines: Sequence[str], at: int) -> int | None:
    """Return the index of the line in which the innermost loop around a line begins; None if its function has none."""
    depth = _indent(lines[at])
    for number in range(at - 1, -1, -1):
        text = lines[number].strip()
        if text and not text.startswith("#") and _indent(lines[number]) < depth:
            depth = _indent(lines[number])
            if text.startswith("def "):
                return None
            if text.startswith(("for ", "while ")):
                return number
    return None


def _set_at(lines: Sequence[str]) -> list[str | None]:
    """Return for each line the name that it sets or counts with, "" for none, None if that is not plain. A line inside
    open brackets sets no name: an `=` there passes an argument."""
    depth, set_names = 0, list[str | None]()
    for line in lines:
        text = line.partition("#")[0].rstrip()
        after = max(0, depth + _open_brackets(text))
        plain = ";" not in text and ":=" not in text
        set_names.append(("" if depth else _set(text, ended=not after)) if plain else None)
        depth = after
    return set_names


def _set(text: str, *, ended: bool) -> str | None:
    """Return the name that a statement sets or counts with, as in `_set_at`. `ended`: no bracket is open after it."""
    if _SEVERAL.match(text) or (ended and _HEAD.match(text) and not text.endswith(":")):
        return None
    match = _COUNTED.match(text) or _SET.match(text)
    if not match:
        return ""
    return None if _SET.match(text, match.end()) else match[1]


def _open_brackets(text: str) -> int:
    """Return the number of brackets that a text opens, less those that it closes."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _end(lines: Sequence[str], begin: int) -> int:
    """Return the index of the first line after a loop."""
    return next((number for number in range(begin + 1, len(lines)) if lines[number].strip() and _indent(
        lines[number]) <= _indent(lines[begin])), len(lines))


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
