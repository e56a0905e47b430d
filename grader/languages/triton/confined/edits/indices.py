"""Edits of indices: factors, tiles that are numbered in groups, and loops that load the values of their next
iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.matching import form
from grader.languages.triton.confined.edits.source import SourceTree, exchanged, instead
from grader.languages.triton.confined.edits.units import File, Unit, called, names_bound, names_read, within
from grader.plan.edits import MOST_SPANS


def of_factors(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that give an index a factor: the distance between the parts of two programs, or of two iterations."""
    if not unit.kernel:
        return
    source, rounds, apart = file.source, _rounds(unit), _divisors(unit)
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
    for product, addend in ((first, node.right), (node.right, first)):
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        for index, size in ((product.left, product.right), (product.right, product.left)):
            if unit.role(index) not in ("index", "program") or unit.role(addend) not in ("index", "program"):
                continue
            both = exchanged(source, "index", 1.6, index, addend)
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
    names = set[str]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            waiting += node.left, node.right
        elif isinstance(node, ast.Name) and unit.role(node) == "block":
            names.add(node.id)
    return names


def _divisors(unit: Unit) -> dict[str, set[str]]:
    """Return for the name of each loop's variable the compile-time constants that divide the loop's length: these are
    the distance between the data of two iterations."""
    divisors = dict[str, set[str]]()
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
            divisors[loop.target.id] = names_read(divisor) & set(unit.names("block"))
    return divisors


def _product(source: SourceTree, node: ast.expr) -> ast.expr:
    """Return the whole product in which an expression is a factor; the expression itself if it is no factor."""
    while isinstance(parent := source.place[node].parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        node = parent
    return node


def of_groups(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits of tiles that are numbered in groups of rows, as in Triton's tutorial on matrix products, where the
    last group has fewer: they put `pid % min(rows - first, GROUP)` for `pid % GROUP` or `pid % min(rows, GROUP)`, and
    the same with `//`. `first` is a group's number times GROUP; the divisor may have a name."""
    source = file.source
    for product in unit.expressions if unit.kernel else ():
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
            continue
        for group, number in ((product.right, product.left), (product.left, product.right)):
            if not isinstance(group, ast.Name) or not _divided(unit, number):
                continue
            divisors = [node.right for node in unit.expressions if isinstance(node, ast.BinOp)
                        and isinstance(node.op, ast.Mod | ast.FloorDiv) and node is not number]
            heights = [whole for divisor in divisors if (whole := _height(unit, divisor, group.id)) is not None]
            if len(heights) < 2:
                continue
            first, places = _name(source, product), list(dict.fromkeys(heights))
            bound = first not in unit.bound or min(place.lineno for place in places) > product.lineno
            if len(places) <= MOST_SPANS and bound:
                for rows in _rows(source, unit, product):
                    here = form("min(a - b, d)", a=rows, b=first, d=group)
                    yield Draft("end", 0.7, [source.put(place, here) for place in places])


def _height(unit: Unit, divisor: ast.expr, group: str) -> ast.expr | None:
    """Return the expression of a divisor, which may be a name for it, if that is the group's height, or a minimum of
    the height and something else; None for any other divisor."""
    whole = unit.whole(divisor) or divisor
    parts = whole.args if isinstance(whole, ast.Call) and called(whole) in ("min", "minimum") else [whole]
    return whole if any(isinstance(part, ast.Name) and part.id == group for part in parts) else None


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


def of_values_ahead(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits of loops that load the values of their next iteration, which lie one block further on: a block less
    in the bounds of their masks and conditions, one more in their indices."""
    for loop in unit.statements if unit.kernel else ():
        if isinstance(loop, ast.For | ast.While) and (changed := _changed(unit, loop)):
            for block in _blocks(unit, loop):
                yield from _bounds(file.source, unit, loop, changed, block)
                yield from _indices(file.source, unit, loop, changed, block)


def _changed(unit: Unit, loop: ast.For | ast.While) -> set[str]:
    """Return the names that a loop binds, if one of them holds a loaded value before the loop; else the empty set."""
    names = names_bound(loop)
    before = [unit.wholes[name] for name in names if unit.bound[name] < loop.lineno and name in unit.wholes]
    loaded = any(called(node) == "load" for whole in before for node in within(whole))
    return names if loaded else set()


def _blocks(unit: Unit, loop: ast.For | ast.While) -> list[str]:
    """Return the names of blocks by which a loop advances; all names of blocks if it advances by none."""
    steps = [node.value for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
    used = names_read(loop.iter if isinstance(loop, ast.For) else loop.test).union(*map(names_read, steps))
    blocks = unit.names("block")
    return [name for name in blocks if name in used] or blocks


def _bounds(
    source: SourceTree, unit: Unit, loop: ast.For | ast.While, changed: set[str], block: str
) -> Iterator[Draft]:
    """Yield edits that lower a bound by a block: in one comparison, in all comparisons with it, or where the loop sets
    a name for it."""
    written: dict[str, list[Change]] = {}
    for node in within(loop):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt | ast.LtE) or (
                not _holds(loop, node) or not changed & names_read(node)):
            continue
        bound = node.comparators[0]
        if isinstance(bound, ast.Name) and bound.id in changed:
            if (whole := unit.wholes.get(bound.id)) is not None and _holds(loop, whole):
                yield instead(source, "missing", 0.8, whole, form("a - b", a=whole, b=block))
            continue
        change = source.put(bound, form("a - b", a=bound, b=block))
        yield Draft("mask", 0.9, (change,))
        written.setdefault(source.short(bound), []).append(change)
    yield from (Draft("mask", 0.8, some) for some in written.values() if 1 < len(some) <= MOST_SPANS)


def _indices(
    source: SourceTree, unit: Unit, loop: ast.For | ast.While, changed: set[str], block: str
) -> Iterator[Draft]:
    for name in unit.names("index"):
        whole = unit.wholes.get(name)
        if whole is not None and _holds(loop, whole) and changed & names_read(whole):
            yield instead(source, "missing", 0.9, whole, form("a + b", a=whole, b=block))


def _holds(loop: ast.For | ast.While, node: ast.expr | ast.stmt) -> bool:
    return loop.body[0].lineno <= node.lineno <= (loop.end_lineno or 0)
