"""Edits of launches and of names that nothing binds: arguments, grids, blocks, and values that a kernel lacks."""

from __future__ import annotations

import ast
import difflib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.matching import Match, form
from grader.languages.triton.confined.edits.source import SourceTree, exchanged, instead
from grader.languages.triton.confined.edits.units import File, Unit, called, constant, launched, names_bound, within

_OPTIONS = ("num_warps", "num_stages", "num_ctas")


def of_launches(file: File, unit: Unit) -> Iterator[Draft]:
    for call in () if unit.kernel else unit.launches:
        yield from _launch(file.source, unit, call, Match(file, unit, call).names("GIVEN"))


def _remainders(unit: Unit) -> set[str]:
    """Return the names that hold remainders of divisions."""
    return {name for statement in unit.statements if isinstance(statement, ast.Assign)
            and any(called(node) == "divmod" or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
                    for node in within(statement.value)) for name in names_bound(statement)}


def _launch(source: SourceTree, unit: Unit, call: ast.Call, sizes: Sequence[str]) -> Iterator[Draft]:
    own, remainders = unit.names("size", before=call.lineno), _remainders(unit)
    for argument in call.args:
        if isinstance(argument, ast.Name):
            # A remainder begins at the size less its own length.
            for text in (*own, *sizes) if argument.id in remainders else ():
                yield instead(source, "missing", 1.3, argument, f"{text} - {argument.id}")
        elif not isinstance(argument, ast.Starred):
            for text in (*own, *sizes):
                if text != source.short(argument):
                    yield instead(source, "name", 2.4, argument, text)
    grid = _grid_of(unit, call)
    blocks = [source.of(key.value) for key in call.keywords if key.arg not in _OPTIONS]
    for key in call.keywords:
        if key.arg not in _OPTIONS:
            yield from _block(source, key.value, own, sizes)
    if grid is not None:
        yield from _grid(source, unit, grid, blocks, (*own, *sizes))
        yield from _agreeing(source, unit, call, grid)


def _grid_of(unit: Unit, call: ast.Call) -> ast.expr | None:
    assert isinstance(call.func, ast.Subscript)
    grid: ast.expr | None = call.func.slice
    if isinstance(grid, ast.Name):
        grid = unit.wholes.get(grid.id)
    return grid.body if isinstance(grid, ast.Lambda) else grid


