"""Edits of block pointers: the axes along which a load or store checks the bounds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.units import File, Unit, called
from grader.plan.edits import MOST_SPANS

_SHAPE = 4
"""The position of the block's shape among the arguments of `make_block_ptr`."""
_LAST = 3
"""The position of the axes among the arguments of a store."""


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    """Yield edits that check all axes instead of some or none, in one access and in all accesses."""
    if not unit.kernel:
        return
    some, none = list[Change](), list[Change]()
    for call in unit.calls:
        if called(call) not in ("load", "store") or not call.args or len(call.args) > _LAST:
            continue
        checked = next((key.value for key in call.keywords if key.arg == "boundary_check"), None)
        axes = _axes(unit, call.args[0])
        if checked is None and axes:
            # Without padding, elements outside hold anything.
            padding = ', padding_option="zero"' if called(call) == "load" and not any(
                key.arg == "padding_option" for key in call.keywords) else ""
            none.append(file.source.keyword(call, "boundary_check", f"{axes}{padding}"))
        elif isinstance(checked, ast.Tuple | ast.List) and len(checked.elts) <= 1:
            some.append(file.source.put(checked, axes or "(0, 1)"))
    for change in (*some, *none):
        yield Draft("mask", 0.9, (change,))
    if 1 < len(some) + len(none) <= MOST_SPANS:
        yield Draft("mask", 0.9, (*some, *none))


def _axes(unit: Unit, pointer: ast.expr) -> str:
    """Return all axes of a block pointer, "" for anything else."""
    made, seen = pointer, set[str]()
    while isinstance(made, ast.Name) or (called(made) == "advance" and isinstance(made, ast.Call) and made.args):
        if isinstance(made, ast.Call):
            made = made.args[0]
        elif made.id in seen or made.id not in unit.wholes:
            return ""
        else:
            seen.add(made.id)
            made = unit.wholes[made.id]
    if called(made) != "make_block_ptr" or not isinstance(made, ast.Call):
        return ""
    shape = next((key.value for key in made.keywords if key.arg == "block_shape"),
                 made.args[_SHAPE] if len(made.args) > _SHAPE else None)
    count = len(shape.elts) if isinstance(shape, ast.Tuple | ast.List) else 2
    return f"({', '.join(map(str, range(count)))}{',' * (count == 1)})"
