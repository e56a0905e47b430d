"""Engine of the error model: finds where a rule's pattern matches, and writes what takes its place.

Patterns and what is written are Python, read once. `rules.py` describes them.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from types import UnionType
from typing import NamedTuple, cast

from grader.languages.drafts import Change, Draft, Rule, grouped
from grader.languages.triton.confined.edits.source import LONGEST, SourceTree
from grader.languages.triton.confined.edits.units import MEMORY, File, Role, Unit, called, names_read
from grader.plan.messages import GivenTensor

_BRACES = re.compile(r"\{([^{}]+)\}")
_PART = re.compile(r"(\w+): (.+)")
_KEYWORD = re.compile(r"\+(\w+)=(.+)")
_ROLES: Mapping[str, Role] = {
    "SIZE": "size", "STRIDE": "stride", "BLOCK": "block", "PROGRAM": "program", "INDEX": "index", "VALUE": "value"}
_PLACES = {"mask": 2, "other": 2, "axis": 1, "dtype": 1, "block_shape": 4}
_OF_ITS_OWN = {("load", "mask"): 1, ("program_id", "axis"): 0, ("num_programs", "axis"): 0}
"""The position of an argument that may be a keyword, in most functions and in some."""
_MOST_SIZES = 16
_ANY = "f"
"""The name of any function."""


@dataclass(frozen=True)
class Match:
    """A node of a unit that a pattern matches: `parts` are the nodes that its variables stand for."""

    file: File
    unit: Unit
    node: ast.expr | ast.stmt
    parts: dict[str, ast.AST] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ast.expr:
        node = self.parts[name]
        assert isinstance(node, ast.expr)
        return node

    @property
    def parent(self) -> ast.AST:
        return self.file.source.place[self.node].parent

    def names(self, role: str) -> list[str]:
        """Return what a word in capitals stands for: the names of a role that are bound before the match."""
        if role == "PROGRAM":
            return self.unit.names("program", before=self.node.lineno) or ["tl.program_id(0)"]
        if role in _ROLES:
            return self.unit.names(_ROLES[role], before=self.node.lineno)
        if role == "MASK":
            return masks_of(self.file.source, self.unit)
        if role == "ADVANCE":
            return [name for name in self.unit.names("block") if name in self._advances()]
        given = [(parameter.arg, tensor)
                 for parameter, tensor in zip(self.unit.parameters, self.file.given, strict=False)
                 if isinstance(tensor, GivenTensor) and self.unit.roles.get(parameter.arg) == "tensor"]
        if role == "GIVEN":
            return [f"{name}.{size}" for name, tensor in given for size in (
                "numel()", *(f"shape[{axis}]" for axis in range(min(len(tensor.shape), 4))))][:_MOST_SIZES]
        return [name for name, tensor in given if role == "TENSOR" or tensor.output][:1 if role == "TENSOR" else None]

    def _advances(self) -> set[str]:
        """Return the names by which other pointers advance, without those by which this one does."""
        values = [statement.value for statement in self.unit.statements if isinstance(statement, ast.AugAssign)
                  and statement is not self.node and self.unit.role(statement.target) == "pointer"]
        return set[str]().union(*map(names_read, values)) - names_read(self.node)


Condition = Callable[[Match], bool]


class _Change(NamedTuple):
    """One of a rule's changes, read: the pattern, and the steps that write."""

    pattern: ast.AST
    steps: tuple[str, ...]


def drafts(rules: Sequence[Rule], file: File, unit: Unit) -> Iterator[Draft]:
    """Yield the edits that rules make in a unit."""
    return grouped(_matched(rules, file, unit))


def _matched(
    rules: Sequence[Rule], file: File, unit: Unit
) -> Iterator[tuple[Draft, list[tuple[int, object]]]]:
    """Yield a draft for each match, with the groups that it belongs to."""
    waiting = _indexed(rules)
    nodes: list[ast.expr | ast.stmt] = [*unit.expressions, *unit.statements]
    for node in nodes:
        if isinstance(node, ast.BinOp) and file.source.length(node) > LONGEST:
            continue
        for key in _keys(node):
            for number, change in waiting.get(key, ()):
                rule, match = rules[number], Match(file, unit, node, {"it": node})
                if not fits(change.pattern, match, node) or not rule.when(match):
                    continue
                weight = _weight(rule, match)
                # Where a value is chosen by a condition, an edit of it may only keep a faulty one from being chosen.
                for written in _written_changes(match, change.steps) if weight is not None else ():
                    yield Draft(rule.kind, weight or 0, written, rule.workaround or in_test(match, ast.IfExp)), [
                        (number, group) for group in _groups(rule, match)]


def in_test(match: Match, kinds: type[ast.AST] | UnionType) -> bool:
    """Return whether a node is in the condition of a node of these kinds."""
    return any(isinstance(place.parent, kinds) and place.field == "test" for place in match.file.source.up(match.node))


