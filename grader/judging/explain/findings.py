"""Messages for the findings of a simulator. Some findings fail a run by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from grader.course.assignment import Assignment
from grader.course.parameters import Tensor
from grader.judging.explain.accesses import SHARES, TensorAccess, misplaced
from grader.judging.explain.barriers import barrier_advice, barrier_text, uncommitted, unreached, where
from grader.judging.explain.evidence import Hint
from grader.judging.explain.wording import (
    in_line,
    join,
    line_text,
    phrases_of,
    place,
    program,
    quoted,
    say,
    tensor_name,
)
from grader.languages.phrases import Fact, Phrases, fact
from grader.plan.findings import (
    Access,
    Assertion,
    Finding,
    MisalignedAccess,
    OutOfBounds,
    Overflow,
    Race,
    Recast,
    UndefinedBehaviour,
    UnwrittenAccess,
)
from grader.results.result import Detail
from grader.results.verdicts import FailureKind

# More than a block can hold: no partial block reaches so far past the end.
LARGEST_BLOCK = 1 << 20
# Undefined behaviour that GPUs are known to get right: it is a remark, and fails no run.
UNPROMISED = frozenset({
    "visible", "warp", "relaxed", "unacquired", "scope", "read_only", "tuner"})


def explain_findings(
    assignment: Assignment, source: str, findings: Sequence[Finding], accesses: Sequence[TensorAccess] = (),
    every_access: Sequence[Access] = (),
) -> Detail | None:
    """Return the first failure that fails a run whatever its answer is: an assertion that does not hold, an access
    outside a tensor, a misaligned access, programs that store different values to one element, an undefined operation
    that goes wrong. None if there is no such finding.

    `source` is the student's file, `accesses` are its loads and stores of tensors whose layout is known.
    """
    words = phrases_of(assignment, source)
    for kind in (Assertion, OutOfBounds, MisalignedAccess, Race, UndefinedBehaviour):
        for finding in findings:
            if isinstance(finding, kind) and (
                    failed := _failure(finding, findings, accesses, every_access, source, words)) is not None:
                failure, hint = failed
                return hint.detail(words, failure, place(assignment, source, finding.line))
    return None


def _failure(
    finding: Finding, findings: Sequence[Finding], accesses: Sequence[TensorAccess],
    every_access: Sequence[Access], source: str, words: Phrases,
) -> tuple[FailureKind, Hint] | None:
    """Return the failure that a finding is by itself, and its hint; None if the finding fails no run."""
    match finding:
        case Assertion():
            text = " ".join(finding.message.split())
            kind = "header" if finding.header else "own"
            values = {"line": in_line(finding.line), "id": program(finding.program),
                      "said": f": {text}" if text else "", "header": quoted(finding.header)}
            return "exception", Hint(fact(f"assertion.{kind}.seen", **values), fact(f"assertion.{kind}.advice"))
        case OutOfBounds(space="shared"):
            name = fact("shared.array", tensor=quoted(finding.tensor)) if finding.tensor else fact("shared.memory")
            loads = fact("shared.load") if finding.access == "load" and _sides(finding)[0] else ""
            ask = fact("shared.library") if words.marked("block_library", source) else (
                fact("shared.outside", other=loads) if finding.elements else fact("shared.none"))
            return "out_of_bounds", Hint(_reaches(finding, name), ask, "outside shared memory")
        case OutOfBounds():
            hint = _outside_hint(finding, findings, accesses, source, words)
            return "out_of_bounds", Hint(
                _reaches(finding, tensor_name(finding.tensor, finding.given)), join(hint.seen, hint.advice),
                hint.pattern, guess="advice" if hint.guess else "")
        case MisalignedAccess():
            return "exception", Hint(
                fact("misaligned.seen", access=fact(f"access.{finding.access}"), line=in_line(finding.line),
                     bytes=finding.bytes, offset=finding.offset, tensor=tensor_name(finding.tensor, finding.given),
                     id=program(finding.program)), fact("misaligned.advice", bytes=finding.bytes), "misaligned")
        case Race(certain=True):
            return "race", _race(finding)
        case UndefinedBehaviour(certain=True) if finding.what not in UNPROMISED:
            hint = read_while_added(finding, every_access) or undefined(
                finding, words, source, _passed_by(findings))
            return "exception" if finding.what == "descriptor" else "undefined", hint
    return None


def finding_hint(finding: Finding, output: Tensor | None, words: Phrases) -> Hint:
    """Return the hint of a finding beside a wrong answer. `output` is the output to explain, None if no single one is
    meant."""
    line = in_line(finding.line)
    match finding:
        case Recast():
            return Hint(
                fact("recast.seen", line=finding.line, tensor=tensor_name(finding.tensor, finding.given),
                     before=finding.before, after=finding.after), fact("recast.advice"), "pointer cast")
        case UnwrittenAccess() if output is not None and finding.given == output.name:
            kind = "byte" if output.dtype == "uint8" else "nan"
            name = "added_to" if finding.access == "atomic" else "read"
            values = {"out": output.name, "line": line, "full": fact(f"full_of.{kind}")}
            return Hint(fact(f"output.{name}.seen", **values), fact(
                "output.added_to.advice" if name == "added_to" else f"output.read.{kind}", **values),
                "reads the output", guess="advice")
        case UnwrittenAccess():
            shared = finding.space == "shared"
            advice = fact("unwritten.shared" if shared else "unwritten.advice")
            if finding.stored:
                advice = fact("unwritten.between", size=finding.stored[0], apart=finding.stored[1])
            # If several steps load a shared tile, `lanes` are those of one step alone.
            return Hint(
                fact("unwritten.some" if shared else "unwritten.seen", lanes=finding.lanes, line=line,
                     access=fact(f"access.{finding.access}" if finding.kernel else "access.copy"),
                     tensor=tensor_name(finding.tensor, finding.given)), advice, "reads unwritten memory")
        case Overflow():
            # Only the width of these types is known: the numbers may be unsigned.
            name = "bits" if finding.type in ("int8", "int16") else "type"
            return Hint(
                fact(f"overflow.{name}.seen", line=line, type=finding.type, bits=finding.type.removeprefix("int"),
                     operation=quoted(finding.operation), id=program(finding.program)), fact(f"overflow.{name}.advice"),
                "overflow")
        case Race():
            return _race(finding)
        case UndefinedBehaviour():
            return replace(undefined(finding, words), sure=True, line=finding.line)
        case _:
            raise AssertionError(finding)


def read_while_added(finding: Finding, accesses: Sequence[Access]) -> Hint | None:
    """Return a hint for a load that races with atomics of the same launch; None for any other finding."""
    if not isinstance(finding, Race) and not (
            isinstance(finding, UndefinedBehaviour) and finding.what == "programs"):
        return None
    same = [access for access in accesses if (access.kernel, access.tensor) == (finding.kernel, finding.tensor)]
    adds = next((access.line for access in same if access.access == "atomic"), 0)
    loads = any(access.access == "load" and access.line == finding.line for access in same)
    if not adds or not loads:
        return None
    return Hint(fact("not_added_yet.seen", line=finding.line, tensor=quoted(finding.tensor), adds=adds),
                fact("not_added_yet.advice"), "not added yet", finding.line, sure=False)


def _race(finding: Race) -> Hint:
    first, second = (program(ids, *finding.programs) for ids in finding.programs)
    name = "certain" if finding.certain else "possible"
    return Hint(
        fact(f"race.{name}.seen", first=first, second=second, element=finding.element, line=in_line(finding.line),
             tensor=tensor_name(finding.tensor, finding.given)), fact(f"race.{name}.advice"), "race", sure=False)


def undefined(finding: UndefinedBehaviour, words: Phrases, source: str = "", missed: int | None = None) -> Hint:
    """Return a hint for undefined behaviour: neither the language nor a GPU promises the result, which may come out
    right. `missed` is the line of a barrier that some threads do not reach."""
    evidence, advice = words.evidence(finding, source), fact(f"undefined.{finding.what}.advice")
    first, second = (program(ids, *finding.programs) for ids in [*finding.programs, (0, 0, 0), (0, 0, 0)][:2])
    # Shared memory is a program's own.
    own = finding.what in ("shared", "approximate")
    tensor = quoted(finding.tensor) if own else tensor_name(finding.tensor, finding.given)
    values = {"line": in_line(finding.line), "earlier": in_line(finding.earlier), "element": finding.element,
              "tensor": tensor, "kernel": quoted(finding.kernel), "id": first, "other": second,
              "what": fact("shared.element")}
    if finding.what == "divergent":
        values["what"], advice = barrier_text(source, finding.line, words), unreached(source, finding.line, words)
        values["line"] = where(source, finding.line)
    elif finding.what == "pending":
        copies = words.marked("commits", source) and not words.marked("products", source)
        advice = uncommitted(source, words) or (fact("pending.copies") if copies else advice)
    elif finding.what in ("shared", "barrier", "warp") and finding.earlier not in (0, finding.line):
        values["line"] = fact("in_lines", first=finding.earlier, then=finding.line)
    if finding.what in ("shared", "barrier") and missed is not None:
        advice = fact("race.passed_by", line=where(source, missed), what=barrier_text(source, missed, words),
                      advice=unreached(source, missed, words))
    elif finding.what in ("shared", "barrier") and finding.earlier:
        advice = barrier_advice(finding.earlier, finding.line, source, words) or advice
    if finding.what == "shared" and words.threads and finding.tensor and re.search(
            rf"\b{re.escape(finding.tensor)}\s*(?:\[\d+\])?\s*[-+*|&^]=", line_text(source, finding.line)):
        advice = fact("race.summed")
    return Hint(fact(f"undefined.{finding.what}.seen", **{**values, **evidence.values}),
                evidence.advice or replace(advice, values={**values, **advice.values}), f"undefined: {finding.what}",
                sure=False)


def left_early(findings: Sequence[Finding]) -> Hint | None:
    """Return a hint for lanes that have ended before a barrier at which others wait, and so do no work after the
    barrier; None if there are none."""
    line = _ended_before_barrier(findings)
    return None if line is None else Hint(
        fact("left_early.seen", line=in_line(line)), fact("left_early.advice"), "left early", line)


def _ended_before_barrier(findings: Sequence[Finding]) -> int | None:
    """Return the line of a barrier at which lanes of a warp wait while others of it have ended; None if none do."""
    return next((finding.line for finding in findings if isinstance(finding, UndefinedBehaviour)
                 and finding.what == "divergent" and not finding.certain), None)


def _passed_by(findings: Sequence[Finding]) -> int | None:
    """Return the line of a barrier at which some threads of a block wait while others wait at another barrier; without
    one, of a barrier before which other threads have ended; None if there is neither."""
    apart = (finding.line for finding in findings
             if isinstance(finding, UndefinedBehaviour) and finding.what == "divergent" and finding.certain)
    return next(apart, None) or _ended_before_barrier(findings)


def _sides(finding: OutOfBounds) -> tuple[int, int]:
    """Return the elements by which an access reaches past the end of its tensor, and before the start."""
    return max(0, finding.highest - finding.elements + 1), max(0, -finding.lowest)


def _reaches(finding: OutOfBounds, name: Fact | str) -> Fact:
    """Return a sentence such as "The load in line 10 reaches up to 19 elements past the end of x, which has 45, in 4
    programs: …"."""
    past, before = _sides(finding)
    side = "both" if past and before else "past" if past else "before" if before else "none"
    lanes = "lanes" if finding.active > 1 and finding.access != "granule" else "no_lanes"
    return fact(
        f"reaches.{lanes}.{'several' if finding.programs > 1 else 'one'}", access=fact(f"access.{finding.access}"),
        line=in_line(finding.line), sides=fact(f"sides.{side}", past=past, before=before), name=name,
        elements=finding.elements, programs=finding.programs, lanes=finding.lanes, active=finding.active,
        id=program(finding.program))


