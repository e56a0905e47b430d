"""Triton's words for students, gathered in one object."""

from grader.languages.phrases import Phrases
from grader.languages.triton.phrases.chances import CHANCES
from grader.languages.triton.phrases.failures import FAILURES
from grader.languages.triton.phrases.masks import outside
from grader.languages.triton.phrases.refusals import REFUSALS, SKIPS
from grader.languages.triton.phrases.sights import ANSWERS, CALLS, NAMES, SIGHTS
from grader.languages.triton.phrases.slips import slips

PHRASES = Phrases(
    failures=FAILURES, refusals=REFUSALS, skips=SKIPS, chances=CHANCES, names=NAMES, sights=SIGHTS, answers=ANSWERS,
    calls=CALLS, slips=slips, outside=outside)