def _weight(rule: Rule, match: Match) -> float | None:
    if not isinstance(rule.weight, Mapping):
        return rule.weight
    role = match.unit.role(match.node) if isinstance(match.node, ast.expr) else "other"
    return rule.weight.get(role, rule.weight.get(""))


def _groups(rule: Rule, match: Match) -> list[object]:
    """Return keys of the groups that a match is changed with."""
    source, inner = match.file.source, match.parts.get("x", match.node)
    groups: dict[str, object] = {
        "all": "all", "statement": source.statement(match.node),
        "same": source.short(inner) if isinstance(inner, ast.expr) else ""}
    return [] if rule.together == "one" else [
        groups[key] for key in (groups if rule.together == "spread" else [rule.together])]


# Reading rules.

@cache
def _parse_changes(changes: str) -> tuple[_Change, ...]:
    before, after = changes.split(" => ")
    return tuple(_Change(parsed(pattern), tuple(written.split("; ")))
                 for pattern in _expand_braces(before) for written in _expand_braces(after))


def _expand_braces(text: str) -> list[str]:
    """Return a text once for each of the words in its braces."""
    match = _BRACES.search(text)
    return [text] if match is None else [
        variant for word in match[1].split()
        for variant in _expand_braces(text[: match.start()] + word + text[match.end() :])]


@cache
def parsed(text: str) -> ast.AST:
    """Return the tree of an expression or statement."""
    node = ast.parse(text.strip()).body[0]
    return node.value if isinstance(node, ast.Expr) else node


_INDEXED: dict[int, dict[object, list[tuple[int, _Change]]]] = {}


def _indexed(rules: Sequence[Rule]) -> Mapping[object, Sequence[tuple[int, _Change]]]:
    """Return the changes of rules by what the root of their pattern is."""
    if id(rules) not in _INDEXED:
        indexed: dict[object, list[tuple[int, _Change]]] = defaultdict(list)
        for number, rule in enumerate(rules):
            for text in [rule.changes] if isinstance(rule.changes, str) else rule.changes:
                for change in _parse_changes(text):
                    indexed[_key(change.pattern)].append((number, change))
        _INDEXED[id(rules)] = indexed
    return _INDEXED[id(rules)]


def _key(pattern: ast.AST) -> object:
    if isinstance(pattern, ast.Call):
        name = called(pattern)
        return ast.Call, "" if name == _ANY else name
    if isinstance(pattern, ast.Compare):
        return ast.Compare, type(pattern.ops[0])
    if isinstance(pattern, ast.BinOp | ast.AugAssign):
        return type(pattern), "" if isinstance(pattern.op, ast.MatMult) else type(pattern.op)
    return type(pattern)


def _keys(node: ast.AST) -> tuple[object, ...]:
    if isinstance(node, ast.Call):
        return (ast.Call, called(node)), (ast.Call, "")
    if isinstance(node, ast.Compare):
        return ((ast.Compare, type(node.ops[0])),)
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return (type(node), type(node.op)), (type(node), "")
    return (type(node),)


# Matching.

def fits(pattern: ast.AST, match: Match, node: object) -> bool:
    """Return whether a pattern matches a node, and note what its variables stand for."""
    if isinstance(pattern, ast.Name) and len(name := pattern.id.split("_", 1)[0]) == 1 and name.islower():
        return _variable(pattern.id, match, node)
    if isinstance(pattern, ast.Call) and isinstance(node, ast.Call):
        return _fits_call(pattern, match, node)
    if isinstance(pattern, ast.BinOp | ast.AugAssign) and isinstance(pattern.op, ast.MatMult) and (
            isinstance(node, type(pattern))):
        match.parts["@"] = node.op
        sides = ("left", "right") if isinstance(pattern, ast.BinOp) else ("target", "value")
        return all(fits(getattr(pattern, side), match, getattr(node, side)) for side in sides)
    if isinstance(pattern, ast.Constant) and isinstance(node, ast.Constant):
        # A number of the pattern is a part of that name.
        match.parts.setdefault(str(pattern.value), node)
        return type(pattern.value) in (type(node.value), int) and pattern.value == node.value
    if isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and all(
            fits(value, match, getattr(node, name)) for name, value in ast.iter_fields(pattern)
            if name not in ("ctx", "type_comment", "kind"))
    if isinstance(pattern, list):
        return isinstance(node, list) and len(pattern) == len(node) and all(
            fits(part, match, value) for part, value in zip(pattern, node, strict=True))
    return pattern == node


def _variable(name: str, match: Match, node: object) -> bool:
    letter, *role = name.split("_")
    if not isinstance(node, ast.expr) or isinstance(node, ast.Starred | ast.Tuple if role else ast.Starred):
        return False
    if node is match.node and not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)):
        return False
    known = match.parts.setdefault(letter, node)
    same = known is node or (isinstance(known, ast.expr)
                             and match.file.source.short(known) == match.file.source.short(node))
    return same and (not role or match.unit.role(node) in role)


