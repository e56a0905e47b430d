"""Triton's words for students, gathered in one object."""

from grader.frontends.phrases import Phrases
from grader.frontends.triton.phrases.chances import CHANCES
from grader.frontends.triton.phrases.failures import FAILURES
from grader.frontends.triton.phrases.masks import outside
from grader.frontends.triton.phrases.refusals import REFUSALS, SKIPS
from grader.frontends.triton.phrases.sights import ANSWERS, CALLS, NAMES, SIGHTS
from grader.frontends.triton.phrases.slips import slips

PHRASES = Phrases(
    failures=FAILURES, refusals=REFUSALS, skips=SKIPS, chances=CHANCES, names=NAMES, sights=SIGHTS, answers=ANSWERS,
    calls=CALLS, slips=slips, outside=outside)
