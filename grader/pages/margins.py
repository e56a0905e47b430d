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
    accesses = [(launch, access) for launch in inspection.launches for access in launch.accesses]
    accesses.sort(key=lambda pair: (-(pair[1].moved - pair[1].needed) * pair[0].scale, -pair[1].moved * pair[0].scale))
    shared = [_shared(access) for launch in inspection.launches if launch.warps for access in launch.warps.accesses
              if access.space == "shared" and access.line]
    moved = SHARE * sum(access.moved * launch.scale for launch, access in accesses)
    lanes = SHARE * sum(access.lanes * launch.scale for launch, access in accesses)
    return [Note(access.line, _figures(launch, access), _advice(
        launch, access, moves=access.moved * launch.scale >= moved, runs=access.lanes * launch.scale >= lanes))
        for launch, access in accesses] + shared


def _figures(launch: LaunchFacts, access: AccessFacts) -> str:
    about = "more than " if launch.cut else "about " if launch.scale > 1 else ""
    said = f"{access.access} of {access.tensor}: {about}{bytes_(access.moved * launch.scale)} moved, " \
           f"{bytes_(access.needed * launch.scale)} needed"
    if access.widths:
        said += f"; {', '.join(str(bits) for bits in sorted(access.widths))} bits at a time"
    if access.masked:
        said += f"; {percent(access.masked / access.lanes)} of its lanes masked"
    by_warps = [by_warp for by_warp in (launch.warps.accesses if launch.warps else ())
                if (by_warp.space, by_warp.access, by_warp.line) == ("global", access.access, access.line)]
    if requests := sum(by_warp.requests for by_warp in by_warps):
        said += f"; {sum(by_warp.parts for by_warp in by_warps) / requests:.3g} sectors for a warp's request"
    return said


def _shared(access: WarpAccessFacts) -> Note:
    further = (access.parts - access.least) / max(1, access.requests)
    said = f"{access.access} of shared memory: " + (
        f"{further:.2g} bank conflicts for an access" if access.wasteful else "no bank conflicts")
    return Note(access.line, said, "" if further < CONFLICTS else (
        f"Up to {access.worst + 1} lanes of a warp need different words of one bank, and wait for each other: rows of "
        "33 words, where 32 are used, spread a column over all banks."))


def _advice(launch: LaunchFacts, access: AccessFacts, *, moves: bool, runs: bool) -> str:
    """Return advice on an access, or "". `moves`: its bytes are a large part of all launches' bytes; `runs`: its lanes
    are a large part of all launches' lanes."""
    if access.access == "atomic":
        return ""
    if moves and access.needed and access.moved >= WASTEFUL * access.needed:
        return (f"This moves {access.moved / access.needed:.2g} times what it needs, since memory comes in sectors of "
                "32 bytes: let the last dimension of the block run along neighbouring elements, and be long enough.")
    if runs and access.masked >= MOSTLY_MASKED * access.lanes:
        return (f"The mask switches off {percent(access.masked / access.lanes)} of its lanes: a block that fits the "
                "size better leaves fewer idle.")
    if moves and access.widths and max(access.widths) < WIDE and access.lanes >= launch.counted * launch.threads:
        return (f"A thread moves {max(access.widths)} bits at a time, and could {WIDE}: that takes offsets that the "
                "compiler sees to be neighbours, rows that begin at a multiple of 16 bytes, a mask that holds for "
                "whole runs, and a block of 16 bytes or more a thread.")
    return ""


def launches(inspection: Inspection) -> list[str]:
    """Describe each launch in a sentence or two. If all launches together load and store more than a good kernel does,
    one more sentence says so."""
    yours, good = inspection.figures, inspection.good
    said = [" ".join(part for part in (_launch(launch), _launch_advice(launch, inspection)) if part)
            for launch in inspection.launches]
    if good is not None and good.needed and yours.needed >= WASTEFUL * good.needed and not inspection.cut:
        tiles = any(launch.products for launch in inspection.launches)
        how = ("a larger tile needs each element fewer times." if tiles else
               "which elements are loaded or stored more than once, and must they be?")
        said.append(f"Its loads and stores need {yours.needed / good.needed:.2g} times a good kernel's bytes: {how}")
    return said or ["It launches no kernel of its own; copies are not counted."]


