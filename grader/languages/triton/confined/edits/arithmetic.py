"""Comparisons, operators, their operands, and brackets."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.draft import exchanged, instead
from grader.languages.triton.confined.edits.source import SIGNS, SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called
from grader.plan.edits import MOST_SPANS

_COMPARISONS: dict[type[ast.cmpop], tuple[tuple[type[ast.cmpop], float], ...]] = {
    ast.Lt: ((ast.LtE, 2.2), (ast.Gt, 1.9), (ast.GtE, 2.4)), ast.LtE: ((ast.Lt, 0.6), (ast.GtE, 2.2)),
    ast.Gt: ((ast.Lt, 1.2), (ast.GtE, 2.2)), ast.GtE: ((ast.Lt, 1.2), (ast.Gt, 1.4), (ast.LtE, 2.2)),
    ast.Eq: ((ast.NotEq, 2.0), (ast.Lt, 2.6)), ast.NotEq: ((ast.Eq, 2.0), (ast.Lt, 2.4)),
}
_OPERATORS: dict[type[ast.operator], tuple[tuple[type[ast.operator], float], ...]] = {
    ast.Add: ((ast.Sub, 2.2), (ast.Mult, 2.3)), ast.Sub: ((ast.Add, 1.6), (ast.Mult, 2.6)),
    ast.Mult: ((ast.Div, 1.9), (ast.Add, 2.1)), ast.Div: ((ast.Mult, 1.5), (ast.Sub, 2.5)),
    ast.FloorDiv: ((ast.Mod, 1.5), (ast.Div, 2.6)), ast.Mod: ((ast.FloorDiv, 1.5),),
    ast.BitOr: ((ast.BitAnd, 0.6),), ast.BitAnd: ((ast.BitOr, 2.8),), ast.Pow: ((ast.Mult, 1.8),),
    ast.RShift: ((ast.FloorDiv, 1.6), (ast.LShift, 2.4)), ast.LShift: ((ast.RShift, 2.4),),
    ast.MatMult: ((ast.Mult, 2.4),),
}
_EVEN = (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)
"""Operators whose operands may be exchanged and regrouped: the result stays the same, apart from rounding."""
_STEPS = frozenset({"sqrt", "rsqrt", "exp", "exp2", "log", "sigmoid", "sum", "abs", "cdiv", "max", "dot"})


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    for node in unit.expressions:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from _comparison(source, unit, node)
        elif isinstance(node, ast.BinOp):
            yield from _operator(source, unit, node)
            yield from _brackets(source, unit, node)
            yield from _spread_out(source, unit, node)
            yield from _left_out(source, unit, node)
        elif isinstance(node, ast.BoolOp) and unit.kernel:
            sign: ast.operator = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
            text = source.of(node.values[0])
            for value in node.values[1:]:
                text = source.operation(text, sign, value)
            yield instead(source, "operator", 0.8, node, text)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield instead(source, "operator", 1.5, node, source.of(node.operand))
        elif isinstance(node, ast.Call):
            yield from _into_a_call(source, unit, node)
    yield from _same_comparisons(source, unit)
    for statement in unit.statements:
        if isinstance(statement, ast.AugAssign):
            yield from _of_assignment(source, statement)


def _conditional(source: SourceTree, node: ast.AST) -> bool:
    """Return whether a node is in the condition of an `if`."""
    return any(isinstance(place.parent, ast.If | ast.IfExp) and place.field == "test" for place in source.up(node))


def _comparison(source: SourceTree, unit: Unit, node: ast.Compare) -> Iterator[Draft]:
    at = source.sign(node.left, SIGNS.get(type(node.ops[0]), "in"), node.comparators[0])
    if at is None:
        return
    branch = _conditional(source, node)
    for other, weight in _COMPARISONS.get(type(node.ops[0]), ()):
        yield Draft(
            "comparison", weight + 1.5 * branch, (source.instead(*at, SIGNS[other]),), workaround=branch)


def _same_comparisons(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that put `<` for `<=` in all places of a comparison that is written several times."""
    same: dict[str, list[tuple[int, int]]] = {}
    for node in unit.expressions:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.LtE) and (
                at := source.sign(node.left, "<=", node.comparators[0])) is not None:
            same.setdefault(source.short(node), []).append(at)
    for places in same.values():
        if 1 < len(places) <= MOST_SPANS:
            # `<=` without its second character is `<`.
            yield Draft("comparison", 0.5, [Change(end - 1, end, "") for _, end in places])


def _operator(source: SourceTree, unit: Unit, node: ast.BinOp) -> Iterator[Draft]:
    at = source.sign(node.left, SIGNS[type(node.op)], node.right)
    if at is None:
        return
    role = unit.role(node)
    for other, weight in _OPERATORS.get(type(node.op), ()):
        if role == "pointer" and unit.role(node.left) == "pointer" and other is not ast.Sub:
            continue
        likely = -0.5 if role == "value" and isinstance(node.right, ast.Constant) and other is ast.Sub else 0.0
        unlikely = 0.6 if role in ("pointer", "size") else likely
        yield Draft("operator", weight + unlikely, (source.instead(*at, SIGNS[other]),))
    if not isinstance(node.op, _EVEN):
        # The two operands of a difference are easily confused.
        names = isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Name) and isinstance(node.right, ast.Name)
        yield exchanged(source, "operands", (1.4 if names else 2.0) if role == "value" else 2.6, node.left, node.right)


