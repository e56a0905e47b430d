"""Explanations of a race in shared memory, from a file's text and from the simulator's finding."""

from __future__ import annotations

from collections.abc import Sequence

from grader.languages.cuda.shared import StageUse, shared_arrays, stage_uses
from grader.languages.cuda.source import code_words
from grader.languages.phrases import Fact, TextEvidence, fact
from grader.plan.findings import UndefinedBehaviour


def race_evidence(finding: UndefinedBehaviour, source: str) -> TextEvidence:
    """Return what the file's text shows of a race in shared memory; nothing for any other finding."""
    if finding.what != "shared" or not source:
        return TextEvidence()
    words = code_words(source)
    line = "".join(word.text for word in words if word.line == finding.line)
    values: dict[str, Fact | str] = {} if shared_arrays(words).get(finding.tensor, True) else {
        "what": fact("shared.variable")}
    if "atomicCAS(" in line:
        return TextEvidence(values, fact("race.cas"))
    if same := _same_stage(stage_uses(words), finding):
        store, load = same
        return TextEvidence(values, fact("race.stage", array=load.array, stage=load.stage, store_line=store.first.line,
                                         load_line=load.first.line))
    return TextEvidence(values)


def _same_stage(uses: Sequence[StageUse], finding: UndefinedBehaviour) -> tuple[StageUse, StageUse] | None:
    """Return the store and the load of a race that use the same stage of an array; None if the race has another
    cause."""
    of_array = [use for use in uses if use.array == finding.tensor]
    if len({use.stage for use in uses}) == 1:
        # A single stage is filled and used in turn.
        return None
    for here in (use for use in of_array if use.first.line == finding.line):
        for other in of_array:
            if other.stage == here.stage and other.stores != here.stores:
                return (other, here) if other.stores else (here, other)
    return None
