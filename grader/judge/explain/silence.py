"""Why nothing was written to a tensor, as far as the plan shows: no launch, no launch that takes it, an empty grid, or
a launch that comes after the one that reads."""

from __future__ import annotations

import math

from grader import frontends
from grader.judge.explain.called import Called
from grader.judge.explain.evidence import Hint, plural
from grader.judge.explain.lines import in_line, quoted, spoken
from grader.judge.explain.runs import empty_grid
from grader.model.parameters import Update
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
        if kernel.name != found.kernel:
            continue
        names = frontends.of(kernel).argument_names(kernel)
        read = {argument.buffer for name, argument in zip(names, launch.arguments, strict=True)
                if name == found.tensor and isinstance(argument, Pointer)}
        storing = [at for at, one in enumerate(called.launches)
                   if not {(kernels[one.kernel].name, buffer) for buffer in named(one) & read}.isdisjoint(stores)]
        if storing and storing[0] > number:
            return Hint(
                f"The launch in line {launch.line} reads {quoted(found.tensor)}, which nothing has written yet: the "
                f"launch in line {called.launches[storing[0]].line}, which stores there, comes after it.",
                "Launches run one after another, as they are written: the one that stores comes first.",
                pattern="reads too early", line=launch.line)
    return None


def explain_copies(called: Called, elements: int) -> Hint | None:
    """Hint for copies that leave out a part of an output of `elements`, or write a part twice. None where launches
    write to the output as well."""
    copies = [one for one in called.operations if isinstance(one, Copy) and one.target.buffer in called.outputs]
    if not copies or any(named(one) & called.outputs for one in called.launches):
        return None
    starts = {one.target.offset for one in copies}
    total = sum(math.prod(one.target.shape) for one in copies)
    moved = sum(math.prod(one.target.shape) * ITEM_BYTES[one.target.dtype] for one in copies)
    room = max(called.plan.buffers[number].bytes for number in called.outputs)
    if called.words.sights.copied_bytes and moved < room:
        return Hint(
            f"The copy{in_line(copies[0].line)} writes {moved:,} of the {room:,} bytes of {called.output}.",
            called.words.sights.copied_bytes, pattern="copies", line=copies[0].line)
    seen = f"The copies{in_line(copies[0].line)} write {plural(len(copies), 'part')} of {called.output}"
    if len(starts) < len(copies):
        seen += ", and more than one of them begins at the same element."
        look = f"Each part goes to a place of its own: which slice of {called.output} is it?"
    elif total < elements:
        seen += f", {total:,} of {elements:,} elements in all."
        look = spoken("Is the last, partial one among them? A size divided with // rounds down.", called.words)
    else:
        return None
    return Hint(seen, look, pattern="copies", line=copies[0].line)
