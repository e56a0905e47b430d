"""Edits of whole statements: their place, and those that a loop lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Function, Unit, called, names_bound, names_read

_BLOCKS = ("body", "orelse", "finalbody")
_FILLS = ("zeros", "full", "float")


def of_statements(file: File, unit: Unit) -> Iterator[Draft]:
    source = file.source
    for parent in (unit.node, *unit.statements):
        if isinstance(parent, Function) and parent is not unit.node:
            continue
        for field in _BLOCKS:
            block = getattr(parent, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield from _statements(source, unit, parent, block)


def _statements(source: SourceTree, unit: Unit, parent: ast.AST, block: list[ast.stmt]) -> Iterator[Draft]:
    for number, statement in enumerate(block):
        after = block[number + 1] if number + 1 < len(block) else None
        documented = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if documented or isinstance(statement, Function | ast.ClassDef | ast.Import | ast.ImportFrom):
            continue
        if not hasattr(statement, "body"):
            again = unit.kernel and _set_again_later(statement, block[number + 1:])
            yield Draft("extra", 1.4 if again else 2.4 if unit.kernel else 2.8, (
                _remove(source, statement, len(block) > 1),), workaround=not again)
        if after is not None and not isinstance(after, Function | ast.Return):
            first, second = source.of(statement), source.of(after)
            launches = all(isinstance(node, ast.Expr) and node.value in unit.launches for node in (statement, after))
            yield Draft("order", 1.2 if launches else 2.4, (
                Change(start=source.start(statement), end=source.end(statement), text=second),
                Change(start=source.start(after), end=source.end(after), text=first)))
        if isinstance(statement, ast.For | ast.While) and unit.kernel:
            yield from _at_a_loop(source, unit, statement, block[number - 1] if number else None, after)
            yield from _set_again(source, unit, statement)
            yield from _set_back(source, unit, statement, block[:number])


def _set_again_later(statement: ast.stmt, after: Sequence[ast.stmt]) -> bool:
    """Return whether a later statement of the block sets the name that this one sets: the name's value from before may
    be meant."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and any(
        isinstance(node, ast.Assign) and target.id in names_bound(node) for node in after)


def _at_a_loop(
    source: SourceTree, unit: Unit, loop: ast.For | ast.While, before: ast.stmt | None, after: ast.stmt | None
) -> Iterator[Draft]:
    """Yield edits that move a statement into a loop or out of it, or that advance a name which the loop does not."""
    first, last = loop.body[0], loop.body[-1]
    inner, outer = _indent(source, first), _indent(source, loop)
    if inner is None or outer is None:
        return
    several = len(loop.body) > 1
    for statement in (after, last) if not isinstance(after, ast.Return) else (last,):
        moved = statement is after
        if statement is None or hasattr(statement, "body") or not (moved or several):
            continue
        # Indentation alone decides whether a line after a loop belongs to the loop.
        begin = source.line_at(source.start(statement))
        if source.number_of(begin) == statement.lineno and _indent(source, statement) is not None:
            yield Draft("moved", 1.3 if moved and isinstance(statement, ast.AugAssign) else 1.8, (Change(
                start=begin, end=source.start(statement), text=inner if moved else outer),))
    if several and not hasattr(first, "body"):
        at = source.line_at(source.start(loop))
        yield Draft("moved", 2.0, (
            Change(start=at, end=at, text=f"{outer}{source.of(first)}{source.newline}"),
            _remove(source, first, True)))
    if before is not None and not hasattr(before, "body"):
        at = source.line_at(source.start(first))
        yield Draft("moved", 2.2, (
            _remove(source, before, True),
            Change(start=at, end=at, text=f"{inner}{source.of(before)}{source.newline}")))
    end = source.line_after(source.end(last))
    for text, weight in _advances(unit, loop):
        yield Draft("missing", weight, (Change(start=end, end=end, text=f"{source.newline}{inner}{text}"),))


def _set_again(source: SourceTree, unit: Unit, loop: ast.For | ast.While) -> Iterator[Draft]:
    """Yield edits that reset sums at the beginning of each iteration, one by one and all at once. A sum is a name
    that is set once before the loop, and added to and used in each iteration."""
    # A name that the loop's head reads is rightly set before it.
    head = names_read(loop.test if isinstance(loop, ast.While) else loop.iter)
    starts = {name: whole for name, whole in unit.wholes.items()
              if isinstance(whole, ast.Constant | ast.UnaryOp) or called(whole) in _FILLS}
    yield from _set_before(source, 0.9, loop.body[0], starts, _summed(loop) - head, loop)


