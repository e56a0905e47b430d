"""Messages of Triton's compiler, without what it prints around them."""

from __future__ import annotations

import re


def unwrap(message: str) -> str:
    """Return the error of Triton's compiler, without the text that it prints around that."""
    match = re.match(r"(\w+): at \d+:\d+:\n.*\n[ \t]*\^[ \t]*\n?(.*)\Z", message, re.DOTALL)
    error = match[2].strip() if match else message
    if wrapped := re.fullmatch(r"""(\w+)\((['"])(.*)\2\)""", error, re.DOTALL):
        return f"{wrapped[1]}: {wrapped[3]}"
    return f"{match[1]}: {error or 'Triton cannot compile this line'}" if match else message
