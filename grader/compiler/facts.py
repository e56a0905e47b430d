"""Facts about a kernel, from its PTX and from what the assembler says."""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

from grader.plan.compiled import Facts, Width

# `ld.global.L1::evict_last.v4.b32`, `st.relaxed.gpu.global.b16` ("PTX ISA", "Data Movement").
_ACCESS = re.compile(r"^\s*(?:@!?%\w+\s+)?(ld|st)((?:\.[\w:]+)*?\.global(?:\.[\w:]+)*)\s")
_WIDTH = re.compile(r"(?:\.v(\d+))?(?:\.L\d::\w+)*\.[a-z](\d+)$")
# `cp.async.cg.shared.global [ %r1 + 0 ], [ %rd2 + 0 ], 0x10, %r3;`: the third operand is in bytes.
_ASYNC = re.compile(r"\bcp\.async\.c[ag]\.shared(?:::cta)?\.global[^\[;]*\[[^\]]*\],\s*\[[^\]]*\],\s*(0x[0-9a-f]+|\d+)")
_USED = re.compile(r"Used (\d+) registers")
_SPILLED = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_PLACE = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s")
MOST_LINES = 256


def read_facts(ptx: str, said: str, shared: int) -> Facts:
    """`said` is the output of ptxas -v: of the kernel's entry, and of each function that was not inlined into it."""
    lines: Counter[tuple[int, Literal["load", "store"], int]] = Counter()
    line, own = 0, ""
    for text in ptx.splitlines():
        if place := _PLACE.match(text):
            # The kernel's own file is that of its first place; other files are Triton's.
            own = own or place[1]
            line = int(place[2]) if place[1] == own else line
        if (match := _ACCESS.match(text)) and (width := _WIDTH.search(match[2])):
            access: Literal["load", "store"] = "load" if match[1] == "ld" else "store"
            bits = int(width[1] or 1) * int(width[2])
        elif match := _ASYNC.search(text):
            access, bits = "load", 8 * int(match[1], 0)
        else:
            continue
        lines[line, access, bits] += 1
    copies: Literal["none", "cp.async", "tma"] = "none"
    if "cp.async.bulk.tensor" in ptx:
        copies = "tma"
    elif _ASYNC.search(ptx):
        copies = "cp.async"
    cores: Literal["none", "mma", "wgmma"] = "none"
    if "wgmma.mma_async" in ptx:
        cores = "wgmma"
    elif "mma.sync" in ptx:
        cores = "mma"
    return Facts(
        registers=max((int(match[1]) for match in _USED.finditer(said)), default=0),
        spills=sum(max(int(match[1]), int(match[2])) for match in _SPILLED.finditer(said)),
        shared=shared, copies=copies, tensor_cores=cores,
        lines=[Width(line=line, access=access, bits=bits, count=count)
               for (line, access, bits), count in sorted(lines.items())[:MOST_LINES]])
