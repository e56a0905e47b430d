"""A module of PTX as data: functions, their instructions, and variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Space = Literal["global", "const", "shared", "local", "param"]


@dataclass(frozen=True, slots=True)
class ThreadInstruction:
    """An instruction: for `@!%p1 fma.rn.f32 %f1, %f2, %f3, 0f3F800000;` the name is "fma", the modifiers are ("rn",
    "f32"), and the guard is ("%p1", True): the register, and whether it is negated.

    Operands are as they stand in the text: `%f1`, `{%f1, %f2}`, `%p1|%p2`, `!%p1`, `[%rd1+8]`, `(param0)`. Names that
    an inner scope declares end in `@` and a number. `line` is the line in the student's file: that of the call for code
    inlined from another file, 0 if there is none. `library` is True if the instruction stands in another file.
    """

    name: str
    modifiers: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    guard: tuple[str, bool] | None = None
    line: int = 0
    library: bool = False

    def __str__(self) -> str:
        return ".".join((self.name, *self.modifiers))


@dataclass(frozen=True, slots=True)
class Variable:
    """Variable of `size` bytes, 0 for an array whose size the launch gives. `initial` are its first bytes; the others
    are zero."""

    name: str
    space: Space
    size: int
    align: int
    initial: bytes = b""


@dataclass(slots=True)
class ThreadFunction:
    """Function. `registers` has types by name; for `.reg .f32 %f<9>` the name is "%f", and `counted` has its 9.
    `labels` are the indices of the instructions after them, `targets` the lists of labels from which indirect branches
    choose."""

    name: str
    entry: bool
    parameters: list[Variable] = field(default_factory=list)
    returns: list[Variable] = field(default_factory=list)
    code: list[ThreadInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PtxModule:
    """All functions of a text by name, and the variables outside of them."""

    functions: Mapping[str, ThreadFunction]
    variables: Mapping[str, Variable]
