"""No room but a front end's knows its language: the words of one stand in its folder alone."""

import ast
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest

from grader import languages
from grader.course import catalogue
from grader.course.forms import file_of
from grader.home import ROOT
from grader.languages import phrases
from grader.plan.plan import Kernel, Launch
from tests.rows import beside, each_row

WORDS: dict[str, re.Pattern[str]] = {
    "triton": re.compile(
        r"triton|ttir|\btl\.|\bnum_(warps|ctas|stages)\b|\blaunch_pdl\b|\bmaxnreg\b|\bconstexpr\b|\bcan_reorder\b",
        re.IGNORECASE),
    "cuda": re.compile(
        r"\bnvcc\b|\.cu\b|\bCUDA C\+\+(?! Programming)|__(?:global|device|shared|constant|syncthreads|syncwarp)\w*|"
        r"\b(?:block|thread|grid)(?:Idx|Dim)\b|\bcuda(?:Memcpy|Launch|Device|Stream|Event|Graph|GetLast)\w*"),
    "numba": re.compile(
        r"numba|(?<!languages\.)\bcuda\.(?:jit|grid|syncthreads|syncwarp|shared|atomic|device_array)\b", re.IGNORECASE),
}
"""For each front end, what nobody else may write. `autotune` is none of them: any language may have a tuner."""
# What authors and courses write of kernels, in a language of theirs.
FREE = ("authoring", "kit")
EXCEPTIONS: dict[str, dict[str, tuple[int, str]]] = beside(__file__)
"""Files with so many lines that name a language, and why they may."""


def _files() -> Iterator[tuple[str, str]]:
    rooms = ROOT / "grader"
    for path in sorted(rooms.rglob("*")):
        name = path.relative_to(rooms)
        if path.is_file() and path.suffix in (".py", ".j2", ".css", ".js", ".toml") and name.parts[0] not in FREE:
            yield str(name), path.read_text(encoding="utf-8")


def _named(text: str, words: re.Pattern[str]) -> list[str]:
    return [line.strip() for line in text.splitlines() if words.search(line)]


def test_every_front_end_has_words_that_are_looked_for() -> None:
    assert set(WORDS) == set(languages.front_ends())


@pytest.mark.parametrize("language", WORDS)
def test_its_words_stand_in_a_front_end_alone(language: str) -> None:
    found = {name: lines for name, text in _files() if Path(name).parts[:2] != ("languages", language)
             and (lines := _named(text, WORDS[language]))}
    known = EXCEPTIONS.get(language, {})
    strange = {name: lines for name, lines in found.items() if len(lines) > known.get(name, (0, ""))[0]}
    assert not strange, "say it in grader/languages/<language>, or add the file and a reason to EXCEPTIONS"
    # An exception that is needed no more goes.
    assert {name: len(lines) for name, lines in found.items()} == {name: many for name, (many, _) in known.items()}


@each_row("line", ['hint = "Use tl.load."', "launch.num_warps", "read_ttir(text)", "# As Triton does.",
                                  "BLOCK: constexpr", '"launch_pdl"'])
def test_a_word_is_seen(line: str) -> None:
    assert _named(f"x = 1\n{line}\n", WORDS["triton"]) == [line]


@pytest.mark.parametrize("line", ["turtle.xcor()", "a dot of tl", "stages", "autotuner"])
def test_other_words_are_not(line: str) -> None:
    assert not _named(line, WORDS["triton"])


def test_the_suffix_of_a_file_tells_its_front_end() -> None:
    assert languages.by_suffix(Path(file_of("gemm")).suffix).name == "triton"
    suffixes = ", ".join(sorted({front_end.suffix for front_end in languages.front_ends().values()}))
    said = f"no front end reads files that end in '.f90': use one of {suffixes}"
    with pytest.raises(ValueError, match=re.escape(said)):
        languages.by_suffix(".f90")
    for text in ("import math\nfrom numba import cuda\n", "\ufefffrom numba import cuda\n", "import math, numba\n",
                 "import sys; from numba import cuda\n", '"""\n@triton.jit of old\n"""\nimport numba.cuda as c\n'):
        assert languages.by_text(".py", text).name == "numba", text
    for text in ("import triton\n", "import triton\nimport numba\n", "import torch, triton.language as tl, numba\n",
                 '"""\nfrom numba to Triton\n"""\nimport triton as tr\n', "import numbast\n"):
        assert languages.by_text(".py", text).name == "triton", text
    assert languages.by_text(".cu", "// from numba import cuda\n").name == "cuda"


class Words(NamedTuple):
    """The words of a language, or of a dialect of it; `front_end` is the language's name."""

    front_end: str
    phrases: phrases.Phrases


WORDS_OF = {f"{name} {dialect}": Words(name, own) for name, front_end in languages.front_ends().items()
            for dialect, own in {"": front_end.phrases, **front_end.phrases.dialects}.items()}
