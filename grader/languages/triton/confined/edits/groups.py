"""Tiles numbered in groups of rows, as Triton's tutorial on matrix products does it: the last group has fewer rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.matching import form
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called
from grader.plan.edits import MOST_SPANS


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that put `pid % min(rows - first, GROUP)` for `pid % GROUP` or `pid % min(rows, GROUP)`, and the same
    with `//`. `first` is a group's number times GROUP; the divisor may have a name."""
    source = file.source
    for product in unit.expressions if unit.kernel else ():
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        for group, number in ((product.right, product.left), (product.left, product.right)):
            if not isinstance(group, ast.Name) or not _divided(unit, number):
                continue
            divisors = [node.right for node in unit.expressions if isinstance(node, ast.BinOp)
                        and isinstance(node.op, ast.Mod | ast.FloorDiv) and node is not number]
            heights = [whole for one in divisors if (whole := _height(unit, one, group.id)) is not None]
            if len(heights) < 2:
                continue
            first, places = _name(source, product), list(dict.fromkeys(heights))
            bound = first not in unit.bound or min(one.lineno for one in places) > product.lineno
            if len(places) <= MOST_SPANS and bound:
                for rows in _rows(source, unit, product):
                    here = form("min(a - b, d)", a=rows, b=first, d=group)
                    yield Draft("end", 0.7, [source.put(one, here) for one in places])


def _height(unit: Unit, divisor: ast.expr, group: str) -> ast.expr | None:
    """Return the expression of a divisor, which may be a name for it, if that is the group's height, or a minimum of
    the height and something else; None for any other divisor."""
    whole = unit.whole(divisor) or divisor
    parts = whole.args if isinstance(whole, ast.Call) and called(whole) in ("min", "minimum") else [whole]
    return whole if any(isinstance(one, ast.Name) and one.id == group for one in parts) else None


def _divided(unit: Unit, node: ast.expr) -> bool:
    """Return whether a node is a quotient, or a name for one."""
    whole = unit.whole(node)
    return isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.FloorDiv)


def _name(source: SourceTree, node: ast.expr) -> str:
    """Return the name that an expression is bound to; its text if there is no name."""
    parent = source.place[node].parent
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return parent.targets[0].id
    return source.of(node)


def _rows(source: SourceTree, unit: Unit, product: ast.expr) -> Iterator[str]:
    """Yield expressions that may count the rows of tiles: names of quotients, and each size divided by each block."""
    yield from (name for name, whole in unit.wholes.items()
                if called(whole) == "cdiv" and unit.bound[name] < product.lineno)
    for size in unit.names("size", before=product.lineno):
        for block in unit.names("block"):
            yield f"tl.cdiv({size}, {block})"
