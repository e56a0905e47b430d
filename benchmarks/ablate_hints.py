"""Which hints the corpus of mistakes needs: each is switched off in turn, and all calls are explained without it.

    .venv/bin/python -m benchmarks.ablate_hints [WORDS] > benchmarks/results/hints.md

Judges each mistake of the corpus once, those alone whose name holds WORDS if they are given, and keeps the
calls that were explained in memory (some 300 MB). Prints a table in Markdown of how many members get another message
or hint without a hint. Where a change of the file was proved, guesses are left out, as for a student. Takes half an
hour. A hint that no member needs is to be deleted.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from grader.course.assignment import Assignment
from grader.course.catalogue import assignments
from grader.judging import explain
from grader.judging.explain import explain_assignment, explain_case
from grader.judging.repair import repaired
from grader.results.result import CheckResult
from tests.graded import FILES
from tests.members import Member
from tests.test_hints import MEMBERS, SEEDS, judged

HINTS = "Hint | None"
"""The return annotation of functions that give a hint."""


class Explained(NamedTuple):
    """A check, and the arguments of what explained it."""

    check: CheckResult
    arguments: tuple[Any, ...] | None


class Mistake(NamedTuple):
    """A mistake; `proved`: one change of its file makes every case right."""

    name: str
    assignment: Assignment
    checks: list[Explained]
    proved: bool

    def told(self) -> tuple[str, str]:
        """Message and hint, explained anew."""
        summary = explain_assignment(self.assignment, [_again(one) for one in self.checks])
        return summary.message, summary.hint.removesuffix(summary.guess) if self.proved else summary.hint


def _again(one: Explained) -> CheckResult:
    detail = explain_case(*one.arguments) if one.arguments else one.check.detail
    return one.check.model_copy(update={"detail": detail, "outcome": one.check.outcome if detail else "passed"})


def mistake(member: Member, file: str, calls: list[tuple[Any, Any]]) -> Mistake:
    """Judges one file. `calls` are filled with what is explained meanwhile, and emptied."""
    prepared, checks, _ = judged(member, file, SEEDS[0])
    explained = {detail.message: arguments for arguments, detail in calls}
    assignment = assignments()[FILES[file]]
    proved = repaired(prepared, checks) is not None
    # Those of the trials, too.
    calls.clear()
    return Mistake(member.title, assignment, [
        Explained(one, explained.get(one.detail.message) if one.detail else None) for one in checks], proved)


def recorded(words: str) -> list[Mistake]:
    """All mistakes whose name holds these words, judged once."""
    calls: list[tuple[Any, Any]] = []

    def listen(*arguments: Any) -> Any:
        if (detail := explain_case(*arguments)) is not None:
            calls.append((arguments, detail))
        return detail

    for module in list(sys.modules.values()):
        if module.__name__.startswith("grader.judging.") and vars(module).get("explain_case") is explain_case:
            module.explain_case = listen  # type: ignore[attr-defined]
    return [mistake(one, file, calls) for one in MEMBERS if words in one.title for file in one.files if file in FILES]


def hints() -> Iterator[FunctionType]:
    """Every function of `explain/` that gives a hint or None."""
    for module in iter_modules(explain.__path__, f"{explain.__name__}."):
        for function in vars(import_module(module.name)).values():
            if inspect.isfunction(function) and function.__module__ == module.name and (
                function.__annotations__.get("return") == HINTS
            ):
                yield function


def without(function: FunctionType, run: Callable[[], list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """What comes of `run` while the function gives None, wherever it has been imported."""
    def nothing(*arguments: Any, **named: Any) -> None:
        return None

    code: CodeType = function.__code__
    function.__code__ = nothing.__code__
    try:
        return run()
    finally:
        function.__code__ = code


def main() -> None:
    members = recorded(sys.argv[1] if len(sys.argv) > 1 else "")
    before = [one.told() for one in members]
    print(f"Of {len(members)} members\n\n| hint | messages | hints | such as |\n|---|---|---|---|", flush=True)
    for function in hints():
        after = without(function, lambda: [one.told() for one in members])
        changed = [[one.name for one, old, new in zip(members, before, after, strict=True) if old[part] != new[part]]
                   for part in (0, 1)]
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        print(f"| `{name}` | {len(changed[0])} | {len(changed[1])} | {', '.join(changed[1][:2])} |", flush=True)


if __name__ == "__main__":
    main()
