"""Arguments that stand in each other's place, in a launch or in the function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.assignment import Assignment, Scalar
from grader.judge.explain.accesses import Seen
from grader.judge.explain.evidence import Finding
from grader.plan.plan import Descriptor, Integer, Launch, Plan, Pointer
from grader.plan.ttir import argument_names

PATTERN = "tensors exchanged"
LOOK = ("Compare one by one: the arguments of the launch with the parameters of the kernel, and the parameters of the "
        "function with those of the handout.")
# What kernels add to the name of a tensor for its pointer or descriptor.
SUFFIXES = ("_ptr", "_pointer", "_desc")


def exchanged(assignment: Assignment, plan: Plan, call: int, lie: Sequence[Seen]) -> Finding | None:
    """Two tensors of which each stands where the kernel names the other, or the output and an input of which each is
    used as the other should be. `lie` are the accesses of a call of the plan whose answer is wrong."""
    names = {parameter.name for parameter in assignment.parameters if not isinstance(parameter, Scalar)}
    for launch in _launches(plan, call):
        given = {}
        for name, argument in zip(argument_names(plan.kernels[launch.kernel]), launch.arguments, strict=True):
            if isinstance(argument, Pointer | Descriptor):
                buffer = argument.buffer if isinstance(argument, Pointer) else argument.view.buffer
                given[_tensor(name)] = (name, plan.buffers[buffer].given)
        for name, (parameter, tensor) in given.items():
            if name != tensor and {name, tensor} <= names and given.get(tensor or "", ("", ""))[1] == name:
                return Finding(
                    f"The launch in line {launch.line} gives {tensor} for the kernel's `{parameter}`, and {name} for "
                    f"its `{given[tensor or ''][0]}`: the two are exchanged.", LOOK, pattern=PATTERN, line=launch.line)
    output = assignment.output.name
    reads = {one.layout.name: one for one in lie if one.access.access != "store"}
    writes = {one.layout.name: one for one in lie if one.access.access != "load"}
    if output not in reads or output in writes or len(writes) != 1 or not writes.keys().isdisjoint(reads):
        return None
    ((into, store),), load = writes.items(), reads[output]
    return Finding(
        f"The kernel loads from {output} in line {load.access.line}, and stores to {into} in line "
        f"{store.access.line}: the two are exchanged.", LOOK, pattern=PATTERN, line=store.launch)


def exchanged_sizes(plan: Plan, call: int, sizes: Mapping[str, int]) -> str:
    """Two sizes of which each stands where a kernel names the other, as a question: a kernel may count in its own way.
    "" if there are none."""
    called = {name.lower(): name for name in sizes}
    for launch in _launches(plan, call):
        given = {}
        for name, argument in zip(argument_names(plan.kernels[launch.kernel]), launch.arguments, strict=True):
            if isinstance(argument, Integer) and name.lower() in called:
                given[called[name.lower()]] = (name, argument.value)
        for one, (name, value) in given.items():
            for two, (other, held) in given.items():
                if sizes[one] != sizes[two] and (value, held) == (sizes[two], sizes[one]):
                    return (f"The launch in line {launch.line} gives {two} = {value:,} for the kernel's `{name}`, and "
                            f"{one} = {held:,} for its `{other}`: is that meant?")
    return ""


def _launches(plan: Plan, call: int) -> list[Launch]:
    calls = plan.calls()
    return [one for one in calls[min(call, len(calls) - 1)] if isinstance(one, Launch)]


def _tensor(pointer: str) -> str:
    for suffix in SUFFIXES:
        pointer = pointer.removesuffix(suffix)
    return pointer.lower()
