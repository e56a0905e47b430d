"""What is being run now, and under which limits. One launch at a time: the interpreter's builder is global."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .faults import running_line
from .memory import Memory


@dataclass
class Limits:
    """`max_programs` is the cap on the program instances of one launch."""

    max_programs: int = 100_000
    on_launch: Callable[[str, int, int], None] | None = None


@dataclass
class Launch:
    """One launch of a kernel: its name, the file and line of its `def`, and the memory it may touch."""

    name: str
    file: str
    line: int
    memory: Memory = field(default_factory=Memory)


class _State:
    def __init__(self) -> None:
        self.limits = Limits()
        self.launch: Launch | None = None
        self.machinery = False


STATE = _State()


def place() -> str:
    """Where the running kernel stands: `line 12`, or its name where the line is not known."""
    launch = STATE.launch
    if launch is None:
        return "the kernel"
    line = running_line(launch.file)
    return f"line {line}" if line else launch.name


def memory() -> Memory | None:
    return STATE.launch.memory if STATE.launch else None
