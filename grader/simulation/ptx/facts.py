"""Facts about a kernel of any language, from its PTX and from the assembler's output."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from grader.plan.compiled import Facts, Width
from grader.plan.device import tensor_cores
from grader.plan.plan import Malformed
from grader.simulation.ptx.grammar import TextStatement, joined, lines_of
from grader.simulation.ptx.program import split_operands
from grader.simulation.ptx.reader import read_module

# No pattern may try a long match from each digit of a run: that is quadratic, and names may have any length.
_USED = re.compile(r"\bUsed (\d{1,9}) registers")
_SPILLED = re.compile(r"\b(\d{1,9}) bytes spill stores, (\d{1,9}) bytes spill loads")
_SHARED = re.compile(r"\b(\d{1,9}) bytes smem\b")
MOST_LINES = 256


def read_facts(ptx: str, said: str, shared: int | None = None) -> Facts:
    """Return the facts about a kernel. `said` is the output of ptxas -v, for the kernel's entry and for each function
    that was not inlined into it. `shared` is the kernel's shared memory in bytes, if the assembler does not know it."""
    lines: Counter[tuple[int, Literal["load", "store"], int]] = Counter()
    copies: Literal["none", "cp.async", "tma"] = "none"
    for statement, line in _placed(ptx):
        if copied := _copied(statement):
            copies = "cp.async"
            lines[line, "load", 8 * copied] += 1
        elif accessed := _accessed(statement.opcode):
            lines[line, *accessed] += 1
    if "cp.async.bulk.tensor" in ptx:
        copies = "tma"
    return Facts(
        registers=max((int(match[1]) for match in _USED.finditer(said)), default=0),
        spills=sum(max(int(match[1]), int(match[2])) for match in _SPILLED.finditer(said)),
        shared=max((int(match[1]) for match in _SHARED.finditer(said)), default=0) if shared is None else shared,
        copies=copies, tensor_cores=tensor_cores(ptx),
        lines=[Width(line=line, access=access, bits=bits, count=count)
               for (line, access, bits), count in sorted(lines.items())[:MOST_LINES]])


def _placed(ptx: str) -> Iterator[tuple[TextStatement, int]]:
    """Yield the statements of a text with their lines in the file of its first location; none of a text that cannot be
    read."""
    try:
        module = read_module(ptx, known=False)
    except Malformed:
        return
    own = module.first()
    for function in module.functions.values():
        yield from lines_of(function.body or (), own)


def _accessed(opcode: str) -> tuple[Literal["load", "store"], int] | None:
    """Return whether an instruction loads or stores global memory, and how many bits at once.

    `ld.global.L1::evict_last.v4.b32`, `st.relaxed.gpu.global.b16` ("PTX ISA", "Data Movement").
    """
    name, *parts = opcode.split(".")
    if name not in ("ld", "st") or "global" not in parts:
        return None
    bits = _number(parts.pop()[1:])
    while parts and parts[-1].startswith("L"):
        # L1::evict_last, L2::128B
        parts.pop()
    several = _number(parts[-1][1:]) if parts and parts[-1].startswith("v") else 0
    return ("load" if name == "ld" else "store", bits * (several or 1)) if bits else None


def _copied(statement: TextStatement) -> int:
    """Return the bytes that an instruction copies to shared memory asynchronously; 0 for any other instruction.

    `cp.async.cg.shared.global [ %r1 + 0 ], [ %rd2 + 0 ], 0x10, %r3;`: the third operand is in bytes.
    """
    opcode = statement.opcode
    if not opcode.startswith("cp.async.c") or ".shared" not in opcode or ".global" not in opcode:
        return 0
    operands = split_operands(joined(statement.operands))
    return _number(operands[2]) if len(operands) > 2 else 0


def _number(text: str) -> int:
    """Return a small number, written as decimal or hexadecimal; 0 for any other text."""
    try:
        return int(text, 0) if len(text) < 8 and text[:1].isdigit() else 0
    except ValueError:
        return 0
