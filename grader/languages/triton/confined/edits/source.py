"""A student's file as text and tree: where each node stands, and what may stand there instead.

ast counts lines as Python's tokenizer does and columns in bytes of UTF-8; edits count characters of the text.
"""

from __future__ import annotations

import ast
import copy
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from grader.languages.drafts import Change, Draft
from grader.plan.edits import EditKind

_LINE = re.compile(r"\r\n|\r|\n")
# The characters that may stand between an operand and its operator.
_GAP = re.compile(r"(?:[\s()\\]|#[^\r\n]*)*")
_OPENING = re.compile(r"(?:[\s)\\]|#[^\r\n]*)*\(")
_CLOSING = re.compile(r"(?:[\s\\]|#[^\r\n]*)*\)")
_MARK = "\ufeff"

_TORN = ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Attribute | ast.Subscript | ast.Call
"""Parents that tear an operator in a child apart, unless brackets stand around it."""
_WORD = re.compile(r"\w")
LONGEST = 400
"""The most characters of an expression that is changed, or read for the brackets that it needs."""


PlacedNode = ast.expr | ast.stmt | ast.keyword | ast.arg
"""A node that ast gives a place in the text."""


class Slot(NamedTuple):
    """The place of a node in the tree: the field of its parent, and its number if the field is a list."""

    parent: ast.AST
    field: str
    number: int


