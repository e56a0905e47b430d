"""Messages for the findings of a simulator. Some findings fail a run by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from grader.course.assignment import Assignment
from grader.course.parameters import Tensor
from grader.judging.explain.accesses import ACCESS, SHARES, TensorAccess, misplaced
from grader.judging.explain.evidence import Hint
from grader.judging.explain.wording import in_line, phrases_of, place, program, quoted, spoken, tensor_name
from grader.languages.phrases import Phrases
from grader.plan import findings as seen
from grader.results.result import Detail
from grader.results.text import plural
from grader.results.verdicts import FailureKind

# More than a block can hold: no partial block reaches so far past the end.
LARGEST_BLOCK = 1 << 20


def explain_findings(
    assignment: Assignment, source: str, findings: Sequence[seen.Finding], accesses: Sequence[TensorAccess] = (),
) -> Detail | None:
    """Return the first failure that fails a run whatever its answer is: an assertion that does not hold, an access
    outside a tensor, a misaligned access, programs that store different values to one element, an undefined operation
    that goes wrong. None if there is no such finding.

    `source` is the student's file, `accesses` are its loads and stores.
    """
    words = phrases_of(assignment)
    for kind in (seen.Assertion, seen.OutOfBounds, seen.Misaligned, seen.Race, seen.Undefined):
        for found in findings:
            if isinstance(found, kind) and (failed := _failure(found, findings, accesses, source, words)) is not None:
                failure, hint = failed
                return Detail(kind=failure, message=hint.seen, hint=hint.look, guess=hint.guess, pattern=hint.pattern,
                              place=place(assignment, source, found.line))
    return None


def _failure(
    found: seen.Finding, findings: Sequence[seen.Finding], accesses: Sequence[TensorAccess], source: str, words: Phrases
) -> tuple[FailureKind, Hint] | None:
    """Return the failure that a finding is by itself, and its hint; None if the finding fails no run."""
    match found:
        case seen.Assertion():
            said = " ".join(found.message.split())
            if found.header:
                return "exception", Hint(spoken(
                    f"An assertion of the header {quoted(found.header)}{in_line(found.line)} does not hold in program "
                    f"{program(found.program)}{f': {said}' if said else ''}.", words),
                    "The header checks how it is used: what does this line pass to its function?")
            fails = words.sights.assertion.format(line=in_line(found.line), program=program(found.program))
            return "exception", Hint(
                f"{fails}{f': {said}' if said else ''}.",
                "The kernel checks this itself: either what it guards against happens, or the check is wrong. Sizes "
                "and values are arbitrary.")
        case seen.OutOfBounds(space="shared"):
            ours = not words.sights.block_library or words.sights.block_library not in source
            name = f"the shared array {quoted(found.tensor)}" if found.tensor else "the shared memory"
            other = words.sights.outside_shared_load if found.access == "load" and _sides(found)[0] else ""
            ask = words.sights.block_library_look if not ours else (
                words.sights.outside_shared + other if found.elements else words.sights.no_shared)
            return "out_of_bounds", Hint(spoken(_reaches(found, name), words), ask, "outside shared memory")
        case seen.OutOfBounds():
            look = _outside(found, findings, accesses, source, words)
            said = spoken(_reaches(found, tensor_name(found.tensor, found.given, words)), words)
            return "out_of_bounds", Hint(said, look.text, look.pattern, guess=look.guess)
        case seen.Misaligned():
            return "exception", Hint(
                spoken(f"The {ACCESS[found.access]}{in_line(found.line)} moves {found.bytes} bytes at once, and begins "
                       f"{found.offset:,} bytes into {tensor_name(found.tensor, found.given, words)} in program "
                       f"{program(found.program)}, which is not a multiple of {found.bytes}.", words),
                words.sights.misaligned.format(bytes=found.bytes), "misaligned")
        case seen.Race(certain=True):
            return "race", _race(found, words)
        case seen.Undefined(certain=True) if (kind := words.chances[found.what].kind) is not None:
            hint = undefined(found, words, source)
            general = words.sights.passed_by and hint.look == words.chances["shared"].look
            if general and (line := _passed_by(findings)) is not None:
                hint = replace(hint, look=words.sights.passed_by.format(line=in_line(line)))
            return kind, hint
    return None


def told(found: seen.Finding, output: Tensor | None, words: Phrases) -> Hint:
    """Return the hint of a finding beside a wrong answer. `output` is the output to explain, None if no single one is
    meant."""
    sights, line = words.sights, in_line(found.line)
    match found:
        case seen.Recast():
            return Hint(
                f"Line {found.line} casts the pointer to {tensor_name(found.tensor, found.given, words)}, of "
                f"{found.before}, to one to {found.after}: offsets then count elements of that size, and the bits are "
                "read as that type.", sights.recast, "pointer cast")
        case seen.Unwritten() if output is not None and found.given == output.name:
            full, even = ("one arbitrary byte", "") if output.dtype == "uint8" else ("NaN", ": even 0 times NaN is NaN")
            said, look = (
                f"The atomic operation{line} takes in what {output.name} holds, which arrives full of {full}.",
                f"Fill {output.name} before the launch, with 0 for a sum.") if found.access == "atomic" else (
                f"{output.name} arrives full of {full}, and the kernel reads it{line} before anything is stored there.",
                f"Compute from the inputs alone{even}. Where programs add to {output.name}, fill it with 0 before.")
            return Hint(said, look, "reads the output", guess=look)
        case seen.Unwritten():
            # If several steps load a shared tile, `lanes` are those of one step alone.
            count = "elements" if found.space == "shared" else plural(found.lanes, "element")
            look = sights.unwritten_between.format(*found.stored) if found.stored else (
                sights.unwritten_shared if found.space == "shared" else sights.unwritten)
            return Hint(f"The {ACCESS[found.access] if found.kernel else 'copy'}{line} reads {count} of "
                        f"{tensor_name(found.tensor, found.given, words)} that nothing has written.",
                        look, "reads unwritten memory")
        case seen.Overflow():
            # Only the width of these types is known: the numbers may be unsigned.
            narrow = found.type in ("int8", "int16")
            held = f"what {found.type.removeprefix('int')} bits hold" if narrow else f"the range of {found.type}"
            return Hint(
                spoken(f"A number{line} passes {held} and wraps around ({quoted(found.operation)} in program "
                       f"{program(found.program)}).", words),
                sights.overflow_of_bytes if narrow else sights.overflow, "overflow")
        case seen.Race():
            return _race(found, words)
        case seen.Undefined():
            return replace(undefined(found, words), sure=True, line=found.line)
        case _:
            raise AssertionError(found)


def _race(found: seen.Race, words: Phrases) -> Hint:
    first, second = (program(one, *found.programs) for one in found.programs)
    where = f"element {found.element:,} of {tensor_name(found.tensor, found.given, words)}{in_line(found.line)}"
    said = (f"Programs {first} and {second} store different values to {where}: which of them stays is left to chance."
            if found.certain else
            f"Programs {first} and {second} of one launch both use {where}, and at least one of them stores to it.")
    return Hint(spoken(said, words), words.sights.race if found.certain else words.sights.unordered, "race", sure=False)


def undefined(found: seen.Undefined, words: Phrases, source: str = "") -> Hint:
    """Return a hint for undefined behaviour: neither the language nor a GPU promises the result, which may come out
    right."""
    chance = words.closer(words.chances[found.what], found, source)
    first, other = (program(one, *found.programs) for one in [*found.programs, (0, 0, 0), (0, 0, 0)][:2])
    # Shared memory is a program's own.
    tensor = quoted(found.tensor) if found.what in ("shared", "approximate") else tensor_name(
        found.tensor, found.given, words)
    known = {"line": in_line(found.line), "earlier": in_line(found.earlier), "element": found.element, "tensor": tensor,
             "kernel": quoted(found.kernel), "program": first, "other": other}
    return Hint(chance.seen.format(**known), chance.look.format(**known), f"undefined: {found.what}", sure=False)


def left_early(findings: Sequence[seen.Finding], words: Phrases) -> Hint | None:
    """Return a hint for lanes that have ended before a barrier at which others wait, and so do no work after the
    barrier; None if there are none."""
    line = _ended_before_barrier(findings)
    return None if line is None else Hint(
        words.sights.left_early.format(line=in_line(line)), words.sights.left_early_look, "left early", line)


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


def _reaches(found: seen.OutOfBounds, name: str) -> str:
    """Return a sentence such as "The load in line 10 reaches up to 19 elements past the end of x, which has 45, in 4
    programs: …"."""
    sides = [f"up to {plural(far, 'element')} {side}" for far, side in zip(
        _sides(found), ("past the end", "before the start"), strict=True) if far]
    text = f"The {ACCESS[found.access]}{in_line(found.line)} reaches {' and '.join(sides) or 'outside'} of {name}"
    first, several = f"program {program(found.program)}", found.programs > 1
    text += f", which has {found.elements:,}{f', in {found.programs:,} programs' if several else ''}"
    if found.active <= 1 or found.access == "granule":
        return f"{text}: {first} is the first of them." if several else f"{text}, in {first}."
    lie = "lies" if found.lanes == 1 else "lie"
    return f"{text}: {found.lanes:,} of {found.active:,} active lanes {lie} outside in {first}" \
           f"{', the first of them' if several else ''}."


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
        return Hint(f"This tensor was allocated before this call, in line {found.kept}, and has its size from then.",
                    "Allocate it in each call, or anew where it is too small.", "kept tensor")
    if found.access == "granule":
        return Hint("", words.sights.granule, "writes past the end")
    told_by = words.outside(source, found) if words.names.threads or any(_later(one, found) for one in here) else None
    hint = misplaced(here) or next(filter(None, (_by_itself(one, found) for one in here)), None) or (
        Hint(told_by.seen, told_by.look, "guard") if told_by else Hint("", _why_outside(found, here, source, words)))
    # A hint that asks is a guess: a missing mask is seen, but not which index it should compare.
    return replace(hint, guess=hint.text) if "?" in hint.text else hint


