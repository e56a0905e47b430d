"""Edits of names: another name in a name's place, mostly one of the same role, and two names exchanged."""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.draft import instead
from grader.languages.triton.confined.edits.launches import agreed
from grader.languages.triton.confined.edits.units import (
    MEMORY,
    File,
    Role,
    Unit,
    called,
    names_bound,
    names_read,
    within,
)
from grader.plan.edits import MOST_SPANS

_KERNEL: dict[Role, tuple[tuple[Role, float], ...]] = {
    "size": (("size", 1.5), ("block", 2.4), ("stride", 2.6), ("value", 3.4)),
    "stride": (("stride", 1.5), ("size", 2.2)), "block": (("block", 2.0), ("size", 2.1)),
    "program": (("program", 1.6), ("index", 1.8)), "index": (("index", 1.7), ("program", 2.6), ("size", 3.4)),
    "pointer": (("pointer", 1.9),), "mask": (("mask", 1.5),), "value": (("value", 1.7), ("size", 2.8)),
}
_HOST: dict[Role, tuple[tuple[Role, float], ...]] = {
    "size": (("size", 1.5), ("stride", 2.4)), "stride": (("stride", 1.6), ("size", 2.2)),
    "tensor": (("tensor", 1.8),), "value": (("value", 2.2), ("size", 3.0)),
    "grid": (("grid", 1.8),),
}
_TOGETHER: tuple[tuple[Role, ...], ...] = (
    ("size",), ("stride",), ("block",), ("program",), ("index",), ("pointer",), ("mask",), ("value",), ("tensor",))


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    # An argument that is passed under its own name is meant.
    loads = [node for node in unit.expressions if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
             and node.id in unit.roles and getattr(source.place[node].parent, "arg", "") != node.id]
    table, paired = (_KERNEL, set()) if unit.kernel else (_HOST, agreed(source, unit))
    chosen = _chosen(unit)
    for node in loads:
        parent = source.place[node].parent
        compared = isinstance(parent, ast.Compare)
        divided = isinstance(parent, ast.Call) and called(parent) == "cdiv"
        # Values are divided by sizes, not by blocks.
        divides = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Div) and unit.roles[node.id] == "block"
        for role, weight in table.get(unit.roles[node.id], ()):
            for name in unit.names(role, before=node.lineno):
                if of_itself(parent, node, name):
                    continue
                likeness = 0.15 if _nearly(name, node.id) else -0.15
                # A mask often compares with a minimum, such as that of a part's end and a size: these are confused.
                likeness += (1.7 if compared else 0.4) * any({name, node.id} <= names for names in chosen)
                likeness += 0.7 * (role == "block" and divided)
                if name != node.id and node not in paired:
                    yield instead(source, "name", weight - 0.4 * compared - 0.8 * divides - likeness, node, name)
    yield from _everywhere(file, unit, loads)
    yield from _exchanged(file, unit)


def of_itself(parent: ast.AST, node: ast.expr, name: str) -> bool:
    """Return whether `name` in a node's place would be compared with itself, divided by itself, or the like."""
    operands: list[ast.expr] = []
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod):
        operands = [parent.left, parent.right]
    elif isinstance(parent, ast.Compare):
        operands = [parent.left, *parent.comparators]
    return any(isinstance(one, ast.Name) and one is not node and one.id == name for one in operands)


def _chosen(unit: Unit) -> list[set[str]]:
    """Return the names in each choice such as `new = tl.maximum(old, block)`: those of the operands and of the result
    are easily confused."""
    return [names_bound(one) | names_read(one.value) for one in unit.statements
            if isinstance(one, ast.Assign) and called(one.value) in ("maximum", "minimum", "where")]


def _nearly(one: str, other: str) -> bool:
    """Return whether two names differ in one character: such names are confused more easily."""
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _everywhere(file: File, unit: Unit, loads: Sequence[ast.Name]) -> Iterator[Draft]:
    """Yield edits that put another name wherever a function uses one."""
    source, uses = file.source, defaultdict[str, list[ast.Name]](list)
    for node in loads:
        uses[node.id].append(node)
    for name, nodes in uses.items():
        role = unit.roles[name]
        # Names of blocks are left out: blocks of the same size hide that two names are confused.
        if role in ("size", "stride") and 1 < len(nodes) <= MOST_SPANS:
            for other in unit.names(role, before=nodes[0].lineno):
                if other != name:
                    yield Draft("name", 1.9, [source.put(node, other) for node in nodes])


def _exchanged(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that exchange two names of a role in an expression, a statement, or the whole function."""
    roots: list[tuple[ast.AST, float]] = [
        (one, 1.6) for one in unit.statements if not hasattr(one, "body")]
    roots += [(one.args[0], 1.7) for one in unit.calls if called(one) in ("load", "store") and one.args]
    roots += [(key.value, 1.6) for one in unit.calls for key in one.keywords if key.arg == "mask"]
    for root, weight in roots:
        yield from _pairs(file, unit, list(within(root)), weight)
    yield from _pairs(file, unit, unit.expressions, 2.1)
    pointers = [one.args[0] for one in unit.calls if called(one) in MEMORY and one.args]
    inside = [node for one in pointers for node in within(one)]
    yield from _pairs(file, unit, inside, 1.7)
    source = file.source
    for name in unit.names("block", "size"):
        uses = [node for node in inside if isinstance(node, ast.Name) and node.id == name]
        for other in unit.names("size") if 1 < len(uses) <= MOST_SPANS else ():
            if other != name:
                yield Draft("name", 1.7, [source.put(node, other) for node in uses])


def _pairs(file: File, unit: Unit, nodes: Sequence[ast.expr], weight: float) -> Iterator[Draft]:
    source, uses = file.source, defaultdict[str, list[ast.Name]](list)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses[node.id].append(node)
    for roles in _TOGETHER:
        here = [name for name in uses if unit.roles.get(name) in roles][:6]
        for one, other in itertools.combinations(here, 2):
            if (one in unit.spread) == (other in unit.spread) and len(uses[one]) + len(uses[other]) <= MOST_SPANS:
                yield Draft("exchanged", weight, [
                    source.put(node, new) for old, new in ((one, other), (other, one)) for node in uses[old]])