class SourceTree:
    """A file's text and tree. Raises SyntaxError, ValueError, RecursionError or MemoryError for a text without a tree.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        lead = len(_MARK) if text.startswith(_MARK) else 0
        self.tree = ast.parse(text[lead:])
        self.newline = line_break[0] if (line_break := _LINE.search(text)) else "\n"
        self._lines = [lead, *(match.end() for match in _LINE.finditer(text))]
        self._plain = text.isascii()
        self._columns: dict[int, list[int]] = {}
        """The number of bytes before each character of a line, by the line's number."""
        self.place: dict[ast.AST, Slot] = {}
        waiting: list[ast.AST] = [self.tree]
        while waiting:
            node = waiting.pop()
            for field, value in ast.iter_fields(node):
                for number, child in enumerate(value if isinstance(value, list) else [value]):
                    if isinstance(child, ast.AST):
                        self.place[child] = Slot(node, field, number)
                        waiting.append(child)

    def start(self, node: PlacedNode) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: PlacedNode) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def length(self, node: PlacedNode) -> int:
        return self.end(node) - self.start(node)

    def of(self, node: PlacedNode) -> str:
        """Return a node's own text."""
        return self.text[self.start(node) : self.end(node)]

    def short(self, node: ast.expr) -> str:
        """Return a node's text without white space, for comparisons."""
        return "".join(self.of(node).split())

    def line_at(self, place: int) -> int:
        """Return where the line of a character begins."""
        return max(self.text.rfind("\n", 0, place), self.text.rfind("\r", 0, place)) + 1

    def line_after(self, place: int) -> int:
        """Return where the line of a character ends, its line break not included."""
        match = _LINE.search(self.text, place)
        return match.start() if match else len(self.text)

    def number_of(self, place: int) -> int:
        """Return the number of a character's line, from 1."""
        return bisect_right(self._lines, place)

    def _at(self, line: int, column: int) -> int:
        begin = self._lines[line - 1]
        if self._plain:
            return begin + column
        if line not in self._columns:
            end = self._lines[line] if line < len(self._lines) else len(self.text)
            self._columns[line] = list(accumulate(
                (len(character.encode()) for character in self.text[begin:end]), initial=0))
        return begin + bisect_left(self._columns[line], column)

    def up(self, node: ast.AST) -> Iterator[Slot]:
        """Yield the place of a node in the tree, the place of its parent, and so on."""
        while (place := self.place.get(node)) is not None:
            yield place
            node = place.parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement that an expression belongs to."""
        while not isinstance(node, ast.stmt):
            node = self.place[node].parent
        return node

    # Changes, and texts for them.

    def put(self, node: ast.expr | ast.stmt, new: ast.AST | str) -> Change:
        """Return a change that puts an expression in a node's place, or a statement."""
        if isinstance(new, str):
            new = ast.parse(new).body[0]
            new = new.value if isinstance(new, ast.Expr) else new
        text = ast.unparse(new)
        if isinstance(new, ast.expr) and isinstance(node, ast.expr) and self._torn(node, new, text):
            text = f"({text})"
        return self.instead(self.start(node), self.end(node), text)

    def _torn(self, node: ast.expr, new: ast.expr, text: str) -> bool:
        """Return whether the operator around a node tears its new text apart: then ast puts brackets around that."""
        parent, field, number = self.place[node]
        if not isinstance(parent, _TORN) or field in ("args", "slice") or self.enclosed(node):
            return False
        if self.length(parent) > LONGEST:
            return True
        around, value = copy.copy(parent), getattr(parent, field)
        setattr(around, field, [*value[:number], new, *value[number + 1:]] if isinstance(value, list) else new)
        return f"({text})" in ast.unparse(around)

    def instead(self, start: int, end: int, text: str) -> Change:
        """Return a change to any text, with a space where the text would merge with a word beside it."""
        if text and start and _WORD.match(text[0]) and _WORD.match(self.text[start - 1]):
            text = f" {text}"
        if text and _WORD.match(text[-1]) and _WORD.match(self.text[end : end + 1]):
            text = f"{text} "
        return Change(start=start, end=end, text=text)

    def keyword(self, call: ast.Call, name: str, value: ast.AST | str) -> Change:
        """Return a change that adds a keyword argument to a call."""
        places, arguments = self.commas(call), self.arguments(call)
        text = f"{name}={value if isinstance(value, str) else ast.unparse(value)}"
        if len(places) == len(arguments) + 2:
            # There is a comma after the last argument.
            return Change(start=places[-2] + 1, end=places[-2] + 1, text=f" {text}" if arguments else text)
        at = self._outer_end(arguments[-1], places[-1]) if arguments else places[-1]
        return Change(start=at, end=at, text=f", {text}" if arguments else text)

    def dropped(self, call: ast.Call, argument: ast.expr | ast.keyword) -> Change:
        """Return a change that takes an argument and its comma out of a call."""
        places = self.commas(call)
        number = self.arguments(call).index(argument)
        if number:
            return Change(start=places[number], end=places[number + 1], text="")
        return Change(start=places[0] + 1, end=places[1] + (len(places) > 2), text="")

    def _outer_end(self, node: ast.expr | ast.keyword, limit: int) -> int:
        """Return where the last of the brackets around a node ends, before a limit."""
        at = self.end(node)
        while (match := _CLOSING.match(self.text, at, limit)) is not None:
            at = match.end()
        return at

    def arguments(self, call: ast.Call) -> list[ast.expr | ast.keyword]:
        """Return a call's arguments in the order of the text."""
        nodes: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        return sorted(nodes, key=self.start)

    def commas(self, call: ast.Call) -> list[int]:
        """Return where the opening bracket of a call, the commas between its arguments and its closing bracket
        stand."""
        end = self.end(call) - 1
        opening = _OPENING.match(self.text, self.end(call.func), end)
        places = [opening.end() - 1 if opening else end]
        for argument in self.arguments(call):
            gap = _GAP.match(self.text, min(self.end(argument), end), end)
            at = gap.end() if gap else end
            if at < end and self.text[at] == ",":
                places.append(at)
        return [*places, end]

    def sign(self, left: ast.expr, sign: str, right: ast.expr) -> tuple[int, int] | None:
        """Return where the operator between two operands stands."""
        match = _GAP.match(self.text, self.end(left), self.start(right))
        begin = match.end() if match else 0
        return (begin, begin + len(sign)) if match and self.text.startswith(sign, begin) else None

    def enclosed(self, node: ast.expr) -> bool:
        """Return whether brackets stand around a node."""
        start, end = self.start(node), self.end(node)
        before, after = self.text[max(0, start - 200) : start].rstrip()[-1:], self.text[end : end + 200].lstrip()[:1]
        return before == "(" and after == ")"


def instead(source: SourceTree, kind: EditKind, weight: float, node: ast.expr, new: ast.expr | str) -> Draft:
    """Return an edit that puts another expression in a node's place."""
    return Draft(kind, weight, (source.put(node, new),))


def exchanged(source: SourceTree, kind: EditKind, weight: float, node: ast.expr, other: ast.expr) -> Draft:
    """Return an edit that puts two expressions in each other's place."""
    return Draft(kind, weight, (source.put(node, other), source.put(other, node)))