def _why_outside(found: seen.OutOfBounds, here: Sequence[TensorAccess], source: str, words: Phrases) -> str:
    """Return the advice for an access outside its tensor from the finding alone, without its strides."""
    past, before = _sides(found)
    far, sights = max(past, before), words.sights
    if far > LARGEST_BLOCK:
        side = "past the end" if past >= before else "before the start"
        return (f"No block is large enough to reach {far:,} elements {side}: the offsets themselves are wrong, not "
                f"their {spoken('mask', words)} alone. {sights.far_outside}")
    if before:
        return spoken("Offsets are below 0: is something subtracted from them without a mask, or has a number of few "
                      "bits wrapped around?", words)
    if not found.masked and sights.block_pointer and sights.block_pointer in source:
        return sights.block_pointer_look
    # A matrix of one row does not show whether the kernel has an index of rows; a tile of two dimensions does.
    matrix = next((one.layout for one in here if one.layout.down and (len(one.access.tile) > 1 or not one.flat)), None)
    both = f"the index of the row with {matrix.down}, and that of the column with {matrix.across}" if matrix else ""
    every = prod(here[0].access.grid) if here else 0
    # A program's one number, such as the weight of its row, lies outside by its index, whatever the grid is.
    if every and 1 < found.active == found.lanes and found.programs > 1 and 2 * found.programs > every:
        return spoken(f"{found.programs:,} of {every:,} programs lie outside, so the launch starts more programs than "
                      "there is work for. Compare its grid with the shape: are two of its numbers exchanged?", words)
    # A thread's condition is not seen as a mask is; the first of several blocks lacks none that the last one needs.
    guarded = words.names.threads and max(every, found.programs) > 1 and not any(found.program)
    if not found.masked and found.active > 1 and not guarded:
        calls = {"load": words.names.load, "store": words.names.store, "atomic": words.names.atomic}
        other = sights.unmasked_load if found.access == "load" else ""
        sizes = f"that compares {both}" if matrix else sights.flat_sizes
        rest = "" if matrix else " In a matrix compare rows and columns, each with its own size."
        return sights.unmasked.format(call=calls[found.access], sizes=sizes, other=other) + rest
    if not found.given:
        return spoken("Is this tensor allocated for as many programs, rows or blocks as use it, whatever the sizes of "
                      "the call are? And with the size of the type that the kernel uses?", words)
    if past == 1:
        return spoken("One element too far: does the mask say <= n where < n is meant, or is 1 added to the offsets?",
                      words)
    if found.lanes == found.active and (vector := next((one.layout for one in here if not one.layout.down), None)):
        return f"{vector.name} has one element for each of {vector.across}: does the index count these, or others?"
    # Tensors of three dimensions have no known layout.
    flat = f"the offsets with {here[0].count}" if here else "the offsets with the right size, in each dimension"
    index = "" if here else " And is each index multiplied by the stride of its own dimension?"
    if matrix:
        index = (" And element (i, j) of a matrix with C columns lies at i * C + j: is C the number of columns of this "
                 "very tensor?")
    return spoken(f"Does the mask compare {both or flat}?{index}", words)


