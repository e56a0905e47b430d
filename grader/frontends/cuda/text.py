"""What may stand in the text of a kernel."""

from __future__ import annotations

from grader.frontends import Foreign
from grader.plan.plan import Kernel, Launch, Malformed


def read_kernel(kernel: Kernel) -> tuple[Foreign, ...]:
    raise Malformed("a kernel in a language that is not read yet")


def check_launch(launch: Launch, kernel: Kernel) -> None:
    raise Malformed("a launch of a language that is not read yet")


def argument_names(kernel: Kernel) -> list[str]:
    return []