def _launch(launch: LaunchFacts) -> str:
    programs = prod(launch.grid)
    part = f", {launch.counted:,} of them counted" if launch.counted < programs else ""
    part += ", not to their ends, which takes too long" if launch.cut else ""
    wide = launch.unit + "s" * (programs != 1)
    cores = f", tensor cores ({launch.tensor_cores})" if launch.tensor_cores not in ("", "none") else ""
    engine = {"tma": ", the copy engine", "cp.async": ", asynchronous copies"}.get(launch.copies, "")
    said = (f"`{launch.kernel}`, {programs:,} {wide} of {launch.threads} threads{part}: {launch.registers} registers a "
            f"thread, {bytes_(launch.spills)} spilled, {bytes_(launch.shared)} of shared memory{cores}{engine}")
    if launch.bound:
        many = launch.unit + "s" * (launch.resident != 1)
        said += (f". A multiprocessor holds {launch.resident} {many} at a time, {percent(launch.occupancy)} of its "
                 f"threads (occupancy), bound by {launch.bound}")
    return f"{said}.{_warps(launch)}"


def _warps(launch: LaunchFacts) -> str:
    """Return a sentence, after a space, on what a launch's warps do beside their accesses; "" if nothing is known."""
    warps = launch.warps
    if warps is None:
        return ""
    branches = sum(branching.branches for branching in warps.branching)
    divergent = sum(branching.divergent for branching in warps.branching)
    parts = [f"part at {percent(divergent / branches)} of their branches"] if branches else []
    if warps.barriers and warps.counted:
        barriers = f"{warps.barriers / (warps.counted * -(-launch.threads // 32)):.3g}"
        parts.append(f"pass {barriers} barrier{'s' * (barriers != '1')} each")
    if warps.tensor_multiply_adds:
        share = warps.tensor_multiply_adds / (warps.tensor_multiply_adds + warps.multiply_adds)
        parts.append(f"leave {percent(share)} of the multiply-adds to tensor cores")
    return f" Its warps {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}." if parts else ""


def _launch_advice(launch: LaunchFacts, among: Inspection) -> str:
    if launch.spills:
        return "Spilled registers go to memory and back: a smaller block, or more warps, takes fewer registers."
    if launch.products and launch.tensor_cores == "none":
        return ("Its product of tiles runs without tensor cores: they take fp16, bf16, tf32 or int8, and tiles of "
                "16 and more.")
    if launch.products and (cores := among.better_cores(launch)):
        return (f"Its product of tiles runs on {launch.tensor_cores}; {cores.name}, which is faster, takes "
                f"{cores.takes}.")
    much = sum(access.moved for access in launch.accesses) * launch.scale >= max(MUCH, SHARE * among.figures.moved)
    if (much or launch.cut) and prod(launch.grid) < IDLE * among.multiprocessors:
        return f"The GPU has {among.multiprocessors} multiprocessors: with fewer {launch.unit}s some are idle."
    return ""


def compared(inspection: Inspection) -> list[tuple[str, str, str]]:
    """Return rows: a figure's name, its value for the student's kernel, and its value for a good kernel ("" if not
    known)."""
    yours, good = _rows(inspection.figures, "more than " if inspection.cut else ""), inspection.good
    good_rows = _rows(good) if good else [("", "")] * len(yours)
    return [(name, mine, good) for (name, mine), (_, good) in zip(yours, good_rows, strict=True)]


def _rows(figures: Figures, about: str = "") -> list[tuple[str, str]]:
    return [
        ("launches", str(figures.launches)), ("bytes moved", about + bytes_(figures.moved)),
        ("bytes needed", about + bytes_(figures.needed)),
        ("narrowest access", f"{figures.bits} bits" if figures.bits else "–"),
        ("registers a thread", str(figures.registers)),
        ("spilled", bytes_(figures.spills)), ("shared memory", bytes_(figures.shared)),
        ("tensor cores", "none" if figures.tensor_cores == "none" else figures.tensor_cores),
        ("occupancy", percent(figures.occupancy)),
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
    by_advice: dict[str, list[int]] = {}
    for note in notes(inspection):
        if note.advice and note.line not in by_advice.setdefault(note.advice, []):
            by_advice[note.advice].append(note.line)
    return [(lines, advice) for advice, lines in by_advice.items()]


def line_words(lines: Sequence[int]) -> str:
    """Return the words for line numbers: `Line 9`, `Lines 9 and 11`."""
    if len(lines) == 1:
        return f"Line {lines[0]}"
    return f"Lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
