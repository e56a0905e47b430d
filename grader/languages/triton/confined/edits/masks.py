"""Edits of masks, which switch lanes off: for them the indices of an access and the sizes decide."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.draft import instead
from grader.languages.triton.confined.edits.matching import form, keyword_of
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import MEMORY, File, Unit, called, within
from grader.plan.edits import MOST_SPANS

_SIMPLE = re.compile(r"(\w+) < \w+")
_MASKED = ("load", "store")


@dataclass
class _Access:
    """A load, store or atomic: its mask and the indices in its pointer, as they are written there."""

    call: ast.Call
    name: str
    mask: ast.expr | None
    indices: list[str]


def edits(file: File, unit: Unit) -> Iterator[Draft]:
    if not unit.kernel:
        return
    source = file.source
    accesses = [_access(source, unit, call) for call in unit.calls if called(call) in MEMORY and call.args]
    masks = list(dict.fromkeys(source.of(one.mask) for one in accesses if one.mask is not None))
    masks += [name for name in unit.names("mask") if name not in masks]
    for one in accesses:
        if one.mask is None:
            yield from _unmasked(source, unit, one, masks)
        else:
            yield from _masked(source, unit, one, one.mask, masks)
    yield from _together(source, unit, accesses, masks)
    yield from _bound_masks(source, unit)
    yield from _in_loops(source, unit)
    yield from _like_another(source, unit, accesses, masks)
    yield from _subscripted(source, unit, masks)


def _access(source: SourceTree, unit: Unit, call: ast.Call) -> _Access:
    indices = list(dict.fromkeys(_indices(source, unit, call.args[0])))
    return _Access(call, called(call), keyword_of(call, "mask"), indices)


def _indices(source: SourceTree, unit: Unit, pointer: ast.expr) -> Iterator[str]:
    """Yield the indices in a pointer as they are written, also those behind names that stand for parts of it."""
    waiting, seen = [pointer], set[str]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and unit.role(node.value) == "index":
            yield source.of(node)
        elif isinstance(node, ast.Name) and unit.role(node) in ("pointer", "index", "program"):
            whole = unit.wholes.get(node.id)
            inner = [] if whole is None or node.id in seen or not (
                unit.role(node) == "pointer" or node.id in unit.spread) else [
                one for one in within(whole) if isinstance(one, ast.Name) and unit.role(one) == "index"]
            seen.add(node.id)
            if inner and whole is not None:
                waiting.append(whole)
            elif unit.role(node) != "pointer":
                yield node.id
        else:
            waiting += reversed([one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)])


def _conditions(unit: Unit, one: _Access, mask: str = "") -> list[str]:
    """Return comparisons with each size, for the indices of an access that its mask does not compare."""
    free = [index for index in one.indices if not re.search(rf"\b{re.escape(_stem(index))}\b", mask)]
    # A program's number needs a condition only if there is no index.
    free = [index for index in free if unit.roles.get(_stem(index)) == "index"] or free
    return [f"{index} < {size}" for index in free for size in unit.names("size", before=one.call.lineno)]


def _both(conditions: Sequence[str]) -> list[str]:
    """Return the pairs of conditions on different indices, each pair as one condition."""
    return [f"({one}) & ({other})" for one, other in itertools.combinations(conditions, 2)
            if one.split(" < ")[0] != other.split(" < ")[0] and one.split(" < ")[1] != other.split(" < ")[1]]


def _unmasked(source: SourceTree, unit: Unit, one: _Access, masks: Sequence[str]) -> Iterator[Draft]:
    conditions = _conditions(unit, one)
    known = [condition for condition in conditions if any(condition in mask for mask in masks)]
    found = [(mask, 1.0) for mask in masks] + [(mask, 1.3) for mask in conditions] + [
        (mask, 1.0) for mask in _both(known)] + [(mask, 1.5) for mask in _both(conditions)]
    for mask, weight in found:
        yield Draft("mask", weight, (source.keyword(one.call, "mask", mask),))
        if one.name == "load":
            yield Draft("mask", weight + 0.3, (source.keyword(one.call, "mask", f"{mask}, other=0.0"),))


def _masked(source: SourceTree, unit: Unit, one: _Access, mask: ast.expr, masks: Sequence[str]) -> Iterator[Draft]:
    text = _written(unit, source, mask)
    for other in masks:
        if other != source.of(mask):
            yield instead(source, "mask", 1.5, mask, other)
    conditions = _conditions(unit, one, text)
    for condition in conditions:
        yield instead(source, "mask", 1.4, mask, form("a & b", a=mask, b=condition))
    for condition in [*_conditions(unit, one), *_both(_conditions(unit, one))]:
        yield instead(source, "mask", 2.2 if "&" in condition else 2.0, mask, condition)
    for key in one.call.keywords:
        if key.arg == "mask":
            # Without a mask `other` is an error.
            changes = [source.dropped(one.call, key)]
            if not any(key.arg == "other" for key in one.call.keywords):
                yield Draft("mask", 2.8, changes)


def _written(unit: Unit, source: SourceTree, mask: ast.expr) -> str:
    return source.of(unit.whole(mask) or mask)


def _together(source: SourceTree, unit: Unit, accesses: Sequence[_Access], masks: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that change all loads, or all accesses, of a kernel in the same way."""
    bare = [one for one in accesses if one.mask is None]
    if 1 < len(bare) <= MOST_SPANS:
        for mask in dict.fromkeys([*masks, *(text for one in bare for text in _conditions(unit, one))]):
            yield Draft("mask", 1.4, [source.keyword(one.call, "mask", mask) for one in bare])
    # A condition on one index at a time, in all accesses that use it.
    for index in dict.fromkeys(_stem(text) for one in accesses for text in one.indices):
        for size in unit.names("size"):
            for some in (accesses, [one for one in accesses if one.name == "load"]):
                changes = [change for one in some if (change := _condition(source, unit, one, index, size)) is not None]
                if 1 < len(changes) <= MOST_SPANS:
                    yield Draft("mask", 1.5, changes)


