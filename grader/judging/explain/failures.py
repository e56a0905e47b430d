"""Hints for a submission that gave no answer: exceptions, crashes, time-outs, a function that is not found.

Texts that come from a submission are quoted, shortened and searched for known phrases; none of them is believed.
"""

from __future__ import annotations

import re
import signal as signals
from collections.abc import Mapping, Sequence

from grader.course.assignment import Assignment
from grader.course.submission import Cause, Unreadable
from grader.judging.explain.wording import phrases_of, spoken
from grader.languages.phrases import Clue, Failures
from grader.results.result import Detail, Place
from grader.results.verdicts import FailureKind

MESSAGE_CHARACTERS = 500

CRASHES: Mapping[int | None, str] = {
    signals.SIGKILL: "The system ended the process, as it does when memory runs out: does a list or a cache grow "
    "without end?",
    signals.SIGXCPU: "The process computed for longer than allowed: is there a loop that does not end?",
    signals.SIGSYS: "The process asked the system for what a submission may not use, such as the network.",
    signals.SIGXFSZ: "The process wrote a file larger than allowed: the answer goes into the output tensor only.",
}

# Hints for files that cannot be read.
UNREADABLE: dict[Cause, str] = {
    "link_out": "The file is a link to a file that is not handed in: put the file itself in its place.",
    "dead_link": "The file is a link that leads nowhere: put the file itself in its place.",
    "not_a_file": "A folder, pipe or device has the file's name: hand in an ordinary file.",
    "too_large": "{file} may have {most:,} bytes, many times what a kernel needs: remove data and generated text.",
    "language": "Write it in one of the languages that the course takes.",
    "two_files": "An assignment is graded from one file: leave out the other.",
    "lfs": "Git keeps the file elsewhere (Git LFS): commit it as it is, `git lfs untrack` first, or hand in the file "
    "itself.",
    "utf16": "Save {file} as UTF-8: an editor's “Save with encoding” does it; PowerShell's > writes UTF-16.",
    "denied": "The file's permissions do not let the grader read it: hand it in again, readable for all.",
}

HINTS: dict[FailureKind, str] = {
    "missing_file": "Hand in a file named {file}, spelt exactly so, in the submission's folder.",
    "unreadable_source": "Save {file} as UTF-8: an editor's “Save with encoding” does it, or leave out what is not "
    "ASCII.",
    "time_out": "Look for a loop that does not end (a `while`, or a step of 0), for a launch for each row, and for a "
    "block size so small that millions of programs run: each program should work on hundreds of elements or more.",
    "out_of_bounds": "A load or store lies outside every tensor: is a mask missing, or is a stride that of another "
    "matrix? The GPU does not say which access it was.",
    "out_of_memory": "Allocate no more than the sizes of the inputs need; a block of BLOCK_M x BLOCK_N elements takes "
    "memory, too.",
    "over_limit": "A submission computes with kernels: it starts no processes, and writes almost nothing to files and "
    "to its output.",
    "protocol": "The submission must not close, print to or write into file descriptors that it did not open.",
}


def explain_failure(
    assignment: Assignment, kind: FailureKind, message: str, *, line: int = 0, text: str = "",
    constants: Mapping[str, str] | None = None, signal: int | None = None, exited: bool = False,
) -> Detail:
    """Return why there is no answer, and where to look.

    `message` comes from the submission's process or the judge; `line` and `text` are number and text of a line of the
    student's file (0 and "" if none is known). `constants` are those with which the kernel was compiled, by name.
    `signal` is the number of the signal that ended the process; `exited` says that the process ended itself.
    """
    words = phrases_of(assignment).failures
    message = _unwrapped(message, words)
    return Detail(
        kind=kind, message=_plain(message) or kind.replace("_", " "),
        hint=_crash(words, signal, exited) if kind == "crash" else _hint(
            assignment, words, kind, message, text, constants or {}),
        place=Place(file=assignment.file, line=line, text=text) if line else None)


def explain_unreadable(assignment: Assignment, problem: Unreadable) -> Detail:
    """Return why a file cannot be read, and what to hand in."""
    hint = UNREADABLE[problem.cause].format(file=assignment.file, most=problem.most)
    return Detail(kind="unreadable_source", message=_plain(problem.message), hint=hint)


def hinted(
    clues: Sequence[Clue], kind: FailureKind, message: str, text: str = "", known: Mapping[str, str] | None = None
) -> str | None:
    """Return the hint of the first clue that fits a failure; None if none does. `known` are values for the hint's
    placeholders, beside those that the clue's own patterns find."""
    for clue in clues:
        if kind in clue.kinds and (found := re.search(clue.message, message)):
            names = {**(known or {}), **_named(found)}
            if here := re.match(_filled(clue.line, {name: re.escape(value) for name, value in names.items()}), text):
                return _filled(clue.hint, {**names, **_named(here)})
    return None


def _named(found: re.Match[str]) -> dict[str, str]:
    named = {name: value[:80] for name, value in found.groupdict().items() if value}
    return {"name": next(iter(named.values())), **named} if named else {}


def _filled(text: str, names: Mapping[str, str]) -> str:
    # str.format would fail: a hint may quote code that has braces.
    return re.sub(r"\{(\w+)\}", lambda place: names.get(place[1], place[0]), text)


def _hint(
    assignment: Assignment, words: Failures, kind: FailureKind, message: str, text: str, constants: Mapping[str, str]
) -> str:
    named = {name: value for name, value in constants.items() if re.search(rf"\b{re.escape(name)}\b", text)}
    # The constants include arguments that equal 1, which are no choice of the author's.
    others = {name: value for name, value in constants.items() if value != "1"} or constants
    known = {"signature": assignment.signature, "function": assignment.function, "constants": _here(named),
             "all": _here(others)}
    if (told := hinted(words.clues, kind, message, text, known)) is not None:
        return told
    if kind == "time_out" and re.match(r"\s*while\b", text):
        return "The time ran out in this loop: does its condition ever become false?"
    own: dict[FailureKind, str] = {
        "missing_function": words.missing_function, "wrong_signature": words.wrong_signature,
        "not_attempted": words.not_attempted, "syntax_error": words.syntax_error, "import_error": words.import_error,
        "compile_error": words.compile_error,
    }
    hint = own.get(kind) or spoken(HINTS.get(kind, ""), phrases_of(assignment)) or words.exception
    return hint.format(file=assignment.file, signature=assignment.signature)


def _here(constants: Mapping[str, str]) -> str:
    shown = ", ".join(f"{name} = {value}" for name, value in constants.items())
    return f" (here {shown[:200]})" if shown else ""


def _crash(words: Failures, signal: int | None, exited: bool) -> str:
    if signal in (signals.SIGSEGV, signals.SIGBUS):
        return words.wrong_memory
    own = words.aborts if signal == signals.SIGABRT else CRASHES.get(signal)
    return own or (words.exits if exited else words.ends)


def _unwrapped(message: str, words: Failures) -> str:
    """Return the core of a message of a compiler or an allocator, without the text around it and without addresses."""
    message = re.sub(r" at 0x[0-9a-f]+(?=>)", "", message)
    if found := re.search(r"tried to allocate ([\d.]+ ?\w+)", message, re.IGNORECASE):
        return f"Out of memory: the call tried to allocate {found[1]}"
    return words.unwrap(message)


def _plain(message: str) -> str:
    """Return the message as one line of printable text."""
    message = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    return message if len(message) <= MESSAGE_CHARACTERS else message[: MESSAGE_CHARACTERS - 1] + "…"
