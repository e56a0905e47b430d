"""Edits of masks, which switch lanes off: for them the indices of an access and the sizes decide."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.matching import form, keyword_of, masks_of
from grader.languages.triton.confined.edits.source import SourceTree, instead
from grader.languages.triton.confined.edits.units import MEMORY, File, Unit, base_of, called, within
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

    def masked(self, source: SourceTree, mask: str) -> Change:
        """Return a change that gives the access a mask, or another one; a load without a mask gets zeros as well."""
        if self.mask is not None:
            return source.put(self.mask, mask)
        return source.keyword(self.call, "mask", mask + ", other=0.0" * (self.name == "load"))


def of_masks(file: File, unit: Unit) -> Iterator[Draft]:
    if not unit.kernel:
        return
    source = file.source
    accesses = [_Access(call, called(call), keyword_of(call, "mask"), list(dict.fromkeys(_indices(
        source, unit, call.args[0])))) for call in unit.calls if called(call) in MEMORY and call.args]
    masks = masks_of(source, unit)
    for access in accesses:
        if access.mask is None:
            yield from _unmasked(source, unit, access, masks)
        else:
            yield from _masked(source, unit, access, access.mask, masks)
    yield from _together(source, unit, accesses, masks)
    yield from _bound_masks(source, unit)
    yield from _in_loops(source, unit)
    yield from _like_another(source, unit, accesses, masks)


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
                name for name in within(whole) if isinstance(name, ast.Name) and unit.role(name) == "index"]
            seen.add(node.id)
            if inner and whole is not None:
                waiting.append(whole)
            elif unit.role(node) != "pointer":
                yield node.id
        else:
            waiting += reversed([child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])


def _conditions(unit: Unit, access: _Access, mask: str = "") -> list[str]:
    """Return comparisons with each size, for the indices of an access that its mask does not compare."""
    free = [index for index in access.indices if not re.search(rf"\b{re.escape(_stem(index))}\b", mask)]
    # A program's number needs a condition only if there is no index.
    free = [index for index in free if unit.roles.get(_stem(index)) == "index"] or free
    return [f"{index} < {size}" for index in free for size in unit.names("size", before=access.call.lineno)]


def _pairs(conditions: Sequence[str]) -> list[str]:
    """Return the pairs of conditions on different indices, each pair as one condition."""
    return [f"({first}) & ({second})" for first, second in itertools.combinations(conditions, 2)
            if first.split(" < ")[0] != second.split(" < ")[0] and first.split(" < ")[1] != second.split(" < ")[1]]


def _unmasked(source: SourceTree, unit: Unit, access: _Access, masks: Sequence[str]) -> Iterator[Draft]:
    conditions = _conditions(unit, access)
    known = [condition for condition in conditions if any(condition in mask for mask in masks)]
    weighed = [(mask, 1.0) for mask in masks] + [(mask, 1.3) for mask in conditions] + [
        (mask, 1.0) for mask in _pairs(known)] + [(mask, 1.5) for mask in _pairs(conditions)]
    for mask, weight in weighed:
        yield Draft("mask", weight, (source.keyword(access.call, "mask", mask),))
        if access.name == "load":
            yield Draft("mask", weight + 0.3, (source.keyword(access.call, "mask", f"{mask}, other=0.0"),))


def _masked(source: SourceTree, unit: Unit, access: _Access, mask: ast.expr, masks: Sequence[str]) -> Iterator[Draft]:
    text = source.of(unit.whole(mask) or mask)
    for mask_name in masks:
        if mask_name != source.of(mask):
            yield instead(source, "mask", 1.5, mask, mask_name)
    conditions = _conditions(unit, access, text)
    for condition in conditions:
        yield instead(source, "mask", 1.4, mask, form("a & b", a=mask, b=condition))
    for condition in [*_conditions(unit, access), *_pairs(_conditions(unit, access))]:
        yield instead(source, "mask", 2.2 if "&" in condition else 2.0, mask, condition)
    for key in access.call.keywords:
        if key.arg == "mask":
            # Without a mask `other` is an error.
            changes = [source.dropped(access.call, key)]
            if not any(key.arg == "other" for key in access.call.keywords):
                yield Draft("mask", 2.8, changes)


def _together(source: SourceTree, unit: Unit, accesses: Sequence[_Access], masks: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that change all loads, or all accesses, of a kernel in the same way."""
    bare = [access for access in accesses if access.mask is None]
    if 1 < len(bare) <= MOST_SPANS:
        for mask in dict.fromkeys([*masks, *(text for access in bare for text in _conditions(unit, access))]):
            yield Draft("mask", 1.4, [source.keyword(access.call, "mask", mask) for access in bare])
    # A condition on one index at a time, in all accesses that use it.
    for index in dict.fromkeys(_stem(text) for access in accesses for text in access.indices):
        for size in unit.names("size"):
            for some in (accesses, [access for access in accesses if access.name == "load"]):
                changes = [change for access in some
                           if (change := _condition(source, unit, access, index, size)) is not None]
                if 1 < len(changes) <= MOST_SPANS:
                    yield Draft("mask", 1.5, changes)


