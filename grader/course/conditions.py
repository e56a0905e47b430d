"""The conditions on how a kernel works that every course may use, one row each: `docs/grading.md` lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf

from grader.results.launched import WarpAccessFacts
from grader.results.structure import CaseFacts, Condition, Measure

COALESCED = 1.25
"""The most sectors of a line's requests, over the sectors that as many bytes take, where accesses are coalesced."""
ONCE = 1.1
"""The most bytes of an input that are read, over its bytes, where it is read once."""
LARGE = 1 / 8
"""The least share of the largest tensor's bytes at which a tensor is large: a GPU's caches keep smaller ones."""
SHARE = 0.05
"""The least share of all sectors or wavefronts at which a line counts."""
AHEAD = 1.5
"""The factor by which operations for each byte may grow while what was loaded ahead is used."""
MOST_LINES = 4
"""The most lines that a sentence names."""
MOSTLY = 0.9
"""The least share of multiply-adds that tensor cores make where they do the work."""


def _lines(numbers: Iterable[int]) -> str:
    wanted = sorted({number for number in numbers if number})
    more = f" and {len(wanted) - MOST_LINES} more" if len(wanted) > MOST_LINES else ""
    return f" (line{'s' * (len(wanted) > 1)} {', '.join(map(str, wanted[:MOST_LINES]))}{more})" if wanted else ""


def _several(count: float, word: str, words: str = "") -> str:
    return f"{count:.3g} {word if count == 1 else words or word + 's'}"


def _percent(share: float) -> str:
    return f"{round(100 * share, 1):g} %"


def _slack(facts: CaseFacts) -> float:
    """Return the factor by which a count may be larger once its programs run to their ends."""
    return inf if facts.launched.cut else 1


def _launches(facts: CaseFacts) -> Measure:
    count, lines = len(facts.lines), facts.lines
    return Measure(count, f"It launches {_several(count, 'kernel')}{_lines(lines)}.", lines[-1] if lines else 0)


def _copies(facts: CaseFacts) -> Measure:
    copies = [copy for copy in facts.launched.copies if copy.source != "fill"]
    return Measure(len(copies), f"Its host code makes {_several(len(copies), 'copy', 'copies')}"
                   f"{_lines(copy.line for copy in copies)}.", copies[-1].line if copies else 0)


def _reads(facts: CaseFacts) -> Measure | None:
    copied = sum(copy.bytes for copy in facts.launched.copies if copy.source == "device")
    return _times_over(facts, "load", facts.inputs, "reads", copied)


def _writes(facts: CaseFacts) -> Measure | None:
    copied = sum(copy.bytes for copy in facts.launched.copies
                 if copy.target == "device" and copy.source in ("device", "fill"))
    return _times_over(facts, "store", facts.outputs, "writes", copied)


def _times_over(
    facts: CaseFacts, access: str, sizes: Mapping[str, int], verb: str, copied: int
) -> Measure | None:
    """Return how often the tensor is loaded or stored over for which that is most. A small one stays in a cache; other
    tensors, such as temporaries, count like parts of the largest, and so do copies and fills by host code."""
    if not sizes or not facts.launched.launches or not facts.ran:
        return None
    lines, largest = facts.bytes_by(access), max(sizes.values())
    others = (sum(bytes_ for (_, tensor), bytes_ in lines.items() if tensor not in sizes) + copied) / largest
    times = {name: sum(bytes_ for (_, tensor), bytes_ in lines.items() if tensor == name) / size
             for name, size in sizes.items() if size >= LARGE * largest}
    name = max(times, key=times.__getitem__)
    at = [line for (line, tensor), _ in sorted(lines.items(), key=lambda item: -item[1])
          if tensor == name or (tensor not in sizes and others >= SHARE)]
    value = times[name] + others
    often = "once" if round(value, 2) == 1 else f"{value:.3g} times over"
    beside = " and further memory" if others >= SHARE else ""
    where = "" if often == "once" else _lines(at)
    return Measure(value, f"It {verb} {name}{beside} {often}{where}.", at[0] if at else 0, _slack(facts))


