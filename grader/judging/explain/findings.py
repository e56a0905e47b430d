"""Messages for the findings of a simulator. Some findings fail a run by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from grader.course.assignment import Assignment
from grader.course.parameters import Tensor
from grader.judging.explain.accesses import SHARES, TensorAccess, misplaced
from grader.judging.explain.evidence import Hint
from grader.judging.explain.wording import both, in_line, phrases_of, place, program, quoted, say, tensor_name
from grader.languages.phrases import Fact, Phrases, fact
from grader.plan import findings as seen
from grader.results.result import Detail
from grader.results.verdicts import FailureKind

# More than a block can hold: no partial block reaches so far past the end.
LARGEST_BLOCK = 1 << 20
# Undefined behaviour that GPUs are known to get right: it is a remark, and fails no run.
PROMISED_BY_NOBODY = frozenset({"visible", "warp", "relaxed", "tuner", "streams", "pinned"})


def explain_findings(
    assignment: Assignment, source: str, findings: Sequence[seen.Finding], accesses: Sequence[TensorAccess] = (),
    every_access: Sequence[seen.Access] = (),
) -> Detail | None:
    """Return the first failure that fails a run whatever its answer is: an assertion that does not hold, an access
    outside a tensor, a misaligned access, programs that store different values to one element, an undefined operation
    that goes wrong. None if there is no such finding.

    `source` is the student's file, `accesses` are its loads and stores of tensors whose layout is known.
    """
    words = phrases_of(assignment, source)
    for kind in (seen.Assertion, seen.OutOfBounds, seen.Misaligned, seen.Race, seen.Undefined):
        for found in findings:
            if isinstance(found, kind) and (
                    failed := _failure(found, findings, accesses, every_access, source, words)) is not None:
                failure, hint = failed
                return hint.detail(words, failure, place(assignment, source, found.line))
    return None


def _failure(
    found: seen.Finding, findings: Sequence[seen.Finding], accesses: Sequence[TensorAccess],
    every_access: Sequence[seen.Access], source: str, words: Phrases,
) -> tuple[FailureKind, Hint] | None:
    """Return the failure that a finding is by itself, and its hint; None if the finding fails no run."""
    match found:
        case seen.Assertion():
            said = " ".join(found.message.split())
            kind = "header" if found.header else "own"
            values = {"line": in_line(found.line), "id": program(found.program), "said": f": {said}" if said else "",
                      "header": quoted(found.header)}
            return "exception", Hint(fact(f"assertion.{kind}.seen", **values), fact(f"assertion.{kind}.look"))
        case seen.OutOfBounds(space="shared"):
            name = fact("shared.array", tensor=quoted(found.tensor)) if found.tensor else fact("shared.memory")
            other = fact("shared.load") if found.access == "load" and _sides(found)[0] else ""
            ask = fact("shared.library") if words.marked("block_library", source) else (
                fact("shared.outside", other=other) if found.elements else fact("shared.none"))
            return "out_of_bounds", Hint(_reaches(found, name), ask, "outside shared memory")
        case seen.OutOfBounds():
            look = _outside(found, findings, accesses, source, words)
            return "out_of_bounds", Hint(
                _reaches(found, tensor_name(found.tensor, found.given)), both(look.seen, look.look), look.pattern,
                guess="look" if look.guess else "")
        case seen.Misaligned():
            return "exception", Hint(
                fact("misaligned.seen", access=fact(f"access.{found.access}"), line=in_line(found.line),
                     bytes=found.bytes, offset=found.offset, tensor=tensor_name(found.tensor, found.given),
                     id=program(found.program)), fact("misaligned.look", bytes=found.bytes), "misaligned")
        case seen.Race(certain=True):
            return "race", _race(found)
        case seen.Undefined(certain=True) if found.what not in PROMISED_BY_NOBODY:
            hint = read_while_added(found, every_access, words) or undefined(found, words, source)
            general = hint.look is not None and hint.look.name == "undefined.shared.look"
            if general and (line := _passed_by(findings)) is not None:
                hint = replace(hint, look=fact("race.passed_by", line=in_line(line)))
            return "exception" if found.what == "descriptor" else "undefined", hint
    return None


def told(found: seen.Finding, output: Tensor | None, words: Phrases) -> Hint:
    """Return the hint of a finding beside a wrong answer. `output` is the output to explain, None if no single one is
    meant."""
    line = in_line(found.line)
    match found:
        case seen.Recast():
            return Hint(
                fact("recast.seen", line=found.line, tensor=tensor_name(found.tensor, found.given), before=found.before,
                     after=found.after), fact("recast.look"), "pointer cast")
        case seen.Unwritten() if output is not None and found.given == output.name:
            kind = "byte" if output.dtype == "uint8" else "nan"
            name = "added_to" if found.access == "atomic" else "read"
            values = {"out": output.name, "line": line, "full": fact(f"full_of.{kind}")}
            return Hint(fact(f"output.{name}.seen", **values), fact(
                "output.added_to.look" if name == "added_to" else f"output.read.{kind}", **values),
                "reads the output", guess="look")
        case seen.Unwritten():
            shared = found.space == "shared"
            look = fact("unwritten.between", size=found.stored[0], apart=found.stored[1]) if found.stored else fact(
                "unwritten.shared" if shared else "unwritten.look")
            # If several steps load a shared tile, `lanes` are those of one step alone.
            return Hint(
                fact("unwritten.some" if shared else "unwritten.seen", lanes=found.lanes, line=line,
                     access=fact(f"access.{found.access}" if found.kernel else "access.copy"),
                     tensor=tensor_name(found.tensor, found.given)), look, "reads unwritten memory")
        case seen.Overflow():
            # Only the width of these types is known: the numbers may be unsigned.
            name = "bits" if found.type in ("int8", "int16") else "type"
            return Hint(
                fact(f"overflow.{name}.seen", line=line, type=found.type, bits=found.type.removeprefix("int"),
                     operation=quoted(found.operation), id=program(found.program)), fact(f"overflow.{name}.look"),
                "overflow")
        case seen.Race():
            return _race(found)
        case seen.Undefined():
            return replace(undefined(found, words), sure=True, line=found.line)
        case _:
            raise AssertionError(found)


def read_while_added(found: seen.Finding, accesses: Sequence[seen.Access], words: Phrases) -> Hint | None:
    """Return a hint for a load that races with atomics of the same launch; None for any other finding."""
    if not isinstance(found, seen.Race | seen.Undefined) or getattr(found, "what", "programs") != "programs":
        return None
    same = [one for one in accesses if (one.kernel, one.tensor) == (found.kernel, found.tensor)]
    adds = next((one.line for one in same if one.access == "atomic"), 0)
    loads = any(one.access == "load" and one.line == found.line for one in same)
    if not words.threads or not adds or not loads:
        return None
    return Hint(fact("not_added_yet.seen", line=found.line, tensor=quoted(found.tensor), adds=adds),
                fact("not_added_yet.look"), "not added yet", found.line, sure=False)


def _race(found: seen.Race) -> Hint:
    first, second = (program(one, *found.programs) for one in found.programs)
    name = "certain" if found.certain else "possible"
    return Hint(
        fact(f"race.{name}.seen", first=first, second=second, element=found.element, line=in_line(found.line),
             tensor=tensor_name(found.tensor, found.given)), fact(f"race.{name}.look"), "race", sure=False)


def undefined(found: seen.Undefined, words: Phrases, source: str = "") -> Hint:
    """Return a hint for undefined behaviour: neither the language nor a GPU promises the result, which may come out
    right."""
    closer = words.closer(found, source)
    first, other = (program(one, *found.programs) for one in [*found.programs, (0, 0, 0), (0, 0, 0)][:2])
    # Shared memory is a program's own.
    tensor = quoted(found.tensor) if found.what in ("shared", "approximate") else tensor_name(found.tensor, found.given)
    values = {"line": in_line(found.line), "earlier": in_line(found.earlier), "element": found.element,
              "tensor": tensor, "kernel": quoted(found.kernel), "id": first, "other": other,
              "what": fact("shared.element")}
    return Hint(fact(f"undefined.{found.what}.seen", **{**values, **closer.values}),
                closer.look or fact(f"undefined.{found.what}.look", **values), f"undefined: {found.what}", sure=False)


def left_early(findings: Sequence[seen.Finding]) -> Hint | None:
    """Return a hint for lanes that have ended before a barrier at which others wait, and so do no work after the
    barrier; None if there are none."""
    line = _ended_before_barrier(findings)
    return None if line is None else Hint(
        fact("left_early.seen", line=in_line(line)), fact("left_early.look"), "left early", line)


def _ended_before_barrier(findings: Sequence[seen.Finding]) -> int | None:
    """Return the line of a barrier at which lanes of a warp wait while others of it have ended; None if none do."""
    return next((found.line for found in findings if isinstance(found, seen.Undefined)
                 and found.what == "divergent" and not found.certain), None)


def _passed_by(findings: Sequence[seen.Finding]) -> int | None:
    """Return the line of a barrier at which some threads of a block wait while others wait at another one, or else
    have ended; None if there is none."""
    apart = (found.line for found in findings
             if isinstance(found, seen.Undefined) and found.what == "divergent" and found.certain)
    return next(apart, None) or _ended_before_barrier(findings)


def _sides(found: seen.OutOfBounds) -> tuple[int, int]:
    """Return the elements by which an access reaches past the end of its tensor, and before the start."""
    return max(0, found.highest - found.elements + 1), max(0, -found.lowest)


def _reaches(found: seen.OutOfBounds, name: Fact | str) -> Fact:
    """Return a sentence such as "The load in line 10 reaches up to 19 elements past the end of x, which has 45, in 4
    programs: …"."""
    past, before = _sides(found)
    side = "both" if past and before else "past" if past else "before" if before else "none"
    lanes = "lanes" if found.active > 1 and found.access != "granule" else "no_lanes"
    return fact(
        f"reaches.{lanes}.{'several' if found.programs > 1 else 'one'}", access=fact(f"access.{found.access}"),
        line=in_line(found.line), sides=fact(f"sides.{side}", past=past, before=before), name=name,
        elements=found.elements, programs=found.programs, lanes=found.lanes, active=found.active,
        id=program(found.program))


