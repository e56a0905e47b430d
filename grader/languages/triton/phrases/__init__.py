"""Triton's words for students, gathered in one object."""

import re
from pathlib import Path

from grader.languages.phrases import PYTHON, Phrases, catalogue, clues
from grader.languages.triton.phrases.failures import unwrap
from grader.languages.triton.phrases.masks import outside
from grader.languages.triton.phrases.slips import slips

# A grid that is not counted by a function of the configuration, beside an autotuner.
_TUNED = r"(?s)\A(?!.*?\blambda (\w{1,40}+):.{0,300}?\b\1\[)(?!.*\bdef \w+\((?:META|meta)\b).*@triton\.autotune"

# Names of Triton's language that Gluon's has, too.
_SHARED = re.compile(r"\btl\.(?!cat\b|debug_barrier\b|dot\b|rand\b|trans\b)")

_HERE = Path(__file__).parents[1]
_CLUES = _HERE / "clues.toml"

_SENTENCES = catalogue(PYTHON, _HERE / "messages.toml")
_IN_GLUON = {name: _SHARED.sub("gl.", text) for name, text in _SENTENCES.items() if _SHARED.search(text)}

PHRASES = Phrases(
    _SENTENCES, clues=clues(_CLUES), absent=clues(_CLUES, "absent"), unwrap=unwrap,
    marks={"tuned": _TUNED, "block_pointer": "make_block_ptr", "bounds_checked": "boundary_check"}, slips=slips,
    dialect=lambda source: _IN_GLUON if "triton.experimental" in source else {}, outside=outside)