def _host_reads(facts: CaseFacts) -> Measure | None:
    if not facts.host or not facts.ran:
        return None
    lines: dict[int, float] = {}
    for (line, _), bytes_ in facts.bytes_by("load", host=True).items():
        lines[line] = lines.get(line, 0) + bytes_
    for copy in facts.launched.copies:
        if copy.source in ("host", "pinned") and copy.target == "device":
            lines[copy.line] = lines.get(copy.line, 0) + copy.bytes
    value = sum(lines.values()) / facts.host
    much = "the bytes that it must" if round(value, 2) == 1 else f"{value:.3g} times the bytes that it must"
    return Measure(value, f"It brings {much} from host memory{_lines(lines)}.",
                   max(lines, key=lambda line: lines[line], default=0), _slack(facts))


def _worst(
    facts: CaseFacts, space: str, value: Callable[[float, float, float], float]
) -> tuple[float, WarpAccessFacts] | None:
    """Return the largest value, of parts, least parts and requests, of a line that takes a share of all parts, or that
    of all lines together; and the line. None if there is no such access."""
    every = [(access, launch.scale) for launch, warps in facts.warps for access in warps.accesses
             if access.space == space and access.requests]
    if not every:
        return None
    parts, least, requests = (sum(getattr(access, of) * scale for access, scale in every)
                              for of in ("parts", "least", "requests"))
    large = [(value(access.parts, access.least, access.requests), access) for access, scale in every
             if access.parts * scale >= SHARE * parts]
    worst = max(every, key=lambda pair: value(pair[0].parts, pair[0].least, pair[0].requests))[0]
    return max([*large, (value(parts, least, requests), worst)], key=lambda pair: pair[0])


def _coalesced(facts: CaseFacts) -> Measure | None:
    if not facts.ran:
        return None
    worst = _worst(facts, "global", lambda parts, least, requests: parts / least)
    if worst is None:
        return Measure(1, "The copy engine moves its bytes." if facts.launched.launches else "It launches no kernel.")
    value, access = worst
    return Measure(value, f"A warp's {access.access} of {access.tensor} in line {access.line} touches "
                   f"{_several(access.parts / access.requests, 'sector')} of 32 bytes; its bytes need "
                   f"{access.least / access.requests:.3g}.", access.line)


def _conflicts(facts: CaseFacts) -> Measure | None:
    if not facts.ran:
        return None
    worst = _worst(facts, "shared", lambda parts, least, requests: (parts - least) / requests)
    if worst is None:
        return Measure(0, "It takes no shared memory.")
    value, access = worst
    if not access.wasteful:
        return Measure(0, "No access to shared memory has bank conflicts.")
    ways = 1 + access.worst * access.requests / access.least
    return Measure(value, f"The {access.access} in line {access.line} has {ways:.3g}-way bank conflicts in "
                   f"{access.wasteful:,} of {access.requests:,} accesses to shared memory.", access.line)


def _atomics(facts: CaseFacts) -> Measure | None:
    lines = [access.line for _, warps in facts.warps for access in warps.accesses if access.access == "atomic"]
    if not lines and not facts.ran:
        return None
    return Measure(len(lines), f"It has atomics{_lines(lines)}." if lines else "It has no atomics.",
                   lines[0] if lines else 0)


def _spills(facts: CaseFacts) -> Measure | None:
    spilled = max(facts.launched.launches, key=lambda launch: launch.spills, default=None)
    if spilled is not None and spilled.spills:
        return Measure(spilled.spills, f"A thread of `{spilled.kernel}` spills {spilled.spills} bytes of registers to "
                       "memory.", spilled.line)
    local = sum(warps.local for _, warps in facts.warps)
    if local:
        return Measure(local, "Threads load and store arrays of their own, which lie in memory and not in registers.")
    return Measure(0, "Nothing is spilled.") if facts.ran else None


def _tensor_cores(facts: CaseFacts) -> Measure | None:
    if not facts.ran:
        return None
    by = sum(warps.tensor_multiply_adds * launch.scale for launch, warps in facts.warps)
    alone = sum(warps.multiply_adds * launch.scale for launch, warps in facts.warps)
    share = by / (by + alone) if by + alone else 0.0
    return Measure(share, f"Tensor cores make {_percent(share)} of its multiply-adds.")


