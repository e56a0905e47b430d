"""Edits of operands: another name or number in one's place, constants of well-known formulas, arguments exchanged."""

from __future__ import annotations

import ast
import itertools
import math
import operator
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.launches import agreed
from grader.languages.triton.confined.edits.matching import form, keyword_of
from grader.languages.triton.confined.edits.source import SourceTree, exchanged, instead
from grader.languages.triton.confined.edits.units import (
    MEMORY,
    File,
    Role,
    Unit,
    called,
    constant,
    launched,
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


def of_names(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    # An argument that is passed under its own name is meant.
    loads = [node for node in unit.expressions if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
             and node.id in unit.roles and getattr(source.place[node].parent, "arg", "") != node.id]
    table, paired = (_KERNEL, set()) if unit.kernel else (_HOST, agreed(source, unit))
    chosen = _choices(unit)
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
                # Names that differ in one character are confused more easily.
                likeness = 0.15 if len(name) == len(node.id) and sum(map(operator.ne, name, node.id)) == 1 else -0.15
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
    return any(isinstance(operand, ast.Name) and operand is not node and operand.id == name for operand in operands)


def _choices(unit: Unit) -> list[set[str]]:
    """Return the names in each choice such as `new = tl.maximum(old, block)`: those of the operands and of the result
    are easily confused."""
    return [names_bound(statement) | names_read(statement.value) for statement in unit.statements
            if isinstance(statement, ast.Assign) and called(statement.value) in ("maximum", "minimum", "where")]


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
        (statement, 1.6) for statement in unit.statements if not hasattr(statement, "body")]
    roots += [(call.args[0], 1.7) for call in unit.calls if called(call) in ("load", "store") and call.args]
    roots += [(key.value, 1.6) for call in unit.calls for key in call.keywords if key.arg == "mask"]
    for root, weight in roots:
        yield from _pairs(file, unit, list(within(root)), weight)
    yield from _pairs(file, unit, unit.expressions, 2.1)
    pointers = [call.args[0] for call in unit.calls if called(call) in MEMORY and call.args]
    inside = [node for pointer in pointers for node in within(pointer)]
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
        for first, second in itertools.combinations(here, 2):
            if (first in unit.spread) == (second in unit.spread) and len(uses[first]) + len(uses[second]) <= MOST_SPANS:
                yield Draft("exchanged", weight, [
                    source.put(node, new) for old, new in ((first, second), (second, first)) for node in uses[old]])


class Numeral(NamedTuple):
    """A number in the text."""

    node: ast.Constant
    value: int | float


KNOWN = (
    (0.044715, 0.7978845608028654, 1.5957691216057308, 1.702, 0.7071067811865476, 0.3989422804014327),
    (1.4426950408889634, 0.6931471805599453, 2.302585092994046, 0.4342944819032518),
    (3.141592653589793, 6.283185307179586, 1.4142135623730951, 2.5066282746310002),
    (0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722),
)
"""Well-known constants in groups that stand together: GELU, logarithms, the circle and roots, weights of colours."""
_POWERS = (16, 32, 64, 128, 256, 512, 1024)


def of_numbers(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    numbers = [Numeral(node, node.value) for node in unit.expressions if isinstance(node, ast.Constant)
               and isinstance(node.value, int | float) and not isinstance(node.value, bool)
               and not _has_other_edits(source, node)]
    for number in numbers:
        # A larger block, or a smaller one, only hides what a loop or a grid leaves out.
        for text, weight in _other_numbers(source, unit, number) if not _of_blocks(source, unit, number.node) else ():
            yield instead(source, "constant", weight, number.node, text)
    for expression in unit.expressions:
        if isinstance(expression, ast.Constant) and isinstance(expression.value, bool):
            yield instead(source, "constant", 2.6, expression, str(not expression.value))
    yield from _together(source, unit, numbers)
    yield from _name_edits(source, unit, numbers)


def of_constants(file: File) -> Iterator[Draft]:
    """Yield edits of the module's constants."""
    source = file.source
    for statement in file.constants:
        # The float stands alone, or in tl.constexpr(...). Integers are mostly blocks, and are left out.
        for node in within(statement.value):
            for like in _like(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, float) else ():
                yield instead(source, "constant", 1.4, node, like)


def _has_other_edits(source: SourceTree, node: ast.expr) -> bool:
    """Return whether other edits change a number: an axis, the number of a dimension, an option of a launch."""
    parent = source.place[node].parent
    if isinstance(parent, ast.UnaryOp):
        parent = source.place[parent].parent
    if isinstance(parent, ast.keyword):
        return parent.arg in ("axis", "dim", "num_warps", "num_stages", "num_ctas", "other")
    return called(parent) in ("program_id", "num_programs", "sum", "max", "min", "size", "stride") if isinstance(
        parent, ast.Call) else isinstance(parent, ast.Subscript)


def _of_blocks(source: SourceTree, unit: Unit, node: ast.expr) -> bool:
    """Return whether a number in host code is a block: the value of a keyword in capitals, as compile-time constants
    are, or the divisor of a size in a grid."""
    statement, parent = source.statement(node), source.place[node].parent
    if unit.kernel:
        return False
    if isinstance(parent, ast.keyword):
        return (parent.arg or "").isupper()
    if isinstance(parent, ast.Call) and called(parent) == "cdiv":
        return True
    if not isinstance(statement, ast.Assign):
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    used = [key.value for call in unit.launches for key in call.keywords if key.arg and key.arg.isupper()]
    used += [argument for call in unit.calls if called(call) == "cdiv" for argument in call.args[1:]]
    return any(isinstance(node, ast.Name) and node.id in names for node in used)


def _like(value: float) -> list[str]:
    """Return the known numbers that `value` may be meant for: nearly equal ones, those a power of ten apart, and those
    with the same digits."""
    likenesses = []
    for known in itertools.chain.from_iterable(KNOWN):
        if value <= 0 or value == known:
            continue
        apart = math.log10(value / known)
        digits = [sorted(f"{number:.6g}".replace(".", "").strip("0")) for number in (value, known)]
        if abs(apart - round(apart)) < 0.02 or digits[0] == digits[1]:
            likenesses.append(repr(known))
    return likenesses


def _other_numbers(source: SourceTree, unit: Unit, number: Numeral) -> list[tuple[str, float]]:
    """Return other numbers to put in a number's place, with their weights."""
    node, value = number
    if isinstance(value, float):
        weighed = [(text, 1.0) for text in _like(value)]
        weighed += [(repr(constant), 1.5)
                    for group in KNOWN if any(abs(constant - value) < 1e-3 * constant for constant in group)
                    for constant in group]
        weighed += [(repr(float(f"{constant:.12g}")), weight) for constant, weight in (
            (1.0, 1.9), (0.0, 1.9), (0.5, 2.2), (2.0, 2.2), (value / 10, 2.3), (value * 10, 2.3), (value / 2, 2.4),
            (value * 2, 2.4), (1 - value, 2.9), (-value, 2.6)) if math.isfinite(constant)]
    else:
        if value > 1 << 40:
            return []
        weighed = [("0", 1.9), ("1", 1.9), ("2", 2.6), (str(value + 1), 2.2), (str(2 * value), 2.5)]
        if value:
            weighed += [(str(value - 1), 2.2), (str(value // 2), 2.6)]
        if value > 2 and unit.kernel:
            weighed += [(str(value * value), 3.2), (str(value * 8), 3.4)]
        if unit.kernel and unit.role(node) != "index" and value in (0, 1, 2):
            weighed.append(("0.5", 3.2))
    once = dict[str, float]()
    for text, weight in weighed:
        once.setdefault(text, weight)
    once.pop(source.of(node), None)
    parent, field, _ = source.place[node]
    if isinstance(parent, ast.BinOp):
        # A neutral number is the same as none, which other edits try.
        neutral = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1, ast.FloorDiv: 1}.get(type(parent.op))
        if field == "right" or isinstance(parent.op, ast.Add | ast.Mult):
            once = {text: weight for text, weight in once.items() if float(text) != neutral}
    return [(text, weight) for text, weight in once.items() if float(text) != value]


def _together(source: SourceTree, unit: Unit, numbers: Sequence[Numeral]) -> Iterator[Draft]:
    """Yield edits that exchange two numbers of a statement, that replace all numbers of a statement which are nearly
    known ones, and that replace all equal numbers of a function."""
    of = defaultdict[ast.stmt, list[Numeral]](list)
    for number in numbers:
        of[source.statement(number.node)].append(number)
    for group in of.values():
        floats = [number for number in group if isinstance(number.value, float)][:6]
        for first, second in itertools.combinations(floats, 2):
            if first.value != second.value:
                yield exchanged(source, "constant", 1.4, first.node, second.node)
        like = [source.put(node, likenesses[0]) for node, value in floats if (likenesses := _like(value))]
        if len(like) > 1:
            yield Draft("constant", 1.2, like)
    for text, nodes in _equal(source, numbers).items():
        if 1 < len(nodes) <= 16 and "." not in text:
            for new in map(str, (0, 1, 2) if len(text) == 1 else _POWERS):
                if new != text:
                    yield Draft("constant", 2.6, [source.put(node, new) for node in nodes])


def _equal(source: SourceTree, numbers: Sequence[Numeral]) -> dict[str, list[ast.Constant]]:
    """Return the nodes of numbers by their text."""
    nodes: dict[str, list[ast.Constant]] = {}
    for number in numbers:
        nodes.setdefault(source.of(number.node), []).append(number.node)
    return nodes


def _name_edits(source: SourceTree, unit: Unit, numbers: Sequence[Numeral]) -> Iterator[Draft]:
    """Yield edits that put a size, stride or block in a number's place, since the number may hold for one case only,
    and in kernels a value in a float's place."""
    large = [number for number in numbers if 2 <= number.value < math.inf and number.value == int(number.value)]
    for nodes in _equal(source, large).values():
        first = nodes[0].lineno
        for name in unit.names("size", "stride", "block", before=first):
            for node in nodes:
                parent = source.place[node].parent
                if not of_itself(parent, node, name) and not _of_blocks(source, unit, node):
                    option = isinstance(parent, ast.keyword)
                    yield instead(source, "constant", 2.6 if option else 1.8, node, name)
            if 1 < len(nodes) <= 16 and unit.kernel:
                yield Draft("constant", 1.7, [source.put(node, name) for node in nodes])
    for number in numbers:
        if unit.kernel and isinstance(number.value, float):
            for name in unit.names("value", before=number.node.lineno):
                yield instead(source, "constant", 2.3, number.node, name)


_REDUCTIONS = frozenset({"sum", "max", "min", "argmax", "argmin", "cumsum"})
_MEANT = ("mask", "other", "dtype", "axis")


def of_calls(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    for node in unit.calls:
        if not any(isinstance(argument, ast.Starred) for argument in node.args):
            yield from _order(file, unit, node)
        if unit.kernel:
            yield from (Draft("extra", 2.2, (source.dropped(node, key),))
                        for key in node.keywords if key.arg and key.arg not in _MEANT)
        if called(node) in _REDUCTIONS and (axis := keyword_of(node, "axis")) is not None:
            yield from _axis_and_spread(source, unit, node, axis)
    if unit.kernel:
        yield from _constants(source, unit)


def _axis_and_spread(source: SourceTree, unit: Unit, call: ast.Call, axis: ast.expr) -> Iterator[Draft]:
    """Yield edits that take another axis, and with it another spread of the result over a tile."""
    statement = source.statement(call)
    bound = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(bound, ast.Name) or source.of(axis) not in ("0", "1"):
        return
    uses = [node for node in unit.expressions if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name) and node.value.id == bound.id]
    turned = {"[:,None]": "x[None, :]", "[None,:]": "x[:, None]"}
    changes = [source.put(node, form(turned[spread], x=node.value)) for node in uses
               if (spread := source.short(node).removeprefix(bound.id)) in turned]
    if 0 < len(changes) < MOST_SPANS:
        yield Draft("axis", 1.2, [source.put(axis, "10"[source.of(axis) == "1"]), *changes])


def _order(file: File, unit: Unit, node: ast.Call) -> Iterator[Draft]:
    """Yield edits that exchange two arguments."""
    source, name = file.source, called(node)
    launch = launched(node, file.kernels)
    if launch is None and name in ("load", "arange", "zeros", "full", "where", "maximum", "minimum", "store", "range"):
        return
    for first, second in itertools.combinations(node.args[:16], 2):
        if source.short(first) == source.short(second):
            continue
        near = node.args.index(second) - node.args.index(first) == 1
        if launch is not None:
            same = unit.role(first) == unit.role(second)
            yield exchanged(source, "order", (1.1 if same else 1.8) + (0.0 if near else 0.3), first, second)
        elif len(node.args) <= 4:
            yield exchanged(source, "order", 1.6 if name in ("cdiv", "dot") else 2.4, first, second)
    keys = [key for key in node.keywords if launch is not None and key.arg and not key.arg.startswith("num_")]
    for key, another in itertools.combinations(keys[:8], 2):
        if source.of(key.value) != source.of(another.value):
            yield exchanged(source, "order", 1.3, key.value, another.value)


def _constants(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that declare a parameter as `tl.constexpr`. Those that a shape needs weigh least."""
    shapes = {node.id for call in unit.calls if called(call) in ("arange", "zeros", "full")
              for argument in call.args for node in ast.walk(argument) if isinstance(node, ast.Name)}
    for parameter in unit.parameters:
        if not constant(source, parameter) and unit.roles.get(parameter.arg) != "pointer":
            named = parameter.arg.isupper() and len(parameter.arg) > 1
            weight = 0.6 if parameter.arg in shapes else 1.4 if named else 2.6
            yield Draft("type", weight, (source.instead(
                source.start(parameter), source.end(parameter), f"{parameter.arg}: tl.constexpr"),))
