"""Messages of Triton's compiler, without what it prints around them."""

from __future__ import annotations

import re


def unwrap(message: str) -> str:
    """Return the objection of Triton's compiler, without the text that it prints around that."""
    found = re.match(r"(\w+): at \d+:\d+:\n.*\n[ \t]*\^[ \t]*\n?(.*)\Z", message, re.DOTALL)
    said = found[2].strip() if found else message
    if wrapped := re.fullmatch(r"""(\w+)\((['"])(.*)\2\)""", said, re.DOTALL):
        return f"{wrapped[1]}: {wrapped[3]}"
    return f"{found[1]}: {said or 'Triton cannot compile this line'}" if found else message
