"""Sentences for what a simulator saw while kernels ran, and which of it fails a run by itself."""

from __future__ import annotations

from collections.abc import Sequence

from grader.frontends.phrases import Phrases
from grader.judge.explain.accesses import beyond_rows, misplaced
from grader.judge.explain.evidence import Hint, plural
from grader.judge.explain.layout import TensorAccess
from grader.judge.explain.lines import in_line, phrases_of, place, program, quoted, spoken, tensor_name
from grader.judge.explain.undefined import failure, is_failure, undefined
from grader.model.assignment import Assignment
from grader.model.parameters import Tensor
from grader.model.result import Detail
from grader.plan import findings as seen

ONE_TOO_FAR = "One element too far: does the mask say <= n where < n is meant, or is 1 added to the offsets?"

# More than a block can hold: no partial block reaches so far past the end.
LARGEST_BLOCK = 1 << 20

ACCESS = {"load": "load", "store": "store", "atomic": "atomic operation", "granule": "descriptor's store"}


def explain_findings(
    assignment: Assignment, source: str, findings: Sequence[seen.Finding], accesses: Sequence[TensorAccess] = (),
    exchanged: Hint | None = None,
) -> Detail | None:
    """What fails a run whatever its answer is: an assertion that does not hold, an access outside a tensor, programs
    that store different values to one element, an undefined operation that goes wrong. None if there is nothing of
    these.

    `source` is the student's file, `accesses` are its loads and stores; `exchanged` is the hint for arguments that
    stand in each other's place.
    """
    words = phrases_of(assignment)
    outside = [found for found in findings if isinstance(found, seen.OutOfBounds)]
    for found in findings:
        if isinstance(found, seen.Assertion):
            return _assertion(assignment, source, found, words)
    if outside and outside[0].space == "shared":
        return _outside_shared(assignment, source, outside[0], words)
    if outside:
        return _out_of_bounds(assignment, source, outside[0], findings, accesses, exchanged, words)
    for found in findings:
        if isinstance(found, seen.Misaligned):
            return _misaligned(assignment, source, found, words)
    for found in findings:
        if isinstance(found, seen.Race) and found.certain:
            told = race(found, words)
            return Detail(
                kind="race", message=told.seen, hint=told.look, pattern=told.pattern,
                place=place(assignment, source, found.line))
    for found in findings:
        if isinstance(found, seen.Undefined) and is_failure(found, words):
            return failure(assignment, source, found)
    return None


def beside(findings: Sequence[seen.Finding], output: Tensor, words: Phrases) -> Hint | None:
    """The finding that explains a wrong answer; None if none does."""
    # A launch without programs leaves memory unwritten, which a later one reads; a race may be what an offset that
    # wrapped around comes to.
    kinds = (seen.EmptyGrid, seen.Recast, seen.Unwritten, seen.Overflow, seen.Race, seen.MaskedUsed, seen.Undefined)
    for kind in kinds:
        for found in findings:
            # A finding that no second run confirmed explains nothing.
            if isinstance(found, kind) and not (isinstance(found, seen.Undefined) and not found.certain):
                return _told(found, output, words)
    return None


def _told(found: seen.Finding, output: Tensor, words: Phrases) -> Hint:
    match found:
        case seen.EmptyGrid():
            return empty_grid(found.line, found.grid, words)
        case seen.Recast():
            name = tensor_name(found.tensor, found.given, words)
            return Hint(
                f"Line {found.line} takes the pointer to {name}, of {found.before}, as one to {found.after}: offsets "
                "count elements of that size then, and bits are taken as such numbers.",
                words.sights.recast, pattern="pointer cast")
        case seen.Unwritten():
            return _unwritten(found, output, words)
        case seen.Overflow():
            return overflowed(found, words)
        case seen.Race():
            return race(found, words)
        case seen.MaskedUsed():
            return Hint(
                words.sights.masked.format(tensor=quoted(found.tensor), line=in_line(found.line)),
                words.sights.masked_look, pattern="masked lanes", sure=False)
        case seen.Undefined():
            return undefined(found, words)
        case _:
            raise AssertionError(found)


def _assertion(assignment: Assignment, source: str, found: seen.Assertion, words: Phrases) -> Detail:
    said = " ".join(found.message.split())
    fails = words.sights.assertion.format(line=in_line(found.line), program=program(found.program))
    return Detail(
        kind="exception",
        message=f"{fails}{f': {said}' if said else ''}.",
        hint="The kernel checks this itself: either what it guards against happens, or the check is wrong. Sizes and "
             "values are arbitrary.",
        place=place(assignment, source, found.line),
    )


