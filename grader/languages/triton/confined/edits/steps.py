"""Edits that give an index a factor: the distance between the parts of two programs, or of two iterations."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.draft import exchanged, instead
from grader.languages.triton.confined.edits.matching import form
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, names_read


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    if not unit.kernel:
        return
    source, rounds, apart = file.source, _rounds(unit), _apart(unit)
    for node in unit.expressions:
        yield from _factors(source, unit, node, rounds)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield from _laid_out(source, unit, node)
        if isinstance(node, ast.Name) and node.id in apart and isinstance(source.place[node].parent, ast.BinOp):
            product = _product(source, node)
            for name in sorted(apart[node.id] - names_read(product)):
                yield instead(source, "factor", 0.9, product, form("a * b", a=product, b=name))


def _factors(source: SourceTree, unit: Unit, node: ast.expr, rounds: set[str]) -> Iterator[Draft]:
    parent, role = source.place[node].parent, unit.role(node)
    named = isinstance(node, ast.Name | ast.Subscript) and isinstance(parent, ast.BinOp)
    if called(node) != "program_id" and not (named and role in ("program", "index")):
        return
    multiplied = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult)
    # A constant that a loop counts up to is a factor in one place: beside the count of programs.
    part = _counts(unit, node) and any(isinstance(place.parent, ast.BinOp) for place in source.up(node))
    for size in unit.names("stride", "size", "block", before=node.lineno):
        weight = 2.6 if multiplied else 1.4 if role == "program" else 2.1
        weight += 0.5 * (unit.roles[size] != "block")
        weight += 0.8 * (isinstance(node, ast.Name) and node.id in unit.stepped)
        if role == "program" and size in rounds:
            weight = 0.8 if part else 2.2
        yield instead(source, "factor", weight, node, form("a * b", a=node, b=size))


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
            both = exchanged(source, "index", 1.6, index, other)
            for name in unit.names("size", "stride", before=node.lineno):
                yield both._replace(weight=2.0) if name == source.of(size) else both._replace(
                    changes=[*both.changes, source.put(size, name)])


def _counts(unit: Unit, node: ast.expr) -> bool:
    """Return whether an operand may count programs. A product counts elements, and a loop's variable its iterations."""
    whole = unit.whole(node)
    return whole is not None and not (isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Mult))


def _rounds(unit: Unit) -> set[str]:
    """Return the compile-time constants that a loop counts up to, alone or in a product: each program has a part of the
    data for each iteration."""
    waiting = [call.args[:2][-1] for call in unit.calls if called(call) in ("range", "static_range") and call.args]
    found = set[str]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            waiting += node.left, node.right
        elif isinstance(node, ast.Name) and unit.role(node) == "block":
            found.add(node.id)
    return found


def _apart(unit: Unit) -> dict[str, set[str]]:
    """Return for the name of each loop's variable the compile-time constants that divide the loop's length: these are
    the distance between the data of two iterations."""
    found = dict[str, set[str]]()
    for loop in unit.statements:
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Call) and (
                called(loop.iter) in ("range", "static_range") and loop.iter.args):
            count = unit.whole(loop.iter.args[:2][-1])
            if isinstance(count, ast.Call) and called(count) == "cdiv" and len(count.args) == 2:
                divisor = count.args[1]
            elif isinstance(count, ast.BinOp) and isinstance(count.op, ast.FloorDiv):
                divisor = count.right
            else:
                continue
            found[loop.target.id] = names_read(divisor) & set(unit.names("block"))
    return found


def _product(source: SourceTree, node: ast.expr) -> ast.expr:
    """Return the whole product in which an expression is a factor; the expression itself if it is no factor."""
    while isinstance(parent := source.place[node].parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        node = parent
    return node
