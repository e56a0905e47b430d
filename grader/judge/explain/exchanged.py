"""Arguments that stand in each other's place, in a launch or in the function."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from grader import frontends
from grader.judge.explain.called import Called
from grader.judge.explain.evidence import Hint
from grader.judge.explain.lines import quoted
from grader.model.parameters import Scalar
from grader.plan.plan import Descriptor, Float, Integer, Launch, Plan, Pointer

PATTERN = "tensors exchanged"
LOOK = ("Compare one by one: the arguments of the launch with the parameters of the kernel, and the parameters of the "
        "function with those of the handout.")
WORD = re.compile(r"[A-Za-z_]\w*")
# One launch is written on at most so many lines.
MOST_LINES = 10
# Endings that kernels add to a tensor's name for its pointer or descriptor.
SUFFIXES = ("_ptr", "_pointer", "_desc")


def exchanged(called: Called) -> Hint | None:
    """Hint for two tensors or two numbers that are passed in each other's place, or for an output and an input that are
    used in each other's place. It is meant for calls whose answer is wrong."""
    plan = called.plan
    scalars = [one.name for one in called.assignment.parameters if isinstance(one, Scalar) and one.type == "float"]
    tensors = [one.name for one in called.assignment.parameters if not isinstance(one, Scalar)]
    for launch in called.launches:
        kernel = plan.kernels[launch.kernel]
        language = frontends.of(kernel)
        names = language.argument_names(kernel)
        found = _tensors(plan, launch, names, tensors) or _scalars(launch, names, scalars) or _sizes(
            called.source, launch, language.phrases.names.launch_opens, names, called.case.sizes)
        if found is not None:
            first, given, second, other = found
            return Hint(
                f"The launch in line {launch.line} gives {given} for the kernel's {quoted(first)}, and {other} for its "
                f"{quoted(second)}: the two are exchanged.", LOOK, pattern=PATTERN, line=launch.line)
    reads = {one.layout.name: one for one in called.accesses if one.access.access != "store"}
    writes = {one.layout.name: one for one in called.accesses if one.access.access != "load"}
    if called.output not in reads or len(writes) != 1 or not writes.keys().isdisjoint(reads):
        return None
    ((into, store),), load = writes.items(), reads[called.output]
    return Hint(
        f"The kernel loads from {called.output} in line {load.access.line}, and stores to {into} in line "
        f"{store.access.line}: the two are exchanged.", LOOK, pattern=PATTERN, line=store.launch)


def _tensors(
    plan: Plan, launch: Launch, names: Sequence[str], tensors: Sequence[str]
) -> tuple[str, str, str, str] | None:
    """The kernel's name of one argument and the tensor given for it, then the same of the other; None if no two are
    exchanged."""
    given = {}
    for name, argument in zip(names, launch.arguments, strict=True):
        if isinstance(argument, Pointer | Descriptor):
            buffer = argument.buffer if isinstance(argument, Pointer) else argument.view.buffer
            given[_meant(name, tensors)] = (name, plan.buffers[buffer].given)
    for meant, (name, tensor) in given.items():
        if meant != tensor and meant in tensors and tensor in given and given[tensor][1] == meant:
            return name, tensor, given[tensor][0], meant
    return None


def _scalars(launch: Launch, names: Sequence[str], scalars: Sequence[str]) -> tuple[str, str, str, str] | None:
    """As `_tensors`, for a scalar and a whole number, such as a size."""
    given = list(zip(names, launch.arguments, strict=True))
    whole = [(name, f"{one.value:,}") for name, one in given if name in scalars and isinstance(one, Integer)]
    other = [name for name, one in given if name not in scalars and isinstance(one, Float)]
    return (*whole[0], other[0], whole[0][0]) if whole and other else None


def _meant(name: str, tensors: Sequence[str]) -> str:
    """The tensor that a kernel's `x_ptr` or `w_ptr` is named after."""
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    fitting = [tensor for tensor in tensors if tensor.startswith(name.lower())]
    return name.lower() if name.lower() in tensors else fitting[0] if len(fitting) == 1 else name


def _sizes(
    source: str, launch: Launch, opens: str, names: Sequence[str], sizes: Mapping[str, int]
) -> tuple[str, str, str, str] | None:
    """As `_tensors`, for sizes. `opens` is what stands before a launch's arguments. A kernel may well call columns M,
    so the launch must name the two sizes in the other order, too."""
    called = {name.lower(): name for name in sizes}
    written = WORD.findall("\n".join(source.splitlines()[launch.line - 1:][:MOST_LINES]).partition(opens)[2])
    given = [(name, called[name.lower()], argument.value)
             for name, argument in zip(names, launch.arguments, strict=True)
             if isinstance(argument, Integer) and name.lower() in called and name in written]
    for (first, one, value), (second, two, other) in combinations(given, 2):
        swapped = (value, other) == (sizes[two], sizes[one]) and value != other
        if swapped and written.index(second) < written.index(first):
            return first, f"{two} = {value:,}", second, f"{one} = {other:,}"
    return None
