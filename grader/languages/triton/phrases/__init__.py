"""Triton's words for students, gathered in one object."""

from dataclasses import replace
from pathlib import Path

from grader.languages.phrases import PYTHON, Phrases, catalogue, clues
from grader.languages.triton.phrases.failures import unwrap
from grader.languages.triton.phrases.masks import outside
from grader.languages.triton.phrases.slips import slips

# A grid that is not counted by a function of the configuration, beside an autotuner.
_TUNED = r"(?s)\A(?!.*?\blambda (\w{1,40}+):.{0,300}?\b\1\[)(?!.*\bdef \w+\((?:META|meta)\b).*@triton\.autotune"

_HERE = Path(__file__).parents[1]
_SENTENCES, _CLUES, _GLUON = (_HERE / name for name in ("messages.toml", "clues.toml", "gluon.toml"))

TRITON = Phrases(
    catalogue(PYTHON, _SENTENCES), clues=clues(_CLUES), absent=clues(_CLUES, "absent"), unwrap=unwrap,
    marks={"tuned": _TUNED, "block_pointer": "make_block_ptr", "bounds_checked": "boundary_check",
           "arrivals": r"mbarrier\.", "parity": r"mbarrier\.wait"},
    slips=slips, outside=outside)
GLUON = replace(
    TRITON, sentences=catalogue(PYTHON, _SENTENCES, _GLUON), clues=(*clues(_GLUON), *TRITON.clues))
PHRASES = replace(TRITON, dialects={"triton.experimental": GLUON})
