"""Asynchronous copies into shared memory: see `grader.simulation.ptx.copies`."""

from __future__ import annotations

import numpy as np

from grader.plan.plan import Malformed
from grader.simulation.ptx.decode import Decoder, Run
from grader.simulation.ptx.instructions.bulk import bulk
from grader.simulation.ptx.instructions.memory import together
from grader.simulation.ptx.instructions.phases import arrival
from grader.simulation.ptx.program import ThreadInstruction
from grader.simulation.ptx.state import ChunkState
from grader.simulation.ptx.types import DTYPES, Unsupported


def _cp(decoder: Decoder, one: ThreadInstruction) -> Run:
    words = one.modifiers
    if words[:3] == ("async", "mbarrier", "arrive"):
        # Threads arrive at once, as if their copies were over. Without `noinc` the barrier expects one arrival more,
        # which cancels this one.
        arrive = arrival(decoder, one, "_", one.operands) if "noinc" in words else lambda m: None

        def arrived(m: ChunkState) -> None:
            m.spaces.wait_for_copies(m, None)
            arrive(m)

        return arrived
    if words[:2] == ("async", "bulk"):
        return bulk(decoder, one)
    if words[:1] != ("async",):
        raise Unsupported(str(one))
    if words[1:2] == ("commit_group",):
        return lambda m: m.spaces.copies.commit(m.spaces.running(m))
    if words[1:2] and words[1] in ("wait_group", "wait_all"):
        left = None if words[1] == "wait_all" else int(one.operands[0], 0)
        return lambda m: m.spaces.wait_for_copies(m, left)
    target, source = (decoder.address(operand) for operand in one.operands[:2])
    # Some compilers write the size in hexadecimal digits.
    bytes_of = {form: size for size in (4, 8, 16) for form in (f"{size}", f"{size:#x}")}
    if one.operands[2].lower() not in bytes_of:
        raise Malformed(f"{one} of {one.operands[2][:20]} bytes")
    count = bytes_of[one.operands[2].lower()] // 4
    hinted = any(word.endswith("cache_hint") for word in words)
    rest = one.operands[3 : len(one.operands) - hinted]
    real = decoder.source(rest[0], "u32") if rest else None
    dtype = DTYPES["b32"]

    def run(m: ChunkState) -> None:
        if real is None:
            values = m.spaces.load(m, "global", source(m), dtype, count)
        else:
            # Words past the source's size are zero, and are not read.
            size, begin = real(m), source(m)
            values = []
            for number in range(count):
                here = size > np.uint32(4 * number)
                if here.all():
                    values += m.spaces.load(m, "global", begin + np.uint64(4 * number), dtype)
                    continue
                mask = here if m.mask is None else here & m.mask
                if not mask.any():
                    values.append(np.zeros((1, 1), dtype))
                    continue
                with m.under(mask):
                    value = m.spaces.load(m, "global", begin + np.uint64(4 * number), dtype)[0]
                values.append(np.where(here, value, dtype.type(0)))
        m.spaces.store(m, "shared", target(m), values, dtype, copied=True)

    return run if real is None else together(run)


COPIES = {"cp": _cp}
