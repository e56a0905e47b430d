"""Calls of functions that the compiler did not inline, and of system functions."""

from __future__ import annotations

from grader.simulation.ptx import printing
from grader.simulation.ptx.flow import Call
from grader.simulation.ptx.scheduling import Activation, Scheduling, Waiting
from grader.simulation.ptx.types import Array, Unsupported


class Calling:
    """Calls of functions, which take threads into a function and back. Arguments and results are registers whose names
    have an offset."""

    def __init__(self, machine: Scheduling) -> None:
        self.machine = machine

    def call(self, entry: Waiting, call: Call, mask: Array) -> None:
        m = self.machine
        if call.name in printing.SYSTEM:
            printing.SYSTEM[call.name](m, entry, call, mask)
            return
        if call.name not in m.code.functions:
            raise Unsupported(f"a call of {call.name[:100]}")
        code = m.code.function(call.name)
        caller = entry.activation
        path = (*caller.path, entry.number)
        known = m.waiting_in(path)
        activation = known or m.activate(code, path, caller)
        if activation.code is not code:
            raise Unsupported("different functions called in one place")
        if len(code.parameters) != len(call.arguments):
            raise Unsupported(f"a call of {call.name[:100]} with other arguments")
        for argument, parameter in zip(call.arguments, code.parameters, strict=True):
            _move(m, caller, argument, activation, parameter, mask)
        m.go_on(activation, 0, mask)

    def back(self, activation: Activation, mask: Array) -> None:
        """Take threads back to the block after their call, with its results."""
        m = self.machine
        parent = activation.parent
        assert parent is not None
        number = activation.path[-1]
        call = parent.code.blocks[number].call
        assert call is not None
        for result, returned in zip(call.results, activation.code.returns, strict=False):
            _move(m, activation, returned, parent, result, mask)
        m.go_on(parent, number + 1, mask)


def _move(
    m: Scheduling, source: Activation, parameter: str, target: Activation, name: str, mask: Array
) -> None:
    """Copy all parts of a parameter to a parameter of another function, for the threads of a mask."""
    prefix = f"[{parameter}+"
    there = {key: slot for key, slot in target.code.slots.items() if key.startswith(f"[{name}+")}
    for key, slot in source.code.slots.items():
        if not key.startswith(prefix):
            continue
        into = there.get(f"[{name}+{key[len(prefix):]}")
        if into is None:
            continue
        value = m.whole_value(source, slot)
        if value is not None:
            m.put_whole(target, into, value, mask)

