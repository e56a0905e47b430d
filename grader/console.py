"""The output and exit statuses of commands."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer
from rich.console import Console

# The groups of commands in `kernelmark --help`.
STUDENTS, TAS, AUTHORS = "For students", "For TAs", "For authors of assignments"
AGAIN = 'When to use grade --force, regrade, rescore and apply: the table in docs/grading.md, "Grading again".'
USAGE_ERROR = 2
INFRASTRUCTURE_ERROR = 3

# What is piped is for another program, or a file: its lines are not wrapped, unless $COLUMNS asks for it.
PIPED = 10_000
console = Console(highlight=False, width=None if sys.stdout.isatty() or os.environ.get("COLUMNS") else PIPED)
errors = Console(stderr=True, highlight=False, soft_wrap=True)


def usage(message: str) -> NoReturn:
    """Ends the command with a one-line error and the status of a usage error."""
    errors.print(f"kernelmark: {message}", markup=False)
    raise typer.Exit(USAGE_ERROR)


def names_in(only: str) -> list[str]:
    """The names in an option such as --only silu,gemm."""
    return [name for name in only.replace(" ", "").split(",") if name]


def say(line: str) -> None:
    """Prints a line unchanged: names of students' files may look like markup, and long lines are not wrapped."""
    console.print(line, markup=False, soft_wrap=True)