def _of_assignment(source: SourceTree, statement: ast.AugAssign) -> Iterator[Draft]:
    at = source.sign(statement.target, f"{SIGNS[type(statement.op)]}=", statement.value)
    if at is not None:
        for other, weight in _OPERATORS.get(type(statement.op), ()):
            yield Draft("operator", weight + 0.2, (source.instead(*at, f"{SIGNS[other]}="),))


def _brackets(source: SourceTree, unit: Unit, node: ast.BinOp) -> Iterator[Draft]:
    """Yield edits that group to the right what is grouped to the left, and the other way round."""
    left, right = node.left, node.right
    if isinstance(left, ast.BinOp) and unit.role(left.left) != "pointer" and not _free(left.op, node.op):
        text = source.operation(left.left, left.op, source.operation(left.right, node.op, right))
        yield instead(source, "brackets", _grouping(source, unit, node, left), node, text)
    if isinstance(right, ast.BinOp) and unit.role(left) != "pointer" and not _free(node.op, right.op):
        text = source.operation(source.operation(left, node.op, right.left), right.op, right.right)
        yield instead(source, "brackets", _grouping(source, unit, node, right), node, text)


def _spread_out(source: SourceTree, unit: Unit, node: ast.BinOp) -> Iterator[Draft]:
    """Yield edits that put `a / c + b` for `(a + b) / c`, and the other way round."""
    left, right = node.left, node.right
    outer, inner = isinstance(node.op, ast.Mult | ast.Div), isinstance(node.op, ast.Add | ast.Sub)
    if not isinstance(left, ast.BinOp) or unit.role(left.left) == "pointer":
        return
    if outer and isinstance(left.op, ast.Add | ast.Sub):
        yield instead(source, "brackets", 1.4, node, source.operation(
            source.operation(left.left, node.op, right), left.op, left.right))
    elif inner and isinstance(left.op, ast.Mult | ast.Div):
        yield instead(source, "brackets", 1.7, node, source.operation(
            source.operation(left.left, node.op, right), left.op, left.right))


def _grouping(source: SourceTree, unit: Unit, node: ast.BinOp, inner: ast.BinOp) -> float:
    """Return the weight of an edit that regroups an operator and the operator in its operand."""
    if type(inner.op) is type(node.op):
        return 1.9
    written = source.text[: source.start(inner)].endswith("(")
    if unit.role(node) == "value" or written:
        return 1.1
    # Brackets are missing in `n + B - 1 // B`, but an offset is rightly `a * b + c`.
    return 0.8 if isinstance(inner.op, ast.FloorDiv | ast.Div) else 2.0


def _free(first: ast.operator, second: ast.operator) -> bool:
    """Return whether grouping does not matter: both operators are the same, and an associative one."""
    return type(first) is type(second) and isinstance(first, _EVEN)


def _left_out(source: SourceTree, unit: Unit, node: ast.BinOp) -> Iterator[Draft]:
    role = unit.role(node)
    if unit.role(node.left) == "pointer":
        yield instead(source, "extra", 2.8, node, source.of(node.left))
        return
    more = {"value": 0.0, "mask": 0.4, "index": 0.3}.get(role, 0.5)
    for kept, dropped, weight in ((node.left, node.right, 2.0), (node.right, node.left, 2.2)):
        if unit.role(kept) == role or role != "pointer":
            # A number is superfluous more often than a name is.
            number = isinstance(dropped, ast.Constant) and not isinstance(kept, ast.Constant)
            twice = source.of(kept) == source.of(dropped)
            yield instead(source, "extra", 1.5 if twice else 1.7 if number else weight + more, node, source.of(kept))


def _into_a_call(source: SourceTree, unit: Unit, node: ast.Call) -> Iterator[Draft]:
    """Yield edits that put `f(x) + y` for `f(x + y)`, and the other way round."""
    if called(node) not in _STEPS or not node.args or isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        return
    argument, whole, start = node.args[0], source.of(node), source.start(node)

    def with_argument(text: str) -> str:
        return whole[: source.start(argument) - start] + text + whole[source.end(argument) - start :]

    # Brackets around the argument are kept.
    parent = source.place[node].parent
    if isinstance(parent, ast.BinOp) and unit.role(parent) != "pointer":
        if parent.left is node:
            text = with_argument(source.operation(argument, parent.op, parent.right))
        else:
            text = with_argument(source.operation(parent.left, parent.op, argument))
        yield instead(source, "brackets", 1.5, parent, text)
    if isinstance(argument, ast.BinOp):
        yield instead(source, "brackets", 1.7, node, source.operation(
            with_argument(source.of(argument.left)), argument.op, argument.right))
        yield instead(source, "brackets", 2.2, node, source.operation(
            argument.left, argument.op, with_argument(source.of(argument.right))))
