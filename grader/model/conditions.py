"""The conditions on how a kernel works that every course may use, one row each: `docs/grading.md` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from grader.model.launched import WarpAccessFacts
from grader.model.structure import CaseFacts, Condition, Measure

COALESCED = 1.25
"""The most sectors of a line's requests, over the sectors that as many bytes take, where accesses are coalesced."""
ONCE = 1.1
"""The most bytes of an input that are read, over its bytes, where it is read once."""
LARGE = 1 / 8
"""The least share of the largest tensor's bytes at which a tensor is large: a GPU's caches keep smaller ones."""
SHARE = 0.05
"""The least share of all sectors or wavefronts at which a line counts."""
MOSTLY = 0.9
"""The least share of multiply-adds that tensor cores make where they do the work."""


def _lines(numbers: Iterable[int]) -> str:
    wanted = sorted({number for number in numbers if number})
    return f" (line{'s' * (len(wanted) > 1)} {', '.join(map(str, wanted))})" if wanted else ""


def _launches(facts: CaseFacts) -> Measure:
    launches = facts.launched.launches
    count = len(launches)
    return Measure(count, f"It launches {count} kernel{'s' * (count != 1)}{_lines(one.line for one in launches)}.",
                    launches[-1].line if launches else 0)


def _copies(facts: CaseFacts) -> Measure:
    copies = facts.launched.copies
    word = "copy" if len(copies) == 1 else "copies"
    return Measure(len(copies), f"Its host code makes {len(copies)} {word}{_lines(one.line for one in copies)}.",
                    copies[-1].line if copies else 0)


def _reads(facts: CaseFacts) -> Measure | None:
    return _times_over(facts, "load", facts.inputs, "reads")


def _writes(facts: CaseFacts) -> Measure | None:
    return _times_over(facts, "store", facts.outputs, "writes")


def _times_over(facts: CaseFacts, access: str, sizes: Mapping[str, int], verb: str) -> Measure | None:
    """Return how often the tensor is loaded or stored over for which that is most. A small one stays in a cache; other
    tensors, such as temporaries, count like parts of the largest."""
    lines = facts.bytes_by(access)
    if not sizes or not facts.launched.launches:
        return None
    largest = max(sizes.values())
    others = sum(bytes_ for (_, tensor), bytes_ in lines.items() if tensor not in sizes) / largest
    times = {name: sum(bytes_ for (_, tensor), bytes_ in lines.items() if tensor == name) / size
             for name, size in sizes.items() if size >= LARGE * largest}
    name = max(times, key=lambda one: times[one])
    at = [line for (line, tensor), _ in sorted(lines.items(), key=lambda one: -one[1])
          if tensor == name or (tensor not in sizes and others >= SHARE)]
    value = times[name] + others
    often = "once" if round(value, 2) == 1 else f"{value:.3g} times over"
    beside = " and tensors of its own" if others >= SHARE else ""
    return Measure(value, f"It {verb} {name}{beside} {often}{_lines(at)}.", at[0] if at else 0, facts.launched.cut)


def _host_reads(facts: CaseFacts) -> Measure | None:
    if not facts.host:
        return None
    lines: dict[int, float] = {}
    for (line, _), bytes_ in facts.bytes_by("load", host=True).items():
        lines[line] = lines.get(line, 0) + bytes_
    for one in facts.launched.copies:
        if one.source != "device" and one.target == "device":
            lines[one.line] = lines.get(one.line, 0) + one.bytes
    total = sum(lines.values())
    return Measure(total / facts.host, f"It brings {total / facts.host:.3g} times the bytes that it must from host "
                    f"memory{_lines(lines)}.", max(lines, key=lambda line: lines[line], default=0), facts.launched.cut)


