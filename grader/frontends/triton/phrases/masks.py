"""What the text of a file adds to what was seen of an access that reaches outside in a later round of its loop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.frontends.phrases import Slip
from grader.plan.findings import OutOfBounds

_NAME = re.compile(r"[A-Za-z_]\w*+")
_SET = re.compile(r"\s*+([A-Za-z_]\w*+)\s*+(?:[-+*]|//?)?=(?!=)")
_COUNTED = re.compile(r"\s*+for\s++([A-Za-z_]\w*+)\s++in\b")
_CALLS = {access: re.compile(rf"\btl\.{access}\(") for access in ("load", "store")}
# So many lines of a call, at most.
_LINES = 8


def outside(source: str, found: OutOfBounds) -> Slip | None:
    """A mask that is computed before the loop, or compares nothing that the loop changes, where the pointer moves on;
    None if the access shows neither."""
    lines = source.splitlines()
    at = found.line - 1
    begin = _loop(lines, at) if 0 <= at < len(lines) else None
    if begin is None or (arguments := _arguments(lines, at, found.access)) is None:
        return None
    pointer, mask = arguments
    changed = {name[1]: number for number, text in enumerate(_body(lines, begin), begin)
               if (name := _COUNTED.match(text) if number == begin else _SET.match(text))}
    moved = next((name for name in _NAME.findall(pointer) if name in changed), "")
    if not mask or not moved:
        return None
    if mask not in changed and _NAME.fullmatch(mask):
        before = next((number for number in range(begin - 1, -1, -1)
                       if (name := _SET.match(lines[number])) and name[1] == mask), None)
        return None if before is None else Slip(
            before + 1, f"Line {before + 1} computes `{mask}` once, before the loop, and `{moved}` moves on in each "
            "round.", f"Compute `{mask}` anew in each round, before line {found.line}.")
    compared = lines[changed[mask]].partition("=")[2] if mask in changed else mask
    if any(name in changed and name != mask for name in _NAME.findall(compared)):
        return None
    return Slip(found.line, f"The mask in line {found.line} compares nothing that the loop changes, and `{moved}` "
                "moves on in each round.", "Compare what moves on with it, or with what is left in this round.")


def _arguments(lines: Sequence[str], at: int, access: str) -> tuple[str, str] | None:
    """The pointer and the mask of the load or store that begins in a line, "" for no mask; None for several."""
    calls = list(_CALLS[access].finditer(lines[at])) if access in _CALLS else []
    if len(calls) != 1:
        return None
    text = "\n".join([lines[at][calls[0].end():], *lines[at + 1:at + _LINES]])
    parts, depth = [""], 1
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if not depth:
            break
        if sign == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += sign
    parts = [part.strip() for part in parts]
    named = next((part.partition("=")[2].strip() for part in parts if re.match(r"mask\s*+=(?!=)", part)), "")
    at = 1 if access == "load" else 2
    return parts[0], named or next((part for part in parts[at:at + 1] if not re.match(r"\w++\s*+=(?!=)", part)), "")


def _loop(lines: Sequence[str], at: int) -> int | None:
    """The line in which the innermost loop around a line begins; None if there is none in its function."""
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


def _body(lines: Sequence[str], begin: int) -> Iterator[str]:
    """A loop's first line, and those in it."""
    yield lines[begin]
    for text in lines[begin + 1:]:
        if text.strip() and _indent(text) <= _indent(lines[begin]):
            return
        yield text


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
