"""Edits of calls: another function, arguments in another order, other axes, types and compile-time constants."""

from __future__ import annotations

import ast
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator

from grader.languages.drafts import Draft
from grader.languages.triton.confined.edits.draft import dropped, exchanged, instead, keyword
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.spread import turnable, turned
from grader.languages.triton.confined.edits.units import File, Unit, called, constant, launched
from grader.plan.edits import MOST_SPANS

_FUNCTIONS: dict[str, tuple[tuple[str, float], ...]] = {
    "max": (("sum", 1.6), ("min", 1.8)), "sum": (("max", 1.9),), "min": (("max", 1.4),), "exp": (("exp2", 2.0),),
    "exp2": (("exp", 0.9),), "log": (("log2", 2.0), ("exp", 2.4)), "log2": (("log", 1.4),),
    "sqrt": (("rsqrt", 1.5),), "rsqrt": (("sqrt", 1.5),), "maximum": (("minimum", 1.6),),
    "minimum": (("maximum", 1.4),), "sigmoid": (("exp", 2.4),), "cos": (("sin", 1.8),), "sin": (("cos", 1.8),),
    "num_programs": (("program_id", 1.6),), "program_id": (("num_programs", 2.6),),
    "atomic_add": (("store", 1.8),), "store": (("atomic_add", 2.4),), "atomic_xchg": (("store", 1.8),),
    "atomic_max": (("atomic_add", 1.8), ("store", 2.2)), "argmax": (("max", 1.6),), "cumsum": (("sum", 1.8),),
}
_BUILTINS = frozenset({"sum", "max", "min", "abs"})
_TENSOR_FUNCTIONS = frozenset({
    "exp", "sqrt", "sigmoid", "sum", "max", "abs", "rsqrt", "log", "erf", "maximum", "minimum", "where", "dot", "zeros",
    "arange", "cdiv", "exp2", "sin", "cos"})
_FOREIGN = frozenset({"math", "torch", "np", "numpy", "F", "libdevice", "jnp"})
_REDUCTIONS = frozenset({"sum", "max", "min", "argmax", "argmin", "cumsum"})
_UNARY = frozenset({"sqrt", "abs", "trans", "log", "exp", "sigmoid", "rsqrt", "sum", "max", "exp2", "cdiv"})
_TYPE = re.compile(r"(tl|torch)\.(float\w+|bfloat16|u?int\d+)$")


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    for node in unit.calls:
        if isinstance(node.func, ast.Attribute | ast.Name) and unit.kernel:
            yield from _function(source, unit, node)
            yield from _axis(source, unit, node)
        if not any(isinstance(one, ast.Starred) for one in node.args):
            yield from _order(file, unit, node)
        if unit.kernel:
            yield from _without(source, unit, node)
    for one in unit.expressions:
        if unit.kernel and isinstance(one, ast.BinOp) and isinstance(one.op, ast.Pow):
            yield from _power(source, one)
    yield from _axes_of_programs(source, unit)
    yield from _types(source, unit)
    if unit.kernel:
        yield from _constants(source, unit)