def _fits_call(pattern: ast.Call, match: Match, node: ast.Call) -> bool:
    if called(pattern) not in (_ANY, called(node)):
        return False
    if isinstance(pattern.func, ast.Attribute) and not (
            isinstance(node.func, ast.Attribute) and fits(pattern.func.value, match, node.func.value)):
        return False
    if not isinstance(pattern.func, ast.Attribute | ast.Name) and not fits(pattern.func, match, node.func):
        return False
    match.parts.setdefault("func", node.func)
    match.parts.setdefault("call", node)
    given, wanted = list(node.args), list(pattern.args)
    for key in pattern.keywords:
        value = keyword_of(node, key.arg or "")
        if value is None or not fits(key.value, match, value):
            return False
        given = [argument for argument in given if argument is not value]
    if wanted and isinstance(wanted[-1], ast.Constant) and wanted[-1].value is ...:
        wanted.pop()
        given = given[: len(wanted)]
    return len(given) == len(wanted) and all(fits(one, match, two) for one, two in zip(wanted, given, strict=True))


def keyword_of(call: ast.Call, name: str) -> ast.expr | None:
    """Return the argument that a call gives under a name, or in its place; None if it gives none."""
    at = _OF_ITS_OWN.get((called(call), name), _PLACES.get(name, len(call.args)))
    return next((key.value for key in call.keywords if key.arg == name), None) or (
        call.args[at] if at < len(call.args) else None)


def masks_of(source: SourceTree, unit: Unit) -> list[str]:
    """Return the masks of a kernel's accesses as they are written, and the names of others."""
    masks = (keyword_of(call, "mask") for call in unit.calls if called(call) in MEMORY and call.args)
    return list(dict.fromkeys([*(source.of(mask) for mask in masks if mask is not None), *unit.names("mask")]))


# Writing.

def _written_changes(match: Match, steps: Sequence[str]) -> Iterator[list[Change]]:
    """Yield the changes that a rule's steps make, once for each choice of the names in capitals."""
    source = match.file.source
    capitals = list(dict.fromkeys(word for step in steps for word in re.findall(r"\b[A-Z]{4,}\b", step)))
    focus = match.parts[named_part[1]] if (named_part := _PART.fullmatch(steps[0])) else match.node
    # An index is a term of an address once; a value may be squared.
    address = isinstance(focus, ast.expr) and match.unit.role(focus) == "pointer"
    used = names_read(focus) if address or isinstance(focus, ast.Name) else set()
    for chosen in product(*(match.names(word) for word in capitals)):
        if not used.isdisjoint(chosen[:1]):
            continue
        parts = match.parts | {word: parsed(name) for word, name in zip(capitals, chosen, strict=True)}
        changes = [_step(source, match, step, parts) for step in steps]
        if None not in changes:
            yield [change for change in changes if change is not None]


def _step(source: SourceTree, match: Match, step: str, parts: Mapping[str, ast.AST]) -> Change | None:
    node: ast.AST = match.node
    if step[0] in "+-" and isinstance(node, ast.Call):
        if added := _KEYWORD.fullmatch(step):
            value = filled(parsed(added[2]), parts)
            return source.keyword(node, added[1], value) if keyword_of(node, added[1]) is None else None
        if step[1:].isidentifier():
            key = next((key for key in node.keywords if key.arg == step[1:]), None)
            return source.dropped(node, key) if key is not None else None
    if named_part := _PART.fullmatch(step):
        node, step = parts[named_part[1]], named_part[2]
    assert isinstance(node, ast.expr | ast.stmt)
    if source.length(node) > LONGEST:
        return None
    new = filled(parsed(step), parts)
    return None if ast.dump(new) == ast.dump(node) else source.put(node, new)


def filled(template: ast.AST, parts: Mapping[str, ast.AST]) -> ast.AST:
    """Return a tree with nodes in place of its variables. A call of a matched function keeps that call's other
    arguments."""
    if isinstance(template, ast.Name) and template.id in parts:
        return parts[template.id]
    if isinstance(template, ast.MatMult) and "@" in parts:
        return parts["@"]
    if isinstance(template, ast.Call) and called(template) == "func":
        call, given = parts["call"], [filled(node, parts) for node in template.args]
        assert isinstance(call, ast.Call)
        return ast.Call(call.func, cast("list[ast.expr]", [*given, *call.args[len(given) :]]), call.keywords)
    values = {}
    for name, value in ast.iter_fields(template):
        values[name] = [filled(item, parts) if isinstance(item, ast.AST) else item for item in value] if isinstance(
            value, list) else filled(value, parts) if isinstance(value, ast.AST) else value
    return type(template)(**values, **({"lineno": 0} if isinstance(template, ast.stmt) else {}))


def form(template: str, **parts: ast.expr | str) -> ast.expr:
    """Return an expression with nodes, or the texts of some, in place of its names."""
    node = filled(parsed(template), {
        name: parsed(part) if isinstance(part, str) else part for name, part in parts.items()})
    assert isinstance(node, ast.expr)
    return node
