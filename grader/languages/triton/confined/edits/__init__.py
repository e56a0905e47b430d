"""The error model: changes of a student's file that may mend it. The most frequent mistakes come first.

`rules.py` has most edits as a table. A finder yields drafts which no pattern describes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from grader.languages.drafts import Draft, edits_in_order
from grader.languages.triton.confined.edits import indices, launches, masks, operands, statements
from grader.languages.triton.confined.edits.matching import drafts
from grader.languages.triton.confined.edits.rules import ANYWHERE, HOST, KERNEL
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, read
from grader.plan.edits import Edits
from grader.plan.messages import Given

FINDERS = (
    indices.of_values_ahead, operands.of_calls, operands.of_numbers, indices.of_groups, launches.of_launches,
    masks.of_masks, operands.of_names, launches.of_missing_values, statements.of_statements, indices.of_factors,
    launches.of_unknown_names)
_FORGOTTEN = 0.8
"""The weight that an edit loses if it uses a name which the function binds and never uses."""
_LEAST = 0.5
_WORD = re.compile(r"[^\W\d]\w*")
_MOST_TEXT = 2_000


def edits_of(text: str, function: str, given: Sequence[Given], lines: Sequence[int] = ()) -> Edits:
    """Return the edits of the file whose graded function is called on `given`, none for a file that is not Python.
    `lines` are the lines that evidence names.

    Raises ValueError, RecursionError or MemoryError for a text that cannot be read.
    """
    try:
        source = SourceTree(text)
    except SyntaxError:
        return Edits(edits=[])
    file = read(source, function, given)
    return edits_in_order(text, _drafts(file, nearness(file, lines)), source.number_of)


def _drafts(file: File, near: Mapping[int, float]) -> Iterator[Draft]:
    for unit in file.units:
        unused = unit.unused()
        ruled = (drafts(rules, file, unit) for rules in (ANYWHERE, KERNEL if unit.kernel else HOST))
        for draft in chain(*(finder(file, unit) for finder in FINDERS), *ruled):
            if any(len(change.text) > _MOST_TEXT for change in draft.changes):
                continue
            named = unused and any(unused.intersection(_WORD.findall(change.text)) for change in draft.changes)
            less = near.get(file.source.number_of(draft.start), 0) + _FORGOTTEN * bool(named)
            yield draft._replace(weight=max(_LEAST, draft.weight - less))
    yield from operands.of_constants(file)


# The weight that an edit loses in a line that evidence names, in a line that binds a name of that line, and so on.
NEAR = (0.6, 0.6, 0.4, 0.2)
# The weight that an edit loses in a line that chooses between two equal values.
SAME = 1.4
# The weight that an edit gains in a kernel without a line that evidence names, if another kernel has one.
FAR = 0.6


def nearness(file: File, lines: Sequence[int]) -> dict[int, float]:
    """Return by line number how much less the edits of a line weigh; negative where they weigh more. An edit is
    likelier in a line that evidence names, or that binds a name used there."""
    discounts: dict[int, float] = {}
    named = [unit for unit in file.units if unit.kernel and any(_holds(unit.node, line) for line in lines)]
    for unit in file.units:
        for line in lines:
            if _holds(unit.node, line):
                _follow(unit, line, discounts)
        if named and unit.kernel and unit not in named:
            discounts |= dict.fromkeys(range(unit.node.lineno, (unit.node.end_lineno or 0) + 1), -FAR)
        discounts |= {expression.lineno: SAME for expression in unit.expressions if _of_the_same(expression)}
    return discounts


def _of_the_same(node: ast.expr) -> bool:
    """Return whether a choice gives the same either way."""
    either = [node.body, node.orelse] if isinstance(node, ast.IfExp) else (
        node.args[1:] if isinstance(node, ast.Call) and called(node) == "where" else [])
    return len(either) == 2 and ast.dump(either[0]) == ast.dump(either[1])


def _follow(unit: Unit, line: int, discounts: dict[int, float]) -> None:
    # A statement that holds others counts with its head alone, and only if it is a `for` loop.
    simple = [node for node in unit.statements if not hasattr(node, "body")]
    heads = [node for node in unit.statements if isinstance(node, ast.For)]
    here = {node for node in simple if _holds(node, line)}
    for less in NEAR:
        names: set[str] = set()
        for node in here:
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                discounts[number] = max(less, discounts.get(number, less))
            names |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        here = {node for node in simple if names & _bound(node)}
        for head in heads:
            if names & _bound(head):
                discounts[head.lineno] = max(less, discounts.get(head.lineno, less))


def _bound(node: ast.stmt) -> set[str]:
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        targets = [node.target]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
