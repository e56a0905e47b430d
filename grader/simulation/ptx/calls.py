"""Calls of functions that the compiler did not inline, and of the system's, for printing and assertions."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from grader.simulation.ptx.code import Call
from grader.simulation.ptx.lanes import Array, Unsupported
from grader.simulation.ptx.regions import APART, LOCAL, TABLES

if TYPE_CHECKING:
    from grader.simulation.ptx.machine import Activation, Machine, WaitingThreads


def call(m: Machine, entry: WaitingThreads, called: Call, mask: Array) -> None:
    """Take threads into a function. Arguments and results are registers whose names have an offset."""
    if called.name in SYSTEM:
        SYSTEM[called.name](m, entry, called, mask)
        return
    if called.name not in m.code.functions:
        raise Unsupported(f"a call of {called.name[:100]}")
    code = m.code.function(called.name)
    caller = entry.activation
    path = (*caller.path, entry.number)
    activation = m.waiting_in(path) or m.activate(code, path, caller)
    if activation.code is not code:
        raise Unsupported("different functions called in one place")
    if len(code.parameters) != len(called.arguments):
        raise Unsupported(f"a call of {called.name[:100]} with other arguments")
    for argument, parameter in zip(called.arguments, code.parameters, strict=True):
        _move(m, caller, argument, activation, parameter, mask)
    m.wait_before(activation, 0, mask)


def return_to_caller(m: Machine, activation: Activation, mask: Array) -> None:
    """Take threads back to the block after their call, with its results."""
    parent = activation.parent
    assert parent is not None
    number = activation.path[-1]
    called = parent.code.blocks[number].call
    assert called is not None
    for result, returned in zip(called.results, activation.code.returns, strict=False):
        _move(m, activation, returned, parent, result, mask)
    m.wait_before(parent, number + 1, mask)


def _move(
    m: Machine, source: Activation, parameter: str, target: Activation, name: str, mask: Array
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


MOST_PRINTING = 64
"""The most threads of a call whose lines are kept."""
MOST_TEXT = 500
_CONVERSION = re.compile(r"%[-+ #0]*(?:\d{1,3})?(?:\.\d{1,3})?(hh|h|ll|l|z|j|t|)([diouxXcsfFeEgGaAp%])")


def _print(m: Machine, entry: WaitingThreads, call: Call, mask: Array) -> None:
    """Run `vprintf(format, arguments)`: the arguments lie in memory, each at a multiple of its size."""
    activation = entry.activation
    text, values = (_argument(m, activation, name, "u8") for name in call.arguments[:2])
    wide = np.broadcast_to(mask, m.whole)
    lanes = np.flatnonzero(wide.reshape(-1))[:MOST_PRINTING]
    texts, places = (np.broadcast_to(address, m.whole).reshape(-1) for address in (text, values))
    for lane in lanes.tolist():
        m.findings.print(_formatted(m, string_at(m, int(texts[lane])), int(places[lane]), lane))
    for name in call.results:
        slot = activation.code.slots.get(f"[{name}+0]")
        if slot is not None:
            m.put_whole(activation, slot, np.zeros((1, 1), np.uint32), mask)
    m.wait_before(activation, entry.number + 1, mask)


def _assertion(m: Machine, entry: WaitingThreads, call: Call, mask: Array) -> None:
    """Run `__assertfail(text, file, line, function, size)`: record the first thread's failure, and end the threads."""
    wide = np.broadcast_to(mask, m.whole)
    block = int(np.argmax(wide.any(1)))
    text, file = (string_at(m, int(np.broadcast_to(_argument(m, entry.activation, name, "u8"), m.whole)[
        block, np.argmax(wide[block])])) for name in call.arguments[:2])
    end = entry.activation.code.blocks[entry.number].end
    assert end is not None
    header = "" if file.endswith(".cu") else file.rsplit("/", 1)[-1]
    m.findings.failed(m.site_of(end, entry.activation), text, block, header=header)
    m.end_threads(mask)


def _memory(m: Machine, entry: WaitingThreads, call: Call, mask: Array) -> None:
    raise Unsupported("memory that a kernel allocates")


SYSTEM: dict[str, Callable[[Machine, WaitingThreads, Call, Array], None]] = {
    "vprintf": _print, "__assertfail": _assertion, "malloc": _memory, "free": _memory,
}


def _argument(m: Machine, activation: Activation, name: str, dtype: str) -> Array:
    slot = activation.code.slots.get(f"[{name}+0]")
    value = None if slot is None else m.whole_value(activation, slot)
    return np.zeros((1, 1), dtype) if value is None else value.view(dtype)


def string_at(m: Machine, address: int) -> str:
    """Return a string in a table of the module; "" if there is none."""
    number = (address >> APART) - 1
    region = m.spaces.regions.get(number)
    if region is None or number < TABLES:
        return ""
    raw: bytes = region.raw[address - region.base :][:MOST_TEXT].tobytes()
    return raw.split(b"\0")[0].decode("utf-8", "replace")


def _formatted(m: Machine, text: str, place: int, lane: int) -> str:
    """Return a format string with its arguments, which lie in a thread's local memory."""
    at = place - LOCAL
    parts, last = [], 0
    for match in _CONVERSION.finditer(text):
        parts.append(text[last : match.start()])
        last = match.end()
        if match[2] == "%":
            parts.append("%")
            continue
        size = 8 if match[1] in ("l", "ll", "z", "j", "t") or match[2] in "sfFeEgGaAp" else 4
        at = (at + size - 1) & -size
        parts.append(_converted(m, match, _bytes(m, at, size, lane)))
        at += size
    return "".join([*parts, text[last:]])[:MOST_TEXT]


def _bytes(m: Machine, at: int, size: int, lane: int) -> bytes:
    local = m.spaces.local
    if not 0 <= at <= local.size - size:
        return bytes(size)
    begin = ((at >> 3) * local.lanes + lane) * 8 + (at & 7)
    raw: bytes = local.region.raw[begin : begin + size].tobytes()
    return raw


def _converted(m: Machine, match: re.Match[str], raw: bytes) -> str:
    form = match[0].replace(match[1] + match[2], match[2]) if match[1] else match[0]
    if match[2] == "s":
        return form % string_at(m, int.from_bytes(raw, "little"))
    if match[2] in "fFeEgGaA":
        value: float = struct.unpack("<d", raw)[0]
        return value.hex() if match[2] in "aA" else form % value
    number = int.from_bytes(raw[: {"hh": 1, "h": 2}.get(match[1])], "little", signed=match[2] in "di")
    if match[2] == "c":
        return form % chr(number & 0xFF)
    return hex(number) if match[2] == "p" else form.replace("u", "d") % number
