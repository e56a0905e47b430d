"""What the launches and copies of a call do together: what they leave unwritten, read too early, or take for another
tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grader import frontends
from grader.judge.explain.called import Called
from grader.judge.explain.evidence import Hint
from grader.judge.explain.findings import beside as found_beside
from grader.judge.explain.findings import empty_grid, left_early
from grader.judge.explain.lines import in_line, quoted
from grader.model.cases import strides_of
from grader.model.parameters import Scalar, Update
from grader.model.result import Detail
from grader.plan.findings import Unwritten
from grader.plan.plan import ITEM_BYTES, Copy, Launch, Pointer, named


def explain_unwritten(called: Called) -> Detail | None:
    """The reason why a call cannot write its output; None where it can."""
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
        hint = empty_grid(line, launches[0].grid, called.words)
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
        hint = Hint("No kernel was launched.", words.no_launch, pattern="no launch")
    return Detail(
        kind="unwritten", message=f"{out} was {state}. {hint.seen}", hint=hint.look, pattern=hint.pattern,
        place=called.place(line))


def read_too_early(called: Called, found: Unwritten) -> Hint | None:
    """Hint for a launch that reads a temporary to which only a later launch of the same call stores."""
    kernels = called.plan.kernels
    stores = {(one.kernel, one.buffer) for one in called.ran.accesses if one.access != "load"}
    for number, launch in enumerate(called.launches):
        kernel = kernels[launch.kernel]
        names = frontends.of(kernel).argument_names(kernel)
        read = {argument.buffer for name, argument in zip(names, launch.arguments, strict=True)
                if (kernel.name, name) == (found.kernel, found.tensor) and isinstance(argument, Pointer)}
        storing = next((at for at, one in enumerate(called.launches) if not stores.isdisjoint(
            (kernels[one.kernel].name, buffer) for buffer in named(one) & read)), 0)
        if storing > number:
            return Hint(
                f"The launch in line {launch.line} reads {quoted(found.tensor)}, which nothing has written yet: the "
                f"launch in line {called.launches[storing].line}, which stores there, comes after it.",
                "Launches run one after another, as they are written: the one that stores comes first.",
                pattern="reads too early", line=launch.line)
    return None


def explain_copies(called: Called) -> Hint | None:
    """Hint for copies that leave out a part of an output, or write a part twice. None where launches write to the
    output as well."""
    copies = [one for one in called.operations if isinstance(one, Copy) and one.target.buffer in called.outputs]
    if not copies or any(named(one) & called.outputs for one in called.launches):
        return None
    moved = sum(math.prod(one.target.shape) * ITEM_BYTES[one.target.dtype] for one in copies)
    room = max(called.plan.buffers[number].bytes for number in called.outputs)
    same = len({one.target.offset for one in copies}) < len(copies)
    if moved >= room and not same:
        return None
    return Hint(
        f"Copying{in_line(copies[0].line)} moves {moved:,} bytes to {called.output}, which has {room:,}"
        + (", and more than one part begins at the same element." if same else "."),
        called.words.sights.copied_bytes or "Each part, the last and partial one, too, goes to a place of its own: "
        "which slice is it?", pattern="copies", line=copies[0].line)


def beside(called: Called) -> Hint | None:
    """What was seen beside an answer and may explain it; None if that is nothing."""
    findings = called.ran.findings
    unwritten = [found for found in findings if isinstance(found, Unwritten)]
    early = next(filter(None, (read_too_early(called, found) for found in unwritten)), None)
    kernels = [called.plan.kernels[one.kernel] for one in called.launches]
    passed = {name for kernel in kernels for name in frontends.of(kernel).argument_names(kernel)}
    # Memory of a program's own may be read and never written because lanes have left.
    own = any(found.tensor and found.tensor not in passed for found in unwritten)
    return (early or (left_early(findings, called.words) if own else None)
            or found_beside(findings, called.assignment.output, called.words) or taken_for_smaller(called)
            or read_while_added(called))


def read_while_added(called: Called) -> Hint | None:
    """Hint for a load of what all programs of the same launch add to before it, which the load does not wait for. None
    where programs may wait for each other."""
    words = called.words.sights
    waits = {called.plan.kernels[one.kernel].name for one in called.launches if one.cooperative}
    seen = [one for one in called.ran.accesses if one.kernel not in waits and one.grid != (1, 1, 1)]
    for load in seen if words.not_added_yet else ():
        for one in seen if load.access == "load" and load.times <= 1 else ():
            if one.access == "atomic" and 0 < one.line < load.line and (
                one.kernel, one.buffer, one.grid, one.first) == (load.kernel, load.buffer, load.grid, load.first
            ) and not any(one.programs):
                return Hint(
                    words.not_added_yet.format(line=load.line, tensor=quoted(load.tensor), adds=one.line),
                    words.not_added_yet_look, "not added yet", load.line, sure=False)
    return None


def taken_for_smaller(called: Called) -> Hint | None:
    """Hint for an access in which each lane takes a part of an element. A language's compiler may have made it so where
    threads address memory."""
    for one in called.ran.accesses if not called.words.names.threads else ():
        if (tensor := called.whole_of(one)) is not None:
            name, whole = tensor
            return Hint(
                f"The {one.access} in line {one.line} takes {name}, whose elements have {8 * whole} bits, for a tensor "
                f"of {8 * one.width} bits each: element i then lies where a part of another does.",
                f"Pass {name} as it is, not a view of another dtype.", pattern="other dtype", line=one.line)
    return None


def between_elements(called: Called, names: Sequence[str]) -> Detail:
    """What is wrong with a call that wrote between the elements of these tensors."""
    one = next(p for p in called.assignment.parameters if p.name == names[0] and not isinstance(p, Scalar))
    stored = next((store for store in called.ran.accesses if store.access != "load"
                   and called.plan.buffers[store.buffer].given == one.name), None)
    return Detail(
        kind="out_of_bounds", pattern="between elements",
        message=f"Something was written between the elements of {one.name}, which has strides "
                f"({', '.join(map(str, strides_of(one, called.case)))}).",
        hint="Neighbouring elements of a dimension lie as far apart as its stride says: is each index multiplied by "
             "the stride of its own dimension, which host code passes to the kernel?",
        place=called.place(stored.line) if stored else None)