def _outside_hint(
    finding: OutOfBounds, findings: Sequence[Finding], accesses: Sequence[TensorAccess], source: str,
    words: Phrases,
) -> Hint:
    """Return the hint for an access outside its tensor."""
    here = [access for access in accesses
            if (access.access.line, access.access.tensor) == (finding.line, finding.tensor)]
    for cause in findings:
        if isinstance(cause, Overflow) or (isinstance(cause, Recast) and cause.given == finding.given):
            return finding_hint(cause, None, words)
    if finding.kept:
        return Hint(fact("kept.seen", line=finding.kept), fact("kept.advice"), "kept tensor")
    if finding.access == "granule":
        return Hint(None, fact("granule"), "writes past the end")
    slip = words.outside(source, finding) if words.threads or any(_later(access, finding) for access in here) else None
    hint = misplaced(here) or next(filter(None, (_by_itself(access, finding) for access in here)), None) or (
        Hint(slip.seen, slip.advice, "guard") if slip else Hint(None, _why_outside(finding, here, source, words)))
    # A hint with a question is a guess: the finding shows a missing mask, not the index that it should compare.
    return replace(hint, guess="all") if "?" in say(words, hint.seen, hint.advice) else hint


def _why_outside(finding: OutOfBounds, here: Sequence[TensorAccess], source: str, words: Phrases) -> Fact:
    """Return the advice for an access outside its tensor from the finding alone, without its strides."""
    past, before = _sides(finding)
    far = max(past, before)
    if far > LARGEST_BLOCK:
        return fact(f"outside.far.{'past' if past >= before else 'before'}", far=far)
    if before:
        return fact("outside.below")
    if not finding.masked and words.marked("block_pointer", source):
        return fact("outside.block_pointer")
    # A matrix of one row does not show whether the kernel has an index of rows; a tile of two dimensions does.
    matrix = next((access.layout for access in here
                   if access.layout.down and (len(access.access.tile) > 1 or not access.flat)), None)
    sizes = {"down": matrix.down, "across": matrix.across} if matrix else {}
    every = prod(here[0].access.grid) if here else 0
    # A single number of a program, such as its row's weight, lies outside because of its index, not of the grid.
    if every and 1 < finding.active == finding.lanes and finding.programs > 1 and 2 * finding.programs > every:
        return fact("outside.idle", programs=finding.programs, every=every)
    # No finding shows the condition of a thread, as it shows a mask. The first of several blocks needs no condition.
    guarded = words.threads and max(every, finding.programs) > 1 and not any(finding.program)
    if not finding.masked and finding.active > 1 and not guarded:
        kind = "matrix" if matrix else "flat"
        return fact(f"outside.unmasked.{kind}", call=fact(finding.access), sizes=fact(f"outside.sizes.{kind}", **sizes),
                    other=fact("outside.unmasked_load") if finding.access == "load" else "")
    if not finding.given:
        return fact("outside.own")
    if past == 1:
        return fact("outside.by_one")
    vector = next((access.layout for access in here if not access.layout.down), None)
    if vector and finding.lanes == finding.active:
        return fact("outside.vector", name=vector.name, across=vector.across)
    # Tensors of three dimensions have no known layout.
    name = "matrix" if matrix else "flat" if here else "unknown"
    return fact(f"outside.mask.{name}", count=here[0].count if here else "", **sizes)


