"""Edits of calls that no pattern says: arguments in another order, axes with their spread, and constants."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.draft import exchanged
from grader.languages.triton.confined.edits.matching import form, keyword_of
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, constant, launched
from grader.plan.edits import MOST_SPANS

_REDUCTIONS = frozenset({"sum", "max", "min", "argmax", "argmin", "cumsum"})
_MEANT = ("mask", "other", "dtype", "axis")


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    for node in unit.calls:
        if not any(isinstance(one, ast.Starred) for one in node.args):
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
    for one, other in itertools.combinations(node.args[:16], 2):
        if source.short(one) == source.short(other):
            continue
        near = node.args.index(other) - node.args.index(one) == 1
        if launch is not None:
            same = unit.role(one) == unit.role(other)
            yield exchanged(source, "order", (1.1 if same else 1.8) + (0.0 if near else 0.3), one, other)
        elif len(node.args) <= 4:
            yield exchanged(source, "order", 1.6 if name in ("cdiv", "dot") else 2.4, one, other)
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
