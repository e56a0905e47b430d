"""Loops that load the values of their next iteration: these lie one block further on than the present iteration's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.draft import instead
from grader.languages.triton.confined.edits.matching import form
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, names_bound, names_read, within
from grader.plan.edits import MOST_SPANS


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that subtract a block from the bounds in such a loop's masks and conditions, and add a block to its
    indices."""
    for loop in unit.statements if unit.kernel else ():
        if isinstance(loop, ast.For | ast.While) and (changed := _changed(unit, loop)):
            for block in _blocks(unit, loop):
                yield from _bounds(file.source, unit, loop, changed, block)
                yield from _indices(file.source, unit, loop, changed, block)


def _changed(unit: Unit, loop: ast.For | ast.While) -> set[str]:
    """Return the names that a loop binds, if one of them holds a loaded value before the loop; else the empty set."""
    found = names_bound(loop)
    before = [unit.wholes[name] for name in found if unit.bound[name] < loop.lineno and name in unit.wholes]
    loaded = any(called(one) == "load" for whole in before for one in within(whole))
    return found if loaded else set()


def _blocks(unit: Unit, loop: ast.For | ast.While) -> list[str]:
    """Return the names of blocks by which a loop moves on; all names of blocks if it moves on by none."""
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