def _block(source: SourceTree, value: ast.expr, own: Sequence[str], sizes: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that make a block a power of two, or make it cover more."""
    number = value.value if isinstance(value, ast.Constant) else None
    if isinstance(number, int) and 0 < number <= 1 << 20:
        power = 1 << max(0, number - 1).bit_length()
        if power != number:
            yield instead(source, "block", 0.7, value, str(power))
            yield instead(source, "block", 0.8, value, str(power // 2))
    elif called(value) != "next_power_of_2":
        yield instead(source, "block", 0.7, value, form("triton.next_power_of_2(a)", a=value))
    if isinstance(value, ast.Call) and value.args:
        for text in (*own, *sizes):
            if text != source.short(value.args[0]):
                yield instead(source, "block", 1.8, value.args[0], text)


def _grid(
    source: SourceTree, unit: Unit, grid: ast.expr, blocks: Sequence[str], sizes: Sequence[str]
) -> Iterator[Draft]:
    divided = [f"triton.cdiv({size}, {block})" for size in sizes for block in dict.fromkeys(blocks[:3])]
    if not isinstance(grid, ast.Tuple):
        comma = Change(start=source.end(grid), end=source.end(grid), text=",")
        yield Draft("grid", 0.7, (comma if source.enclosed(grid) else source.put(grid, form("(a,)", a=grid)),))
        return
    for node, other in itertools.combinations(grid.elts, 2):
        if source.of(node) != source.of(other):
            yield exchanged(source, "grid", 0.9, node, other)
    for axis in grid.elts:
        for text, weight in (*((size, 1.9) for size in sizes), *((text, 1.8) for text in divided)):
            # One program for each element, though each takes many, only hides elements that are left out.
            if "".join(text.split()) != source.short(axis) and not (text in sizes and called(axis) == "cdiv"):
                yield instead(source, "grid", weight, axis, text)
    if len(grid.elts) == 1:
        for text in (*divided, *sizes):
            yield instead(source, "grid", 2.3, grid, form("(a, b)", a=grid.elts[0], b=text))


def _agreeing(source: SourceTree, unit: Unit, call: ast.Call, grid: ast.expr) -> Iterator[Draft]:
    """Yield edits that make a block in a grid agree with a block that its launch passes, by changing either."""
    inside, paired = [node for node in within(grid) if _is_block(node)], agreed(source, unit)
    given = [key.value for key in call.keywords if key.arg not in _OPTIONS and _is_block(key.value)]
    for node in inside:
        for value in dict.fromkeys(source.of(node) for node in given):
            if value != source.of(node) and node not in paired:
                yield instead(source, "grid", 0.9, node, value)
    for number in dict.fromkeys(source.of(node) for node in inside):
        same = [node for node in inside if source.of(node) == number]
        for value in dict.fromkeys(source.of(node) for node in given) if len(same) > 1 else ():
            if value != number:
                yield Draft("grid", 0.9, [source.put(node, value) for node in same])
    for node in given:
        for text in dict.fromkeys(source.of(node) for node in inside):
            if text != source.of(node) and node not in paired:
                yield instead(source, "block", 1.0, node, text)


def agreed(source: SourceTree, unit: Unit) -> set[ast.expr]:
    """Return the numbers and names in which a grid and its launch agree: each is a divisor in the grid once, and a
    block of the launch once. A change of only one of the two launches too many programs, or too small ones."""
    agreeing, apart = set[ast.expr](), set[ast.expr]()
    for launch in unit.launches:
        grid = _grid_of(unit, launch)
        divisors = [node for call in within(grid) if isinstance(call, ast.Call) and called(call) == "cdiv"
                    for argument in call.args[1:] for node in within(argument)] if grid is not None else []
        given = [key.value for key in launch.keywords if key.arg not in _OPTIONS]
        counts = [Counter(map(source.of, nodes)) for nodes in (divisors, given)]
        pairs = {text for text, count in counts[0].items() if count == counts[1][text] == 1}
        agreeing |= {node for node in (*divisors, *given) if source.of(node) in pairs}
        apart |= {node for node in divisors if source.of(node) not in pairs}
    return agreeing - apart


def _is_block(node: ast.expr) -> bool:
    """Return whether a node may be the size of a block: a number, or a name."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value > 1
    return isinstance(node, ast.Name) and node.id.isupper() and len(node.id) > 1


def of_missing_values(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that give a kernel a number which host code has and does not pass on, or a total that is set to zero.
    """
    if unit.kernel or not unit.launches:
        return
    yield from _numbers(file, unit)
    yield from _zeroed(file, unit)


def _numbers(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that pass a number of host code to a kernel as a parameter, which replaces a constant there or is
    added under a root."""
    source = file.source
    for name in sorted(unit.unused().intersection(unit.names("value", before=1))):
        for launch in unit.launches:
            kernel = launched(launch, file.kernels)
            if kernel is None or name in kernel.roles or not kernel.parameters or kernel.node.args.defaults:
                continue
            end = max(source.end(parameter) for parameter in kernel.parameters)
            passed = [Change(start=end, end=end, text=f", {name}"), source.keyword(launch, name, name)]
            for node in kernel.expressions:
                if isinstance(node, ast.Constant) and isinstance(node.value, float):
                    yield Draft("constant", 1.6, [*passed, source.put(node, name)])
                elif called(node) in ("sqrt", "rsqrt") and isinstance(node, ast.Call) and node.args:
                    sum_ = form("a + b", a=node.args[0], b=name)
                    yield Draft("missing", 1.4, [*passed, source.put(node.args[0], sum_)])


def _zeroed(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that set tensors which outlive a call to zero before they are used."""
    source = file.source
    kept = {target.id for constant in file.constants for target in constant.targets if isinstance(target, ast.Name)
            and isinstance(constant.value, ast.Call)}
    for launch in unit.launches:
        for name in [node.id for node in launch.args if isinstance(node, ast.Name) and node.id in kept]:
            yield Draft("start", 1.2, (_insert_before(source, source.statement(launch), f"{name}.zero_()"),))


def _insert_before(source: SourceTree, statement: ast.stmt, text: str) -> Change:
    """Return a change that puts a statement before another."""
    start = source.start(statement)
    indent = source.text[source.line_at(start) : start]
    apart = f"{source.newline}{indent}" if not indent.strip() else "; "
    return Change(start=start, end=start, text=text + apart)


_KNOWN = (
    "abs", "arange", "atomic_add", "atomic_max", "bfloat16", "cast", "cat", "cdiv", "clamp", "constexpr", "cos",
    "cumsum", "debug_barrier", "div_rn", "dot", "erf", "exp", "exp2", "expand_dims", "extra", "float16", "float32",
    "float64", "fma", "full", "int16", "int32", "int64", "int8", "load", "log", "log2", "math", "max", "maximum", "min",
    "minimum", "multiple_of", "num_programs", "program_id", "rand", "range", "reshape", "rsqrt", "sigmoid", "sin",
    "softmax", "sort", "sqrt", "sqrt_rn", "static_range", "store", "sum", "trans", "uint16", "uint32", "uint64",
    "uint8", "view", "where", "zeros", "zeros_like",
)
_BLOCK = 1024


def of_unknown_names(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits of names that nothing binds, functions that Triton does not have, and launches without a grid or an
    argument."""
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
    sizes = [*unit.names("size", before=call.lineno), *(source.of(node) for node in call.args if called(node))]
    at = source.end(call.func)
    for size in sizes:
        for grid in (*(f"(triton.cdiv({size}, {block}),)" for block in blocks), f"({size},)"):
            yield Draft("grid", 0.8, (Change(at, at, f"[{grid}]"),))
    yield from (Draft("grid", 0.7, (Change(at, at, f"[{name}]"),)) for name in unit.names("grid", before=call.lineno))


def _arguments(source: SourceTree, unit: Unit, call: ast.Call, kernel: Unit) -> Iterator[Draft]:
    """Yield edits of a launch's arguments: of keywords that the kernel does not have, and for parameters that get none.
    """
    if any(isinstance(node, ast.Starred) for node in call.args) or any(key.arg is None for key in call.keywords):
        return
    names = [parameter.arg for parameter in kernel.parameters]
    given = {*names[: len(call.args)], *(key.arg for key in call.keywords)}
    defaults = kernel.node.args.defaults
    absent = [name for name in names[: len(names) - len(defaults)] if name not in given]
    for key in call.keywords:
        if key.arg is not None and key.arg not in names and not key.arg.startswith("num_"):
            for name in absent:
                start = source.start(key)
                yield Draft("name", 0.6, (Change(start, start + len(key.arg), name),))
    # A tuned kernel gets its blocks from the tuner.
    tuned = any("autotune" in source.of(node) or "heuristics" in source.of(node) for node in kernel.node.decorator_list)
    parameters = {parameter.arg: parameter for parameter in kernel.parameters}
    for name in absent if len(absent) == 1 and not tuned else ():
        block, values = constant(source, parameters[name]), unit.names("size", "stride", "value", before=call.lineno)
        if block:
            numbers = [source.of(node) for node in unit.expressions if isinstance(node, ast.Constant)
                       and type(node.value) is int and node.value > 1]
            values = list(dict.fromkeys([*unit.names("size", before=call.lineno), *numbers, str(_BLOCK)]))
        yield from (Draft("block" if block else "missing", 0.8, (source.keyword(call, name, value),))
                    for value in values)
