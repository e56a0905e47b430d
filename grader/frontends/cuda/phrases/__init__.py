"""Wording for CUDA C++: all messages to students in this language's words."""

from grader.frontends.cuda.phrases.chances import CHANCES
from grader.frontends.cuda.phrases.failures import FAILURES
from grader.frontends.cuda.phrases.guards import outside
from grader.frontends.cuda.phrases.races import closer
from grader.frontends.cuda.phrases.refusals import REFUSALS, SKIPS
from grader.frontends.cuda.phrases.sights import ANSWERS, CALLS, NAMES, SIGHTS
from grader.frontends.cuda.phrases.slips import slips
from grader.frontends.phrases import Phrases

PHRASES = Phrases(
    failures=FAILURES, refusals=REFUSALS, skips=SKIPS, chances=CHANCES, names=NAMES, sights=SIGHTS, answers=ANSWERS,
    calls=CALLS, slips=slips, closer=closer, outside=outside)