def _set_before(
    source: SourceTree, weight: float, place: ast.stmt, wholes: Mapping[str, ast.expr], names: Set[str], loop: ast.stmt
) -> Iterator[Draft]:
    """Yield edits that repeat the statements which set names before a loop, in front of `place`: one by one and all at
    once."""
    if (indent := _indent(source, place)) is None:
        return
    before = [source.statement(wholes[name]) for name in sorted(names) if name in wholes]
    lines = [f"{indent}{source.of(node)}{source.newline}" for node in before if source.end(node) < source.start(loop)]
    at = source.line_at(source.start(place))
    for text in dict.fromkeys([*lines, "".join(lines)] if lines else []):
        yield Draft("missing", weight, (Change(start=at, end=at, text=text),))


def _set_back(
    source: SourceTree, unit: Unit, loop: ast.For | ast.While, before: Sequence[ast.stmt]
) -> Iterator[Draft]:
    """Yield edits that set names back between two loops, one by one and all at once: names that the earlier loop
    advances, and that this loop advances further."""
    earlier = next((number for number in reversed(range(len(before)))
                    if isinstance(before[number], ast.For | ast.While)), None)
    if earlier is not None:
        between = {name for statement in before[earlier + 1 :] for name in names_bound(statement)}
        moved = _advanced_names(before[earlier]) & _advanced_names(loop) - between
        yield from _set_before(source, 0.8, loop, unit.wholes, moved, before[earlier])


def _advanced_names(loop: ast.stmt) -> set[str]:
    """Return the names that a loop sets from their own old values."""
    simple = [node for node in ast.walk(loop) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    return {name for node in simple for name in names_bound(node)
            if isinstance(node, ast.AugAssign) or name in names_read(node)}


def _summed(loop: ast.For | ast.While) -> set[str]:
    """Return the names that a loop adds to, uses elsewhere in its body, and never resets. A sum that the loop does
    not use is meant to run over all iterations."""
    added, used, reset = set[str](), set[str](), set[str]()
    for statement in loop.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.stmt) or hasattr(node, "body"):
                continue
            loaded = names_read(node)
            bound = names_bound(node)
            adds = bound if isinstance(node, ast.AugAssign) else bound & loaded
            added |= adds
            used |= loaded - adds
            reset |= bound - adds
    return added & used - reset


def _advances(unit: Unit, loop: ast.For | ast.While) -> Iterator[tuple[str, float]]:
    used = set[str]().union(*map(names_read, loop.body))
    if isinstance(loop, ast.While):
        used |= names_read(loop.test)
    moved = {statement.target.id for statement in loop.body if isinstance(statement, ast.AugAssign)
             and isinstance(statement.target, ast.Name)}
    bound = set[str]().union(*map(names_bound, loop.body))
    head = loop.test if isinstance(loop, ast.While) else loop.iter
    headed = {node.id for node in ast.walk(head) if isinstance(node, ast.Name)}
    blocks = [name for name in unit.names("block", before=loop.lineno) if name in headed] or unit.names("block")
    # A pointer that a loop advances is a local name, no parameter.
    for name in unit.names("pointer", "index", "program", before=loop.lineno):
        if name not in used or name in moved | bound or unit.bound[name] == 0:
            continue
        # A loop that advances other names probably lacks this one.
        weight = 1.1 if (moved and unit.roles[name] == "pointer") or isinstance(loop, ast.While) else 1.8
        whole = unit.wholes.get(name)
        inside = {node.id for node in ast.walk(whole) if isinstance(node, ast.Name)} if whole is not None else set()
        for block in (*blocks, *("1",) * isinstance(loop, ast.While)):
            yield f"{name} += {block}", weight
            for size in unit.names("stride", "size", before=loop.lineno):
                yield f"{name} += {block} * {size}", weight + (0.1 if size in inside else 1.0)


def _indent(source: SourceTree, statement: ast.stmt) -> str | None:
    """Return the white space before a statement on its line, None if anything else stands there."""
    start = source.start(statement)
    indent = source.text[source.line_at(start) : start]
    return indent if not indent.strip(" \t\f") else None


def _remove(source: SourceTree, statement: ast.stmt, others: bool) -> Change:
    """Return a change that removes a statement and its line; if something else stands on the line, or there are no
    `others` in the block, the change puts `pass` in the statement's place."""
    start, end = source.start(statement), source.end(statement)
    line_end = source.line_after(end)
    rest = source.text[end:line_end].strip()
    if others and _indent(source, statement) is not None and (not rest or rest.startswith("#")):
        begin = source.line_at(start)
        after = line_end + (2 if source.text.startswith("\r\n", line_end) else 1 if line_end < len(source.text) else 0)
        return Change(start=begin, end=after, text="")
    return Change(start=start, end=end, text="pass")
