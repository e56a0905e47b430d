"""A module of Triton's IR, read from its text line by line: functions, blocks, operations, and their locations.

The text is the output of Triton's front end, before any pass. It is hostile: text of any other form is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from grader.languages.triton.confined.simulator.types import Type, read_descriptor, read_type
from grader.plan.limits import Unsupported
from grader.plan.tokens import split_at_commas

MOST_DEPTH = 24
MOST_LINES = 20_000


@dataclass(frozen=True)
class Location:
    """A location: its frames (file, line), the innermost first, and its column in the innermost line. `name` is the
    variable's name, if it has one."""

    name: str = ""
    frames: tuple[tuple[str, int], ...] = ()
    column: int = 0


@dataclass(eq=False, slots=True)
class Op:
    """An operation. `body` is the text between name and types, without its strings, which are in `strings`. `inputs`
    are the types of the operands, `types` those of the results. `dead` are values that nothing uses afterwards."""

    name: str
    place: Location = Location()
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    inputs: list[Type] = field(default_factory=list)
    body: str = ""
    strings: list[str] = field(default_factory=list)
    regions: list[list[BasicBlock]] = field(default_factory=list)
    targets: list[tuple[str, list[str]]] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)
    pure: Callable[..., Any] | None = None
    # `ramps`: its function takes ramps as operands. `weight`: the cost of an element of its result.
    ramps: bool = False
    weight: int = 1
    run: Callable[..., Any] | None = None
    # A loop's loads that may be made some iterations ahead.
    early: set[Op] = field(default_factory=set)
    # A compiler may remove this loop.
    vanishes: bool = False
    # No iteration of this loop changes its condition.
    endless: bool = False
    # A program may wait for others by this load.
    waits: bool = False

    def attribute(self, name: str, default: str | None = None) -> str:
        """Return an attribute's text: `axis = 1 : i32` gives `1`."""
        match = re.search(rf"\b{name} = (-?[\w.]+)", self.body)
        if match is None and default is None:
            raise Unsupported(f"{self.name} without {name}")
        return match[1] if match else str(default)

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of an attribute that is an array: `order = array<i32: 1, 0>`."""
        match = re.search(rf"\b{name} = array<i32(?:: ([-\d, ]*))?>", self.body)
        return [int(number) for number in match[1].split(",")] if match and match[1] else []


@dataclass(eq=False, slots=True)
class BasicBlock:
    label: str
    arguments: list[str] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Function:
    name: str
    blocks: list[BasicBlock]
    place: Location
    names: list[str]
    """The names of its arguments in the source."""
    multiples: frozenset[str] = frozenset()
    """The arguments that are known to be multiples of 16: Triton compiles the kernel again for others."""


def walk(blocks: list[BasicBlock]) -> Iterator[Op]:
    for block in blocks:
        for op in block.ops:
            yield op
            for region in op.regions:
                yield from walk(region)


_CALLEE = re.compile(r"^ @([\w$.]+)")


def callee(op: Op) -> str:
    """Return the name of the function that a `tt.call` calls."""
    if match := _CALLEE.match(op.body):
        return match[1]
    return op.strings[0] if op.strings else ""


_NAME = re.compile(r"%[\w$.\-]+(?:#\d+)?")
# Possessive quantifiers (`++`, `*+`) never backtrack: a line is read in one way, in linear time.
_RESULTS = re.compile(r"^%[\w$.\-]++(?::\d++)?(?:, %[\w$.\-]++(?::\d++)?)*+ = ")
_OPERATION = re.compile(r'^"?([a-z_]\w*+(?:\.\w++)++)"?')
_PLACE = re.compile(r" ?loc\((#loc\d*|unknown|\"[^\"]*\"(?:\(#loc\d*\))?)\)")
_STRING = re.compile(r'"([^"]*)"')
_TARGET = re.compile(r"\^(\w+)(?:\(([^:)^]*) : [^)^]*\))?")
_FOR = re.compile(r"^ (?:unsigned )?(%\S+) = (%\S+) to (%\S+) step (%\S+)")
_COUNTER = re.compile(r" : (i\d+) \{$")
_FUNCTION = re.compile(r'^tt\.func (?:public |private )?@(?:([\w$.]+)|"([^"]+)")\(')


def _types_start(text: str) -> int:
    """Return the index where the types begin: after the last ` : ` outside brackets; the text's length if there are
    none."""
    depth = 0
    for index in range(len(text) - 1, 0, -1):
        character = text[index]
        if character in ">)}]" and not (character == ">" and text[index - 1] == "-"):
            depth += 1
        elif character in "<({[":
            depth -= 1
        elif character == ":" and depth == 0 and text[index - 1] == " ":
            return index
    return len(text)


class _Places:
    """The table of locations at the beginning and end of the text."""

    def __init__(self, lines: list[str]) -> None:
        self.texts = dict(line.split(" = ", 1) for line in lines if line.startswith("#loc") and " = " in line)
        self.known: dict[str, Location] = {}

    def find(self, text: str, depth: int = 0) -> Location:
        if text not in self.known:
            self.known[text] = self._read(text, depth) if depth < MOST_DEPTH else Location()
        return self.known[text]

    def _read(self, text: str, depth: int) -> Location:
        if text.startswith("#loc"):
            return self.find(self.texts.get(text, "loc(unknown)").strip()[4:-1], depth + 1)
        if match := re.match(r'^"([^"]*)":(\d{1,7}):(\d{1,7})$', text):
            return Location("", ((match[1], int(match[2])),), int(match[3]))
        if match := re.match(r'^"([^"]*)"\((.*)\)$', text):
            return replace(self.find(match[2], depth + 1), name=match[1])
        if match := re.match(r"^callsite\((#loc\d*) at (#loc\d*)\)$", text):
            inner, outer = (self.find(match[part], depth + 1) for part in (1, 2))
            return replace(inner, frames=(inner.frames + outer.frames)[:MOST_DEPTH])
        return Location()


class _Reader:
    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        if len(lines) > MOST_LINES:
            raise Unsupported(f"a module of {len(lines):,} lines")
        self.places = _Places(lines)
        self.functions: dict[str, Function] = {}
        self.open: list[tuple[Op, list[BasicBlock]]] = []
        self.blocks: list[BasicBlock] | None = None
        self.types: dict[str, Type] = {}
        for line in lines:
            if line and not line.startswith("#") and (stripped := line.strip()) and stripped[:2] != "//":
                self._line(stripped)
        if self.open or not self.functions:
            raise Unsupported("text that is no module")

    def _line(self, line: str) -> None:
        places = _PLACE.findall(line)
        ended = line.endswith(")") and places and not places[-1].startswith('"')
        place = self.places.find(places[-1]) if ended else Location()
        if line.startswith("tt.func"):
            self._function(line)
            return
        line = _PLACE.sub("", line)
        if line.startswith("module"):
            return
        if line.startswith("}"):
            self._close(line, place)
        elif self.blocks is None:
            raise Unsupported(f"text outside of a function: {line[:80]}")
        elif line.startswith("^"):
            label, _, rest = line[1:].partition("(")
            label = label.split(":")[0]
            block = self._block(label, split_at_commas(rest.split("):")[0]) if rest and "):" in rest else [])
            if len(self.blocks) == 1 and not self.blocks[0].ops and not self.blocks[0].arguments:
                self.blocks[0] = block
            else:
                self.blocks.append(block)
        else:
            self._operation(line, place)

    def _function(self, line: str) -> None:
        match = _FUNCTION.match(line)
        if match is None or self.open or not line.rstrip().endswith("{"):
            raise Unsupported(f"a function of another form: {line[:80]}")
        depth, end = 1, match.end()
        quoted = False
        while depth:
            character = line[end]
            quoted ^= character == '"'
            depth += 0 if quoted else (character == "(") - (character == ")")
            end += 1
        arguments = split_at_commas(line[match.end() : end - 1])
        named = [_PLACE.findall(argument) for argument in arguments]
        self.types = {}
        entry = self._block("entry", [_PLACE.sub("", argument).split(" {")[0] for argument in arguments])
        self.blocks = [entry]
        names = [
            places[-1].split('"')[1] if places and places[-1].startswith('"') else argument.split(":")[0].lstrip("%")
            for places, argument in zip(named, arguments, strict=True)]
        name = match[1] or match[2]
        if name in self.functions:
            raise Unsupported(f"two functions named {name[:80]}")
        multiples = frozenset(argument for argument, written in zip(entry.arguments, arguments, strict=True)
                              if "tt.divisibility = 16" in written)
        self.functions[name] = Function(name, self.blocks, Location(), names, multiples)

    def _block(self, label: str, arguments: list[str]) -> BasicBlock:
        block = BasicBlock(label)
        for argument in arguments:
            name, _, kind = argument.partition(" loc(")[0].partition(": ")
            block.arguments.append(name.strip())
            block.types.append(read_type(kind))
            self.types[block.arguments[-1]] = block.types[-1]
        return block

    def _close(self, line: str, place: Location) -> None:
        if not self.open:
            # The end of a function, with its location, or of the module.
            if self.blocks is not None:
                self.functions[next(reversed(self.functions))].place = place
            self.blocks = None
            return
        op, outer = self.open[-1]
        if line in ("} else {", "} do {"):
            self.blocks = [BasicBlock("region")]
            op.regions.append(self.blocks)
            return
        self.open.pop()
        self.blocks = outer
        if line.startswith("}) :"):
            self._typed(op, line[4:])
        elif line.startswith("} {"):
            op.body += line[2:]
        if len(op.types) != len(op.results):
            raise Unsupported(f"{op.name} of another form")
        op.place = place

    def _operation(self, line: str, place: Location) -> None:
        op = Op("", place)
        if match := _RESULTS.match(line):
            for part in match[0][:-3].split(", "):
                name, _, count = part.partition(":")
                op.results += [f"{name}#{index}" for index in range(min(int(count), 256))] if count else [name]
            line = line[match.end() :]
        named = _OPERATION.match(line)
        if named is None:
            raise Unsupported(f"text that is no operation: {line[:80]}")
        op.name, rest = named[1], line[named.end() :]
        op.strings = _STRING.findall(rest)
        rest = _STRING.sub('""', rest)
        opens = rest.endswith("{")
        first = self._parts(op, rest, opens)
        op.inputs = [self.types[name] for name in op.operands]
        self.types.update(zip(op.results, op.types, strict=False))
        blocks = self.blocks
        if blocks is None:
            raise Unsupported("text that is no module")
        blocks[-1].ops.append(op)
        if opens:
            if len(self.open) >= MOST_DEPTH:
                raise Unsupported("regions too deep")
            self.open.append((op, blocks))
            self.blocks = [first]
            op.regions.append(self.blocks)

    def _parts(self, op: Op, rest: str, opens: bool) -> BasicBlock:
        """Read operands, types and targets from the text after an operation's name. Returns the first block of the
        operation's region, for an operation that opens one."""
        if op.name == "scf.for" and (match := _FOR.match(rest)):
            # … iter_args(%a = %b) -> (T) : i32 {
            _, _, carried = rest.partition(" iter_args(")
            given, _, types = carried.partition(") -> (")
            pairs = [pair.split(" = ") for pair in split_at_commas(given)]
            op.operands = [match[2], match[3], match[4], *(pair[1] for pair in pairs)]
            op.types = [read_type(part) for part in split_at_commas(types.rpartition(")")[0])]
            counter = _COUNTER.search(rest)
            return self._arguments([match[1], *(pair[0] for pair in pairs)],
                                   [read_type(counter[1] if counter else "index"), *op.types])
        if op.name == "scf.while" and opens:
            # (%a = %b) : (T) -> (T) {
            given, _, types = rest[2:].partition(") : (") if rest.startswith(" (") else ("", "", rest[4:])
            before, _, after = types[:-1].partition(") -> ")
            pairs = [pair.split(" = ") for pair in split_at_commas(given)]
            op.operands = [pair[1] for pair in pairs]
            op.types = [read_type(part) for part in split_at_commas(_bare(after.strip()))]
            return self._arguments([pair[0] for pair in pairs], [read_type(part) for part in split_at_commas(before)])
        if op.name == "scf.if" and opens:
            condition, _, types = rest[:-1].partition("->")
            op.operands = _NAME.findall(condition)
            op.types = [read_type(part) for part in split_at_commas(_bare(types.strip()))]
        elif op.name in ("cf.br", "cf.cond_br"):
            op.operands = _NAME.findall(rest.split("^")[0])
            op.targets = [(label, _NAME.findall(values)) for label, values in _TARGET.findall(rest)]
        elif opens:
            op.body, op.operands = rest, _NAME.findall(rest)
        else:
            start = _types_start(rest)
            if start == len(rest) and " -> " in rest:
                # Inline assembly without operands has only the type of its result.
                start = rest.rindex(" -> ") - 1
            op.body = rest[:start]
            op.operands = _NAME.findall(op.body)
            self._typed(op, rest[start + 1 :])
        return BasicBlock("region")

    def _arguments(self, names: list[str], types: list[Type]) -> BasicBlock:
        self.types.update(zip(names, types, strict=True))
        return BasicBlock("region", names, types)

    def _typed(self, op: Op, text: str) -> None:
        """Set the types of an operation's results, from the text after its last colon."""
        text = text.strip()
        if op.results:
            op.types = _results(op, text)
            if len(op.types) == 1:
                op.types *= len(op.results)
            if len(op.types) != len(op.results):
                raise Unsupported(f"{op.name} of another form")
            self.types.update(zip(op.results, op.types, strict=True))


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _results(op: Op, text: str) -> list[Type]:
    if op.name == "tt.make_tensor_ptr" or op.name == "tt.advance":
        return [Type((), "block", read_type(text.removeprefix("!tt.ptr")[1:-1]))]
    if op.name == "tt.make_tensor_descriptor":
        return [read_descriptor(split_at_commas(text)[-1].removeprefix("!tt.tensordesc")[1:-1])]
    for arrow in (" -> ", " to "):
        if arrow in text:
            return [read_type(part) for part in split_at_commas(_bare(text.rsplit(arrow, 1)[1].strip()))]
    if text.startswith("-> "):
        return [read_type(part) for part in split_at_commas(_bare(text[3:].strip()))]
    if op.name == "arith.constant" and not text:
        return [read_type("i1")]
    types = [read_type(part) for part in split_at_commas(text)]
    if op.name in ("arith.cmpi", "arith.cmpf"):
        return [Type(types[0].shape, "i1")]
    if op.name == "tt.load":
        inner = types[0].pointee
        return [inner if types[0].element == "block" else Type(types[0].shape, inner.element, inner.to)]
    return [types[0] if op.name == "tt.addptr" else types[-1]]


def read_module(text: str) -> dict[str, Function]:
    """Return the functions of a module. Raises Unsupported for any other text."""
    try:
        return _Reader(text).functions
    except (KeyError, ValueError, IndexError, RecursionError) as error:
        raise Unsupported(f"text that is no module ({type(error).__name__})") from None
