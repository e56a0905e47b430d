"""Lines that a failure rests on: those that evidence names, and those that bind the names used there. An edit in such
a line is likelier than the same edit elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.languages.triton.confined.edits.units import File, Unit, called

# The weight that an edit loses in a line that evidence names, in a line that binds a name of that line, and so on.
NEAR = (0.6, 0.6, 0.4, 0.2)
# The weight that an edit loses in a line that chooses between two equal values.
SAME = 1.4
# The weight that an edit gains in a kernel without a line that evidence names, if another kernel has one.
ELSEWHERE = 0.6


def nearness(file: File, lines: Sequence[int]) -> dict[int, float]:
    """Return by line number how much less the edits of a line weigh; negative where they weigh more."""
    found: dict[int, float] = {}
    named = [unit for unit in file.units if unit.kernel and any(_holds(unit.node, line) for line in lines)]
    for unit in file.units:
        for line in lines:
            if _holds(unit.node, line):
                _follow(unit, line, found)
        if named and unit.kernel and unit not in named:
            found |= dict.fromkeys(range(unit.node.lineno, (unit.node.end_lineno or 0) + 1), -ELSEWHERE)
        found |= {one.lineno: SAME for one in unit.expressions if _of_the_same(one)}
    return found


def _of_the_same(node: ast.expr) -> bool:
    """Return whether a choice gives the same either way."""
    either = [node.body, node.orelse] if isinstance(node, ast.IfExp) else (
        node.args[1:] if isinstance(node, ast.Call) and called(node) == "where" else [])
    return len(either) == 2 and ast.dump(either[0]) == ast.dump(either[1])


def _follow(unit: Unit, line: int, found: dict[int, float]) -> None:
    # A statement that holds others counts with its head alone, and only if it is a `for` loop.
    simple = [node for node in unit.statements if not hasattr(node, "body")]
    heads = [node for node in unit.statements if isinstance(node, ast.For)]
    here = {node for node in simple if _holds(node, line)}
    for less in NEAR:
        names: set[str] = set()
        for node in here:
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[number] = max(less, found.get(number, less))
            names |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        here = {node for node in simple if names & _bound(node)}
        for head in heads:
            if names & _bound(head):
                found[head.lineno] = max(less, found.get(head.lineno, less))


def _bound(node: ast.stmt) -> set[str]:
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        targets = [node.target]
    return {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)
