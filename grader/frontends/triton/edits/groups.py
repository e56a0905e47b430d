"""Tiles numbered in groups of rows, as Triton's tutorial on matrix products does it: the last group has fewer rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.frontends.drafts import Draft
from grader.frontends.triton.edits.source import SourceTree
from grader.frontends.triton.edits.units import File, Unit, called
from grader.plan.edits import MOST_SPANS


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    """`pid % min(rows - first, GROUP)` for `pid % GROUP`, and its like, where `first` is a group's number times
    GROUP."""
    source = file.source
    for product in unit.expressions if unit.kernel else ():
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        for group, number in ((product.right, product.left), (product.left, product.right)):
            if not isinstance(group, ast.Name) or not _divided(unit, number):
                continue
            places = [node.right for node in unit.expressions
                      if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv)
                      and isinstance(node.right, ast.Name) and node.right.id == group.id and node is not number]
            if 1 < len(places) <= MOST_SPANS:
                for rows in _rows(source, unit, product):
                    here = source.operation(rows, ast.Sub(), _name(source, product))
                    yield Draft("missing", 1.0, [source.put(one, f"min({here}, {group.id})") for one in places])


def _divided(unit: Unit, node: ast.expr) -> bool:
    """Whether a node is a quotient, or a name for one."""
    whole = unit.wholes.get(node.id) if isinstance(node, ast.Name) else node
    return isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.FloorDiv)


def _name(source: SourceTree, node: ast.expr) -> str:
    """The name that an expression has been given, or its text."""
    parent = source.place[node].parent
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        return parent.targets[0].id
    return source.of(node)


def _rows(source: SourceTree, unit: Unit, product: ast.expr) -> Iterator[str]:
    """What may count the rows of tiles: quotients that have a name, and sizes over blocks."""
    yield from (name for name, whole in unit.wholes.items()
                if called(whole) == "cdiv" and unit.bound[name] < product.lineno)
    for size in unit.names("size", before=product.lineno):
        for block in unit.names("block"):
            yield f"tl.cdiv({size}, {block})"