def _function(source: SourceTree, unit: Unit, node: ast.Call) -> Iterator[Draft]:
    name, function = called(node), node.func
    owner = source.of(function.value) if isinstance(function, ast.Attribute) else ""
    if name == "store" and node.args and unit.role(node.args[0]) == "pointer" and isinstance(node.args[0], ast.Name):
        # All programs store to one place.
        yield Draft("function", 1.2, (source.put(function, f"{owner}.atomic_add"),))
    for other, weight in _FUNCTIONS.get(name, ()) if owner else ():
        yield Draft("function", weight, (source.put(function, f"{owner}.{other}"),))
    if not owner and name in _BUILTINS and name not in unit.roles:
        axis = "" if any(key.arg == "axis" for key in node.keywords) or name == "abs" else ", axis=0"
        yield Draft("function", 0.8, (source.put(function, f"tl.{name}"),))
        if axis and len(node.args) == 1:
            yield Draft("function", 1.0, (source.put(function, f"tl.{name}"), keyword(source, node, axis[2:])))
    root = owner.partition(".")[0]
    if name in _TENSOR_FUNCTIONS and (root in _FOREIGN or owner in ("tl.math", "tl.libdevice", "tl.extra")):
        yield Draft("function", 0.8, (source.put(function, f"tl.{name}"),))
    if name == "tanh" and node.args:
        twice = source.operation("2.0", ast.Mult(), node.args[0])
        yield instead(source, "function", 0.8, node, f"2.0 * tl.sigmoid({twice}) - 1.0")
    if name in _UNARY and node.args and not isinstance(node.args[0], ast.Starred):
        argument = source.of(node.args[0])
        yield instead(source, "extra", 1.9, node, argument)
        if name == "abs":
            yield instead(source, "function", 1.8, node, f"({argument}) * ({argument})")
    if name == "trans" and isinstance(function, ast.Attribute) and not node.args:
        yield instead(source, "extra", 1.7, node, owner)
    if name in ("reshape", "view"):
        # These keep the order of the elements, where a transposition may be meant.
        tile = node.args[0] if owner == "tl" and node.args else function.value if isinstance(
            function, ast.Attribute) and owner != "tl" else None
        if tile is not None:
            yield instead(source, "function", 1.0, node, f"tl.trans({source.of(tile)})")
    if name == "where" and len(node.args) == 3:
        yield exchanged(source, "order", 1.5, node.args[1], node.args[2])
    if name in ("zeros", "empty", "full", "zeros_like") and owner == "tl" and node.args:
        yield from _beginning(source, unit, node, name)


def _beginning(source: SourceTree, unit: Unit, node: ast.Call, name: str) -> Iterator[Draft]:
    """Yield edits of the initial value of an accumulator."""
    larger = any(called(one) in ("max", "maximum") for one in unit.calls)
    shape = source.of(node.args[0])
    kind = next((source.of(key.value) for key in node.keywords if key.arg == "dtype"),
                source.of(node.args[-1]) if len(node.args) > 1 else "tl.float32")
    if name == "full":
        if len(node.args) > 1:
            for text, weight in (("0.0", 1.4), ('-float("inf")', 1.3 if larger else 2.4), ("1.0", 2.4)):
                if source.short(node.args[1]) != text:
                    yield instead(source, "start", weight, node.args[1], text)
        return
    for text, weight in (('-float("inf")', 1.3 if larger else 2.4), ("1.0", 2.6)):
        yield instead(source, "start", weight, node, f"tl.full({shape}, {text}, {kind})")


def _power(source: SourceTree, node: ast.BinOp) -> Iterator[Draft]:
    exponent = node.right
    if isinstance(exponent, ast.Constant) and exponent.value in (2, 3):
        factor = source.operand(node.left, 13)
        yield instead(source, "operator", 0.7, node, " * ".join([factor] * (2 if exponent.value == 2 else 3)))
    elif isinstance(exponent, ast.Constant) and exponent.value == 0.5:
        yield instead(source, "function", 0.8, node, f"tl.sqrt({source.of(node.left)})")


def _axis(source: SourceTree, unit: Unit, node: ast.Call) -> Iterator[Draft]:
    if called(node) not in _REDUCTIONS:
        return
    axis = next((key.value for key in node.keywords if key.arg == "axis"), node.args[1] if len(node.args) > 1 else None)
    if axis is not None:
        for text in ("0", "1"):
            if source.of(axis) != text:
                yield instead(source, "axis", 1.0, axis, text)
    elif node.args and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        tile = unit.of_a_tile(node.args[0])
        for text in ("1", "0") if tile else ("0", "1"):
            if tile and called(node) != "cumsum":
                yield Draft("axis", 1.0, (keyword(source, node, f"axis={text}, keep_dims=True"),))
            yield Draft("axis", 1.3 if tile else 2.2, (keyword(source, node, f"axis={text}"),))