def _stem(index: str) -> str:
    return index.partition("[")[0]


def _condition(source: SourceTree, unit: Unit, one: _Access, index: str, size: str) -> Change | None:
    """Return a change that adds the condition `index < size` to an access; None if the access does not use the index,
    or has the condition."""
    written = next((text for text in one.indices if _stem(text) == index), None)
    if written is None or unit.bound.get(size, 0) >= one.call.lineno:
        return None
    condition = f"{written} < {size}"
    if one.mask is None:
        return source.keyword(one.call, "mask", condition + ", other=0.0" * (one.name == "load"))
    if "".join(condition.split()) in "".join(_written(unit, source, one.mask).split()):
        return None
    return source.put(one.mask, form("a & b", a=one.mask, b=condition))


def _bound_masks(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that add a condition to a mask where a name is bound to it."""
    for name in unit.names("mask"):
        whole = unit.wholes.get(name)
        if whole is None:
            continue
        text = source.short(whole)
        spread = re.findall(r"(\w+(?:\[[^\]]*\])?)<", text)
        indices = [one for one in unit.names("index", "program", before=whole.lineno)
                   if not re.search(rf"\b{one}\b", text)]
        if any("[" in one for one in spread):
            indices = [one + suffix for one in indices for suffix in ("[:, None]", "[None, :]")]
        for index in indices:
            for size in unit.names("size", before=whole.lineno):
                yield instead(source, "mask", 1.8, whole, form("a & (b < d)", a=whole, b=index, d=size))


def _by_a_mask(source: SourceTree, unit: Unit, one: _Access, base: ast.Name, masks: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that give an access the index that a mask compares, and that mask."""
    for mask in masks:
        written = source.of(whole) if (whole := unit.wholes.get(mask)) is not None else mask
        if (found := _SIMPLE.fullmatch(written)) is None or unit.roles.get(found[1]) != "index":
            continue
        changes = [source.put(one.call.args[0], f"{base.id} + {found[1]}")]
        if one.mask is None:
            changes.append(source.keyword(one.call, "mask", mask + ", other=0.0" * (one.name == "load")))
        elif source.of(one.mask) != mask:
            changes.append(source.put(one.mask, mask))
        yield Draft("index", 1.7, changes)


def _like_another(
    source: SourceTree, unit: Unit, accesses: Sequence[_Access], masks: Sequence[str]
) -> Iterator[Draft]:
    """Yield edits that give an access the index and the mask of another."""
    based = [(one, base) for one in accesses if one.name in _MASKED and (base := _base(one.call.args[0])) is not None]
    for one, base in based[:8]:
        yield from _by_a_mask(source, unit, one, base, masks)
        for other, another in based[:8]:
            later = other.call.lineno > one.call.lineno and other.name == "load"
            if later or base.id == another.id or another is other.call.args[0]:
                continue
            first = other.call.args[0]
            start = source.start(first)
            pointer = base.id + source.of(first)[source.end(another) - start :]
            if source.start(another) != start or pointer == source.of(one.call.args[0]):
                continue
            changes = [source.put(one.call.args[0], pointer)]
            if one.mask is None and other.mask is not None:
                mask = source.of(other.mask) + ", other=0.0" * (one.name == "load")
                changes.append(source.keyword(one.call, "mask", mask))
            elif one.mask is not None and other.mask is not None:
                changes.append(source.put(one.mask, other.mask))
            yield Draft("index", 1.7, changes)


def _subscripted(source: SourceTree, unit: Unit, masks: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that put a load for `p[i]`, and a store for `p[i] = x`."""
    for node in unit.expressions:
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or isinstance(
                node.slice, ast.Slice | ast.Tuple) or unit.role(node.slice) not in ("index", "program"):
            continue
        statement = source.statement(node)
        for more in ("", *(f", mask={mask}" for mask in masks)):
            if isinstance(node.ctx, ast.Load):
                yield instead(source, "function", 0.7, node, form(f"tl.load(a + b{more})", a=node.value, b=node.slice))
            elif isinstance(statement, ast.Assign):
                yield Draft("function", 0.7, (source.put(statement, form(
                    f"tl.store(a + b, d{more})", a=node.value, b=node.slice, d=statement.value)),))


def _base(pointer: ast.expr) -> ast.Name | None:
    """Return the name that a pointer begins with."""
    while isinstance(pointer, ast.BinOp):
        pointer = pointer.left
    return pointer if isinstance(pointer, ast.Name) else None


def _in_loops(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that add a loop's variable to a comparison in the loop: `i < n - start`, or `start + i < n`."""
    for loop in unit.statements:
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        variable = loop.target.id
        parts = [variable] + [f"{variable} * {block}" for block in unit.names("block")]
        for node in within(loop):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1 or any(
                    isinstance(one, ast.Name) and one.id == variable for one in ast.walk(node)) or "value" in (
                    unit.role(node.left), unit.role(node.comparators[0])):
                continue
            for part in parts:
                bound = node.comparators[0]
                yield instead(source, "mask", 1.5, bound, form("a - b", a=bound, b=part))
                yield instead(source, "mask", 1.7, node.left, form("b + a", a=node.left, b=part))
