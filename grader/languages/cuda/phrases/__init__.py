"""Wording for CUDA C++: all messages to students in this language's words."""

from pathlib import Path

from grader.languages.cuda.phrases.compiling import unwrap
from grader.languages.cuda.phrases.guards import outside
from grader.languages.cuda.phrases.races import race_evidence
from grader.languages.cuda.phrases.slips import slips
from grader.languages.cuda.shared import shared_arrays
from grader.languages.cuda.source import code_words
from grader.languages.phrases import THREADS, Phrases, catalogue, clues

_HERE = Path(__file__).parents[1]

PHRASES = Phrases(
    catalogue(THREADS, _HERE / "messages.toml"), clues=clues(_HERE / "clues.toml"), unwrap=unwrap,
    marks={"block_library": "cub::Block", "numbered": r"\bbar(?:rier)?\.(?:cta\.)?(?:sync|red)\b",
           "arrivals": r"mbarrier|cuda::barrier|pipeline_shared_state|\bbar(?:rier)?\.(?:cta\.)?arrive\b",
           "waits_for_flag": r"\bwhile\b[^\0]{0,400}?__threadfence",
           "sets_up": r"\binit\s*+\(|mbarrier\.init\b", "parity": "parity",
           "products": "wgmma",
           "commits": r"\b(?:__pipeline_commit|producer_commit)\b|cp\.async\.commit_group"},
    threads=True, slips=slips, shared=lambda source: shared_arrays(code_words(source)), evidence=race_evidence,
    outside=outside)
