"""An inspection in words: figures for source lines, and advice on the worst lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from grader.pages.source import CodeLine, listing
from grader.pages.text import bytes_, percent
from grader.results.launched import AccessFacts, Figures, Inspection, LaunchFacts, WarpAccessFacts

# The share of used multiprocessors below which advice is given.
IDLE = 0.9
# Thresholds for advice on a line.
WASTEFUL, MOSTLY_MASKED, WIDE, CONFLICTS = 1.25, 0.25, 128, 1.0
# The fewest bytes of a launch for which idle multiprocessors matter; smaller launches end before.
MUCH = 1e6
# The least share of all launches' bytes or lanes for which a line gets advice.
SHARE = 0.1
MOVED = ("Memory moves in sectors of 32 bytes: what a line touches of one is moved as a whole, and counts each time "
         "that a program runs the line, even where a cache serves it.")


@dataclass(frozen=True)
class Note:
    """The figures of a load or store, to stand beside its line, and advice, "" if there is none."""

    line: int
    figures: str
    advice: str


def notes(inspection: Inspection) -> list[Note]:
    """Return a note for every load and store, in descending order of wasted bytes."""
    found = [(launch, each) for launch in inspection.launches for each in launch.accesses]
    found.sort(key=lambda one: (-(one[1].moved - one[1].needed) * one[0].scale, -one[1].moved * one[0].scale))
    shared = [_shared(each) for launch in inspection.launches if launch.warps for each in launch.warps.accesses
              if each.space == "shared" and each.line]
    moved = SHARE * sum(each.moved * launch.scale for launch, each in found)
    lanes = SHARE * sum(each.lanes * launch.scale for launch, each in found)
    return [Note(each.line, _figures(launch, each), _advice(
        launch, each, moves=each.moved * launch.scale >= moved, runs=each.lanes * launch.scale >= lanes))
        for launch, each in found] + shared


def _figures(launch: LaunchFacts, each: AccessFacts) -> str:
    about = "more than " if launch.cut else "about " if launch.scale > 1 else ""
    said = f"{each.access} of {each.tensor}: {about}{bytes_(each.moved * launch.scale)} moved, " \
           f"{bytes_(each.needed * launch.scale)} needed"
    if each.widths:
        said += f"; {', '.join(str(bits) for bits in sorted(each.widths))} bits at a time"
    if each.masked:
        said += f"; {percent(each.masked / each.lanes)} of its lanes masked"
    by_warps = [one for one in (launch.warps.accesses if launch.warps else ())
                if (one.space, one.access, one.line) == ("global", each.access, each.line)]
    if requests := sum(one.requests for one in by_warps):
        said += f"; {sum(one.parts for one in by_warps) / requests:.3g} sectors for a warp's request"
    return said


def _shared(each: WarpAccessFacts) -> Note:
    further = (each.parts - each.least) / max(1, each.requests)
    said = f"{each.access} of shared memory: " + (
        f"{further:.2g} bank conflicts for an access" if each.wasteful else "no bank conflicts")
    return Note(each.line, said, "" if further < CONFLICTS else (
        f"Up to {each.worst + 1} lanes of a warp need different words of one bank, and wait for each other: rows of 33 "
        "words, where 32 are used, spread a column over all banks."))


def _advice(launch: LaunchFacts, each: AccessFacts, *, moves: bool, runs: bool) -> str:
    """Return advice on an access, or "". `moves`: its bytes are a large part of all launches' bytes; `runs`: its lanes
    are a large part of all launches' lanes."""
    if each.access == "atomic":
        return ""
    if moves and each.needed and each.moved >= WASTEFUL * each.needed:
        return (f"This moves {each.moved / each.needed:.2g} times what it needs, since memory comes in sectors of 32 "
                "bytes: let the last dimension of the block run along neighbouring elements, and be long enough.")
    if runs and each.masked >= MOSTLY_MASKED * each.lanes:
        return (f"The mask switches off {percent(each.masked / each.lanes)} of its lanes: a block that fits the size "
                "better leaves fewer idle.")
    if moves and each.widths and max(each.widths) < WIDE and each.lanes >= launch.counted * launch.threads:
        return (f"A thread moves {max(each.widths)} bits at a time, and could {WIDE}: that takes offsets that the "
                "compiler sees to be neighbours, rows that begin at a multiple of 16 bytes, a mask that holds for "
                "whole runs, and a block of 16 bytes or more a thread.")
    return ""


def launches(inspection: Inspection) -> list[str]:
    """Describe each launch in a sentence or two. If all launches together load and store more than a good kernel does,
    one more sentence says so."""
    yours, good = inspection.figures, inspection.good
    said = [" ".join(part for part in (_launch(one), _launch_advice(one, inspection)) if part)
            for one in inspection.launches]
    if good is not None and good.needed and yours.needed >= WASTEFUL * good.needed and not inspection.cut:
        how = ("a larger tile needs each element fewer times." if any(one.products for one in inspection.launches) else
               "which elements are loaded or stored more than once, and must they be?")
        said.append(f"Its loads and stores need {yours.needed / good.needed:.2g} times a good kernel's bytes: {how}")
    return said or ["It launches no kernel of its own; copies are not counted."]


