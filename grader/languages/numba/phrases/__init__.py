"""Wording for Numba-CUDA: CUDA C++'s for kernels and Triton's for host code, in this language's words."""

from grader.languages.numba.phrases.failures import FAILURES
from grader.languages.numba.phrases.refusals import REFUSALS, SKIPS
from grader.languages.numba.phrases.sights import ANSWERS, CALLS, CHANCES, NAMES, SIGHTS
from grader.languages.phrases import Phrases
from grader.languages.triton.phrases.slips import slips

PHRASES = Phrases(
    failures=FAILURES, refusals=REFUSALS, skips=SKIPS, chances=CHANCES, names=NAMES, sights=SIGHTS, answers=ANSWERS,
    calls=CALLS, slips=slips)
