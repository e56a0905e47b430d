"""What commands say, where, and with which exit status."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console

# What `kernelmark --help` lists together.
STUDENTS, TAS, AUTHORS = "For students", "For TAs", "For authors of assignments"
USAGE_ERROR = 2
INFRASTRUCTURE_ERROR = 3

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def usage(message: str) -> NoReturn:
    """Says in one line what is wrong with a command, and ends it."""
    errors.print(f"kernelmark: {message}", markup=False)
    raise typer.Exit(USAGE_ERROR)


def names_in(only: str) -> list[str]:
    """The names of an option such as --only silu,gemm; none where nothing was asked for."""
    return [name for name in only.replace(" ", "").split(",") if name]


def say(line: str) -> None:
    """A line as it is: what students called their files is no markup, and no terminal cuts it."""
    console.print(line, markup=False, soft_wrap=True)