def _launch(one: LaunchFacts) -> str:
    programs = prod(one.grid)
    part = f", {one.counted:,} of them counted" if one.counted < programs else ""
    part += ", not to their ends, which takes too long" if one.cut else ""
    wide = one.unit + "s" * (programs != 1)
    cores = f", tensor cores ({one.tensor_cores})" if one.tensor_cores not in ("", "none") else ""
    engine = {"tma": ", the copy engine", "cp.async": ", asynchronous copies"}.get(one.copies, "")
    said = (f"`{one.kernel}`, {programs:,} {wide} of {one.threads} threads{part}: {one.registers} registers a thread, "
            f"{bytes_(one.spills)} spilled, {bytes_(one.shared)} of shared memory{cores}{engine}")
    if one.bound:
        many = one.unit + "s" * (one.resident != 1)
        said += (f". A multiprocessor holds {one.resident} {many} at a time, {percent(one.occupancy)} of its threads "
                 f"(occupancy), bound by {one.bound}")
    return f"{said}.{_warps(one)}"


def _warps(one: LaunchFacts) -> str:
    """Return a sentence, after a space, on what a launch's warps do beside their accesses; "" if nothing is known."""
    found = one.warps
    if found is None:
        return ""
    branches = sum(each.branches for each in found.branching)
    parts = [f"part at {percent(sum(each.divergent for each in found.branching) / branches)} of their branches"] \
        if branches else []
    if found.barriers and found.counted:
        parts.append(f"pass {found.barriers / (found.counted * -(-one.threads // 32)):.3g} barriers each")
    if found.tensor_multiply_adds:
        share = found.tensor_multiply_adds / (found.tensor_multiply_adds + found.multiply_adds)
        parts.append(f"leave {percent(share)} of the multiply-adds to tensor cores")
    return f" Its warps {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}." if parts else ""


def _launch_advice(one: LaunchFacts, among: Inspection) -> str:
    if one.spills:
        return "Spilled registers go to memory and back: a smaller block, or more warps, takes fewer registers."
    if one.products and one.tensor_cores == "none":
        return ("Its product of tiles runs without tensor cores: they take fp16, bf16, tf32 or int8, and tiles of "
                "16 and more.")
    if one.products and (cores := among.better_cores(one)):
        return f"Its product of tiles runs on {one.tensor_cores}; {cores.name}, which is faster, takes {cores.takes}."
    much = sum(each.moved for each in one.accesses) * one.scale >= max(MUCH, SHARE * among.figures.moved)
    if (much or one.cut) and prod(one.grid) < IDLE * among.multiprocessors:
        return f"The GPU has {among.multiprocessors} multiprocessors: with fewer {one.unit}s some are idle."
    return ""


def compared(inspection: Inspection) -> list[tuple[str, str, str]]:
    """Return rows: a figure's name, its value for the student's kernel, and its value for a good kernel ("" if not
    known)."""
    yours, good = _rows(inspection.figures, "more than " if inspection.cut else ""), inspection.good
    theirs = _rows(good) if good else [("", "")] * len(yours)
    return [(name, mine, other) for (name, mine), (_, other) in zip(yours, theirs, strict=True)]


def _rows(one: Figures, about: str = "") -> list[tuple[str, str]]:
    return [
        ("launches", str(one.launches)), ("bytes moved", about + bytes_(one.moved)),
        ("bytes needed", about + bytes_(one.needed)),
        ("narrowest access", f"{one.bits} bits" if one.bits else "–"), ("registers a thread", str(one.registers)),
        ("spilled", bytes_(one.spills)), ("shared memory", bytes_(one.shared)),
        ("tensor cores", "none" if one.tensor_cores == "none" else one.tensor_cores),
        ("occupancy", percent(one.occupancy)),
    ]


def annotated(inspection: Inspection, source: str) -> list[CodeLine]:
    """Return the functions that load and store, with figures beside their lines. Lines with advice are marked."""
    beside: dict[int, list[str]] = {}
    marked = set()
    for note in notes(inspection):
        beside.setdefault(note.line, []).append(note.figures)
        marked |= {note.line} if note.advice else set()
    return listing(source, {line: "; ".join(said) for line, said in beside.items()}, marked)


def advised(inspection: Inspection) -> list[tuple[list[int], str]]:
    """Return sentences of advice, each with its lines, in descending order of wasted bytes."""
    found: dict[str, list[int]] = {}
    for note in notes(inspection):
        if note.advice and note.line not in found.setdefault(note.advice, []):
            found[note.advice].append(note.line)
    return [(lines, advice) for advice, lines in found.items()]


def named(lines: Sequence[int]) -> str:
    """Return the words for line numbers: `Line 9`, `Lines 9 and 11`."""
    if len(lines) == 1:
        return f"Line {lines[0]}"
    return f"Lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
