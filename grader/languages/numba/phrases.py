"""Wording for Numba-CUDA: that of threads for kernels and of Python for host code, with this language's terms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from grader.languages.phrases import PYTHON, THREADS, Phrases, Slip, catalogue, clues, fact
from grader.languages.triton.phrases import PHRASES as TRITON
from grader.languages.triton.phrases.slips import slips as empty_loops

_HERE = Path(__file__).parent
# Clues of Triton's that speak of its kernels, in its terms too: the others are about Python.
_FOREIGN = re.compile(
    r"\{(?:tl|jit|dot|language|tanh)\}|\btl\.|[Tt]riton|num_(?:warps|stages|ctas)|constexpr|mask=|other=|\(programs|CompiledKernel|<lambda>")
_LOCAL = re.compile(r"^[ \t]+(\w+) *= *cuda\.local\.array\(.*\n", re.MULTILINE)
_MOST_ARRAYS = 16


def slips(source: str) -> Iterator[Slip]:
    """Yield loops that make no iteration, and local arrays that are added to and never set: NVVM happens to begin them
    at 0."""
    yield from empty_loops(source)
    for made in islice(_LOCAL.finditer(source), _MOST_ARRAYS):
        name, declared, adds = made[1], source.count("\n", 0, made.start()) + 1, 0
        for number, line in enumerate(source[made.end():].splitlines(), declared + 1):
            if line[:1].strip():
                break
            code = line.partition("#")[0]
            if re.search(rf"\b{name}\b(?! *\[)|\b{name} *\[[^=]{{0,200}}\] *=(?!=)", code):
                adds = 0
                break
            if not adds and re.search(rf"\b{name} *\[[^=]{{0,200}}\] *[-+*/|&^]=", code):
                adds = number
        if adds:
            yield Slip(adds, fact("slip.unset.seen", line=adds, name=name, declared=declared),
                       fact("slip.unset.advice"), undefined=True)


PHRASES = Phrases(
    catalogue(THREADS, PYTHON, _HERE / "messages.toml"),
    clues=(*clues(_HERE / "clues.toml"),
           *(clue for clue in TRITON.clues if not _FOREIGN.search(clue.hint + clue.message))),
    absent=tuple(clue for clue in TRITON.absent if not _FOREIGN.search(clue.hint)), threads=True, slips=slips,
    shared=lambda source: re.findall(r"\b(\w+) *= *cuda\.shared\.array\b", source))
