"""Errors that end a command: its user can mend the cause of one; the other is a failure of ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class UserError(Exception):
    """A problem that the user can mend: one line says what is wrong, where, and what to do."""

    def __init__(self, message: str) -> None:
        # The message may quote keys, names of files and words of libraries, which may hold line breaks.
        super().__init__("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in message))


class InfrastructureError(Exception):
    """A failure of ours, which never costs a student points. `remedy` is the command that helps, where it is known."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


@contextlib.contextmanager
def advised(advice: str, where: object = None) -> Iterator[None]:
    """Turn an error of the system in the block into one that says where, what is wrong, and what to do. `where`
    replaces the name of the file."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{where or error.filename}: {error.strerror}; {advice}") from None
