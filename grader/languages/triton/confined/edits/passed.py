"""Values that a kernel lacks: a number that host code has and does not pass on, a total that is not set to zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.languages.drafts import Change, Draft
from grader.languages.triton.confined.edits.matching import form
from grader.languages.triton.confined.edits.source import SourceTree
from grader.languages.triton.confined.edits.units import File, Unit, called, launched


def edits(file: File, unit: Unit) -> Iterator[Draft]:
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
            end = max(source.end(one) for one in kernel.parameters)
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
    kept = {target.id for one in file.constants for target in one.targets if isinstance(target, ast.Name)
            and isinstance(one.value, ast.Call)}
    for launch in unit.launches:
        for name in [one.id for one in launch.args if isinstance(one, ast.Name) and one.id in kept]:
            yield Draft("start", 1.2, (_before(source, source.statement(launch), f"{name}.zero_()"),))


def _before(source: SourceTree, statement: ast.stmt, text: str) -> Change:
    """Return a change that puts a statement before another."""
    start = source.start(statement)
    indent = source.text[source.line_at(start) : start]
    apart = f"{source.newline}{indent}" if not indent.strip() else "; "
    return Change(start=start, end=start, text=text + apart)
