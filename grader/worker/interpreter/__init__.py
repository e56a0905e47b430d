"""Triton without a GPU: its interpreter, mended from outside until a kernel behaves as the compiler would have it.

`install()` comes first, before anything imports Triton. Importing this package imports neither Triton nor PyTorch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from .faults import (
    DeviceAssertion,
    IntegerOverflow,
    KernelFault,
    OutOfBounds,
    TooManyPrograms,
    Unsupported,
    student_line,
)
from .host import compile_host
from .state import STATE, Limits

__all__ = [
    "DeviceAssertion",
    "IntegerOverflow",
    "KernelFault",
    "OutOfBounds",
    "TooManyPrograms",
    "Unsupported",
    "compile_host",
    "configure",
    "install",
    "launching",
    "student_line",
]

_installed = False


def install() -> None:
    """Switch the interpreter on, import Triton and mend it; a second call does nothing.

    Raises RuntimeError where Triton was imported without the interpreter, or where this Triton lacks something that
    has to be mended: a version that was not foreseen must not be graded with quietly.
    """
    global _installed
    if _installed:
        return
    late = "triton" in sys.modules
    if late and os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("triton was imported before grader.worker.interpreter.install()")
    os.environ["TRITON_INTERPRET"] = "1"

    import triton.language as tl
    from triton.runtime.interpreter import InterpretedFunction

    if not isinstance(tl.sum, InterpretedFunction):
        raise RuntimeError("triton was imported before TRITON_INTERPRET=1 was set")

    from . import builder, device, driver, language, launch, libdevice

    builder.install()
    language.install()
    libdevice.install()
    launch.install()
    driver.install()
    device.install()
    _installed = True


def configure(*, max_programs: int, on_launch: Callable[[str, int, int], None] | None) -> None:
    """Set the cap on program instances a launch, and what to call at each launch.

    `on_launch(kernel, line, programs)` gets the kernel's name, the line of its `def` in the student's file, and the
    number of its program instances. It is called before the first instance runs.
    """
    STATE.limits = Limits(max_programs, on_launch)


def launching() -> bool:
    """True while the interpreter prepares a launch: arguments, grid and memory, neither kernel body nor callbacks.

    The launch dispatches no PyTorch operator, so what a recorder of operators sees comes from the student or from
    the autotuner's `reset_to_zero`.
    """
    return STATE.machinery
