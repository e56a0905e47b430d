"""Sentences from facts, in the terms of a file's language; lines of the file and names from it, as sentences cite
them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any

from torch import Tensor

from grader.course.assignment import Assignment
from grader.judging.answers.compare import index_of
from grader.languages.phrases import Fact, Phrases, fact, known
from grader.plan.findings import Program
from grader.results.result import Place
from grader.results.text import plural

NAME_CHARACTERS = 80
_PLACE = re.compile(r"\{([\w.]+)\}")


def phrases_of(assignment: Assignment, source: str) -> Phrases:
    """Return the words of the language in which the assignment's file is written, in the dialect of its text."""
    words = assignment.front_end.phrases
    return next((own for mark, own in words.dialects.items() if mark in source), words)


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


def part(name: str, those: Tensor) -> Fact | None:
    """Return the part of a tensor that has exactly the elements that `those` (bool) marks: from one element on, or some
    columns. None if there is no such part."""
    flat = those.flatten()
    begin = int(flat.int().argmax())
    if begin and bool(flat[begin:].all()):
        return fact("part.from", element=element(name, begin, those.shape))
    if those.ndim < 2:
        return None
    rows = those.reshape(-1, those.shape[-1])
    columns = rows.any(0).nonzero().flatten()
    first, last = int(columns[0]), int(columns[-1])
    if last - first + 1 == rows.shape[1] or not bool(rows[:, first : last + 1].all()):
        return None
    return fact("part.column" if first == last else "part.columns", first=first, last=last)


def place(assignment: Assignment, source: str, line: int) -> Place | None:
    """Return the place of a line in the student's file; None for line 0, which stands for an unknown line."""
    return Place(file=assignment.file, line=line, text=line_text(source, line)) if line else None


def quoted(name: str) -> str:
    """Return a name that comes from a submission, as code."""
    return f"`{name.replace('`', '')[:NAME_CHARACTERS]}`"


def tensor_name(tensor: str, given: str) -> Fact | str:
    """Return a tensor by its parameter and the kernel's name for it: "x (`x_ptr` in the kernel)"."""
    if given:
        return given if tensor in ("", given) else fact("tensor.given", given=given, tensor=quoted(tensor))
    return fact("tensor.own", tensor=quoted(tensor)) if tensor else fact("tensor.unnamed")


class _Filling(Formatter):
    """Sentences of a language, with their places filled: by values, or else by its terms and other sentences. A place
    that begins with a capital gives its text one, `{count:element}` is "1 element" or "2 elements", and
    `{count:is|are}` one of the two words."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self.sentences = sentences

    def say(self, said: Fact) -> str:
        if said.name == "mistake":
            return self.terms(said.values["hint"])
        return self.vformat(self.sentences[known(self.sentences, said.name)], (), said.values)

    def terms(self, text: str) -> str:
        """Return a text with its terms filled; other places stay, as a hint may quote code that has braces."""
        def filled(place: re.Match[str]) -> str:
            sentence = self.sentences.get(place[1])
            if sentence is None and (sentence := self.sentences.get(place[1][0].lower() + place[1][1:])) is not None:
                return capital(self.terms(sentence))
            return place[0] if sentence is None else self.terms(sentence)

        return _PLACE.sub(filled, text)

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if field_name in kwargs:
            return kwargs[field_name], field_name
        if field_name in self.sentences:
            return self.vformat(self.sentences[field_name], args, kwargs), field_name
        value, name = self.get_field(field_name[0].lower() + field_name[1:], args, kwargs)
        return capital(self.format_field(value, "")), name

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Fact):
            return self.say(value)
        singular, _, several = format_spec.partition("|")
        if several:
            return singular if value == 1 else several
        return plural(value, format_spec) if format_spec.isalpha() else format(value, format_spec)


def mistaken(hint: str) -> Fact:
    """Return the hint of an assignment's mistake, or of a clue, as a fact. {program} and the like are terms of the
    language there."""
    return fact("mistake", hint=hint)


def join(first: Fact | None, then: Fact | None) -> Fact | None:
    """Return two sentences as one fact."""
    return fact("both", first=first, then=then) if first and then else first or then


def say(words: Phrases, *facts: Fact | None) -> str:
    """Return facts as sentences of a language."""
    filling = _Filling(words.sentences)
    return " ".join(filter(None, (filling.say(fact).strip() for fact in facts if fact)))


def written_name(assignment: Assignment, name: str) -> str:
    """Return a parameter by the name that the function has for it in the file's language; "" for none."""
    return next((parameter.name for parameter in assignment.takes if parameter.of[:1] == (name,)), name)


def extent(sizes: Sequence[int]) -> str:
    """Return the extent of a grid in words: "3 x 2" for (3, 2, 1)."""
    last = max((at for at, size in enumerate(sizes) if size != 1), default=0)
    return " x ".join(f"{size:,}" for size in sizes[:last + 1])


def started(line: int, grid: Sequence[int]) -> Fact:
    """Return words for what a launch starts: "launch in line 12 starts 3 x 2 programs"."""
    count = extent(grid)
    return fact("launch.starts", line=line, count=count, programs=1 if count == "1" else 2)


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capital(text: str) -> str:
    """Return a text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def in_line(line: int) -> Fact | str:
    """Return " in line 12", or "" for line 0, which stands for an unknown line."""
    return fact("in_line", line=line) if line else ""


def program(first: Program, *others: Program) -> str:
    """Return a program as its author counts: 3 in a grid of one dimension, else (3, 1). `others` show how many
    dimensions there are."""
    last = max((axis for ids in (first, *others) for axis, number in enumerate(ids) if number), default=0)
    return f"{first[0]:,}" if last == 0 else f"({', '.join(str(number) for number in first[:last + 1])})"
