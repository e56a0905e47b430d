"""A student's file as text and tree: where each node stands, and what may stand there instead.

ast counts lines as Python's tokenizer does and columns in bytes of UTF-8; edits count characters of the text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from grader.languages.drafts import Change

_LINE = re.compile(r"\r\n|\r|\n")
# The characters that may stand between an operand and its operator.
_GAP = re.compile(r"(?:[\s()\\]|#[^\r\n]*)*")
_OPENING = re.compile(r"(?:[\s)\\]|#[^\r\n]*)*\(")
_CLOSING = re.compile(r"(?:[\s\\]|#[^\r\n]*)*\)")
_MARK = "\ufeff"

_MOST_READ = 400
ATOM = 16
"""The binding strength of a name, a call or an expression in brackets: no operator tears it apart."""
_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: 7, ast.BitXor: 8, ast.BitAnd: 9, ast.LShift: 10, ast.RShift: 10, ast.Add: 11, ast.Sub: 11, ast.Mult: 12,
    ast.Div: 12, ast.FloorDiv: 12, ast.Mod: 12, ast.MatMult: 12, ast.Pow: 14,
}  # fmt: skip
SIGNS: dict[type[ast.operator] | type[ast.cmpop], str] = {
    ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.LShift: "<<", ast.RShift: ">>", ast.Add: "+", ast.Sub: "-",
    ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@", ast.Pow: "**", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_WORD = re.compile(r"\w")


Placed = ast.expr | ast.stmt | ast.keyword | ast.arg
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
        self.newline = found[0] if (found := _LINE.search(text)) else "\n"
        self._lines = [lead, *(one.end() for one in _LINE.finditer(text))]
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

    def start(self, node: Placed) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: Placed) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)

    def of(self, node: Placed) -> str:
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
        found = _LINE.search(self.text, place)
        return found.start() if found else len(self.text)

    def number_of(self, place: int) -> int:
        """Return the number of a character's line, from 1."""
        return bisect_right(self._lines, place)

    def _at(self, line: int, column: int) -> int:
        begin = self._lines[line - 1]
        if self._plain:
            return begin + column
        if line not in self._columns:
            end = self._lines[line] if line < len(self._lines) else len(self.text)
            self._columns[line] = list(accumulate((len(one.encode()) for one in self.text[begin:end]), initial=0))
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

    def put(self, node: ast.expr, text: str) -> Change:
        """Return a change that puts an expression in a node's place, in brackets if an operator would tear it apart."""
        start, end = self.start(node), self.end(node)
        if binding(text) < self._needed(node) and not self.enclosed(node):
            text = f"({text})"
        return self.instead(start, end, text)

    def instead(self, start: int, end: int, text: str) -> Change:
        """Return a change to any text, with a space where the text would merge with a word beside it."""
        if text and start and _WORD.match(text[0]) and _WORD.match(self.text[start - 1]):
            text = f" {text}"
        if text and _WORD.match(text[-1]) and _WORD.match(self.text[end : end + 1]):
            text = f"{text} "
        return Change(start=start, end=end, text=text)

    def operand(self, node: ast.expr, level: int) -> str:
        """Return a node's text as an operand of something that binds as tightly as `level`."""
        text = self.of(node)
        return f"({text})" if binding(text) < level else text

    def operation(self, left: ast.expr | str, operator: ast.operator, right: ast.expr | str) -> str:
        """Return the text of an operator between two nodes or texts."""
        first, second = (self.of(one) if isinstance(one, ast.expr) else one for one in (left, right))
        tight = _BINARY[type(operator)]
        levels = (15, 13) if isinstance(operator, ast.Pow) else (tight, tight + 1)
        if binding(first) < levels[0]:
            first = f"({first})"
        return f"{first} {SIGNS[type(operator)]} " + (second if binding(second) >= levels[1] else f"({second})")

    def outer_end(self, node: ast.expr | ast.keyword, limit: int) -> int:
        """Return where the last of the brackets around a node ends, before a limit."""
        at = self.end(node)
        while (found := _CLOSING.match(self.text, at, limit)) is not None:
            at = found.end()
        return at

    def arguments(self, call: ast.Call) -> list[ast.expr | ast.keyword]:
        """Return a call's arguments in the order of the text."""
        found: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        return sorted(found, key=self.start)

    def commas(self, call: ast.Call) -> list[int]:
        """Return where the opening bracket of a call, the commas between its arguments and its closing bracket
        stand."""
        end = self.end(call) - 1
        opening = _OPENING.match(self.text, self.end(call.func), end)
        places = [opening.end() - 1 if opening else end]
        for one in self.arguments(call):
            gap = _GAP.match(self.text, min(self.end(one), end), end)
            at = gap.end() if gap else end
            if at < end and self.text[at] == ",":
                places.append(at)
        return [*places, end]

    def sign(self, left: ast.expr, sign: str, right: ast.expr) -> tuple[int, int] | None:
        """Return where the operator between two operands stands."""
        found = _GAP.match(self.text, self.end(left), self.start(right))
        begin = found.end() if found else 0
        return (begin, begin + len(sign)) if found and self.text.startswith(sign, begin) else None

    def enclosed(self, node: ast.expr) -> bool:
        """Return whether brackets stand around a node."""
        start, end = self.start(node), self.end(node)
        before, after = self.text[max(0, start - 200) : start].rstrip()[-1:], self.text[end : end + 200].lstrip()[:1]
        return before == "(" and after == ")"

    def _needed(self, node: ast.expr) -> int:
        """Return how tightly an expression must bind in a node's place."""
        parent, field, _ = self.place[node]
        if isinstance(parent, ast.BinOp):
            level = _BINARY[type(parent.op)]
            if isinstance(parent.op, ast.Pow):
                return 15 if field == "left" else 13
            return level if field == "left" else level + 1
        if isinstance(parent, ast.UnaryOp):
            return 5 if isinstance(parent.op, ast.Not) else 13
        if isinstance(parent, ast.BoolOp):
            return (3 if isinstance(parent.op, ast.Or) else 4) + 1
        if isinstance(parent, ast.Attribute | ast.Subscript | ast.Call) and field in ("value", "func"):
            return ATOM
        if isinstance(parent, ast.Compare | ast.Starred):
            return 7
        if isinstance(parent, ast.IfExp):
            return 2 if field == "orelse" else 3
        return 1