def _axes_of_programs(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits of the axes of programs and of reductions, one by one and all at once."""
    programs, reductions = list[ast.expr](), list[ast.expr]()
    for call in unit.calls:
        name = called(call)
        axis = next((key.value for key in call.keywords if key.arg == "axis"), None)
        if name in ("program_id", "num_programs"):
            axis = axis or (call.args[0] if call.args else None)
            if axis is not None:
                programs.append(axis)
                for text, weight in (("0", 1.1), ("1", 1.1), ("2", 2.4)):
                    if source.of(axis) != text:
                        yield instead(source, "axis", weight, axis, text)
        elif name in _REDUCTIONS and axis is not None:
            reductions.append(axis)
            yield from _axis_and_spread(source, unit, call, axis)
    for axes in (programs, reductions):
        if 1 < len(axes) <= MOST_SPANS and all(source.of(one) in ("0", "1") for one in axes):
            yield Draft("axis", 1.0, [source.put(one, "10"[source.of(one) == "1"]) for one in axes])


def _axis_and_spread(source: SourceTree, unit: Unit, call: ast.Call, axis: ast.expr) -> Iterator[Draft]:
    """Yield edits that take another axis, and with it another spread of the result over a tile."""
    statement = source.statement(call)
    bound = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(bound, ast.Name) or source.of(axis) not in ("0", "1"):
        return
    uses = [node for node in unit.expressions if turnable(source, node) and isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name) and node.value.id == bound.id]
    if 0 < len(uses) < MOST_SPANS:
        yield Draft("axis", 1.2, [source.put(axis, "10"[source.of(axis) == "1"]), *(
            turned(source, node) for node in uses)])


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


def _without(source: SourceTree, unit: Unit, node: ast.Call) -> Iterator[Draft]:
    """Yield edits that leave out a keyword argument, or an argument of `arange`."""
    name = called(node)
    for key in node.keywords:
        if key.arg and key.arg not in ("mask", "other", "dtype", "axis"):
            yield Draft("extra", 2.2, (dropped(source, node, key),))
    if name == "arange" and len(node.args) > 2:
        yield Draft("extra", 0.8, (dropped(source, node, node.args[2]),))
    if name == "arange" and len(node.args) == 2:
        first, last = node.args
        if source.of(first) != "0" and isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add):
            for size, start in ((last.left, last.right), (last.right, last.left)):
                if source.short(start) == source.short(first):
                    yield instead(source, "index", 0.8, node, source.operation(
                        first, ast.Add(), f"tl.arange(0, {source.of(size)})"))


def _types(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    types = [node for node in unit.expressions if isinstance(node, ast.Attribute) and _TYPE.match(source.of(node))]
    by = defaultdict[str, list[ast.expr]](list)
    for node in types:
        owner, _, kind = source.of(node).partition(".")
        by[owner].append(node)
        for other, weight in (("float32", 0.9), ("int32", 2.2), ("uint8", 2.2), ("int64", 2.2), ("float16", 2.2)):
            if other != kind:
                weight -= 0.6 * ("int" in other and "int" in kind)
                yield instead(source, "type", weight, node, f"{owner}.{other}")
    for owner, nodes in by.items():
        if 1 < len(nodes) <= MOST_SPANS:
            yield Draft("type", 1.4, [source.put(node, f"{owner}.float32") for node in nodes])
    if not unit.kernel:
        return
    loads = [call for call in unit.calls if called(call) == "load"]
    for call in loads:
        yield Draft("type", 1.7, (source.instead(source.end(call), source.end(call), ".to(tl.float32)"),))
    if 1 < len(loads) <= MOST_SPANS:
        yield Draft("type", 1.6, [source.instead(source.end(call), source.end(call), ".to(tl.float32)")
                                  for call in loads])
    for call in unit.calls:
        if called(call) == "to" and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            yield instead(source, "type", 2.0, call, source.of(call.func.value))
            if "int" in source.of(call.args[0]) and unit.role(call.func.value) == "value":
                text = source.operation(call.func.value, ast.Add(), "0.5")
                yield instead(source, "rounding", 1.0, call.func.value, text)
        elif called(call) == "dot":
            if not {key.arg for key in call.keywords} & {"input_precision", "allow_tf32"}:
                # By default tl.dot keeps ten bits of a float32's fraction.
                yield Draft("type", 1.4, (keyword(source, call, 'input_precision="ieee"'),))
            yield from (Draft("type", 2.4, (dropped(source, call, key),)) for key in call.keywords
                        if key.arg == "out_dtype")


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
