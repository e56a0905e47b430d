"""Wording for Numba-CUDA: CUDA C++'s for kernels and Triton's for host code, in this language's words."""

from grader.frontends.numba.phrases.failures import FAILURES
from grader.frontends.numba.phrases.refusals import REFUSALS, SKIPS
from grader.frontends.numba.phrases.sights import ANSWERS, CALLS, CHANCES, NAMES, SIGHTS
from grader.frontends.phrases import Phrases
from grader.frontends.triton.phrases.slips import slips

PHRASES = Phrases(
    failures=FAILURES, refusals=REFUSALS, skips=SKIPS, chances=CHANCES, names=NAMES, sights=SIGHTS, answers=ANSWERS,
    calls=CALLS, slips=slips)
