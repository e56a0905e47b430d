"""Hints from a call's launches and copies together: what they leave unwritten, read too early, or take for another
tensor."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from grader import languages
from grader.course.cases import Case, strides_of
from grader.course.parameters import Scalar, Tensor, Update
from grader.judging.explain.evidence import Hint
from grader.judging.explain.explained_call import ExplainedCall
from grader.judging.explain.findings import finding_hint, left_early, read_while_added
from grader.judging.explain.wording import extent, in_line, join, quoted, tensor_name
from grader.languages.phrases import fact
from grader.plan.findings import MOST_ACCESSES, Overflow, Race, Recast, UndefinedBehaviour, UnwrittenAccess
from grader.plan.plan import ITEM_BYTES, Copy, Launch, Pointer, filled, touched_buffers
from grader.results.result import Detail

# Findings that explain a wrong answer. An overflow comes before a race, since an offset that wrapped around may cause
# one.
EXPLAINING = (Recast, UnwrittenAccess, Overflow, Race)


def explain_unwritten(called: ExplainedCall) -> Detail | None:
    """Return the reason why a call cannot write its output; None if it can."""
    out = called.output
    # A copy does not write its source.
    reaching = [operation for operation in called.operations if touched_buffers(operation) & called.outputs
                and not (isinstance(operation, Copy) and operation.target.buffer not in called.outputs)]
    if any(not isinstance(operation, Launch) or all(operation.grid) for operation in reaching):
        return None
    copies = [operation for operation in called.operations if isinstance(operation, Copy)]
    launches = [operation for operation in reaching if isinstance(operation, Launch)] or called.launches
    line = launches[0].line if launches else copies[-1].line if copies else 0
    name, pattern = "no_launch", "no launch"
    if reaching:
        name = pattern = "no program"
    elif called.plan.returned == "tensor":
        name = pattern = "returned"
    elif copies and not launches:
        name = pattern = "no copy"
    elif launches and any(isinstance(operation, Launch) and touched_buffers(operation) & called.outputs
                          for operation in called.plan.first):
        name = pattern = "passed before"
    elif launches:
        name = "not passed"
    name = f"unreached.{name.replace(' ', '_')}"
    if called.assignment.operators and f"{name}.copy.advice" in called.words.sentences:
        name += ".copy"
    values = {"out": out, "line": in_line(line), "grid": extent(launches[0].grid) if launches else ""}
    advice = f"{name}.advice"
    if called.assignment.autograd and name == "unreached.not_passed":
        advice = "unreached.not_returned"
    state = "left" if isinstance(called.assignment.output, Update) else "never"
    return Hint(join(fact(f"unreached.{state}", out=out), fact(f"{name}.seen", **values)),
                fact(advice, **values), pattern).detail(called.words, "unwritten", called.place(line))


def read_too_early(called: ExplainedCall, finding: UnwrittenAccess) -> Hint | None:
    """Return a hint for a launch that reads a temporary too early: a fill has set a part of it, or only a later launch
    writes it."""
    seen, names = called.result.accesses, [called.plan.kernels[launch.kernel].name for launch in called.launches]
    read = {access.buffer for access in seen if (access.kernel, access.tensor) == (finding.kernel, finding.tensor)}
    stores = {access.kernel: access.access for access in seen if access.buffer in read and access.access != "load"}
    for number in read if "store" not in stores.values() else ():
        (size, line), room = filled(called.operations, number), called.plan.buffers[number].bytes
        if 0 < size < room and called.words.sentences["set_in_part.advice"]:
            return Hint(fact("set_in_part.seen", line=line, size=size, room=room, tensor=quoted(finding.tensor),
                             reads=finding.line), fact("set_in_part.advice"), "set in part", line)
    storing = next((at for at, name in enumerate(names) if name in stores), 0)
    if finding.kernel not in names[:storing]:
        return None
    line = called.launches[names.index(finding.kernel)].line
    return Hint(fact("too_early.seen", line=line, tensor=quoted(finding.tensor), stores=called.launches[storing].line),
                fact("too_early.advice"), "reads too early", line)


def explain_copies(called: ExplainedCall) -> Hint | None:
    """Return a hint for copies that leave out a part of an output, or write a part twice. None if a launch takes the
    output as well."""
    copies = [operation for operation in called.operations
              if isinstance(operation, Copy) and operation.target.buffer in called.outputs]
    if not copies or any(touched_buffers(launch) & called.outputs for launch in called.launches):
        return None
    parts = [math.prod(copy.target.shape) * ITEM_BYTES[copy.target.dtype] for copy in copies]
    moved, whole = sum(parts), len(parts) > 1 == len(set(parts))
    room = max(called.plan.buffers[number].bytes for number in called.outputs)
    same = len({copy.target.offset for copy in copies}) < len(copies)
    if moved >= room and not same:
        return None
    advice = "places" if same or not called.words.sentences["copies.bytes"] else "bytes"
    if whole and not same and room - moved < parts[0]:
        advice = "rounded"
    sizes = fact("copies.each", parts=len(parts), each=parts[0]) if whole else ""
    return Hint(
        fact("copies.same" if same else "copies.seen", line=in_line(copies[0].line), moved=moved, each=sizes,
             out=called.output, room=room), fact(f"copies.{advice}"), pattern="copies", line=copies[0].line)


def observed(called: ExplainedCall) -> Hint | None:
    """Return the hint of the first observation that may explain a wrong answer; None if there is none."""
    findings = called.result.findings
    unwritten = [finding for finding in findings if isinstance(finding, UnwrittenAccess)]
    early = next(filter(None, (read_too_early(called, finding) for finding in unwritten)), None) or next((
        finding_hint(finding, None, called.words) for finding in findings if called.words.threads
        and isinstance(finding, UndefinedBehaviour) and finding.what == "index"), None)
    kernels = [called.plan.kernels[launch.kernel] for launch in called.launches]
    passed = {name for kernel in kernels for name in languages.of(kernel).argument_names(kernel)}
    # A program's own memory may stay unwritten because lanes have ended early.
    own = any(finding.tensor and finding.tensor not in passed for finding in unwritten)
    return (early or (left_early(findings) if own else None)
            or next((read_while_added(finding, called.result.accesses)
                     or finding_hint(finding, called.assignment.output, called.words)
                     for kind in EXPLAINING for finding in findings if isinstance(finding, kind)), None)
            or left_unread(called))


def left_unread(called: ExplainedCall) -> Hint | None:
    """Return a hint for a temporary if the kernels read fewer of its elements than they store."""
    copied = {operation.source.buffer for operation in called.operations if isinstance(operation, Copy)}
    for number, buffer in enumerate(called.plan.buffers):
        accesses = [access for access in called.result.accesses if access.buffer == number]
        loads = [access for access in accesses if access.access == "load"]
        ends = [min(access.end * access.width, buffer.bytes) if access.end else 0 for access in (*loads, *accesses)]
        added = any(access.access == "atomic" for access in accesses)
        stored_alone = not added and not buffer.given and number not in copied
        if not loads or not stored_alone or not all(ends):
            continue
        if (read := max(ends[:len(loads)])) < (stored := max(ends)) and len(called.result.accesses) < MOST_ACCESSES:
            line, width = loads[0].line, loads[0].width
            return Hint(
                fact("left_unread.seen", stores=max(accesses, key=lambda access: access.end or 0).line,
                     stored=stored // width, tensor=tensor_name(loads[0].tensor, ""), line=line, read=read // width),
                fact("left_unread.advice"), "left unread", line, sure=False)
    return None


def exchanged(called: ExplainedCall) -> Hint | None:
    """Return a hint for two tensors that a launch passes in each other's place, by the kernel's names for them."""
    tensors = {parameter.name for parameter in called.assignment.parameters if not isinstance(parameter, Scalar)}
    for launch in called.launches:
        kernel, given = called.plan.kernels[launch.kernel], {}
        for name, argument in zip(languages.of(kernel).argument_names(kernel), launch.arguments, strict=True):
            if isinstance(argument, Pointer) and (meant := re.sub("_(ptr|pointer|desc)$", "", name)) in tensors:
                given[meant] = name, called.plan.buffers[argument.buffer].given
        for meant, (name, tensor) in given.items():
            if meant != tensor and tensor in given and given[tensor][1] == meant:
                return Hint(
                    fact("exchanged.seen", line=launch.line, tensor=tensor, name=quoted(name), meant=meant,
                         other=quoted(given[tensor][0])), fact("exchanged.advice"), "exchanged", launch.line)
    return None


def not_contiguous(called: ExplainedCall) -> Hint | None:
    """Return a hint that names the case's first tensor that is not contiguous; None if all are."""
    for parameter in called.assignment.parameters:
        if not isinstance(parameter, Scalar) and parameter.name in called.case.strides:
            return Hint(fact("strides.seen", name=parameter.name, strides=_strides(parameter, called.case)),
                        fact("strides.advice"),
                        pattern="not contiguous")
    return None


def between_elements(called: ExplainedCall, names: Sequence[str]) -> Detail:
    """Return what is wrong with a call that wrote between the elements of these tensors."""
    parameter = next(p for p in called.assignment.parameters if p.name == names[0] and not isinstance(p, Scalar))
    stored = next((store for store in called.result.accesses if store.access != "load"
                   and called.plan.buffers[store.buffer].given == parameter.name), None)
    hint = Hint(fact("strides.between", name=parameter.name, strides=_strides(parameter, called.case)),
                fact("strides.advice"),
                "between elements")
    return hint.detail(called.words, "out_of_bounds", called.place(stored.line) if stored else None)


def _strides(tensor: Tensor, case: Case) -> str:
    return ", ".join(map(str, strides_of(tensor, case)))