def _out_of_bounds(
    assignment: Assignment, source: str, found: seen.OutOfBounds, findings: Sequence[seen.Finding],
    accesses: Sequence[TensorAccess], exchanged: Hint | None, words: Phrases,
) -> Detail:
    overflow = next((one for one in findings if isinstance(one, seen.Overflow)), None)
    here = [one for one in accesses if (one.access.line, one.access.tensor) == (found.line, found.tensor)]
    cast = next((one for one in findings if isinstance(one, seen.Recast) and one.given == found.given), None)
    if overflow is not None:
        told = overflowed(overflow, words)
    elif cast is not None:
        told = _told(cast, assignment.output, words)
    elif found.kept:
        told = Hint(f"This tensor was allocated before this call, in line {found.kept}, and has its size from then.",
                    "Allocate it in each call, or anew where it is too small.", pattern="kept tensor")
    elif found.access == "granule":
        told = Hint("", words.sights.granule, pattern="writes past the end")
    else:
        told = exchanged or misplaced(here, accesses) or (
            beyond_rows(here, tuple(ACCESS)) if found.masked else None) or Hint(
                "", _why_outside(found, here, source, words))
    return Detail(
        kind="out_of_bounds", message=spoken(_reaches(found, words), words), hint=told.text, pattern=told.pattern,
        place=place(assignment, source, found.line))


def _outside_shared(assignment: Assignment, source: str, found: seen.OutOfBounds, words: Phrases) -> Detail:
    sights = words.sights
    ours = not sights.block_library or sights.block_library not in source
    name = f"the shared array {quoted(found.tensor)}" if found.tensor else "the shared memory"
    return Detail(
        kind="out_of_bounds", message=spoken(_reaches(found, words, name), words),
        hint=sights.outside_shared if ours else sights.block_library_look, pattern="outside shared memory",
        place=place(assignment, source, found.line))


def _misaligned(assignment: Assignment, source: str, found: seen.Misaligned, words: Phrases) -> Detail:
    return Detail(
        kind="exception",
        message=spoken(
            f"The {ACCESS[found.access]}{in_line(found.line)} moves {found.bytes} bytes at once, and begins "
            f"{found.offset:,} bytes into {tensor_name(found.tensor, found.given, words)} in program "
            f"{program(found.program)}: no multiple of {found.bytes}.", words),
        hint=words.sights.misaligned, pattern="misaligned", place=place(assignment, source, found.line))


def _sides(found: seen.OutOfBounds) -> tuple[int, int]:
    """The elements by which an access reaches past the end of its tensor, and before the start."""
    return max(0, found.highest - found.elements + 1), max(0, -found.lowest)


def _reaches(found: seen.OutOfBounds, words: Phrases, name: str = "") -> str:
    """ "The load in line 10 reaches up to 19 elements past the end of x, which has 45; …"."""
    past, before = _sides(found)
    name = name or tensor_name(found.tensor, found.given, words)
    sides = []
    if past:
        sides.append(f"up to {plural(past, 'element')} past the end")
    if before:
        sides.append(f"up to {plural(before, 'element')} before the start")
    text = f"The {ACCESS[found.access]}{in_line(found.line)} reaches {' and '.join(sides) or 'outside'} of {name}"
    which = f"program {program(found.program)}"
    if found.programs > 1:
        which += f", the first of {found.programs:,} that do this"
    if found.active <= 1 or found.access == "granule":
        return f"{text}, which has {found.elements:,}, in {which}."
    lie = "lies" if found.lanes == 1 else "lie"
    return f"{text}, which has {found.elements:,}: {found.lanes:,} of {found.active:,} active lanes {lie} outside in " \
           f"{which}."


def _why_outside(
    found: seen.OutOfBounds, here: Sequence[TensorAccess], source: str, words: Phrases
) -> str:
    """The hint that an access outside its tensor gives by itself."""
    past, before = _sides(found)
    far = max(past, before)
    if far > LARGEST_BLOCK:
        side = "past the end" if past >= before else "before the start"
        return (f"No block is large enough to reach {far:,} elements {side}: the offsets themselves are wrong, not "
                f"their {spoken('mask', words)} alone. {words.sights.far_outside}")
    if found.lanes == found.active and (idle := next(filter(None, map(_beyond_the_rows, here)), "")):
        return spoken(idle, words)
    if before:
        return spoken("Offsets are below 0: something is subtracted from them without a mask, or a number wrapped "
                      "around, as one of 8 bits does beyond 127.", words)
    if not found.masked and words.sights.block_pointer and words.sights.block_pointer in source:
        return words.sights.block_pointer_look
    if not found.masked and found.active > 1:
        calls = {"load": words.names.load, "store": words.names.store, "atomic": words.names.atomic}
        other = words.sights.unmasked_load if found.access == "load" else ""
        # A matrix of one row has no row to tell an index by; the tile has.
        matrix = next((one.layout for one in here if one.layout.down
                       and (len(one.access.tile) > 1 or not one.flat)), None)
        sizes = (f"that compares the index of the row with {matrix.down}, and that of the column with {matrix.across}"
                 if matrix else words.sights.flat_sizes)
        rest = "" if matrix else " In a matrix compare rows and columns, each with its own size."
        return words.sights.unmasked.format(call=calls[found.access], sizes=sizes, other=other) + rest
    if not found.given and not found.elements:
        return "It has no room for a single element: is it allocated with the size of the type that the kernel uses, " \
               "and is a number of elements rounded down to 0?"
    if not found.given:
        return spoken("Is this tensor allocated for as many programs, rows or blocks as use it, whatever the sizes of "
                      "the call are?", words)
    if past == 1:
        return spoken(ONE_TOO_FAR, words)
    row = next((one.layout for one in here if one.layout.is_matrix and one.layout.columns == past), None)
    if row is not None:
        return spoken(f"One row of {row.name} too far: does the mask of the rows say <= where < is meant?", words)
    if found.lanes == found.active and not words.names.threads:
        # No mask has this effect.
        if vector := next((one.layout for one in here if not one.layout.down), None):
            return f"{vector.name} has one element for each of {vector.across}: does the index count these, or others?"
        return ("Element (i, j) of a matrix with C columns lies at i * C + j: which row is meant here, and is C the "
                f"number of columns of {found.given}?")
    return spoken("Does the mask compare the offsets with the right size, in each dimension? And element (i, j) of a "
                  "matrix with C columns lies at i * C + j: is C the number of columns of this very tensor?", words)