def _stem(index: str) -> str:
    return index.partition("[")[0]


def _condition(source: SourceTree, unit: Unit, access: _Access, index: str, size: str) -> Change | None:
    """Return a change that adds the condition `index < size` to an access; None if the access does not use the index,
    or has the condition."""
    written = next((text for text in access.indices if _stem(text) == index), None)
    if written is None or unit.bound.get(size, 0) >= access.call.lineno:
        return None
    condition = f"{written} < {size}"
    if access.mask is None:
        return access.masked(source, condition)
    known = "".join(condition.split()) in "".join(source.of(unit.whole(access.mask) or access.mask).split())
    return None if known else source.put(access.mask, form("a & b", a=access.mask, b=condition))


def _bound_masks(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that add a condition to a mask where a name is bound to it."""
    for name in unit.names("mask"):
        whole = unit.wholes.get(name)
        if whole is None:
            continue
        text = source.short(whole)
        spread = re.findall(r"(\w+(?:\[[^\]]*\])?)<", text)
        indices = [name for name in unit.names("index", "program", before=whole.lineno)
                   if not re.search(rf"\b{name}\b", text)]
        if any("[" in term for term in spread):
            indices = [index + suffix for index in indices for suffix in ("[:, None]", "[None, :]")]
        for index in indices:
            for size in unit.names("size", before=whole.lineno):
                yield instead(source, "mask", 1.8, whole, form("a & (b < d)", a=whole, b=index, d=size))


def _by_a_mask(source: SourceTree, unit: Unit, access: _Access, base: ast.Name,
               masks: Sequence[str]) -> Iterator[Draft]:
    """Yield edits that give an access the index that a mask compares, and that mask."""
    for mask in masks:
        written = source.of(whole) if (whole := unit.wholes.get(mask)) is not None else mask
        if (match := _SIMPLE.fullmatch(written)) is None or unit.roles.get(match[1]) != "index":
            continue
        # Spans that change nothing are left out.
        yield Draft("index", 1.7,
                    (source.put(access.call.args[0], f"{base.id} + {match[1]}"), access.masked(source, mask)))


def _like_another(
    source: SourceTree, unit: Unit, accesses: Sequence[_Access], masks: Sequence[str]
) -> Iterator[Draft]:
    """Yield edits that give an access the index and the mask of another."""
    based = [(access, base) for access in accesses
             if access.name in _MASKED and (base := base_of(access.call.args[0])) is not None]
    for access, base in based[:8]:
        yield from _by_a_mask(source, unit, access, base, masks)
        for model, another in based[:8]:
            later = model.call.lineno > access.call.lineno and model.name == "load"
            if later or base.id == another.id or another is model.call.args[0]:
                continue
            first = model.call.args[0]
            start = source.start(first)
            pointer = base.id + source.of(first)[source.end(another) - start :]
            if source.start(another) != start or pointer == source.of(access.call.args[0]):
                continue
            mask = [access.masked(source, source.of(model.mask))] if model.mask is not None else []
            yield Draft("index", 1.7, [source.put(access.call.args[0], pointer), *mask])


def _in_loops(source: SourceTree, unit: Unit) -> Iterator[Draft]:
    """Yield edits that add a loop's variable to a comparison in the loop: `i < n - start`, or `start + i < n`."""
    for loop in unit.statements:
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        variable = loop.target.id
        parts = [variable] + [f"{variable} * {block}" for block in unit.names("block")]
        for node in within(loop):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1 or any(
                    isinstance(name, ast.Name) and name.id == variable for name in ast.walk(node)) or "value" in (
                    unit.role(node.left), unit.role(node.comparators[0])):
                continue
            for part in parts:
                bound = node.comparators[0]
                yield instead(source, "mask", 1.5, bound, form("a - b", a=bound, b=part))
                yield instead(source, "mask", 1.7, node.left, form("b + a", a=node.left, b=part))