each_language = each_row("words", WORDS_OF.values(), ids=list(WORDS_OF))


@each_language
def test_a_clue_has_places_that_it_fills(words: Words) -> None:
    for clue in (*words.phrases.clues, *words.phrases.absent):
        groups, lines = set(re.compile(clue.message).groupindex), set(re.compile(clue.line).groupindex)
        known = {"function", "signature", "constants", "all"}
        for text, named in ((clue.line, groups), (clue.hint, groups | lines | set(words.phrases.sentences))):
            # The first group that took part is a name.
            assert set(re.findall(r"\{(\w+)\}", text)) <= known | named | ({"name"} if named else set()), clue


class FactUse(NamedTuple):
    """A fact in the code: a pattern of its name, and the places that it fills, None if the code decides that."""

    file: Path
    name: re.Pattern[str]
    places: set[str] | None


def _facts() -> Iterator[FactUse]:
    for path in sorted((ROOT / "grader").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fact" and node.args:
                given = {keyword.arg or "" for keyword in node.keywords}
                for name in _names(node.args[0]):
                    yield FactUse(path.relative_to(ROOT), re.compile(name), None if "" in given else given)


def _names(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*_names(node.body), *_names(node.orelse))
    elif isinstance(node, ast.JoinedStr):
        parts = [[*_names(value.value if isinstance(value, ast.FormattedValue) else value)] for value in node.values]
        yield from ("".join("[^.]+" if one == ".+" else one for one in name) for name in product(*parts))
    else:
        yield re.escape(str(node.value)) if isinstance(node, ast.Constant) else ".+"


FACTS = [*_facts()]
# Facts whose name stands in a variable.
DECIDED = {
    "assertion", "unreached", "refused", "exhausted", "failed", "timed", "crash", "asked", "load", "store", "atomic",
    *"xyz"}


def _places(text: str) -> set[str]:
    return {place for _, place, _, _ in Formatter().parse(text) if place is not None}


@each_language
def test_a_fact_has_a_sentence_and_fills_its_places(words: Words) -> None:
    sentences = words.phrases.sentences

    def lacking(name: str, given: set[str]) -> set[str]:
        """The places of a sentence, and of the sentences in it, that are neither given nor sentences."""
        found = {place if place in sentences else place[0].lower() + place[1:]
                 for place in _places(sentences[name]) - given} - given
        return set().union(*(lacking(one, given) if one in sentences else {one} for one in found))

    for said in FACTS:
        # A language's own facts have sentences there.
        if said.file.parts[:2] == ("grader", "languages") and said.file.parts[2] != words.front_end:
            continue
        fitting = [name for name in sentences if said.name.fullmatch(name)]
        assert fitting or "[^.]" in said.name.pattern or said.name.pattern == "mistake", said
        # A name that is put together has sentences with places of their own.
        for name in fitting if not re.search(r"\.\+|\[", said.name.pattern) else ():
            assert said.places is None or not lacking(name, said.places), (said, name)


@each_language
def test_a_sentence_has_a_fact(words: Words) -> None:
    sentences = words.phrases.sentences
    placed = {place[0].lower() + place[1:] for text in sentences.values() for place in _places(text)}
    placed |= {place for clue in (*words.phrases.clues, *words.phrases.absent)
               for place in re.findall(r"\{(\w+)\}", clue.hint)}
    placed |= {place.lower() for assignment in catalogue.assignments().values() for mistake in assignment.mistakes
               for place in re.findall(r"\{(\w+)\}", mistake.hint)}
    plain = [said.name for said in FACTS if said.name.pattern != ".+"]
    idle = [name for name in sentences if name not in placed and name.partition(".")[0] not in DECIDED
            and not any(pattern.fullmatch(name) for pattern in plain)]
    assert idle == []


def test_a_language_that_lacks_a_sentence_is_told_which() -> None:
    with pytest.raises(ValueError, match=r"no sentence 'program': add it to own; \[own\] in .*messages.toml says"):
        phrases.catalogue()


@pytest.mark.parametrize(("language", "text", "blocks"), [
    ("triton", "%1 = tt.load %0 : tensor<64x32x!tt.ptr<f16>>\n%2 = arith.addi %1 : tensor<1x32xi32>", {1, 32, 64}),
    ("cuda", ".visible .entry k()", {1, 8, 16, 128})])
def test_the_blocks_that_a_launch_works_on(language: str, text: str, blocks: set[int]) -> None:
    kernel = Kernel(language=language, name="k", symbol="k", text=text, signature=[])
    launch = Launch(kernel=0, grid=(3, 1, 1), block=(16, 8, 1), arguments=[])
    assert languages.of(kernel).blocks(launch, kernel) == blocks
