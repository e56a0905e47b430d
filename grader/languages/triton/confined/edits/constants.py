"""Edits of numbers: another number, a name in a number's place, and the constants of well-known formulas."""

from __future__ import annotations

import ast
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.draft import exchanged, instead
from grader.languages.triton.confined.edits.names import of_itself
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, within


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


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    numbers = [Numeral(node, node.value) for node in unit.expressions if isinstance(node, ast.Constant)
               and isinstance(node.value, int | float) and not isinstance(node.value, bool)
               and not _elsewhere(source, node)]
    for number in numbers:
        # A larger block, or a smaller one, only hides what a loop or a grid leaves out.
        for text, weight in _others(source, unit, number) if not _of_blocks(source, unit, number.node) else ():
            yield instead(source, "constant", weight, number.node, text)
    for one in unit.expressions:
        if isinstance(one, ast.Constant) and isinstance(one.value, bool):
            yield instead(source, "constant", 2.6, one, str(not one.value))
    yield from _together(source, unit, numbers)
    yield from _named(source, unit, numbers)


def of_module(file: File) -> Iterator[Draft]:
    """Yield edits of the module's constants."""
    source = file.source
    for statement in file.constants:
        # The float stands alone, or in tl.constexpr(...). Integers are mostly blocks, and are left out.
        for one in within(statement.value):
            for other in _like(one.value) if isinstance(one, ast.Constant) and isinstance(one.value, float) else ():
                yield instead(source, "constant", 1.4, one, other)


def _elsewhere(source: SourceTree, node: ast.expr) -> bool:
    """Return whether a number is another theme's: an axis, the number of a dimension, an option of a launch."""
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
    used += [one for call in unit.calls if called(call) == "cdiv" for one in call.args[1:]]
    return any(isinstance(one, ast.Name) and one.id in names for one in used)


def _like(value: float) -> list[str]:
    """Return the known numbers that `value` may be meant for: nearly equal ones, those a power of ten apart, and those
    with the same digits."""
    found = []
    for known in itertools.chain.from_iterable(KNOWN):
        if value <= 0 or value == known:
            continue
        apart = math.log10(value / known)
        digits = [sorted(f"{one:.6g}".replace(".", "").strip("0")) for one in (value, known)]
        if abs(apart - round(apart)) < 0.02 or digits[0] == digits[1]:
            found.append(repr(known))
    return found


def _others(source: SourceTree, unit: Unit, number: Numeral) -> list[tuple[str, float]]:
    """Return other numbers to put in a number's place, with their weights."""
    node, value = number
    if isinstance(value, float):
        found = [(text, 1.0) for text in _like(value)]
        found += [(repr(one), 1.5) for group in KNOWN if any(abs(one - value) < 1e-3 * one for one in group)
                  for one in group]
        found += [(repr(float(f"{other:.12g}")), weight) for other, weight in (
            (1.0, 1.9), (0.0, 1.9), (0.5, 2.2), (2.0, 2.2), (value / 10, 2.3), (value * 10, 2.3), (value / 2, 2.4),
            (value * 2, 2.4), (1 - value, 2.9), (-value, 2.6)) if math.isfinite(other)]
    else:
        if value > 1 << 40:
            return []
        found = [("0", 1.9), ("1", 1.9), ("2", 2.6), (str(value + 1), 2.2), (str(2 * value), 2.5)]
        if value:
            found += [(str(value - 1), 2.2), (str(value // 2), 2.6)]
        if value > 2 and unit.kernel:
            found += [(str(value * value), 3.2), (str(value * 8), 3.4)]
        if unit.kernel and unit.role(node) != "index" and value in (0, 1, 2):
            found.append(("0.5", 3.2))
    once = dict[str, float]()
    for text, weight in found:
        once.setdefault(text, weight)
    once.pop(source.of(node), None)
    parent, field, _ = source.place[node]
    if isinstance(parent, ast.BinOp):
        # A neutral number is the same as none, which another theme tries.
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
        for one, other in itertools.combinations(floats, 2):
            if one.value != other.value:
                yield exchanged(source, "constant", 1.4, one.node, other.node)
        like = [source.put(node, found[0]) for node, value in floats if (found := _like(value))]
        if len(like) > 1:
            yield Draft("constant", 1.2, like)
    for text, nodes in _equal(source, numbers).items():
        if 1 < len(nodes) <= 16 and "." not in text:
            for new in map(str, (0, 1, 2) if len(text) == 1 else _POWERS):
                if new != text:
                    yield Draft("constant", 2.6, [source.put(node, new) for node in nodes])


def _equal(source: SourceTree, numbers: Sequence[Numeral]) -> dict[str, list[ast.Constant]]:
    """Return the nodes of numbers by their text."""
    found: dict[str, list[ast.Constant]] = {}
    for number in numbers:
        found.setdefault(source.of(number.node), []).append(number.node)
    return found


def _named(source: SourceTree, unit: Unit, numbers: Sequence[Numeral]) -> Iterator[Draft]:
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