def _outside(
    found: seen.OutOfBounds, findings: Sequence[seen.Finding], accesses: Sequence[TensorAccess], source: str,
    words: Phrases,
) -> Hint:
    """Return the hint for an access outside its tensor."""
    here = [one for one in accesses if (one.access.line, one.access.tensor) == (found.line, found.tensor)]
    for one in findings:
        if isinstance(one, seen.Overflow) or (isinstance(one, seen.Recast) and one.given == found.given):
            return told(one, None, words)
    if found.kept:
        return Hint(fact("kept.seen", line=found.kept), fact("kept.look"), "kept tensor")
    if found.access == "granule":
        return Hint(None, fact("granule"), "writes past the end")
    slip = words.outside(source, found) if words.threads or any(_later(one, found) for one in here) else None
    hint = misplaced(here) or next(filter(None, (_by_itself(one, found) for one in here)), None) or (
        Hint(slip.seen, slip.look, "guard") if slip else Hint(None, _why_outside(found, here, source, words)))
    # A hint that asks is a guess: a missing mask is seen, but not which index it should compare.
    return replace(hint, guess="all") if "?" in say(words, hint.seen, hint.look) else hint


def _why_outside(found: seen.OutOfBounds, here: Sequence[TensorAccess], source: str, words: Phrases) -> Fact:
    """Return the advice for an access outside its tensor from the finding alone, without its strides."""
    past, before = _sides(found)
    far = max(past, before)
    if far > LARGEST_BLOCK:
        return fact(f"outside.far.{'past' if past >= before else 'before'}", far=far)
    if before:
        return fact("outside.below")
    if not found.masked and words.marked("block_pointer", source):
        return fact("outside.block_pointer")
    # A matrix of one row does not show whether the kernel has an index of rows; a tile of two dimensions does.
    matrix = next((one.layout for one in here if one.layout.down and (len(one.access.tile) > 1 or not one.flat)), None)
    sizes = {"down": matrix.down, "across": matrix.across} if matrix else {}
    every = prod(here[0].access.grid) if here else 0
    # A program's one number, such as the weight of its row, lies outside by its index, whatever the grid is.
    if every and 1 < found.active == found.lanes and found.programs > 1 and 2 * found.programs > every:
        return fact("outside.idle", programs=found.programs, every=every)
    # A thread's condition is not seen as a mask is; the first of several blocks lacks none that the last one needs.
    guarded = words.threads and max(every, found.programs) > 1 and not any(found.program)
    if not found.masked and found.active > 1 and not guarded:
        kind = "matrix" if matrix else "flat"
        return fact(f"outside.unmasked.{kind}", call=fact(found.access), sizes=fact(f"outside.sizes.{kind}", **sizes),
                    other=fact("outside.unmasked_load") if found.access == "load" else "")
    if not found.given:
        return fact("outside.own")
    if past == 1:
        return fact("outside.by_one")
    if found.lanes == found.active and (vector := next((one.layout for one in here if not one.layout.down), None)):
        return fact("outside.vector", name=vector.name, across=vector.across)
    # Tensors of three dimensions have no known layout.
    name = "matrix" if matrix else "flat" if here else "unknown"
    return fact(f"outside.mask.{name}", count=here[0].count if here else "", **sizes)


def _by_itself(one: TensorAccess, found: seen.OutOfBounds) -> Hint | None:
    """Return a hint for vector accesses: an index that is multiplied twice, or a last group that is incomplete."""
    access, each = one.access, (one.access.tile or [1])[-1]
    if one.words.threads and each in SHARES and access.lanes[-2:] == [each**2, 1]:
        return one.hint(None, fact("vector.look", each=each, further=each**2), "vector")
    # An access past the end by less than a group is one of the last, incomplete group.
    (past, before), rest = _sides(found), one.layout.total % one.several
    if one.words.threads and rest and not before and past < one.several:
        return one.hint(None, fact("several", count=one.several, rest=rest), "groups")
    return None


def _later(one: TensorAccess, found: seen.OutOfBounds) -> bool:
    """Return whether the loop of an access takes it outside: its first round stays inside, or its step is the extent of
    a tile of which no lane is switched off in the last round."""
    access, first = one.access, one.access.model_copy(update={"times": 1}).end
    return access.times > 1 and ((first is not None and first <= found.elements) or any(
        size * (apart or 0) == abs(access.step or 0) and access.last[number] == size
        for number, apart, size in one.dimensions))
