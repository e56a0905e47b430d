"""Edits of names that nothing binds, functions that Triton does not have, and launches without a grid or an argument.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.draft import instead
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, constant, launched

_KNOWN = (
    "abs", "arange", "atomic_add", "atomic_max", "bfloat16", "cast", "cat", "cdiv", "clamp", "constexpr", "cos",
    "cumsum", "debug_barrier", "div_rn", "dot", "erf", "exp", "exp2", "expand_dims", "extra", "float16", "float32",
    "float64", "fma", "full", "int16", "int32", "int64", "int8", "load", "log", "log2", "math", "max", "maximum", "min",
    "minimum", "multiple_of", "num_programs", "program_id", "rand", "range", "reshape", "rsqrt", "sigmoid", "sin",
    "softmax", "sort", "sqrt", "sqrt_rn", "static_range", "store", "sum", "trans", "uint16", "uint32", "uint64",
    "uint8", "view", "where", "zeros", "zeros_like",
)
_BLOCK = 1024


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    for node in unit.expressions:
        if isinstance(node, ast.Name) and not file.bound & {node.id, "*"}:
            names = unit.names(*dict.fromkeys(unit.roles.values()), before=node.lineno)
            near = difflib.get_close_matches(node.id, names, 3, 0.5)
            for number, name in enumerate([*near, *(name for name in names if name not in near)]):
                yield instead(source, "name", 0.5 if number < 2 else 1.0, node, name)
        elif isinstance(node, ast.Attribute) and unit.kernel and source.of(node.value) == "tl" and (
                node.attr not in _KNOWN):
            for name in difflib.get_close_matches(node.attr, _KNOWN, 3, 0.6):
                yield instead(source, "function", 0.7, node, f"tl.{name}")
    for call in unit.calls:
        if isinstance(call.func, ast.Name) and (kernel := file.kernels.get(call.func.id)) and not unit.kernel:
            yield from _without_grid(source, unit, call)
        elif (kernel := launched(call, file.kernels)) is not None and not unit.kernel:
            yield from _arguments(source, unit, call, kernel)


def _without_grid(source: SourceTree, unit: Unit, call: ast.Call) -> Iterator[Draft]:
    """Yield edits that give a grid to a launch that has none."""
    blocks = [source.of(key.value) for key in call.keywords if key.arg and not key.arg.startswith("num_")]
    sizes = [*unit.names("size", before=call.lineno), *(source.of(one) for one in call.args if called(one))]
    at = source.end(call.func)
    for size in sizes:
        for grid in (*(f"(triton.cdiv({size}, {block}),)" for block in blocks), f"({size},)"):
            yield Draft("grid", 0.8, (Change(at, at, f"[{grid}]"),))
    yield from (Draft("grid", 0.7, (Change(at, at, f"[{name}]"),)) for name in unit.names("grid", before=call.lineno))


def _arguments(source: SourceTree, unit: Unit, call: ast.Call, kernel: Unit) -> Iterator[Draft]:
    """Yield edits of a launch's arguments: of keywords that the kernel does not have, and for parameters that get none.
    """
    if any(isinstance(one, ast.Starred) for one in call.args) or any(key.arg is None for key in call.keywords):
        return
    names = [one.arg for one in kernel.parameters]
    given = {*names[: len(call.args)], *(key.arg for key in call.keywords)}
    defaults = kernel.node.args.defaults
    absent = [name for name in names[: len(names) - len(defaults)] if name not in given]
    for key in call.keywords:
        if key.arg is not None and key.arg not in names and not key.arg.startswith("num_"):
            for name in absent:
                start = source.start(key)
                yield Draft("name", 0.6, (Change(start, start + len(key.arg), name),))
    # A tuned kernel gets its blocks from the tuner.
    tuned = any("autotune" in source.of(one) or "heuristics" in source.of(one) for one in kernel.node.decorator_list)
    parameters = {one.arg: one for one in kernel.parameters}
    for name in absent if len(absent) == 1 and not tuned else ():
        if constant(source, parameters[name]):
            numbers = [source.of(node) for node in unit.expressions if isinstance(node, ast.Constant)
                       and type(node.value) is int and node.value > 1]
            values = list(dict.fromkeys([*unit.names("size", before=call.lineno), *numbers, str(_BLOCK)]))
            kind = "block"
        else:
            values, kind = unit.names("size", "stride", "value", before=call.lineno), "missing"
        for value in values:
            yield Draft("block" if kind == "block" else "missing", 0.8, (source.keyword(call, name, value),))
