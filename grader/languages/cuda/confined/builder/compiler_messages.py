"""Messages of compilers about a student's file, turned into an answer to the judge."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from grader.plan.messages import Failed

MESSAGE = 2_000
_MOST_LINES = 24
_ERROR = re.compile(
    r"^(?P<file>[^\s:(][^:(]*)(?:\((?P<line>\d+)\)|:(?P<other>\d+)(?::\d+)?):\s*(?:catastrophic |fatal )?error\b")
_PTX = re.compile(r"^ptxas (?P<file>[^,]+), line (?P<line>\d+); (?:error|fatal)")
_SYNTAX = re.compile(
    r"error(?: #\d+)?: (?:expected (?:an?|the)? ?|unrecognized token|missing closing|"
    r"unterminated|extra text after expected|invalid (?:suffix|preprocess)|"
    r"this declaration has no storage class|identifier expected)|"
    r"error: (?:expected|stray|missing terminating|unterminated)")
# Messages of a compiler's driver when a limit has ended one of its programs.
_LIMITS = (
    (re.compile(r"signal 2[45]\b|File size limit|CPU time limit|File too large|No space left"), "time_out",
     "Compiling takes longer, or makes larger files, than the grader's limits allow."),
    (re.compile(r"signal 9\b|signal 11\b|Killed|out of memory|Out of memory|memory exhausted|Cannot allocate|bad_alloc"
                r"|signal 6\b|internal compiler error"), "out_of_memory",
     "The compiler runs out of memory, or crashes: the file is too much for it."),
)  # fmt: skip
_UNDEFINED = re.compile(r"^(?:(?P<file>[^\s:]+):(?P<line>\d+): )?.*(?:undefined reference to|multiple definition of) ")
# The place in an object file, which a linker prints first.
_BEFORE = re.compile(r";.*|^(?:.*?ld: )?(?:\S+\.(?:o|so|cu|cpp|c))?(?::\(\S+\))?(?::?\d+)?:? ?")

def without_paths(text: str, folder: Path) -> str:
    """Return a compiler's output without the paths of this machine."""
    text = text.replace(f"{folder}/", "")
    text = re.sub(r"/tmp/tmpxft_\w+-\d+_", "", text)
    # Possessive: a greedy group records each repetition to try again, which takes much memory for a long text.
    return re.sub(r"(?<![\w.])/(?:[\w.+-]+/(?=[\w.+-]))++", "", text)


def compile_failure(printed: str, status: int, folder: Path, file: str, seq: int) -> Failed:
    """Return the answer for a compiler that has ended with an error."""
    text = without_paths(printed, folder)
    lines = text.splitlines()
    errors = [index for index, line in enumerate(lines) if _ERROR.match(line) or _PTX.match(line)]
    if not errors:
        for pattern, failure, sentence in _LIMITS:
            if pattern.search(text) or (status < 0 and pattern.search(f"signal {-status} ")):
                return Failed(seq=seq, failure=failure, message=sentence)  # type: ignore[arg-type]
    first = errors[0] if errors else 0
    kind: Literal["syntax_error", "compile_error"] = "compile_error"
    if errors and _SYNTAX.search(lines[first]):
        kind = "syntax_error"
    message = "\n".join(lines[first : first + _MOST_LINES]).strip() or "the compiler fails without a word"
    return Failed(seq=seq, failure=kind, message=_cut(message), line=_line(lines, errors, file))


def link_failure(printed: str, folder: Path, file: str, seq: int) -> Failed:
    """Return the answer for a linker's error, such as a name that is not defined, or defined twice."""
    matches = [match for line in without_paths(printed, folder).splitlines() if (match := _UNDEFINED.match(line))]
    lines = [match.string.strip() for match in matches] or without_paths(printed, folder).splitlines()
    words = [_BEFORE.sub("", line) for line in lines]
    line = next((int(match["line"]) for match in matches if match["line"] and match["file"] == file), 0)
    return Failed(seq=seq, failure="compile_error", line=line,
                  message=_cut("\n".join(dict.fromkeys(words[:8])) or "the file cannot be linked"))


def _line(lines: list[str], errors: list[int], file: str) -> int:
    """Return the line of the first error in the student's file; else the first line of the file that the messages name,
    such as that of an `#include`; 0 if none."""
    for index in errors:
        match = _ERROR.match(lines[index])
        if match and Path(match["file"]).name == file:
            return int(match["line"] or match["other"])
    for line in lines:
        if match := re.search(rf"{re.escape(file)}[:(](\d+)", line):
            return int(match[1])
    return 0


def _cut(text: str) -> str:
    text = text if len(text) <= MESSAGE else f"{text[: MESSAGE - 1]}…"
    return text.encode(errors="replace").decode()
