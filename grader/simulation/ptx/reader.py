"""Reader of PTX in one pass. See "Syntax" and "Directives" of the PTX ISA."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from functools import lru_cache
from math import prod
from pathlib import PurePath

from grader.plan.plan import Malformed
from grader.simulation.ptx.program import PtxModule, Space, ThreadFunction, ThreadInstruction, Variable

MOST_INSTRUCTIONS = 1 << 16
MOST_REGISTERS = 1 << 17
MOST_SCOPES = 64
MOST_FRAMES = 32
# The most bytes of a variable: local memory of a thread, which is no larger on any GPU.
MOST_BYTES = 512 << 10

TYPE_BYTES = {
    "pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4,
    "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8, "b128": 16,
}  # fmt: skip
"""Bytes of a value of each type; predicates have no size in PTX."""

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*')
_LINE_DIRECTIVE = re.compile(r"\.(version|target|address_size|file|loc|pragma)\b([^\n]*)")
_FILE = re.compile(r'\s*(\d{1,9})\s+"([^"]*)"')
_LOC = re.compile(
    r"\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:,\s*function_name\s+[^,\n]+,\s*inlined_at\s+(\d{1,9})\s+(\d{1,9})\s+(\d{1,9}))?")
_LABEL = re.compile(r"([%$\w]+)\s*:(?!:)")
_FUNCTION = re.compile(r"(?:\.(?:visible|weak|extern|common)\s+)*\.(entry|func)\b")
_NAME = re.compile(r"[%$\w]+")
_VARIABLE = re.compile(
    r"(?:\.(?:visible|weak|extern|common)\s+)*\.(global|const|shared|local|param)\b\s*(?:\.align\s+(\d{1,9})\b\s*)?"
    r"(?:\.v([248])\b\s*)?\.(\w+)\b\s*(?:\.ptr\b[^%$\w]*(?:\.(?:global|const|shared|local)\b\s*)?"
    r"(?:\.align\s+\d{1,9}\b\s*)?)?([%$\w]+)\s*((?:\[\s*\d{0,9}\s*\]\s*)*)(?:=(.*))?", re.DOTALL)
_REGISTERS = re.compile(r"\.reg\s*\.(\w+)\s+(.*)", re.DOTALL)
_COUNTED = re.compile(r"([%$\w]+)<(\d{1,9})>")
_GUARD = re.compile(r"@(!?)\s*([%$\w]+)\s+")
_OPCODE = re.compile(r"([a-z]\w*)((?:\.[\w:]+)*)\s*")
_NUMBER = re.compile(r"0[fF]([0-9a-fA-F]{8})|0[dD]([0-9a-fA-F]{16})|(-?)(0[xX][0-9a-fA-F]{1,16}|\d{1,20})U?")


@lru_cache(maxsize=256)
def read_module(text: str, suffix: str = "") -> PtxModule:
    """Read a text. Lines belong to the first file with the suffix `suffix`, or else to the file of the first `.loc`.
    Raises Malformed."""
    return _ModuleReader(_without_comments(text), suffix).read()


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


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while match := _COMMENT.search(text, at):
        parts.append(text[at : match.start()])
        at = match.end()
        if match[0] == "/*":
            end = text.find("*/", at)
            at = len(text) if end < 0 else end + 2
            parts.append(" ")
        elif match[0].startswith('"'):
            parts.append(match[0])
    return "".join([*parts, text[at:]])


class _ModuleReader:
    """Reader of one text, from `at` on."""

    def __init__(self, text: str, suffix: str) -> None:
        self.text, self.suffix, self.at = text, suffix, 0
        self.functions: dict[str, ThreadFunction] = {}
        self.variables: dict[str, Variable] = {}
        self.files: dict[int, str] = {}
        self.own: int | None = None
        self.line, self.library = 0, False
        # The location of the call, by the location of the code that was inlined for it.
        self.inlined: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        self.function: ThreadFunction | None = None
        self.scopes: list[dict[str, str]] = []
        self.begins: list[int] = []
        self.serial = self.instructions = self.registers = 0

    def read(self) -> PtxModule:
        for match in re.finditer(r"\.file" + _FILE.pattern, self.text):
            self.files.setdefault(int(match[1]), match[2])
        own = [number for number, name in self.files.items() if self.suffix and PurePath(name).suffix == self.suffix]
        self.own = own[0] if own else None
        while self._skip():
            self._next()
        if self.function is not None:
            raise Malformed("a function that does not end")
        return PtxModule(self.functions, self.variables)

    def _skip(self) -> bool:
        text, at = self.text, self.at
        while at < len(text) and (text[at].isspace() or text[at] == ";"):
            at += 1
        self.at = at
        return at < len(text)

    def _next(self) -> None:
        """Read the item at `at`: a directive, a bracket, a label, a declaration or an instruction."""
        if match := _LINE_DIRECTIVE.match(self.text, self.at):
            self.at = match.end()
            if match[1] == "loc":
                self._locate(match[2])
        elif self.text[self.at] == "{":
            self.at += 1
            self._open()
        elif self.text[self.at] == "}":
            self.at += 1
            self._close()
        elif self.text.startswith(".section", self.at):
            self._skip_section()
        elif self.function is None and (match := _FUNCTION.match(self.text, self.at)):
            self.at = match.end()
            self._head(match[1] == "entry")
        elif self.function is not None and (match := _LABEL.match(self.text, self.at)):
            self.at = match.end()
            self._label(self.function, match[1])
        else:
            end = self.text.find(";", self.at)
            if end < 0:
                raise Malformed("a statement without its end")
            statement, self.at = self.text[self.at : end].strip(), end + 1
            self._statement(statement)

    def _skip_section(self) -> None:
        begin = self.text.find("{", self.at)
        end = self.text.find("}", begin)
        if begin < 0 or end < 0:
            raise Malformed("a section without its end")
        self.at = end + 1

    def _locate(self, text: str) -> None:
        match = _LOC.match(text)
        if match is None:
            raise Malformed("a .loc of another form")
        here = int(match[1]), int(match[2]), int(match[3])
        if match[4] is not None:
            if len(self.inlined) > MOST_INSTRUCTIONS:
                raise Malformed("too many places")
            self.inlined[here] = int(match[4]), int(match[5]), int(match[6])
        else:
            self.inlined.pop(here, None)
        place: tuple[int, int, int] | None = here
        if self.own is None:
            self.own = here[0]
        self.line, self.library = 0, here[0] != self.own
        for _ in range(MOST_FRAMES):
            if place is None:
                break
            if place[0] == self.own:
                self.line = min(place[1], 10_000_000)
                break
            place = self.inlined.get(place)

    def _head(self, entry: bool) -> None:
        """Read the head of a function, up to its body or to the end of its declaration."""
        brace, end = self.text.find("{", self.at), self.text.find(";", self.at)
        declared = 0 <= end < brace or brace < 0 <= end
        if brace < 0 and not declared:
            raise Malformed("a function without a body")
        head = self.text[self.at : end if declared else brace].strip()
        self.at = (end if declared else brace) + 1
        function = ThreadFunction("", entry)
        if head.startswith("("):
            close = head.find(")")
            function.returns = [self._parameter(part) for part in split_operands(head[1:close])]
            head = head[close + 1 :].strip()
        name = _NAME.match(head)
        if name is None:
            raise Malformed("a function without a name")
        function.name = name[0]
        opened = head.find("(")
        if opened >= 0:
            close = head.find(")", opened)
            function.parameters = [self._parameter(part) for part in split_operands(head[opened + 1 : close])]
        if not declared:
            if function.name in self.functions:
                raise Malformed(f"{function.name[:100]} twice")
            self.functions[function.name] = self.function = function
            self.scopes, self.line, self.inlined = [{}], 0, {}

    def _parameter(self, text: str) -> Variable:
        if text.startswith(".reg"):
            raise Malformed("a parameter in a register")
        variable = self._variable(text)
        if variable.space != "param":
            raise Malformed("a parameter of another space")
        return variable

    def _open(self) -> None:
        if self.function is None or len(self.scopes) >= MOST_SCOPES:
            raise Malformed("a bracket out of place")
        self.scopes.append({})
        self.begins.append(len(self.function.code))

    def _close(self) -> None:
        if self.function is None:
            raise Malformed("a bracket out of place")
        names = self.scopes.pop()
        if not self.scopes:
            self.function = None
            return
        code = self.function.code
        for at in range(self.begins.pop(), len(code)):
            # A forward branch stands before its label, whose new name was not known there.
            if code[at].name == "bra" and (label := names.get("".join(code[at].operands))):
                code[at] = replace(code[at], operands=(label,))

    def _label(self, function: ThreadFunction, name: str) -> None:
        self._skip()
        for directive in (".branchtargets", ".callprototype", ".calltargets"):
            if self.text.startswith(directive, self.at):
                end = self.text.find(";", self.at)
                if end < 0:
                    raise Malformed("a list of targets without its end")
                names = split_operands(self.text[self.at + len(directive) : end])
                if directive == ".branchtargets":
                    function.targets[name] = tuple(self._renamed(each) for each in names)
                self.at = end + 1
                return
        if len(self.scopes) > 1:
            name = self._renamed(name) if name in self.scopes[-1] else self._declare(name)
        if name in function.labels:
            raise Malformed(f"label {name[:100]} twice")
        function.labels[name] = len(function.code)

    def _statement(self, statement: str) -> None:
        function = self.function
        if match := _VARIABLE.fullmatch(statement):
            if function is None:
                variable = self._variable(statement)
                self.variables[variable.name] = variable
            else:
                # Variables live as long as their function; those of an inner scope get unique names.
                name = match[5] if len(self.scopes) == 1 else self._declare(match[5])
                function.variables[name] = self._variable(statement, name)
        elif function is None:
            if not statement.startswith("."):
                raise Malformed("an instruction outside of a function")
        elif match := _REGISTERS.fullmatch(statement):
            self._declare_registers(function, match[1], match[2])
        elif statement.startswith("."):
            raise Malformed(f"a directive that is not known: {statement[:60]}")
        else:
            self._instruction(function, statement)

    def _variable(self, statement: str, name: str = "") -> Variable:
        match = _VARIABLE.fullmatch(statement.strip())
        if match is None or match[4] not in TYPE_BYTES:
            raise Malformed(f"a variable of another form: {statement[:60]}")
        item = TYPE_BYTES[match[4]]
        unit = item * int(match[3] or 1)
        sizes = [int(size or 0) for size in re.findall(r"\[\s*(\d*)\s*\]", match[6])]
        count = unit * prod(sizes)
        align = int(match[2] or unit)
        if count > MOST_BYTES or not 1 <= align <= 4096 or align & (align - 1):
            raise Malformed(f"a variable of {count} bytes, aligned to {align}")
        initial = b"" if match[7] is None else _initial(match[7], item)
        space: Space = match[1]  # type: ignore[assignment]
        return Variable(name or match[5], space, count, align, initial[:count])

    def _declare(self, name: str) -> str:
        self.serial += 1
        new = self.scopes[-1][name] = f"{name}@{self.serial}"
        return new

    def _renamed(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def _declare_registers(self, function: ThreadFunction, kind: str, names: str) -> None:
        if kind not in TYPE_BYTES:
            raise Malformed(f"registers of type {kind[:20]}")
        for name in split_operands(names):
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

    def _instruction(self, function: ThreadFunction, statement: str) -> None:
        self.instructions += 1
        if self.instructions > MOST_INSTRUCTIONS:
            raise Malformed("too many instructions")
        guard, at = None, 0
        if match := _GUARD.match(statement):
            guard, at = (self._renamed(match[2]), bool(match[1])), match.end()
        match = _OPCODE.match(statement, at)
        if match is None:
            raise Malformed(f"no instruction: {statement[:60]}")
        operands = statement[match.end() :]
        if len(self.scopes) > 1:
            operands = _NAME.sub(lambda name: self._renamed(name[0]), operands)
        function.code.append(ThreadInstruction(
            match[1], tuple(match[2].split(".")[1:]), split_operands(operands), guard, self.line, self.library))


def _initial(text: str, item: int) -> bytes:
    """Return the bytes of an initial value, a list of numbers."""
    parts = []
    for word in re.findall(r"[^\s{},]+", text):
        match = _NUMBER.fullmatch(word)
        if match is None:
            raise Malformed(f"an initial value that is no number: {word[:40]}")
        if match[1]:
            parts.append(struct.pack("<I", int(match[1], 16)))
        elif match[2]:
            parts.append(struct.pack("<Q", int(match[2], 16)))
        else:
            value = int(match[4], 0 if match[4][:2].lower() == "0x" else 10) * (-1 if match[3] else 1)
            parts.append((value % (1 << 8 * item)).to_bytes(item, "little"))
    return b"".join(parts)
