"""Tensors that a kernel takes for others: for contiguous ones, or for ones of another dtype."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judge.explain.called import Called
from grader.judge.explain.evidence import Hint
from grader.model.cases import strides_of
from grader.model.parameters import Scalar
from grader.model.result import Detail

LOOK = ("Neighbouring elements of a dimension lie as far apart as its stride says: is each index multiplied by the "
        "stride of its own dimension, which host code passes to the kernel?")


def between_elements(called: Called, names: Sequence[str]) -> Detail:
    """What is wrong with a call that wrote between the elements of these tensors."""
    name = names[0]
    stored = next((one for one in called.ran.accesses if one.access != "load"
                   and called.plan.buffers[one.buffer].given == name), None)
    return Detail(
        kind="out_of_bounds", pattern="between elements", hint=LOOK,
        message=f"Something was written between the elements of {name}, {_strides(called, name)}.",
        place=called.place(stored.line) if stored else None)


def taken_for_contiguous(called: Called) -> Hint | None:
    """A hint about tensors that are not contiguous in a case that is wrong; None if there is none."""
    names = [p.name for p in called.assignment.parameters if p.name in called.case.strides]
    if not names:
        return None
    return Hint(f"In this case {names[0]} is not contiguous: it {_strides(called, names[0])[6:]}.", LOOK,
                pattern="not contiguous", sure=False)


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


def _strides(called: Called, name: str) -> str:
    """ "which has strides (7, 1)" """
    one = next(p for p in called.assignment.parameters if p.name == name and not isinstance(p, Scalar))
    return f"which has strides ({', '.join(map(str, strides_of(one, called.case)))})"