def _worst(facts: CaseFacts, space: str, value: Callable[[WarpAccessFacts], float]) -> WarpAccessFacts | None:
    """Return the line with the largest value among those that take a share of all parts; None if there is none."""
    every = [(one, one.parts * launch.scale) for launch in facts.warps if launch.warps
             for one in launch.warps.accesses if one.space == space and one.requests]
    total = sum(parts for _, parts in every)
    return max((one for one, parts in every if parts >= SHARE * total), key=value, default=None)


def _coalesced(facts: CaseFacts) -> Measure | None:
    if not facts.warps:
        return None
    one = _worst(facts, "global", lambda one: one.parts / one.least)
    if one is None:
        return Measure(1, "The copy engine moves its bytes.")
    each, least = one.parts / one.requests, one.least / one.requests
    return Measure(one.parts / one.least, f"A warp's {one.access} of {one.tensor} in line {one.line} touches "
                    f"{each:.3g} sector{'s' * (each != 1)} of 32 bytes; its bytes need {least:.3g}.", one.line)


def _conflicts(facts: CaseFacts) -> Measure | None:
    if not facts.warps:
        return None
    one = _worst(facts, "shared", lambda one: (one.parts - one.least) / one.requests)
    if one is None:
        return Measure(0, "It takes no shared memory.")
    further = (one.parts - one.least) / one.requests
    if not one.wasteful:
        return Measure(0, "No access to shared memory has bank conflicts.")
    return Measure(further, f"The {one.access} in line {one.line} has bank conflicts in {one.wasteful:,} of "
                    f"{one.requests:,} accesses to shared memory: up to {one.worst + 1} lanes of a warp need different "
                    "words of one bank.", one.line)


def _atomics(facts: CaseFacts) -> Measure | None:
    if not facts.warps and facts.launched.launches:
        return None
    lines = [one.line for launch in facts.warps if launch.warps for one in launch.warps.accesses
             if one.access == "atomic"]
    return Measure(len(lines), f"It has atomics{_lines(lines)}." if lines else "It has no atomics.",
                    lines[0] if lines else 0)


def _spills(facts: CaseFacts) -> Measure | None:
    spilled = max((launch.spills for launch in facts.launched.launches), default=0)
    local = sum(launch.warps.local for launch in facts.warps if launch.warps)
    if spilled:
        return Measure(spilled, f"A thread spills {spilled} bytes of registers to memory.")
    return Measure(local, "Threads load and store arrays of their own, which lie in memory and not in registers."
                    if local else "Nothing is spilled.")


def _tensor_cores(facts: CaseFacts) -> Measure | None:
    if not facts.warps:
        return None
    by = sum(one.warps.tensor_multiply_adds * one.scale for one in facts.warps if one.warps)
    alone = sum(one.warps.multiply_adds * one.scale for one in facts.warps if one.warps)
    share = by / (by + alone) if by + alone else 0.0
    return Measure(share, f"Tensor cores make {share:.0%} of its multiply-adds.")


def _intensity(facts: CaseFacts) -> Measure | None:
    if not facts.warps:
        return None
    made = sum((one.warps.tensor_multiply_adds + one.warps.multiply_adds) * one.scale
               for one in facts.warps if one.warps)
    loaded = sum(facts.bytes_by("load").values())
    value = 2 * made / loaded if loaded else 0.0
    return Measure(value, f"It makes {value:.3g} floating-point operations for each byte that it loads.")


def _divergence(facts: CaseFacts) -> Measure | None:
    if not facts.warps:
        return None
    every = [(one, launch.scale) for launch in facts.warps if launch.warps for one in launch.warps.branching]
    branches = sum(one.branches * scale for one, scale in every)
    divergent = sum(one.divergent * scale for one, scale in every)
    worst = max((one for one, _ in every), key=lambda one: one.divergent, default=None)
    share = divergent / branches if branches else 0.0
    line = worst.line if worst is not None and worst.divergent else 0
    return Measure(share, f"Lanes of a warp part at {share:.0%} of its branches{_lines([line])}.", line)


