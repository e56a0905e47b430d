"""Hints that the corpus of mistakes needs: switches each off in turn, and explains all calls without it.

    .venv/bin/python -m benchmarks.ablate_hints [WORDS] > benchmarks/results/hints.md

Judges each mistake of the corpus once, or those whose name holds WORDS, and stores the explained calls in memory (some
300 MB). Prints a table in Markdown: how many members get another message or hint without each hint. If a change of the
file was proved, guesses are left out, as for a student. Takes half an hour. Delete a hint that no member needs.
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


class ExplainedCheck(NamedTuple):
    """A check, and the arguments with which it was explained."""

    check: CheckResult
    arguments: tuple[Any, ...] | None


class Mistake(NamedTuple):
    """A mistake; `proved`: one change of its file makes every case right."""

    name: str
    assignment: Assignment
    checks: list[ExplainedCheck]
    proved: bool

    def words(self) -> tuple[str, str]:
        """Return message and hint, explained anew."""
        summary = explain_assignment(self.assignment, [_again(check) for check in self.checks])
        return summary.message, summary.hint.removesuffix(summary.guess) if self.proved else summary.hint


def _again(explained: ExplainedCheck) -> CheckResult:
    check = explained.check
    detail = explain_case(*explained.arguments) if explained.arguments else check.detail
    return check.model_copy(update={"detail": detail, "outcome": check.outcome if detail else "passed"})


def mistake(member: Member, file: str, calls: list[tuple[Any, Any]]) -> Mistake:
    """Judge one file. `calls` are filled with the calls that are explained meanwhile, and emptied."""
    prepared, checks, _ = judged(member, file, SEEDS[0])
    explained = {detail.message: arguments for arguments, detail in calls}
    assignment = assignments()[FILES[file]]
    proved = repaired(prepared, checks) is not None
    # They also hold the calls of the trials.
    calls.clear()
    return Mistake(member.title, assignment, [
        ExplainedCheck(check, explained.get(check.detail.message) if check.detail else None)
        for check in checks], proved)


def recorded(words: str) -> list[Mistake]:
    """Return all mistakes whose name holds these words, judged once."""
    calls: list[tuple[Any, Any]] = []

    def listen(*arguments: Any) -> Any:
        if (detail := explain_case(*arguments)) is not None:
            calls.append((arguments, detail))
        return detail

    for module in list(sys.modules.values()):
        if module.__name__.startswith("grader.judging.") and vars(module).get("explain_case") is explain_case:
            module.explain_case = listen  # type: ignore[attr-defined]
    return [mistake(member, file, calls) for member in MEMBERS if words in member.title
            for file in member.files if file in FILES]


def hints() -> Iterator[FunctionType]:
    """Yield every function of `explain/` that returns a hint or None."""
    for module in iter_modules(explain.__path__, f"{explain.__name__}."):
        for function in vars(import_module(module.name)).values():
            if inspect.isfunction(function) and function.__module__ == module.name and (
                function.__annotations__.get("return") == HINTS
            ):
                yield function


def without(function: FunctionType, run: Callable[[], list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Return the result of `run` while the function returns None, wherever it has been imported."""
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
    before = [member.words() for member in members]
    print(f"Of {len(members)} members\n\n| hint | messages | hints | such as |\n|---|---|---|---|", flush=True)
    for function in hints():
        after = without(function, lambda: [member.words() for member in members])
        changed = [[member.name for member, old, new in zip(members, before, after, strict=True)
                    if old[part] != new[part]] for part in (0, 1)]
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        print(f"| `{name}` | {len(changed[0])} | {len(changed[1])} | {', '.join(changed[1][:2])} |", flush=True)


if __name__ == "__main__":
    main()
