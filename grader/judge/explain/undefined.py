"""What a kernel leaves to chance: neither its language nor a GPU defines it, though one of them may do it right."""

from __future__ import annotations

import re

from grader.frontends.phrases import Phrases
from grader.judge.explain.evidence import Hint
from grader.judge.explain.lines import in_line, phrases_of, place, program, quoted, tensor_name
from grader.model.assignment import Assignment
from grader.model.result import Detail
from grader.plan.findings import Undefined


def is_failure(found: Undefined, words: Phrases) -> bool:
    return found.certain and words.chances[found.what].kind is not None


def undefined(found: Undefined, words: Phrases) -> Hint:
    chance = words.chances[found.what]
    first, other = (program(one, *found.programs) for one in [*found.programs, (0, 0, 0), (0, 0, 0)][:2])
    # Shared memory is a program's own.
    tensor = quoted(found.tensor) if found.what == "shared" else tensor_name(found.tensor, found.given, words)
    known = {"line": in_line(found.line), "element": found.element, "tensor": tensor,
             "kernel": quoted(found.kernel), "program": first, "other": other}
    return Hint(
        chance.seen.format(**known), chance.look.format(**known), pattern=f"undefined: {found.what}", sure=False)


def failure(assignment: Assignment, source: str, found: Undefined) -> Detail:
    words = phrases_of(assignment)
    told, chance, where = undefined(found, words), words.chances[found.what], place(assignment, source, found.line)
    assert chance.kind is not None
    sums = rf"\b{re.escape(found.tensor)}(?:\[\s*\d+\s*\])?\s*[-+*|&^]="
    look = chance.summed if chance.summed and where and re.search(sums, where.text) else told.look
    return Detail(kind=chance.kind, message=told.seen, hint=look, pattern=told.pattern, place=where)
