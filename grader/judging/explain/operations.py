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
from grader.judging.explain.findings import left_early, read_while_added, told
from grader.judging.explain.wording import both, extent, in_line, quoted, tensor_name
from grader.languages.phrases import fact
from grader.plan.findings import MOST_ACCESSES, Overflow, Race, Recast, Undefined, Unwritten
from grader.plan.plan import ITEM_BYTES, Copy, Launch, Pointer, filled, named
from grader.results.result import Detail

# Findings that explain a wrong answer. An overflow comes before a race, since an offset that wrapped around may cause
# one.
BESIDE = (Recast, Unwritten, Overflow, Race)


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
    name, pattern = "no_launch", "no launch"
    if reaching:
        name = pattern = "no program"
    elif called.plan.returned == "tensor":
        name = pattern = "returned"
    elif copies and not launches:
        name = pattern = "no copy"
    elif launches:
        name = "not passed"
    name = f"unreached.{name.replace(' ', '_')}"
    if called.assignment.operators and f"{name}.copy.look" in called.words.sentences:
        name += ".copy"
    values = {"out": out, "line": in_line(line), "grid": extent(launches[0].grid) if launches else ""}
    look = f"{name}.look"
    if called.assignment.autograd and name == "unreached.not_passed":
        look = "unreached.not_returned"
    state = "left" if isinstance(called.assignment.output, Update) else "never"
    return Hint(both(fact(f"unreached.{state}", out=out), fact(f"{name}.seen", **values)),
                fact(look, **values), pattern).detail(called.words, "unwritten", called.place(line))


def read_too_early(called: Called, found: Unwritten) -> Hint | None:
    """Return a hint for a launch that reads a temporary that a fill sets in part, or that only a later launch
    writes."""
    seen, names = called.ran.accesses, [called.plan.kernels[one.kernel].name for one in called.launches]
    read = {one.buffer for one in seen if (one.kernel, one.tensor) == (found.kernel, found.tensor)}
    stores = {one.kernel: one.access for one in seen if one.buffer in read and one.access != "load"}
    for number in read if "store" not in stores.values() else ():
        (size, line), room = filled(called.operations, number), called.plan.buffers[number].bytes
        if 0 < size < room and called.words.sentences["set_in_part.look"]:
            return Hint(fact("set_in_part.seen", line=line, size=size, room=room, tensor=quoted(found.tensor),
                             reads=found.line), fact("set_in_part.look"), "set in part", line)
    storing = next((at for at, name in enumerate(names) if name in stores), 0)
    if found.kernel not in names[:storing]:
        return None
    line = called.launches[names.index(found.kernel)].line
    return Hint(fact("too_early.seen", line=line, tensor=quoted(found.tensor), stores=called.launches[storing].line),
                fact("too_early.look"), "reads too early", line)


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
    look = "places" if same or not called.words.sentences["copies.bytes"] else "bytes"
    if whole and not same and room - moved < parts[0]:
        look = "rounded"
    each = fact("copies.each", parts=len(parts), each=parts[0]) if whole else ""
    return Hint(
        fact("copies.same" if same else "copies.seen", line=in_line(copies[0].line), moved=moved, each=each,
             out=called.output, room=room), fact(f"copies.{look}"), pattern="copies", line=copies[0].line)


def beside(called: Called) -> Hint | None:
    """Return the hint of the first observation that may explain a wrong answer; None if there is none."""
    findings = called.ran.findings
    unwritten = [found for found in findings if isinstance(found, Unwritten)]
    early = next(filter(None, (read_too_early(called, found) for found in unwritten)), None) or next((
        told(found, None, called.words) for found in findings if isinstance(found, Undefined) and found.what == "index"
        and called.words.threads), None)
    kernels = [called.plan.kernels[one.kernel] for one in called.launches]
    passed = {name for kernel in kernels for name in languages.of(kernel).argument_names(kernel)}
    # A program's own memory may stay unwritten because lanes have ended early.
    own = any(found.tensor and found.tensor not in passed for found in unwritten)
    return (early or (left_early(findings) if own else None)
            or next((read_while_added(found, called.ran.accesses, called.words)
                     or told(found, called.assignment.output, called.words)
                     for kind in BESIDE for found in findings if isinstance(found, kind)), None)
            or left_unread(called))


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
                fact("left_unread.seen", stores=max(seen, key=lambda one: one.end or 0).line, stored=stored // width,
                     tensor=tensor_name(loads[0].tensor, ""), line=line, read=read // width),
                fact("left_unread.look"), "left unread", line, sure=False)
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
                return Hint(
                    fact("exchanged.seen", line=launch.line, tensor=tensor, name=quoted(name), meant=meant,
                         other=quoted(given[tensor][0])), fact("exchanged.look"), "exchanged", launch.line)
    return None


def not_contiguous(called: Called) -> Hint | None:
    """Return a hint that names the case's first tensor that is not contiguous; None if all are."""
    for one in called.assignment.parameters:
        if not isinstance(one, Scalar) and one.name in called.case.strides:
            return Hint(fact("strides.seen", name=one.name, strides=_strides(one, called.case)), fact("strides.look"),
                        pattern="not contiguous")
    return None


def between_elements(called: Called, names: Sequence[str]) -> Detail:
    """Return what is wrong with a call that wrote between the elements of these tensors."""
    one = next(p for p in called.assignment.parameters if p.name == names[0] and not isinstance(p, Scalar))
    stored = next((store for store in called.ran.accesses if store.access != "load"
                   and called.plan.buffers[store.buffer].given == one.name), None)
    hint = Hint(fact("strides.between", name=one.name, strides=_strides(one, called.case)), fact("strides.look"),
                "between elements")
    return hint.detail(called.words, "out_of_bounds", called.place(stored.line) if stored else None)


def _strides(tensor: Tensor, case: Case) -> str:
    return ", ".join(map(str, strides_of(tensor, case)))
