"""A module of PTX as the machine runs it: functions, their instructions with their lines, and variables; and facts
about a kernel of any language, from its PTX and from the assembler's output."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
from typing import Literal

from grader.plan.compiled import Facts, Width
from grader.plan.device import tensor_cores
from grader.plan.plan import Malformed
from grader.simulation.ptx.reader import (
    HEADER,
    TYPE_BYTES,
    TextFunction,
    TextParameter,
    TextStatement,
    TextVariable,
    contents,
    declared,
    joined,
    lines_of,
    read_module,
)

MOST_INSTRUCTIONS = 1 << 16
MOST_REGISTERS = 1 << 17
# The most bytes of a variable: local memory of a thread, which is no larger on any GPU.
MOST_BYTES = 512 << 10

Space = Literal["global", "const", "shared", "local", "param"]

_COUNTED = re.compile(r"([%$\w]+)<(\d{1,9})>")
# Directives whose name is the label before them, which is then no place in the code.
_LISTS = (".branchtargets", ".callprototype", ".calltargets")


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
    """Variable of `size` bytes, 0 for an array whose size the launch gives. `initial` are its bytes, b"" if all
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


@lru_cache(maxsize=256)
def read_program(text: str, suffix: str = "") -> PtxModule:
    """Read a text. Lines belong to the first file with the suffix `suffix`, or else to the file of the first `.loc`.
    Raises Malformed."""
    module = read_module(text, known=False)
    own, serial = (suffix and module.own(suffix)) or module.first(), count(1)
    return PtxModule(
        {name: _FunctionReader(function, own, serial).read() for name, function in module.functions.items()
         if function.body is not None},
        {name: _variable(variable) for name, variable in module.variables.items()})


def split_operands(text: str) -> tuple[str, ...]:
    """Split a list at the commas outside of brackets."""
    if "{" not in text and "[" not in text and "(" not in text:
        return tuple(part.strip() for part in text.split(",")) if text.strip() else ()
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        if sign in "[{(":
            depth += 1
        elif sign in "]})":
            depth -= 1
        elif sign == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return tuple(part for part in parts if part)


def _variable(given: TextVariable, name: str = "") -> Variable:
    if given.bytes > MOST_BYTES:
        raise Malformed(f"a variable of {given.bytes} bytes")
    space: Space = given.space  # type: ignore[assignment]
    return Variable(name or given.name, space, given.bytes, given.alignment or TYPE_BYTES[given.type],
                    contents(given) if given.initial else b"")


def _parameter(given: TextParameter) -> Variable:
    if given.bytes > MOST_BYTES:
        raise Malformed(f"a parameter of {given.bytes} bytes")
    return Variable(given.name, "param", given.bytes, given.alignment or TYPE_BYTES[given.type])