@lru_cache(maxsize=4096)
def binding(text: str) -> int:
    """Return how tightly an expression's text binds; -1 for a text that is an expression only in brackets, such as one
    of two lines, and for a text that is too long to parse."""
    if len(text) > _MOST_READ:
        return -1
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return -1
    if isinstance(node, ast.BinOp):
        # The tree does not have brackets around the whole text.
        return _BINARY[type(node.op)] if node.col_offset == 0 and not _closed(text) else ATOM
    if isinstance(node, ast.Tuple | ast.GeneratorExp):
        return ATOM if _closed(text) else 0
    if _closed(text):
        return ATOM
    if isinstance(node, ast.BoolOp):
        return 3 if isinstance(node.op, ast.Or) else 4
    if isinstance(node, ast.UnaryOp):
        return 5 if isinstance(node.op, ast.Not) else 13
    levels: dict[type[ast.expr], int] = {
        ast.NamedExpr: 0, ast.Yield: 0, ast.YieldFrom: 0, ast.Lambda: 1, ast.IfExp: 2, ast.Compare: 6, ast.Await: 15}
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        # `1.real` is no attribute.
        return ATOM - 1
    return levels.get(type(node), ATOM)


def _closed(text: str) -> bool:
    """Return whether one pair of brackets encloses all of a text that is an expression."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    try:
        ast.parse(text[1:-1] or "()", mode="eval")
    except SyntaxError:
        return False
    return True
