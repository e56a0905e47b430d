"""Wording for Numba-CUDA: that of threads for kernels and of Python for host code, with this language's terms."""

from __future__ import annotations

import re
from pathlib import Path

from grader.languages.phrases import PYTHON, THREADS, Phrases, catalogue, clues
from grader.languages.triton.phrases import PHRASES as TRITON
from grader.languages.triton.phrases.slips import slips

_HERE = Path(__file__).parent
# Clues of Triton's that speak of its kernels, in its terms too: the others are about Python.
_FOREIGN = re.compile(
    r"\{(?:tl|jit|dot|language|tanh)\}|\btl\.|[Tt]riton|num_(?:warps|stages|ctas)|constexpr|mask=|other=|\(programs|CompiledKernel|<lambda>")

PHRASES = Phrases(
    catalogue(THREADS, PYTHON, _HERE / "messages.toml"),
    clues=(*clues(_HERE / "clues.toml"),
           *(one for one in TRITON.clues if not _FOREIGN.search(one.hint + one.message))),
    absent=tuple(one for one in TRITON.absent if not _FOREIGN.search(one.hint)), threads=True, slips=slips)