def _by_itself(tensor_access: TensorAccess, finding: OutOfBounds) -> Hint | None:
    """Return a hint for vector accesses: an index that is multiplied twice, or a last group that is incomplete."""
    access, width = tensor_access.access, (tensor_access.access.tile or [1])[-1]
    if tensor_access.words.threads and width in SHARES and access.lane_strides[-2:] == [width**2, 1]:
        return tensor_access.hint(None, fact("vector.advice", each=width, further=width**2), "vector")
    # An access past the end by less than a group is one of the last, incomplete group.
    (past, before), rest = _sides(finding), tensor_access.layout.total % tensor_access.several
    if tensor_access.words.threads and rest and not before and past < tensor_access.several:
        return tensor_access.hint(None, fact("several", count=tensor_access.several, rest=rest), "groups")
    return None


def _later(tensor_access: TensorAccess, finding: OutOfBounds) -> bool:
    """Return whether a loop moves an access outside: the first round stays inside, or each round moves on by a whole
    tile, and the last one switches off no lane."""
    access, first = tensor_access.access, tensor_access.access.model_copy(update={"times": 1}).end
    return access.times > 1 and ((first is not None and first <= finding.elements) or any(
        size * (apart or 0) == abs(access.loop_stride or 0) and access.last[number] == size
        for number, apart, size in tensor_access.dimensions))
