"""Lines of a student's file, names from it and words of its language, as sentences cite them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from torch import Tensor

from grader.course.assignment import Assignment
from grader.judging.answers.compare import index_of
from grader.languages.phrases import Phrases
from grader.plan.findings import Program
from grader.results.result import Place

NAME_CHARACTERS = 80


def phrases_of(assignment: Assignment) -> Phrases:
    """Return the words of the language in which the assignment's file is written."""
    return assignment.front_end.phrases


def line_text(source: str, line: int) -> str:
    """Return the text of a line, shortened; "" if the file has no such line."""
    lines = source.splitlines()
    return lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""


def indexed(name: str, index: Sequence[int]) -> str:
    """Return an element of a tensor in words: "out[1, 2]"."""
    return f"{name}[{', '.join(map(str, index))}]"


def element(name: str, flat: int, shape: Sequence[int]) -> str:
    """Return the element of a tensor at a row-major position in words: "out[1, 2]"."""
    return indexed(name, index_of(flat, tuple(shape)))


def first_of(name: str, those: Tensor) -> str:
    """Return the first element of a tensor that `those` (bool) marks, in words."""
    return element(name, int(those.flatten().int().argmax()), those.shape)


def part(name: str, those: Tensor) -> str:
    """Return words for the part of a tensor that has exactly the elements that `those` (bool) marks: from one element
    on, or some columns. "" if there is no such part."""
    flat = those.flatten()
    begin = int(flat.int().argmax())
    if begin and bool(flat[begin:].all()):
        return f"from {element(name, begin, those.shape)} on"
    if those.ndim < 2:
        return ""
    rows = those.reshape(-1, those.shape[-1])
    columns = rows.any(0).nonzero().flatten()
    first, last = int(columns[0]), int(columns[-1])
    if last - first + 1 == rows.shape[1] or not bool(rows[:, first : last + 1].all()):
        return ""
    return f"in column {first:,}" if first == last else f"in columns {first:,} to {last:,}"


def place(assignment: Assignment, source: str, line: int) -> Place | None:
    """Return the place of a line in the student's file; None for line 0, which stands for an unknown line."""
    return Place(file=assignment.file, line=line, text=line_text(source, line)) if line else None


def quoted(name: str) -> str:
    """Return a name that comes from a submission, as code."""
    return f"`{name.replace('`', '')[:NAME_CHARACTERS]}`"


def tensor_name(tensor: str, given: str, words: Phrases) -> str:
    """Return a tensor by its parameter and the kernel's name for it: "x (`x_ptr` in the kernel)"."""
    if given:
        return given if tensor in ("", given) else f"{given} ({quoted(tensor)} in the kernel)"
    return words.names.own_named.format(tensor=quoted(tensor)) if tensor else words.names.own_unnamed


def spoken(text: str, words: Phrases) -> str:
    """Return a sentence of the judge's in the terms of a language: "block 3" of a kernel for "program 3". Text that is
    quoted as code stays."""
    return _with_terms(text, words.names.terms)


def spoken_mistake(text: str, words: Phrases) -> str:
    """Return the hint of an assignment's mistake in the terms of a language. The word "block" stays."""
    return _with_terms(text, {**words.names.terms, **words.names.mistakes, "block": "block"})


def _with_terms(text: str, terms: Mapping[str, str]) -> str:
    if not terms:
        return text

    def term(found: re.Match[str]) -> str:
        if found[0] in terms:
            return terms[found[0]]
        return capital(terms[found[0][:1].lower() + found[0][1:]])

    pattern = _pattern(tuple(terms))
    parts = text.split("`")
    return "`".join(part if at % 2 else pattern.sub(term, part) for at, part in enumerate(parts))


@cache
def _pattern(terms: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of these terms, the longest first; words also with a plural s, or with a
    capital."""
    found = []
    for term in sorted(terms, key=len, reverse=True):
        first = f"[{term[0].upper()}{term[0]}]" if term[0].islower() else re.escape(term[0])
        word = r"(?=s?\b)" if term[-1].isalpha() else ""
        # "block size" is a term of the language's own.
        size = "(?! size)" if term == "block" else ""
        found.append((r"\b" if term[0].isalpha() else "") + first + re.escape(term[1:]) + word + size)
    return re.compile("|".join(found))


def written_name(assignment: Assignment, name: str) -> str:
    """Return a parameter by the name that the function has for it in the file's language; "" for none."""
    return next((one.name for one in assignment.takes if one.of[:1] == (name,)), name)


def extent(sizes: Sequence[int]) -> str:
    """Return the extent of a grid in words: "3 x 2" for (3, 2, 1)."""
    last = max((at for at, size in enumerate(sizes) if size != 1), default=0)
    return " x ".join(f"{size:,}" for size in sizes[:last + 1])


def started(line: int, grid: Sequence[int]) -> str:
    """Return words for what a launch starts: "launch in line 12 starts 3 x 2 programs"."""
    count = extent(grid)
    return f"launch in line {line} starts {count} program{'s' * (count != '1')}"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def in_line(line: int) -> str:
    """Return " in line 12", or "" for line 0, which stands for an unknown line."""
    return f" in line {line}" if line else ""


def program(one: Program, *others: Program) -> str:
    """Return a program as its author counts: 3 in a grid of one dimension, else (3, 1). `others` show how many
    dimensions there are."""
    last = max((axis for ids in (one, *others) for axis, number in enumerate(ids) if number), default=0)
    return f"{one[0]:,}" if last == 0 else f"({', '.join(str(number) for number in one[:last + 1])})"
