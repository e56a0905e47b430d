"""Wording for CUDA C++: all messages to students in this language's words."""

from pathlib import Path

from grader.languages.cuda.phrases.compiling import unwrap
from grader.languages.cuda.phrases.guards import outside
from grader.languages.cuda.phrases.races import closer
from grader.languages.cuda.phrases.slips import slips
from grader.languages.phrases import THREADS, Phrases, catalogue, clues

_HERE = Path(__file__).parents[1]

PHRASES = Phrases(
    catalogue(THREADS, _HERE / "messages.toml"), clues=clues(_HERE / "clues.toml"), unwrap=unwrap,
    marks={"block_library": "cub::Block"}, threads=True, slips=slips, closer=closer, outside=outside)