def _barriers(facts: CaseFacts) -> Measure | None:
    if not facts.warps:
        return None
    each = max((one.warps.barriers / (one.warps.counted * -(-one.threads // 32))
                for one in facts.warps if one.warps and one.warps.counted), default=0.0)
    return Measure(each, f"Each of its warps passes {each:.3g} barriers.", partial=facts.launched.cut)


def _occupancy(facts: CaseFacts) -> Measure | None:
    worst = min(facts.launched.launches, key=lambda one: one.occupancy, default=None)
    if worst is None:
        return None
    bound = f", bound by {worst.bound}" if worst.bound else ""
    return Measure(worst.occupancy, f"`{worst.kernel}` fills {worst.occupancy:.0%} of a multiprocessor{bound}.",
                    worst.line)


def _widths(facts: CaseFacts) -> Measure | None:
    if not facts.launched.launches:
        return None
    bits = facts.launched.figures.bits
    return Measure(bits, f"A thread moves {bits} bits at a time.") if bits else Measure(
        128, "The copy engine moves its bytes.")


CONDITIONS = {
    "reads_at_most": Condition(
        "read each large input at most {limit:g} times over", _reads, ONCE,
        look="Keep what was loaded in registers or shared memory for its next use."),
    "writes_at_most": Condition(
        "write each large output at most {limit:g} times over", _writes, ONCE,
        look="Store each element once, when it is complete."),
    "one_pass": Condition(
        "read each input once", _reads, ONCE, switch=True,
        look="Keep a row in registers between its sum and its use."),
    "host_reads_at_most": Condition(
        "bring at most {limit:g} times the bytes that it must from host memory", _host_reads, 8,
        look="Copy, or let a kernel read, the wanted elements alone."),
    "coalesced": Condition(
        "access memory so that the lanes of a warp share sectors", _coalesced, COALESCED, switch=True,
        look="Let neighbouring lanes take neighbouring elements; turn a tile in shared memory."),
    "access_bits_at_least": Condition(
        "move at least {limit:g} bits at a time", _widths, 128, at_least=True,
        look="Give each thread neighbouring elements that begin at a multiple of 16 bytes."),
    "bank_conflicts_at_most": Condition(
        "keep each access to shared memory at {limit:g} bank conflict{s} or fewer", _conflicts, 0,
        look="In rows of 32 words a column lies in one bank: rows of 33 spread it over all banks, as a swizzle does."),
    "launches_at_most": Condition(
        "launch at most {limit:g} kernel{s}", _launches, 1, look="Do the steps in one kernel, on the same tile."),
    "copies_at_most": Condition(
        "copy tensors by host code at most {limit:g} time{s}", _copies, 1, look="Copy once, what is needed alone."),
    "no_atomics": Condition(
        "use no atomics", _atomics, switch=True,
        look="Let each program own its outputs, or reduce partial results in a second step."),
    "no_spills": Condition(
        "keep what its threads hold in registers", _spills, switch=True,
        look="A smaller block, or more warps, takes fewer registers; index arrays by constants alone."),
    "tensor_cores": Condition(
        "multiply on tensor cores", _tensor_cores, MOSTLY, at_least=True, switch=True,
        look="Multiply tiles of fp16 or bf16, of 16 elements and more a side."),
    "flop_per_byte_at_least": Condition(
        "make at least {limit:g} floating-point operations for each byte that it loads", _intensity, 16, at_least=True,
        look="Larger tiles need each element fewer times."),
    "divergence_at_most": Condition(
        "part the lanes of a warp at no more than {limit:.0%} of its branches", _divergence, 0.05,
        look="Branch on what is the same for a whole warp."),
    "barriers_at_most": Condition(
        "pass at most {limit:g} barrier{s} a warp", _barriers, 2,
        look="Lanes of one warp can exchange values without one."),
    "occupancy_at_least": Condition(
        "fill at least {limit:.0%} of a multiprocessor's threads", _occupancy, 0.5, at_least=True,
        look="Fewer registers a thread, or less shared memory a block, lets more blocks in."),
}
"""The conditions that every course may use, by name."""
