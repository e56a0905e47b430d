"""A language's part of the messages that students read: sentences and terms, and what a file's text shows.

A sentence stands once, in a catalogue: `messages.toml` beside this file has those of every language, `python.toml` and
`threads.toml` those of languages whose host code is Python and whose kernels are written thread by thread, and a
language's own folder a `messages.toml` with the rest and its terms. Hints for messages of the language's tools are in
its `clues.toml`. The judge finds facts and names their sentences; `grader.judging.explain.wording.say` fills the places
in braces.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from grader.plan.findings import OutOfBounds, Undefinable, UndefinedBehaviour
from grader.plan.messages import Refusal, Why

HERE = Path(__file__).parent
COMMON, PYTHON, THREADS = HERE / "messages.toml", HERE / "python.toml", HERE / "threads.toml"
_MANY = {"refused": Refusal, "skipped": Why, "undefined": Undefinable}
Failing = Literal["exception", "import_error", "compile_error", "syntax_error", "time_out", "out_of_memory"]
"""Kinds of failure whose message may come from the language's own tools."""


@dataclass(frozen=True)
class Fact:
    """Something that was seen, or that helps: the `name` of its sentence, and the values that fill the places there.
    A value may be a fact itself."""

    name: str
    values: Mapping[str, Any]


def fact(name: str, /, **values: Any) -> Fact:
    return Fact(name, values)


@dataclass(frozen=True)
class Clue:
    """A hint for failures of these `kinds`: the pattern `message` is found in the message, and the pattern `line`
    matches at the start of the failing line. Named groups of `message` fill places in `line`; named groups of both fill
    the hint. {name} is the first group that took part, {function} and {signature} are the assignment's, {constants} are
    the compile-time constants that the line names, {all} those of the kernel that differ from 1; terms of the language
    fill places, too. An empty hint means that the message itself says what to do."""

    kinds: frozenset[Failing]
    hint: str
    message: str = ""
    line: str = ""


@dataclass(frozen=True)
class Slip:
    """A part of a file that its author cannot mean: what was `seen` in a line, and an `advice`. `empties`: it may leave
    elements unwritten. `undefined`: an answer that comes out right rests on a value that nothing defines."""

    line: int
    seen: Fact
    advice: Fact
    empties: bool = False
    undefined: bool = False


@dataclass(frozen=True)
class TextEvidence:
    """Evidence of undefined behaviour in a file's text: `values` fill the sentence in place of the finding's own, and
    `advice` replaces the finding's."""

    values: Mapping[str, Any] = field(default_factory=dict)
    advice: Fact | None = None


@dataclass(frozen=True)
class Phrases:
    """All words of a language, and what its files show.

    `sentences` come from `catalogue`. `clues` are tried in order before the sentence for the kind of failure, `absent`
    on the exception of a skipped line. `unwrap` removes what the compiler prints around its error. `marks` are
    patterns of text for which a file gets a sentence of its own. `threads`: each lane computes its own addresses.
    `dialects` are the words of a dialect, by a text that its files contain.

    `slips` finds parts of a file's text that explain a wrong answer by themselves. `shared`
    returns the names of memory that the threads of a block share. `evidence` says more of undefined behaviour, from the
    text. `outside` returns what the text shows about an access outside its tensor; unless the
    language has `threads`, the judge asks only about accesses that reach outside in a later iteration of a loop."""

    sentences: Mapping[str, str]
    clues: tuple[Clue, ...] = ()
    absent: tuple[Clue, ...] = ()
    unwrap: Callable[[str], str] = lambda message: message
    marks: Mapping[str, str] = field(default_factory=dict)
    threads: bool = False
    dialects: Mapping[str, Phrases] = field(default_factory=dict)
    slips: Callable[[str], Iterable[Slip]] = lambda source: ()
    shared: Callable[[str], Iterable[str]] = lambda source: ()
    evidence: Callable[[UndefinedBehaviour, str], TextEvidence] = lambda finding, source: TextEvidence()
    outside: Callable[[str, OutOfBounds], Slip | None] = lambda source, finding: None

    def marked(self, name: str, text: str) -> bool:
        """Return whether a text has the mark of this name."""
        return name in self.marks and re.search(self.marks[name], text) is not None


def catalogue(*paths: Path, own: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return the sentences and terms of a language by name: those of every language, then those of `paths` in order,
    then `own`. Raises ValueError if one is missing that the language has to give."""
    made = dict[str, str]()
    for path in (COMMON, *paths):
        made |= _sentences(_table(path))
    made |= own or {}
    if missing := next((name for name in needed() if known(made, name) not in made), ""):
        raise ValueError(f"no sentence {missing!r}: add it to {paths[-1] if paths else 'own'}; [own] in {COMMON} "
                         "says what it is for")
    return made


def clues(path: Path, kind: str = "group") -> tuple[Clue, ...]:
    """Return the clues of a file in the order in which they are tried. `kind` is "absent" for those on the exception of
    a skipped line."""
    return tuple(Clue(**clue, kinds=frozenset(group["kinds"]))
                 for group in _table(path)[kind] for clue in group["clues"])


def known(sentences: Mapping[str, str], name: str) -> str:
    """Return the name under which a sentence stands: by default "refused.copy.why" is "refused.why"."""
    return name if name in sentences else f"{name.partition('.')[0]}.{name.rpartition('.')[2]}"


def needed() -> list[str]:
    """Return the names of the sentences and terms that each language has to give, unless all languages have them."""
    return [name.replace("*", language) for names in _table(COMMON)["own"].values() for name in names for language in (
        get_args(_MANY[name.partition(".")[0]]) if "*" in name else ("",))]


def _table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _sentences(table: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Return the sentences of a table by their dotted names; lists are none."""
    made = dict[str, str]()
    for name, entry in table.items():
        made |= {before + name: entry} if isinstance(entry, str) else (
            _sentences(entry, f"{before}{name}.") if isinstance(entry, dict) else {})
    return made
