"""Messages of NVIDIA's compiler and of g++, without what they print around them."""

from __future__ import annotations

import re

_PLACE = re.compile(
    r"^(?:At end of source|[^\s:(][^:(\n]{0,200}(?:\(\d{1,7}\)|:\d{1,7}(?::\d{1,7})?)): (?:catastrophic |fatal )?error"
    r"(?: #\d+(?:-D)?)?: ")
_PTX = re.compile(r"^ptxas [^\n]{0,300}?(?:line \d{1,7}; )?(?:error|fatal) *: ")


def unwrap(message: str) -> str:
    """Return the compiler's first error, without its place, the code that is printed with it, and later errors."""
    lines = message.split("\n")
    for at, line in enumerate(lines):
        match = _PLACE.match(line) or _PTX.match(line)
        if match:
            parts = [line[match.end() :].strip()]
            # The types of operands follow in lines of their own.
            parts += [more.strip() for more in lines[at + 1 : at + 8] if re.search(r"^\s+\w+ types are: ", more)]
            return _capitalised("; ".join(parts))
    return _capitalised(message)


def _capitalised(message: str) -> str:
    """Return the message with a capital first letter, if it begins with a plain word."""
    return message[:1].upper() + message[1:] if re.match(r"[a-z]+,? ", message) else message