def _by_itself(one: TensorAccess, found: seen.OutOfBounds) -> Hint | None:
    """Return a hint for vector accesses: an index that is multiplied twice, or a last group that is incomplete."""
    access, each = one.access, (one.access.tile or [1])[-1]
    if one.words.names.threads and each in SHARES and access.lanes[-2:] == [each**2, 1]:
        return one.hint("", f"Each thread moves {each} elements at once, and the next one begins {each**2} further on: "
                        f"the index of a vector counts vectors, and is multiplied by {each} before.", "vector")
    # An access past the end by less than a group is one of the last, incomplete group.
    (past, before), rest = _sides(found), one.layout.total % one.several
    if one.words.sights.several and rest and not before and past < one.several:
        return one.hint("", one.words.sights.several.format(count=one.several, rest=plural(rest, "element")), "groups")
    return None


def _later(one: TensorAccess, found: seen.OutOfBounds) -> bool:
    """Return whether the loop of an access takes it outside: its first round stays inside, or its step is the extent of
    a tile of which no lane is switched off in the last round."""
    access, first = one.access, one.access.model_copy(update={"times": 1}).end
    return access.times > 1 and ((first is not None and first <= found.elements) or any(
        size * (apart or 0) == abs(access.step or 0) and access.last[number] == size
        for number, apart, size in one.dimensions))