def _intensity(facts: CaseFacts) -> Measure | None:
    if not facts.ran:
        return None
    made = sum((warps.tensor_multiply_adds + warps.multiply_adds) * launch.scale for launch, warps in facts.warps)
    loaded = sum(facts.bytes_by("load").values())
    value = 2 * made / loaded if loaded else 0.0
    # Loads come before the products that take them: where a run is cut, some of these are missing.
    return Measure(value, f"Its blocks make {_several(value, 'floating-point operation')} for each byte that they "
                   "load.", slack=AHEAD if facts.launched.cut else 1)


def _divergence(facts: CaseFacts) -> Measure | None:
    if not facts.ran:
        return None
    every = [(branching, launch.scale) for launch, warps in facts.warps for branching in warps.branching]
    branches = sum(branching.branches * scale for branching, scale in every)
    divergent = sum(branching.divergent * scale for branching, scale in every)
    worst = max((branching for branching, _ in every), key=lambda branching: branching.divergent, default=None)
    share = divergent / branches if branches else 0.0
    line = worst.line if worst is not None and worst.divergent else 0
    return Measure(share, f"Lanes of a warp part at {_percent(share)} of its branches{_lines([line])}.", line)


def _barriers(facts: CaseFacts) -> Measure | None:
    if not facts.ran:
        return None
    most = max((warps.barriers / (warps.counted * -(-launch.threads // 32))
                for launch, warps in facts.warps if warps.counted), default=0.0)
    return Measure(most, f"Each of its warps passes {_several(most, 'barrier')}.", slack=_slack(facts))


def _occupancy(facts: CaseFacts) -> Measure | None:
    worst = min(facts.launched.launches, key=lambda launch: launch.occupancy, default=None)
    if worst is None:
        return None
    bound = f", bound by {worst.bound}" if worst.bound and worst.occupancy < 1 else ""
    return Measure(worst.occupancy, f"`{worst.kernel}` fills {_percent(worst.occupancy)} of a multiprocessor{bound}.",
                   worst.line)


def _widths(facts: CaseFacts) -> Measure | None:
    if not facts.launched.launches or not facts.ran:
        return None
    bits = facts.launched.figures.bits
    if not bits:
        return Measure(128, "The copy engine moves its bytes.")
    at = [access.line for launch in facts.launched.launches for access in launch.accesses if bits in access.widths]
    return Measure(bits, f"A thread moves {_several(bits, 'bit')} at a time{_lines(at)}.", at[0] if at else 0)


CONDITIONS = {
    "reads_at_most": Condition(
        "read each large input at most {limit:g} times over", _reads, ONCE,
        look="Keep what was loaded in registers or shared memory for its next use."),
    "writes_at_most": Condition(
        "write each large output at most {limit:g} times over", _writes, ONCE,
        look="Store each element once, when it is complete."),
    "one_pass": Condition(
        "read each input once", _reads, ONCE, switch=True,
        look="Keep what was loaded in registers or shared memory for its next use."),
    "host_reads_at_most": Condition(
        "bring at most {limit:g} times the bytes that it must from host memory", _host_reads, 8,
        look="Copy, or let a kernel read, the wanted elements alone."),
    "coalesced": Condition(
        "access memory so that the lanes of a warp share sectors", _coalesced, COALESCED, switch=True,
        look="Let neighbouring lanes take neighbouring elements; if only loads or only stores can, turn tiles in "
             "shared memory between the two."),
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
        "make at least {limit:g} floating-point operation{s} for each byte that its blocks load", _intensity, 16,
        at_least=True,
        look="Larger tiles need each element fewer times."),
    "divergence_at_most": Condition(
        "part the lanes of a warp at no more than {percent} of its branches", _divergence, 0.05,
        look="Branch on what is the same for a whole warp."),
    "barriers_at_most": Condition(
        "pass at most {limit:g} barrier{s} a warp", _barriers, 2,
        look="Lanes of one warp can exchange values without one."),
    "occupancy_at_least": Condition(
        "fill at least {percent} of a multiprocessor's threads", _occupancy, 0.5, at_least=True,
        look="Fewer registers a thread, or less shared memory a block, lets more blocks in."),
}
"""The conditions that every course may use, by name."""
