"""Hints from a call's launches and copies together: what they leave unwritten, read too early, or take for another
tensor."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from grader import languages
from grader.course.cases import Case, strides_of
from grader.course.parameters import Scalar, Tensor, Update
from grader.judging.explain.called import Called
from grader.judging.explain.evidence import Hint
from grader.judging.explain.findings import left_early, told
from grader.judging.explain.wording import extent, in_line, quoted, spoken, tensor_name
from grader.plan.findings import MOST_ACCESSES, Overflow, Race, Recast, Undefined, Unwritten
from grader.plan.plan import ITEM_BYTES, Copy, Launch, Pointer, filled, named
from grader.results.result import Detail
from grader.results.text import plural

# Findings that explain a wrong answer. An overflow comes before a race, since an offset that wrapped around may cause
# one.
BESIDE = (Recast, Unwritten, Overflow, Race)
STRIDES = ("Neighbouring elements of a dimension lie as far apart as its stride says: is each index multiplied by the "
           "stride of its own dimension, which host code passes to the kernel?")


def explain_unwritten(called: Called) -> Detail | None:
    """Return the reason why a call cannot write its output; None if it can."""
    out = called.output
    # A copy does not write its source.
    reaching = [one for one in called.operations if named(one) & called.outputs
                and not (isinstance(one, Copy) and one.target.buffer not in called.outputs)]
    if any(not isinstance(one, Launch) or all(one.grid) for one in reaching):
        return None
    copies = [one for one in called.operations if isinstance(one, Copy)]
    launches = [one for one in reaching if isinstance(one, Launch)] or called.launches
    line = launches[0].line if launches else copies[-1].line if copies else 0
    words = called.words.calls
    state = "left as it was" if isinstance(called.assignment.output, Update) else "never written"
    if reaching:
        none = f"The launch{in_line(line)} starts no program: its grid is {extent(launches[0].grid)}."
        hint = Hint(spoken(none, called.words), called.words.sights.no_program, pattern="no program")
    elif called.plan.returned == "tensor":
        copied = words.copy_into.format(out=out) if called.assignment.operators else ""
        hint = Hint(f"The function returns a new tensor, and nothing writes to {out}.",
                    words.returned.format(out=out, copy_into=copied), pattern="returned")
    elif copies and not launches:
        hint = Hint(f"The copy{in_line(line)} goes into another tensor, and none into {out}.",
                    words.no_copy.format(out=out), pattern="no copy")
    elif launches:
        hint = Hint(f"{out} is passed to no launch.", words.not_passed.format(out=out), pattern="no launch")
    else:
        copied, copy = (", and nothing copied", f" Or copy into {out}.") if called.assignment.operators else ("", "")
        hint = Hint(f"No kernel was launched{copied}.", words.no_launch + copy, pattern="no launch")
    return Detail(kind="unwritten", message=f"{out} was {state}. {hint.seen}", hint=hint.look, pattern=hint.pattern,
                  place=called.place(line))


def read_too_early(called: Called, found: Unwritten) -> Hint | None:
    """Return a hint for a launch that reads a temporary that a fill sets in part, or that only a later launch
    writes."""
    seen, names = called.ran.accesses, [called.plan.kernels[one.kernel].name for one in called.launches]
    read = {one.buffer for one in seen if (one.kernel, one.tensor) == (found.kernel, found.tensor)}
    stores = {one.kernel: one.access for one in seen if one.buffer in read and one.access != "load"}
    for number in read if "store" not in stores.values() else ():
        (size, line), room = filled(called.operations, number), called.plan.buffers[number].bytes
        if 0 < size < room and (look := called.words.sights.set_in_part):
            return Hint(
                f"Line {line} sets {size:,} of the {plural(room, 'byte')} of {quoted(found.tensor)}, and line "
                f"{found.line} reads bytes that it did not set.", look, "set in part", line)
    storing = next((at for at, name in enumerate(names) if name in stores), 0)
    if found.kernel not in names[:storing]:
        return None
    line = called.launches[names.index(found.kernel)].line
    return Hint(
        f"The launch in line {line} reads {quoted(found.tensor)}, which nothing has written yet: the launch in line "
        f"{called.launches[storing].line}, which stores there, comes after it.",
        "Launches run one after another, as they are written: the one that stores comes first.",
        "reads too early", line)


def explain_copies(called: Called) -> Hint | None:
    """Return a hint for copies that leave out a part of an output, or write a part twice. None if a launch takes the
    output as well."""
    copies = [one for one in called.operations if isinstance(one, Copy) and one.target.buffer in called.outputs]
    if not copies or any(named(one) & called.outputs for one in called.launches):
        return None
    parts = [math.prod(one.target.shape) * ITEM_BYTES[one.target.dtype] for one in copies]
    moved, whole = sum(parts), len(parts) > 1 == len(set(parts))
    room = max(called.plan.buffers[number].bytes for number in called.outputs)
    same = len({one.target.offset for one in copies}) < len(copies)
    if moved >= room and not same:
        return None
    each = f", {len(parts)} parts of {parts[0]:,}," if whole else ""
    look = "" if same else called.words.sights.copied_bytes
    look = look or "Each part, the last and partial one, too, goes to a place of its own."
    if whole and not same and room - moved < parts[0]:
        look = "The incomplete part at the end is missing: is the number of rounds rounded down, which leaves it out?"
    return Hint(
        f"Copying{in_line(copies[0].line)} moves {moved:,} bytes{each} to {called.output}, which has {room:,}"
        + (", and more than one part begins at the same element." if same else "."),
        look, pattern="copies", line=copies[0].line)


def beside(called: Called) -> Hint | None:
    """Return the hint of the first observation that may explain a wrong answer; None if there is none."""
    findings = called.ran.findings
    unwritten = [found for found in findings if isinstance(found, Unwritten)]
    early = next(filter(None, (read_too_early(called, found) for found in unwritten)), None) or next((
        told(found, None, called.words) for found in findings if isinstance(found, Undefined) and found.what == "index"
        and called.words.names.threads), None)
    kernels = [called.plan.kernels[one.kernel] for one in called.launches]
    passed = {name for kernel in kernels for name in languages.of(kernel).argument_names(kernel)}
    # A program's own memory may stay unwritten because lanes have ended early.
    own = any(found.tensor and found.tensor not in passed for found in unwritten)
    return (early or (left_early(findings, called.words) if own else None)
            or next((told(found, called.assignment.output, called.words) for kind in BESIDE for found in findings
                     if isinstance(found, kind)), None) or read_while_added(called) or left_unread(called))


def left_unread(called: Called) -> Hint | None:
    """Return a hint for a temporary if the kernels read fewer of its elements than they store."""
    copied = {one.source.buffer for one in called.operations if isinstance(one, Copy)}
    for number, buffer in enumerate(called.plan.buffers):
        seen = [one for one in called.ran.accesses if one.buffer == number]
        loads = [one for one in seen if one.access == "load"]
        ends = [min(one.end * one.width, buffer.bytes) if one.end else 0 for one in (*loads, *seen)]
        stored_alone = all(one.access != "atomic" for one in seen) and not buffer.given and number not in copied
        if not loads or not stored_alone or not all(ends):
            continue
        if (read := max(ends[:len(loads)])) < (stored := max(ends)) and len(called.ran.accesses) < MOST_ACCESSES:
            line, width = loads[0].line, loads[0].width
            return Hint(
                f"Line {max(seen, key=lambda one: one.end or 0).line} stores {plural(stored // width, 'element')} of "
                f"{tensor_name(loads[0].tensor, '', called.words)}, and line {line} reads only the first "
                f"{read // width:,}.",
                "Does the number of elements that are read follow from the sizes, or is it a constant in the file?",
                "left unread", line, sure=False)
    return None


def read_while_added(called: Called) -> Hint | None:
    """Return a hint for a load of an element to which all programs of the same launch add in an earlier line: the load
    does not wait for them. None for cooperative launches, whose programs may wait for each other."""
    words = called.words.sights
    waits = {called.plan.kernels[one.kernel].name for one in called.launches if one.cooperative}
    seen = [one for one in called.ran.accesses if one.kernel not in waits and one.grid != (1, 1, 1)]
    added = {(one.kernel, one.buffer, one.grid, one.first): one.line for one in seen
             if one.access == "atomic" and not any(one.programs)}
    for load in seen if words.not_added_yet else ():
        adds = added.get((load.kernel, load.buffer, load.grid, load.first), 0)
        if load.access == "load" and load.times <= 1 and 0 < adds < load.line:
            return Hint(words.not_added_yet.format(line=load.line, tensor=quoted(load.tensor), adds=adds),
                        words.not_added_yet_look, "not added yet", load.line, sure=False)
    return None


def exchanged(called: Called) -> Hint | None:
    """Return a hint for two tensors that a launch passes in each other's place, by the kernel's names for them."""
    tensors = {one.name for one in called.assignment.parameters if not isinstance(one, Scalar)}
    for launch in called.launches:
        kernel, given = called.plan.kernels[launch.kernel], {}
        for name, argument in zip(languages.of(kernel).argument_names(kernel), launch.arguments, strict=True):
            if isinstance(argument, Pointer) and (meant := re.sub("_(ptr|pointer|desc)$", "", name)) in tensors:
                given[meant] = name, called.plan.buffers[argument.buffer].given
        for meant, (name, tensor) in given.items():
            if meant != tensor and tensor in given and given[tensor][1] == meant:
                return Hint(f"The launch in line {launch.line} gives {tensor} for the kernel's {quoted(name)}, and "
                            f"{meant} for its {quoted(given[tensor][0])}: the two are exchanged.",
                            "Compare the arguments of the launch with the kernel's parameters, one by one.",
                            "exchanged", launch.line)
    return None


def not_contiguous(called: Called) -> Hint | None:
    """Return a hint that names the case's first tensor that is not contiguous; None if all are."""
    for one in called.assignment.parameters:
        if not isinstance(one, Scalar) and one.name in called.case.strides:
            return Hint(f"In this case {one.name} is not contiguous: it has {_strides(one, called.case)}.", STRIDES,
                        pattern="not contiguous")
    return None


def between_elements(called: Called, names: Sequence[str]) -> Detail:
    """Return what is wrong with a call that wrote between the elements of these tensors."""
    one = next(p for p in called.assignment.parameters if p.name == names[0] and not isinstance(p, Scalar))
    stored = next((store for store in called.ran.accesses if store.access != "load"
                   and called.plan.buffers[store.buffer].given == one.name), None)
    return Detail(
        kind="out_of_bounds", pattern="between elements", hint=STRIDES,
        message=f"Something was written between the elements of {one.name}, which has {_strides(one, called.case)}.",
        place=called.place(stored.line) if stored else None)


def _strides(tensor: Tensor, case: Case) -> str:
    return f"strides ({', '.join(map(str, strides_of(tensor, case)))})"
