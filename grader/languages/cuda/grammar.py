"""A text of PTX as functions, variables and statements, and its one printed form.

Source: "Parallel Thread Execution ISA", chapters "Syntax" and "Directives".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

TYPE_BITS = {**{f".{kind}{bits}": bits for kind in "bsu" for bits in (8, 16, 32, 64)}, ".b128": 128, ".f16": 16,
             ".f32": 32, ".f64": 64, ".bf16": 16, ".f16x2": 32, ".bf16x2": 32}  # fmt: skip


@dataclass(frozen=True)
class TextParameter:
    """Parameter of a function. `type` has no dot; `count` is the number of elements of an array, 0 for a scalar.
    `alignment` is in bytes, 0 if the text gives none."""

    name: str
    type: str
    alignment: int = 0
    count: int = 0

    @property
    def bytes(self) -> int:
        return TYPE_BITS["." + self.type] // 8 * (self.count or 1)

    @property
    def entry(self) -> str:
        """Return the parameter as a kernel's signature has it: `u64`, or `b8[24]@8` for a structure."""
        return f"{self.type}[{self.count}]@{self.alignment or self.bytes // self.count}" if self.count else self.type

    def written(self) -> str:
        aligned = f".align {self.alignment} " if self.alignment else ""
        return f".param {aligned}.{self.type} {self.name}{f'[{self.count}]' if self.count else ''}"


@dataclass(frozen=True)
class TextVariable:
    """Variable of a module. `initial` are the tokens of its initialiser; `count` is None for an array whose size the
    launch decides."""

    name: str
    space: str
    linkage: tuple[str, ...]
    type: str
    alignment: int
    count: int | None
    array: bool
    initial: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return TYPE_BITS["." + self.type] // 8 * (self.count or 0)

    def written(self) -> str:
        words = [*self.linkage, f".{self.space}", *([f".align {self.alignment}"] if self.alignment else []),
                 f".{self.type}", self.name]
        sides = ("[]" if self.count is None else f"[{self.count}]") if self.array else ""
        return " ".join(words) + sides + (f" = {_joined(self.initial)}" if self.initial else "") + ";"


@dataclass(frozen=True)
class TextStatement:
    """Statement of a body as tokens, without its semicolon: an instruction with its guard, a declaration, a label with
    its colon, a brace, or a `.loc` with its numbers."""

    words: tuple[str, ...]

    @property
    def place(self) -> int:
        """Return the index of the opcode or directive, which follows a guard such as `@%p1` or `@!%p1`."""
        return 0 if self.words[0] != "@" else 3 if self.words[1:2] == ("!",) else 2

    @property
    def opcode(self) -> str:
        """Return the opcode or directive, such as `ld.global.f32` or `.reg`; for a label its name."""
        return self.words[self.place] if self.place < len(self.words) else ""

    @property
    def operands(self) -> tuple[str, ...]:
        return self.words[self.place + 1 :]

    def written(self) -> str:
        words = self.words
        if words in (("{",), ("}",)):
            return words[0]
        if words[-1] == ":":
            return "".join(words)
        if words[0] == ".loc":
            return f"\t{_joined(words)}"
        before, rest = "".join(words[: self.place]), self.operands
        return f"\t{before}{' ' if before else ''}{self.opcode}{' ' if rest else ''}{_joined(rest)};"


@dataclass(frozen=True)
class TextFunction:
    """Entry or device function; `body` is None for a function that is only declared."""

    name: str
    entry: bool
    linkage: tuple[str, ...]
    returns: tuple[TextParameter, ...]
    parameters: tuple[TextParameter, ...]
    attributes: tuple[tuple[str, ...], ...]
    body: tuple[TextStatement, ...] | None

    def header(self) -> str:
        returned = f" ({', '.join(one.written() for one in self.returns)})" if self.returns else ""
        lines = [" ".join((*self.linkage, ".entry" if self.entry else ".func")) + f"{returned} {self.name}("
                 + ", ".join(one.written() for one in self.parameters) + ")"]
        return "\n".join([*lines, *map(_joined, self.attributes)])

    def written(self) -> str:
        if self.body is None:
            return self.header() + ";"
        return "\n".join([self.header(), "{", *(statement.written() for statement in self.body), "}"])


@dataclass
class TextModule:
    """Module of PTX. Variables and functions are keyed by name, `files` by the numbers that `.loc` uses."""

    version: str = ""
    target: tuple[str, ...] = ()
    address_size: str = ""
    files: dict[int, str] = field(default_factory=dict)
    variables: dict[str, TextVariable] = field(default_factory=dict)
    functions: dict[str, TextFunction] = field(default_factory=dict)
    # Directives that were left out: `.section`, `.alias`.
    others: list[str] = field(default_factory=list)

    def written(self) -> str:
        """Return the text in its one form: a statement a line, no comments."""
        defined = [function for function in self.functions.values() if function.body is not None]
        inner = [function for function in defined if not function.entry]
        # Device functions may call each other, so they are declared first.
        declared = [function for function in self.functions.values() if function.body is None]
        declared += [replace(function, body=None) for function in inner] if len(inner) > 1 else []
        return "\n".join([
            f".version {self.version}", f".target {_joined(self.target)}", f".address_size {self.address_size}",
            *(f'.file {number} "{name}"' for number, name in self.files.items()),
            *(variable.written() for variable in self.variables.values()),
            *(function.written() for function in (*declared, *defined))]) + "\n"


def _joined(words: Iterable[str]) -> str:
    """Join words with a space where one is needed, or where people expect it."""
    made: list[str] = []
    before = ""
    for word in words:
        if before and (before == "," or before == "=" or (_wordlike(before) and (_wordlike(word) or word in "=({"))):
            made.append(" ")
        made.append(word)
        before = word
    return "".join(made)


def _wordlike(word: str) -> bool:
    return word[0].isalnum() or word[0] in "._$%\""
