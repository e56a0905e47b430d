"""Steps that are missing: a factor, a divisor, a term, a root, a sign, a program's part of an offset."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.draft import exchanged, instead
from grader.languages.triton.confined.edits.source import ATOM, SourceTree
from grader.languages.triton.confined.edits.units import MEMORY, File, Unit, called, names_read

_ARGUMENTS = frozenset({"exp", "exp2", "sigmoid", "sqrt", "rsqrt", "sum", "log"})
_AROUND = (
    ("1.0 / ({})", 2.2), ("{} * {}", 2.0), ("-{}", 2.2), ("0.5 * {}", 2.2), ("2.0 * {}", 2.2),
    ("{}.to(tl.float32)", 2.2), ("{} + 0.5", 2.0), ("tl.exp({})", 2.2), ("tl.sigmoid({})", 2.6), ("1.0 + {}", 2.6),
    ("{} - tl.max({}, axis=0)", 2.0), ("tl.sum({}, axis=0)", 2.2), ("tl.maximum({}, 0.0)", 2.8), ("tl.trans({})", 2.2),
    ("1.0 - {}", 2.8),
)


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    if not unit.kernel:
        return
    source, rounds, apart = file.source, _rounds(unit), _apart(unit)
    for node in unit.expressions:
        parent, field, number = source.place[node]
        if isinstance(parent, ast.Assign | ast.AugAssign) and field == "value" and unit.role(node) == "value":
            yield from _around(source, unit, node, 0.4)
        elif isinstance(parent, ast.Call) and field == "args":
            name = called(parent)
            if name in ("store", "atomic_add") and number == 1:
                yield from _around(source, unit, node, 0.0)
            elif name in _ARGUMENTS and number == 0:
                yield from _in_a_function(source, unit, node, name)
            elif name in MEMORY and number == 0:
                yield from _offset(source, unit, node)
        elif isinstance(parent, ast.AugAssign) and field == "value" and unit.role(parent.target) == "pointer":
            others = _names_of_other_advances(unit, parent)
            for name in unit.names("stride", "size", "block", before=node.lineno):
                if name in others or unit.roles[name] != "block":
                    yield instead(source, "factor", 1.3, node, source.operation(node, ast.Mult(), name))
        if called(node) == "sum":
            for name in unit.names("size", before=node.lineno):
                yield instead(source, "factor", 1.4, node, source.operation(node, ast.Div(), name))
        yield from _part_of_an_operator(source, unit, node, parent, field, rounds)
        if isinstance(node, ast.Name) and node.id in apart and isinstance(parent, ast.BinOp):
            product = _product(source, node)
            for name in sorted(apart[node.id] - names_read(product)):
                yield instead(source, "factor", 0.9, product, source.operation(product, ast.Mult(), name))


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


def _names_of_other_advances(unit: Unit, advance: ast.AugAssign) -> set[str]:
    """Return the names by which other pointers are moved on, without those that move this one on."""
    values = [one.value for one in unit.statements
              if isinstance(one, ast.AugAssign) and one is not advance and unit.role(one.target) == "pointer"]
    return set[str]().union(*map(names_read, values)) - names_read(advance.value)


def _values(unit: Unit, line: int) -> list[str]:
    return unit.names("value", before=line)


def _around(source: SourceTree, unit: Unit, node: ast.expr, more: float) -> Iterator[Draft]:
    """Yield edits that put a step around a value that is stored or bound to a name."""
    for name in _values(unit, node.lineno):
        if name == source.of(node):
            continue
        yield instead(source, "factor", 1.6 + more, node, source.operation(node, ast.Mult(), name))
        yield instead(source, "factor", 1.7 + more, node, source.operation(node, ast.Div(), name))
        yield instead(source, "missing", 2.2 + more, node, source.operation(node, ast.Add(), name))
        yield instead(source, "missing", 2.4 + more, node, source.operation(node, ast.Sub(), name))
    for name in unit.names("size", before=node.lineno):
        yield instead(source, "factor", 1.8 + more, node, source.operation(node, ast.Div(), name))
        yield instead(source, "factor", 2.6 + more, node, source.operation(node, ast.Mult(), name))
    steps = {called(one) for one in unit.calls}
    rooted = "sum" in steps and not steps & {"sqrt", "rsqrt"}
    for form, weight in (*_AROUND, ("tl.sqrt({})", 0.9 if rooted else 1.8)):
        yield instead(source, "missing", weight + more, node, _formed(source, node, form))


def _formed(source: SourceTree, node: ast.expr, form: str) -> str:
    inside = source.of(node) if form.count("{}") == 1 and "({})" in form else source.operand(node, ATOM)
    return form.replace("{}", inside)


def _in_a_function(source: SourceTree, unit: Unit, node: ast.expr, name: str) -> Iterator[Draft]:
    """Yield edits that put a step in the argument of a function."""
    if name in ("exp", "exp2", "sigmoid"):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            yield exchanged(source, "operands", 1.1, node.left, node.right)
        else:
            yield instead(source, "operator", 1.1, node, f"-{source.operand(node, 13)}")
        for largest in _values(unit, node.lineno):
            yield instead(source, "missing", 1.8, node, source.operation(node, ast.Sub(), largest))
        for axis in ("0", "1"):
            yield instead(source, "missing", 1.8, node, source.operation(
                node, ast.Sub(), f"tl.max({source.of(node)}, axis={axis})"))
        for factor in ("2.0", "1.4426950408889634", "0.5"):
            yield instead(source, "factor", 1.9, node, source.operation(factor, ast.Mult(), node))
    if name == "sum":
        text = source.operand(node, 13)
        yield instead(source, "missing", 1.3, node, f"{text} * {text}")
        yield instead(source, "missing", 2.0, node, f"tl.exp({source.of(node)})")
    if name in ("sqrt", "rsqrt"):
        for size in unit.names("size", before=node.lineno):
            yield instead(source, "factor", 1.7, node, source.operation(node, ast.Div(), size))
    for value in _values(unit, node.lineno):
        yield instead(source, "missing", 2.0, node, source.operation(node, ast.Add(), value))
        yield instead(source, "factor", 2.4, node, source.operation(node, ast.Mult(), value))


def _offset(source: SourceTree, unit: Unit, node: ast.expr) -> Iterator[Draft]:
    """Yield edits that add a missing term to a pointer."""
    used = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    sizes = unit.names("stride", "size", "block", before=node.lineno)
    for name in unit.names("index", before=node.lineno):
        if name not in used:
            yield instead(source, "missing", 1.7, node, f"{source.of(node)} + {name}")
            for size in sizes:
                yield instead(source, "missing", 2.4, node, f"{source.of(node)} + {name} * {size}")
    for name in unit.names("size", before=node.lineno):
        if name not in used:
            yield instead(source, "missing", 1.8, node, f"{source.of(node)} + {name}")
            yield instead(source, "missing", 2.2, node, f"{source.of(node)} + 2 * {name}")
    for name in unit.names("program", before=node.lineno) or ["tl.program_id(0)"]:
        if name not in used:
            yield instead(source, "missing", 1.8, node, f"{source.of(node)} + {name}")
            for size in sizes:
                yield instead(source, "missing", 1.9, node, f"{source.of(node)} + {name} * {size}")


def _part_of_an_operator(
    source: SourceTree, unit: Unit, node: ast.expr, parent: ast.AST, field: str, rounds: set[str]
) -> Iterator[Draft]:
    """Yield edits that put a step in one side of an operator, or add a factor to an index."""
    role = unit.role(node)
    named = isinstance(node, ast.Name | ast.Subscript) and isinstance(parent, ast.BinOp)
    if called(node) == "program_id" or (named and role in ("program", "index")):
        multiplied = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult)
        # A constant that a loop counts up to is a factor in one place: beside the count of programs.
        part = _counts(unit, node) and any(isinstance(place.parent, ast.BinOp) for place in source.up(node))
        for size in unit.names("stride", "size", "block", before=node.lineno):
            weight = 2.6 if multiplied else 1.4 if role == "program" else 2.1
            weight += 0.5 * (unit.roles[size] != "block")
            weight += 0.8 * (isinstance(node, ast.Name) and node.id in unit.stepped)
            if role == "program" and size in rounds:
                weight = 0.8 if part else 2.2
            yield instead(source, "factor", weight, node, source.operation(node, ast.Mult(), size))
    if called(node) == "arange":
        for program in unit.names("program", before=node.lineno) or ["tl.program_id(0)"]:
            for block in unit.names("block"):
                if not isinstance(parent, ast.BinOp):
                    yield instead(source, "missing", 1.7, node, f"{program} * {block} + {source.of(node)}")
    if not isinstance(parent, ast.BinOp):
        return
    if isinstance(parent.op, ast.Div) and field == "right":
        yield instead(source, "missing", 1.5, node, f"tl.sqrt({source.of(node)})")
    if isinstance(parent.op, ast.Mult) and role == "value" and not isinstance(node, ast.Constant):
        yield instead(source, "missing", 2.1, node, f"tl.sqrt({source.of(node)})")
    if isinstance(parent.op, ast.Add) and role in ("size", "block") and isinstance(node, ast.Name):
        for factor in ("2", "3"):
            yield instead(source, "factor", 1.9, node, f"{factor} * {source.of(node)}")
    if role == "value" and isinstance(node, ast.Name) and isinstance(parent.op, ast.Mult | ast.Add):
        yield instead(source, "factor", 1.9, node, f"{source.of(node)} * {source.of(node)}")
