"""A text of PTX as functions, variables and statements, and its one printed form.

Source: "Parallel Thread Execution ISA", chapters "Syntax" and "Directives".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from grader.plan.plan import Malformed

TYPE_BYTES = {**{f"{kind}{8 * size}": size for kind in "bsu" for size in (1, 2, 4, 8)}, "b128": 16, "f16": 2, "f32": 4,
              "f64": 8, "bf16": 2, "f16x2": 4, "bf16x2": 4, "f32x2": 8, "pred": 1}  # fmt: skip
"""Bytes of a value of each type; predicates, which only registers hold, have no size in PTX."""
MOST_LINE = 10_000_000
"""The largest line that a plan has; any further one counts as this."""
OWN, HEADER = "0", "65535"
"""The columns of a kernel's locations in a plan: code of the student's file itself, or of a header that it calls."""
_NUMBER = re.compile(r"0[fFdD]([0-9a-fA-F]{8}|[0-9a-fA-F]{16})|(0[xX][0-9a-fA-F]{1,16}|\d{1,20})U?")


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
        return TYPE_BYTES[self.type] * (self.count or 1)

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
        return TYPE_BYTES[self.type] * (self.count or 0)

    def written(self) -> str:
        words = [*self.linkage, f".{self.space}", *([f".align {self.alignment}"] if self.alignment else []),
                 f".{self.type}", self.name]
        sides = ("[]" if self.count is None else f"[{self.count}]") if self.array else ""
        return " ".join(words) + sides + (f" = {joined(self.initial)}" if self.initial else "") + ";"


@dataclass(frozen=True)
class TextStatement:
    """Statement of a body as tokens, without its semicolon: an instruction with its guard, a declaration, a label with
    its colon, a brace, or a `.loc` with its numbers."""

    words: tuple[str, ...]

    @property
    def label(self) -> bool:
        return len(self.words) == 2 and self.words[1] == ":"

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
        if self.label:
            return "".join(words)
        if words[0] == ".loc":
            return f"\t{joined(words)}"
        before, rest = "".join(words[: self.place]), self.operands
        return f"\t{before}{' ' if before else ''}{self.opcode}{' ' if rest else ''}{joined(rest)};"


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
        return "\n".join([*lines, *map(joined, self.attributes)])

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

    def own(self, suffix: str) -> int:
        """Return the number of the first file with this suffix, else 0."""
        return next((number for number, name in sorted(self.files.items()) if name.endswith(suffix)), 0)

    def first(self) -> int:
        """Return the number of the first location's file, else 0."""
        return next((int(statement.words[1]) for function in self.functions.values()
                     for statement in function.body or () if statement.words[0] == ".loc"), 0)

    def written(self) -> str:
        """Return the text in its one form: a statement a line, no comments."""
        defined = [function for function in self.functions.values() if function.body is not None]
        inner = [function for function in defined if not function.entry]
        # Device functions may call each other, so they are declared first.
        declared = [function for function in self.functions.values() if function.body is None]
        declared += [replace(function, body=None) for function in inner] if len(inner) > 1 else []
        return "\n".join([
            f".version {self.version}", f".target {joined(self.target)}", f".address_size {self.address_size}",
            *(f'.file {number} "{name}"' for number, name in self.files.items()),
            *(variable.written() for variable in self.variables.values()),
            *(function.written() for function in (*declared, *defined))]) + "\n"


def contents(variable: TextVariable) -> bytes:
    """Return the initial bytes of a variable. Raises Malformed for an address among them."""
    item, size = TYPE_BYTES[variable.type], variable.bytes
    made, negative = bytearray(), False
    for word in variable.initial:
        if word in ("{", "}", ","):
            continue
        if word == "-":
            negative = True
            continue
        found = _NUMBER.fullmatch(word)
        if found is None:
            raise Malformed(f"an initial value that is no number: {word[:40]}")
        if found[1]:
            made += int(found[1], 16).to_bytes(len(found[1]) // 2, "little")
        else:
            number = int(found[2], 16 if found[2][:2] in ("0x", "0X") else 10)
            made += ((-number if negative else number) % (1 << 8 * item)).to_bytes(item, "little")
        negative = False
    return bytes(made[:size].ljust(size, b"\0"))


def lines_of(body: Iterable[TextStatement], own: int) -> Iterator[tuple[TextStatement, int]]:
    """Yield each statement with its line in the file of this number. Code that was inlined from another file has the
    line of its call; code of no line has 0."""
    lines: dict[tuple[str, ...], int] = {}
    line, file = 0, str(own)
    for statement in body:
        words = statement.words
        if words[0] == ".loc":
            place, line = words[1:4], 0
            if place[0] == file:
                line = int(place[1])
            elif "inlined_at" in words:
                at = words.index("inlined_at")
                caller = words[at + 1 : at + 4]
                line = lines.get(caller, int(caller[1]) if caller[0] == file else 0)
            lines[place] = line = min(line, MOST_LINE)
        yield statement, line


def without_lines(text: str) -> str:
    """Return a text, of one statement a line, without line tables: the assembler would copy them, with the paths in
    them, into the code."""
    kept, debugging = [], False
    for line in text.split("\n"):
        words = line.split(maxsplit=2)
        # The sections for a debugger follow the code.
        debugging |= words[:1] == [".section"] and words[1:2] != [] and words[1].startswith(".debug_")
        if not debugging and words[:1] not in ([".loc"], [".file"]):
            kept.append(line)
        debugging &= "}" not in line
    return "\n".join(kept)


def joined(words: Iterable[str]) -> str:
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
