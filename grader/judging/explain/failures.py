"""Hints for a submission that gave no answer: exceptions, crashes, time-outs, a function that is not found.

Texts that come from a submission are quoted, shortened and searched for known phrases; none of them is believed.
"""

from __future__ import annotations

import re
import signal as signals
from collections.abc import Mapping, Sequence

from grader.course.assignment import Assignment
from grader.course.submission import UnreadableFile
from grader.judging.explain.wording import line_text, mistaken, phrases_of, place, say
from grader.languages.phrases import Clue, Phrases, fact
from grader.results.result import Detail
from grader.results.verdicts import FailureKind

MESSAGE_CHARACTERS = 500

CRASHES: Mapping[int | None, str] = {
    signals.SIGKILL: "memory", signals.SIGXCPU: "time", signals.SIGSYS: "forbidden", signals.SIGXFSZ: "file",
    signals.SIGSEGV: "wrong_memory", signals.SIGBUS: "wrong_memory", signals.SIGABRT: "aborts",
}


def explain_failure(
    assignment: Assignment, kind: FailureKind, message: str, *, source: str = "", line: int = 0,
    constants: Mapping[str, str] | None = None, signal: int | None = None, exited: bool = False,
) -> Detail:
    """Return why there is no answer, and what to do.

    `message` comes from the submission's process or the judge; `source` is the student's file, `line` a line of it (0
    if none is known). `constants` are those with which the kernel was compiled, by name.
    `signal` is the number of the signal that ended the process; `exited` says that the process ended itself.
    """
    words, text = phrases_of(assignment, source), line_text(source, line)
    message = _unwrapped(message, words)
    name = f"crash.{CRASHES.get(signal) or ('exits' if exited else 'ends')}"
    return Detail(
        kind=kind, message=_plain(message) or kind.replace("_", " "),
        hint=say(words, fact(name)) if kind == "crash" else _hint(
            assignment, words, kind, message, text, constants or {}),
        place=place(assignment, source, line))


def explain_unreadable(assignment: Assignment, problem: UnreadableFile) -> Detail:
    """Return why a file cannot be read, and what to hand in."""
    reason = fact(f"unreadable.{problem.cause}", file=assignment.file, most=problem.most)
    return Detail(
        kind="unreadable_source", message=_plain(problem.message), hint=say(phrases_of(assignment, ""), reason))


def hinted(
    words: Phrases, clues: Sequence[Clue], kind: FailureKind, message: str, text: str = "",
    known: Mapping[str, str] | None = None,
) -> str | None:
    """Return the hint of the first clue that fits a failure; None if none does. `known` are values for the hint's
    placeholders, beside those that the clue's own patterns find, and the terms of the language."""
    for clue in clues:
        if kind in clue.kinds and (match := re.search(clue.message, message)):
            names = {**(known or {}), **_named(match)}
            if here := re.match(_filled(clue.line, {name: re.escape(value) for name, value in names.items()}), text):
                return _filled(say(words, mistaken(clue.hint)), {**names, **_named(here)})
    return None


def _named(match: re.Match[str]) -> dict[str, str]:
    named = {name: value[:80] for name, value in match.groupdict().items() if value}
    return {"name": next(iter(named.values())), **named} if named else {}


def _filled(text: str, names: Mapping[str, str]) -> str:
    # str.format would fail: a hint may quote code that has braces.
    return re.sub(r"\{(\w+)\}", lambda gap: names.get(gap[1], gap[0]), text)


def _hint(
    assignment: Assignment, words: Phrases, kind: FailureKind, message: str, text: str, constants: Mapping[str, str]
) -> str:
    named = {name: value for name, value in constants.items() if re.search(rf"\b{re.escape(name)}\b", text)}
    # The constants include arguments that equal 1, which are no choice of the author's.
    others = {name: value for name, value in constants.items() if value != "1"} or constants
    known = {"signature": assignment.signature, "function": assignment.function, "constants": _here(words, named),
             "all": _here(words, others)}
    if (hint := hinted(words, words.clues, kind, message, text, known)) is not None:
        return hint
    name = f"failed.{kind}" if f"failed.{kind}" in words.sentences else "failed.exception"
    if kind == "time_out" and re.match(r"\s*while\b", text):
        name = "failed.in_loop"
    return say(words, fact(name, file=assignment.file, signature=assignment.signature))


def _here(words: Phrases, constants: Mapping[str, str]) -> str:
    shown = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return f" {say(words, fact('set_to', constants=shown[:200]))}" if shown else ""


def _unwrapped(message: str, words: Phrases) -> str:
    """Return the core of a message of a compiler or an allocator, without the text around it and without addresses."""
    message = re.sub(r" at 0x[0-9a-f]+(?=>)", "", message)
    if match := re.search(r"tried to allocate ([\d.]+ ?\w+)", message, re.IGNORECASE):
        return say(words, fact("failed.allocation", size=match[1]))
    return words.unwrap(message)


def _plain(message: str) -> str:
    """Return the message as one line of printable text."""
    message = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return message if len(message) <= MESSAGE_CHARACTERS else message[: MESSAGE_CHARACTERS - 1] + "…"
