"""Edits of the spread of an index or a sum over the rows and columns of a tile, and of the distance between rows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called
from grader.plan.edits import MOST_SPANS, EditKind

_SPREAD = re.compile(r"\[(?P<first>\s*:\s*,\s*None\s*)\]$|\[(?P<last>\s*None\s*,\s*:\s*)\]$")


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    if unit.kernel:
        yield from _spread(file.source, unit)
        for node in unit.expressions:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                yield from _laid_out(file.source, unit, node)


def _laid_out(source: SourceTree, unit: Unit, node: ast.BinOp) -> Iterator[Draft]:
    """Yield edits that put `column * M + row` for `row * N + column`: the indices exchanged, with each size."""
    first = node.left
    if isinstance(first, ast.BinOp) and unit.role(first.left) == "pointer":
        first = first.right
    for one, other in ((first, node.right), (node.right, first)):
        if not isinstance(one, ast.BinOp) or not isinstance(one.op, ast.Mult):
            continue
        for index, size in ((one.left, one.right), (one.right, one.left)):
            if unit.role(index) not in ("index", "program") or unit.role(other) not in ("index", "program"):
                continue
            for name in unit.names("size", "stride", before=node.lineno):
                changes = [source.put(index, source.of(other)), source.put(other, source.of(index))]
                if name != source.of(size):
                    changes.append(source.put(size, name))
                yield Draft("index", 1.6 if len(changes) > 2 else 2.0, changes)


def _spread(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that put `[:, None]` for `[None, :]`, and the other way round: in one place, in a statement, for a
    name, or everywhere. Yield edits that add such a spread to an index, or to the result of a reduction."""
    spread = [node for node in unit.expressions if isinstance(node, ast.Subscript) and _SPREAD.search(source.of(node))]
    kind: EditKind = "index"
    for node in spread:
        yield Draft(kind, 1.9, (turned(source, node),))
    groups: dict[object, list[ast.Subscript]] = {}
    for node in spread:
        groups.setdefault(source.statement(node), []).append(node)
        groups.setdefault(source.of(node.value), []).append(node)
        groups.setdefault("all", []).append(node)
    for group in groups.values():
        if 1 < len(group) <= MOST_SPANS:
            yield Draft(kind, 1.5, [turned(source, node) for node in group])
    for one in unit.expressions:
        if isinstance(source.place[one].parent, ast.Subscript):
            continue
        name = isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and unit.roles.get(one.id) == "index"
        if (name and spread) or called(one) in ("sum", "max", "min"):
            for suffix in ("[:, None]", "[None, :]"):
                yield Draft(kind, 2.0, (source.instead(source.end(one), source.end(one), suffix),))


def turned(source: SourceTree, node: ast.expr) -> Change:
    """Return a change that spreads a node over columns instead of rows, or the other way round."""
    found = _SPREAD.search(source.of(node))
    assert found is not None
    start = source.start(node)
    text = "[None, :]" if found["first"] else "[:, None]"
    return source.instead(start + found.start(), start + found.end(), text)


def turnable(source: SourceTree, node: ast.expr) -> bool:
    """Return whether a node is spread over rows or columns."""
    return isinstance(node, ast.Subscript) and _SPREAD.search(source.of(node)) is not None
