"""Wording for CUDA C++: all messages to students in this language's words."""

from grader.languages.cuda.phrases.chances import CHANCES
from grader.languages.cuda.phrases.failures import FAILURES
from grader.languages.cuda.phrases.guards import outside
from grader.languages.cuda.phrases.races import closer
from grader.languages.cuda.phrases.refusals import REFUSALS, SKIPS
from grader.languages.cuda.phrases.sights import ANSWERS, CALLS, NAMES, SIGHTS
from grader.languages.cuda.phrases.slips import slips
from grader.languages.phrases import Phrases

PHRASES = Phrases(
    failures=FAILURES, refusals=REFUSALS, skips=SKIPS, chances=CHANCES, names=NAMES, sights=SIGHTS, answers=ANSWERS,
    calls=CALLS, slips=slips, closer=closer, outside=outside)