class _FunctionReader:
    """Reader of one function's body. `own` is the number of the file whose lines count; `serial` numbers the names of
    inner scopes, for all functions of a module."""

    def __init__(self, given: TextFunction, own: int, serial: Iterator[int]) -> None:
        self.function = ThreadFunction(
            given.name, given.entry, list(map(_parameter, given.parameters)), list(map(_parameter, given.returns)))
        self.body, self.own, self.serial = given.body or (), own, serial
        self.scopes: list[dict[str, str]] = [{}]
        self.begins: list[int] = []
        self.registers = 0

    def read(self) -> ThreadFunction:
        library, label = False, ""
        for statement, line in lines_of(self.body, self.own):
            words, opcode = statement.words, statement.opcode
            if label and opcode not in _LISTS:
                self._label(label)
            if opcode == ".branchtargets":
                self.function.targets[label] = tuple(self._renamed(name) for name in words[1::2])
            label = words[0] if statement.label else ""
            if words == ("{",):
                self.scopes.append({})
                self.begins.append(len(self.function.code))
            elif words == ("}",):
                self._close()
            elif words[0] == ".loc":
                library = words[1] != str(self.own) or words[3:4] == (HEADER,)
            elif opcode == ".reg":
                self._declare_registers(words[1:])
            elif opcode in (".local", ".shared", ".param", ".global", ".const"):
                self._declare_variable(declared(statement))
            elif not label and not opcode.startswith("."):
                self._instruction(statement, line, library)
            elif opcode not in _LISTS and not label and opcode != ".pragma":
                raise Malformed(f"a directive that is not known: {opcode[:60]}")
        if label:
            self._label(label)
        return self.function

    def _close(self) -> None:
        names = self.scopes.pop()
        code = self.function.code
        for at in range(self.begins.pop(), len(code)):
            # A forward branch stands before its label, whose new name was not known there.
            if code[at].name == "bra" and (label := names.get("".join(code[at].operands))):
                code[at] = replace(code[at], operands=(label,))

    def _label(self, name: str) -> None:
        if len(self.scopes) > 1:
            name = self._renamed(name) if name in self.scopes[-1] else self._declare(name)
        if name in self.function.labels:
            raise Malformed(f"label {name[:100]} twice")
        self.function.labels[name] = len(self.function.code)

    def _declare_variable(self, given: TextVariable) -> None:
        # Variables live as long as their function; those of an inner scope get unique names.
        name = given.name if len(self.scopes) == 1 else self._declare(given.name)
        self.function.variables[name] = _variable(given, name)

    def _declare(self, name: str) -> str:
        new = self.scopes[-1][name] = f"{name}@{next(self.serial)}"
        return new

    def _renamed(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def _declare_registers(self, words: Sequence[str]) -> None:
        kind = words[0][1:] if words else ""
        if kind not in TYPE_BYTES:
            raise Malformed(f"registers of type {kind[:20]}")
        function = self.function
        for name in split_operands(joined(words[1:])):
            self.registers += 1
            if match := _COUNTED.fullmatch(name):
                function.counted[match[1]], function.registers[match[1]] = int(match[2]), kind
                self.registers += int(match[2])
            elif len(self.scopes) > 1:
                function.registers[self._declare(name)] = kind
            else:
                function.registers[name] = kind
            if self.registers > MOST_REGISTERS:
                raise Malformed("too many registers")

    def _instruction(self, statement: TextStatement, line: int, library: bool) -> None:
        words, place = statement.words, statement.place
        name, *modifiers = statement.opcode.split(".")
        if not name.isidentifier():
            raise Malformed(f"no instruction: {statement.opcode[:60]}")
        guard = (self._renamed(words[place - 1]), place == 3) if place else None
        operands: Sequence[str] = statement.operands
        if len(self.scopes) > 1:
            operands = [self._renamed(word) for word in operands]
        code = self.function.code
        code.append(ThreadInstruction(
            name, tuple(modifiers), split_operands(joined(operands)), guard, line, library))
        if len(code) > MOST_INSTRUCTIONS:
            raise Malformed("too many instructions")


# No pattern may try a long match from each digit of a run: that is quadratic, and names may have any length.
_USED = re.compile(r"\bUsed (\d{1,9}) registers")
_SPILLED = re.compile(r"\b(\d{1,9}) bytes spill stores, (\d{1,9}) bytes spill loads")
_SHARED = re.compile(r"\b(\d{1,9}) bytes smem\b")
MOST_LINES = 256


def read_facts(ptx: str, said: str, shared: int | None = None) -> Facts:
    """Return the facts about a kernel. `said` is the output of ptxas -v, for the kernel's entry and for each function
    that was not inlined into it. `shared` is the kernel's shared memory in bytes, if the assembler does not know it."""
    lines: Counter[tuple[int, Literal["load", "store"], int]] = Counter()
    copies: Literal["none", "cp.async", "tma"] = "none"
    for statement, line in _placed(ptx):
        if copied := _copied(statement):
            copies = "cp.async"
            lines[line, "load", 8 * copied] += 1
        elif accessed := _accessed(statement.opcode):
            lines[line, *accessed] += 1
    if "cp.async.bulk.tensor" in ptx:
        copies = "tma"
    return Facts(
        registers=max((int(match[1]) for match in _USED.finditer(said)), default=0),
        spills=sum(max(int(match[1]), int(match[2])) for match in _SPILLED.finditer(said)),
        shared=max((int(match[1]) for match in _SHARED.finditer(said)), default=0) if shared is None else shared,
        copies=copies, tensor_cores=tensor_cores(ptx),
        lines=[Width(line=line, access=access, bits=bits, count=count)
               for (line, access, bits), count in sorted(lines.items())[:MOST_LINES]])


def _placed(ptx: str) -> Iterator[tuple[TextStatement, int]]:
    """Yield the statements of a text with their lines in the file of its first location; none of a text that cannot be
    read."""
    try:
        module = read_module(ptx, known=False)
    except Malformed:
        return
    own = module.first()
    for function in module.functions.values():
        yield from lines_of(function.body or (), own)


def _accessed(opcode: str) -> tuple[Literal["load", "store"], int] | None:
    """Return whether an instruction loads or stores global memory, and how many bits at once.

    `ld.global.L1::evict_last.v4.b32`, `st.relaxed.gpu.global.b16` ("PTX ISA", "Data Movement").
    """
    name, *parts = opcode.split(".")
    if name not in ("ld", "st") or "global" not in parts:
        return None
    bits = _number(parts.pop()[1:])
    while parts and parts[-1].startswith("L"):
        # L1::evict_last, L2::128B
        parts.pop()
    several = _number(parts[-1][1:]) if parts and parts[-1].startswith("v") else 0
    return ("load" if name == "ld" else "store", bits * (several or 1)) if bits else None


def _copied(statement: TextStatement) -> int:
    """Return the bytes that an instruction copies to shared memory asynchronously; 0 for any other instruction.

    `cp.async.cg.shared.global [ %r1 + 0 ], [ %rd2 + 0 ], 0x10, %r3;`: the third operand is in bytes.
    """
    opcode = statement.opcode
    if not opcode.startswith("cp.async.c") or ".shared" not in opcode or ".global" not in opcode:
        return 0
    operands = split_operands(joined(statement.operands))
    return _number(operands[2]) if len(operands) > 2 else 0


def _number(text: str) -> int:
    """Return a small number, written as decimal or hexadecimal; 0 for any other text."""
    try:
        return int(text, 0) if len(text) < 8 and text[:1].isdigit() else 0
    except ValueError:
        return 0