def _beyond_the_rows(one: TensorAccess) -> str:
    """A hint that an axis starts more programs than there are rows for; "" if it does not."""
    for moved, count in zip(one.access.programs, one.access.grid, strict=True):
        rows, rest = divmod(moved or 0, one.layout.columns)
        if one.layout.is_matrix and rows > 0 and rest == 0 and (count - 1) * rows >= one.layout.rows:
            each = "one row" if rows == 1 else f"{rows:,} rows"
            text = f"{one.launched}, and each has {each} of {one.layout.name}, which has {one.named(one.layout.rows)}"
            return f"{text[:1].upper()}{text[1:]}: is the grid that of another size?"
    return ""


def _unwritten(found: seen.Unwritten, output: Tensor, words: Phrases) -> Hint:
    if found.given == output.name:
        full, look = "NaN", (
            f"NaN times 0 is NaN too, so a term such as beta * {output.name} spoils the answer even where beta is 0: "
            f"compute from the inputs alone, and store to {output.name} without reading it.")
        if output.dtype == "uint8":
            full, look = "one arbitrary byte", "Compute from the inputs alone."
        return Hint(
            f"{output.name} arrives full of {full}, and the kernel reads it{in_line(found.line)} before anything is "
            "stored there.",
            look, pattern="reads the output",
        )
    return Hint(
        f"The {'load' if found.kernel else 'copy'}{in_line(found.line)} reads {plural(found.lanes, 'element')} of "
        f"{tensor_name(found.tensor, found.given, words)} that nothing has written.",
        words.sights.unwritten, pattern="reads unwritten memory",
    )


def empty_grid(line: int, sizes: Sequence[int], words: Phrases) -> Hint:
    return Hint(
        spoken(f"The launch{in_line(line)} starts no program: its grid is {_grid(sizes)}.", words),
        words.sights.no_program, pattern="no program",
    )


def _grid(sizes: Sequence[int]) -> str:
    """The grid as a launch writes it: `(0,)`, `(4, 0)`."""
    shown = list(sizes)
    while len(shown) > 1 and shown[-1] == 1:
        shown.pop()
    return f"({shown[0]:,},)" if len(shown) == 1 else f"({', '.join(f'{size:,}' for size in shown)})"


def overflowed(found: seen.Overflow, words: Phrases) -> Hint:
    held, look = f"the range of {found.type}", words.sights.overflow
    if found.type in ("int8", "int16"):
        # The width alone is known: it may be unsigned.
        held, look = f"what {found.type.removeprefix('int')} bits hold", words.sights.overflow_of_bytes
    return Hint(
        spoken(f"A number{in_line(found.line)} passes {held} and wraps around ({quoted(found.operation)} in program "
               f"{program(found.program)}).", words),
        look, pattern="overflow",
    )


def race(found: seen.Race, words: Phrases) -> Hint:
    first, second = (program(one, *found.programs) for one in found.programs)
    name = tensor_name(found.tensor, found.given, words)
    if found.certain:
        return Hint(
            spoken(f"Programs {first} and {second} store different values to element {found.element:,} of {name}"
                   f"{in_line(found.line)}: which of them stays is left to chance.", words),
            words.sights.race, pattern="race", sure=False)
    return Hint(
        spoken(f"Programs {first} and {second} of one launch both use element {found.element:,} of {name}"
               f"{in_line(found.line)}, and at least one of them stores to it.", words),
        words.sights.unordered, pattern="race", sure=False)
