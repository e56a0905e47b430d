"""Launches: arguments, grids and blocks."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.draft import exchanged, instead
from grader.languages.triton.confined.edits.matching import Match, form
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, names_bound, within

_OPTIONS = ("num_warps", "num_stages", "num_ctas")


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    for call in () if unit.kernel else unit.launches:
        yield from _launch(file.source, unit, call, Match(file, unit, call).names("GIVEN"))


def _rests(unit: Unit) -> set[str]:
    """Return the names that hold remainders of divisions."""
    return {name for one in unit.statements if isinstance(one, ast.Assign)
            and any(called(node) == "divmod" or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
                    for node in within(one.value)) for name in names_bound(one)}


def _launch(source: SourceTree, unit: Unit, call: ast.Call, sizes: Sequence[str]) -> Iterator[Draft]:
    own, rests = unit.names("size", before=call.lineno), _rests(unit)
    for argument in call.args:
        if isinstance(argument, ast.Name):
            # A remainder begins at the size less its own length.
            for text in (*own, *sizes) if argument.id in rests else ():
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
    for one, other in itertools.combinations(grid.elts, 2):
        if source.of(one) != source.of(other):
            yield exchanged(source, "grid", 0.9, one, other)
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
        for value in dict.fromkeys(source.of(one) for one in given):
            if value != source.of(node) and node not in paired:
                yield instead(source, "grid", 0.9, node, value)
    for number in dict.fromkeys(source.of(one) for one in inside):
        same = [one for one in inside if source.of(one) == number]
        for value in dict.fromkeys(source.of(one) for one in given) if len(same) > 1 else ():
            if value != number:
                yield Draft("grid", 0.9, [source.put(one, value) for one in same])
    for node in given:
        for text in dict.fromkeys(source.of(one) for one in inside):
            if text != source.of(node) and node not in paired:
                yield instead(source, "block", 1.0, node, text)


def agreed(source: SourceTree, unit: Unit) -> set[ast.expr]:
    """Return the numbers and names in which a grid and its launch agree: each is a divisor in the grid once, and a
    block of the launch once. A change of only one of the two launches too many programs, or too small ones."""
    found, apart = set[ast.expr](), set[ast.expr]()
    for launch in unit.launches:
        grid = _grid_of(unit, launch)
        divisors = [node for call in within(grid) if isinstance(call, ast.Call) and called(call) == "cdiv"
                    for one in call.args[1:] for node in within(one)] if grid is not None else []
        given = [key.value for key in launch.keywords if key.arg not in _OPTIONS]
        counts = [Counter(map(source.of, nodes)) for nodes in (divisors, given)]
        pairs = {text for text, count in counts[0].items() if count == counts[1][text] == 1}
        found |= {node for node in (*divisors, *given) if source.of(node) in pairs}
        apart |= {node for node in divisors if source.of(node) not in pairs}
    return found - apart


def _is_block(node: ast.expr) -> bool:
    """Return whether a node may be the size of a block: a number, or a name."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value > 1
    return isinstance(node, ast.Name) and node.id.isupper() and len(node.id) > 1
