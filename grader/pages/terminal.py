"""A result in the terminal: a block for each kernel, with the same words as on the page, and a small error map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grader.pages import error_map, findings, source, speed
from grader.pages.inspected import factor
from grader.pages.text import clean_model, of_points, points
from grader.results.result import AssignmentResult, CheckResult, ErrorMap, OutputFigures, Result, WorstElement

# The most squares of a map. Each is two characters wide and one high, so roughly square.
MOST_COLUMNS, MOST_ROWS = 32, 16
MOST_LINES = 12
MOST_CASES = 24
STYLES = {"passed": "green", "failed": "red", "partly": "yellow", "unmeasured": "cyan", "absent": "dim"}
CHANGED = {"+": "green", "-": "red"}
RIGHT, UNWRITTEN, WRONG = "·", "□", "■"
# Colours of wrong elements. Each stands for three powers of ten; the terminal's theme makes them readable.
SHADES = ("yellow", "red", "bold red")
MEANING = {RIGHT: "right", WRONG: "wrong", UNWRITTEN: "never written"}

_QUOTED = re.compile(r"`[^`\n]{1,200}`")


def kernel(assignment: AssignmentResult, file: str, expected: str) -> RenderableType:
    """Return the block of one kernel. `file` is the path that was checked; `expected` is the file name under which it
    counts.

    Print the block uncropped: many terminals make a link to the line out of a path in one piece.
    """
    a = clean_model(assignment)
    check = findings.evidence(a) if not a.right else None
    detail = check.detail if check else None
    if detail and detail.kind == "not_attempted":
        # One line, with the place of the stub's mark, in case the student left it in by mistake.
        place = f"{file}:{detail.place.line}" if detail.place else file
        raises = detail.place is None or "raise" in detail.place.text
        return _head(a, place, "not written yet: it still raises NotImplementedError, as the template does" if raises
                     else "not written yet: it still asks the GPU for nothing, as the template")
    head = _head(a, file, findings.verdict_words(a))
    if a.measured_max:
        head.append(f"  {of_points(a.score, a.measured_max, a.max_score)}", "dim")
    if PurePath(file).name != expected:
        head.append(f"  as {expected}", "dim")
    margin = findings.margin(a) if a.right else ""
    blocks = [_indented(_prose(f"{a.message} {margin}".strip()))]
    if detail and detail.place:
        blocks.append(Text(f"  {file}:{detail.place.line}", "bold", no_wrap=True, overflow="ignore"))
        # Code is folded anywhere, not only between words.
        blocks.append(_indented(_indented(Text(detail.place.text.strip(), "cyan", overflow="fold"))))
        if detail.place.seen:
            blocks.append(_indented(_prose(detail.place.seen)))
    more: list[RenderableType] = []
    if a.hint:
        more.append(_prose(f"Try: {a.hint}", "Try:"))
    if not a.right:
        more += _evidence(a, check)
    more += [_prose(f"Worth knowing: {remark}", "Worth knowing:") for remark in a.remarks]
    more += [_prose(check.note) for check in a.correctness.checks if a.right and check.note]
    more += [*_structure(a), *_speed(a)]
    return Group(head, *blocks, *map(_indented, more), "")


def mended(assignment: AssignmentResult, file: str) -> RenderableType:
    """Return the block of a change that makes every case right. Such a change is found after the kernel's own block was
    printed."""
    a = clean_model(assignment)
    assert a.repair is not None
    place = f"{file}:{a.repair.line}" if a.repair.line else file
    head = Text(no_wrap=True, overflow="ignore").append("Δ ", "cyan").append(place, "bold").append("  found by trying")
    quoted = source.difference(a.repair.diff) or [
        ("", text.strip()) for at, text in enumerate(source.lines_of(assignment.source), 1) if at == a.repair.line]
    lines = [Text(f"{sign} {text}".strip(), CHANGED.get(sign, "cyan"), overflow="fold") for sign, text in quoted]
    return Group(head, _indented(_prose(a.repair.told)), *(_indented(_indented(line)) for line in lines), "")


def guessed(assignment: AssignmentResult, file: str) -> RenderableType:
    """Return the block of hints that are guesses: the kernel's own block leaves them out, and no change was found."""
    head = Text(file, "bold", no_wrap=True, overflow="ignore")
    return Group(head, _indented(_prose(f"Try: {clean_model(assignment).guess}", "Try:")), "")


def _head(assignment: AssignmentResult, where: str, said: str) -> Text:
    status = findings.status(assignment)
    text = Text(no_wrap=True, overflow="ignore")
    return text.append(f"{status.shape} ", STYLES[status.key]).append(where, "bold").append(f"  {said}")


def closing(result: Result) -> RenderableType:
    """Return the total of several kernels, and the reason why the speed of right kernels was not measured."""
    result = clean_model(result)
    lines = []
    if len(result.assignments) > 1:
        total = of_points(result.score, result.measured_max, result.max_score) if result.measured_max else ""
        lines.append(Text(f"{findings.headline(result)}{f' {total}.' if total else ''}", "bold"))
    reasons: dict[str, float] = {}
    for performance in (a.performance for a in result.assignments.values() if a.right):
        if performance.status == "not_measured" and performance.max_points:
            reasons[performance.reason] = reasons.get(performance.reason, 0) + performance.max_points
    lines += [Text(f"Speed ({points(total)} points): {reason}", "dim") for reason, total in reasons.items()]
    return Group(*lines)


def _evidence(assignment: AssignmentResult, shown: CheckResult | None) -> list[RenderableType]:
    blocks: list[RenderableType] = []
    cases = [check for check in assignment.correctness.checks if check.stage == "case"]
    if any(check.outcome == "passed" for check in cases) or len({c.detail.kind for c in cases if c.detail}) > 1:
        blocks.append(_cases(cases))
    # A map that becomes uniform when it shrinks says no more than the message.
    drawn = [check for check in cases if _informative(error_map.informative(check))]
    if mapped := error_map.clearest(drawn, shown):
        check, maps = mapped
        blocks += [_map(check, output, cells, described=check is shown) for output, cells in _informative(maps)]
    if shown is not None:
        blocks += _beside(shown)
    detail = shown.detail if shown else None
    if detail and detail.traceback and not detail.place:
        blocks.append(_quoted("Traceback:", detail.traceback))
    if shown and detail and detail.output:
        blocks.append(_quoted(f"It printed in {findings.label(shown)}:", detail.output))
    return blocks


def _cases(cases: list[CheckResult]) -> RenderableType:
    signs = []
    there = {check.outcome for check in cases}
    said = [status for outcome, status in findings.CHECK_STATUS.items() if outcome in there]
    for check in cases[:MOST_CASES]:
        status = findings.CHECK_STATUS[check.outcome]
        signs.append(Text.assemble((status.shape, STYLES[status.key]), f" {check.case}"))
    more = [Text(f"and {len(cases) - MOST_CASES} more")] if len(cases) > MOST_CASES else []
    return Group(f"Cases ({', '.join(f'{s.shape} {s.word}' for s in said)}):",
                 _indented(Columns([*signs, *more], padding=(0, 2))))


def _informative(maps: Sequence[error_map.Mapped]) -> list[error_map.Mapped]:
    return [(output, cells) for output, cells in maps if len(_signs(cells)) > 1]


def _map(check: CheckResult, output: OutputFigures, cells: ErrorMap, *, described: bool) -> RenderableType:
    """Return the map of an output in a case. Its worst element is added unless it is `described` elsewhere."""
    several = check.detail is not None and len(check.detail.outputs) > 1
    vector = len(cells.output_shape) < 2
    sizes = ", ".join(f"{name}={size}" for name, size in check.sizes.items())
    where = f"{output.name} is wrong in {check.case}" if several else f"{check.case} is wrong"
    title = f"Where {where} ({sizes}){', left to right, then down' if vector else ''}."
    worst = f" {_worst(output.worst, output.name)}" if output.worst and not described else ""
    return Group(_prose(f"{title}{worst}"), _indented(_picture(cells)))


def _beside(check: CheckResult) -> list[RenderableType]:
    """Return the lines on the other outputs: the wrong ones, and the right ones."""
    wrong, right = findings.beside(check)
    said = [f"{output.name}: {findings.how_much(output)}." + (
        f" {_worst(output.worst_written, output.name)}" if output.worst_written else "") for output in wrong]
    if right:
        said.append(f"{', '.join(output.name for output in right)}: right.")
    return [_prose(line) for line in said]


def _picture(cells: ErrorMap) -> Text:
    drawn, covered = _squares(cells)
    picture = Text()
    for row in drawn:
        for kind in row:
            style = {RIGHT: "dim", UNWRITTEN: "magenta"}.get(_sign(kind)) or SHADES[(int(kind) - 1) // 3]
            picture.append(f"{_sign(kind)} ", style)
        picture.append("\n")
    there = _signs(cells)
    meaning = {**MEANING, UNWRITTEN: "left as it was"} if cells.kept else MEANING
    picture.append("  ".join(f"{sign} {meaning[sign]}" for sign in meaning if sign in there))
    vector = len(cells.output_shape) < 2
    picture.append("; a sign is an element" if covered == (1, 1) else
                   f"; a sign covers {covered[1]} elements" if vector else
                   f"; a sign covers {covered[0]} × {covered[1]} elements")
    return picture


def _squares(cells: ErrorMap) -> tuple[list[str], tuple[int, int]]:
    """Return the map, shrunk to fit, and the number of elements that each square covers, down and across.

    The number of cells in a square is a power of two, so that borders of blocks lie between squares.
    """
    tall, wide = [*cells.cell_shape, 1, 1][:2]
    rows = cells.cells
    if len(cells.output_shape) < 2:
        # The map has folded the vector into rows; fold it again into wider ones.
        line = "".join(rows)
        down, across = 1, factor(len(line), MOST_COLUMNS * MOST_ROWS)
        joined = "".join(max(line[at : at + across]) for at in range(0, len(line), across))
        drawn = [joined[at : at + MOST_COLUMNS] for at in range(0, len(joined), MOST_COLUMNS)]
    else:
        down, across = factor(len(rows), MOST_ROWS), factor(len(rows[0]), MOST_COLUMNS)
        # A worse cell is a greater character, and an unwritten cell is the greatest.
        drawn = ["".join(max(max(row[at : at + across]) for row in rows[top : top + down])
                         for at in range(0, len(rows[0]), across)) for top in range(0, len(rows), down)]
    return drawn, (tall * down, wide * across)


def _sign(kind: str) -> str:
    return {".": RIGHT, "u": UNWRITTEN}.get(kind, WRONG)


def _signs(cells: ErrorMap) -> set[str]:
    return {_sign(kind) for row in _squares(cells)[0] for kind in row}


def _worst(worst: WorstElement, name: str) -> str:
    said = f"Worst element {name}{worst.index}: got {worst.got}, expected {worst.expected}"
    if worst.error == "nan":
        return f"{said}."
    if worst.exact:
        return f"{said}, and must be exact."
    return f"{said}, off by {worst.error} where {worst.allowed} is allowed."


def _structure(assignment: AssignmentResult) -> list[RenderableType]:
    head = findings.conditions_heading(assignment)
    return [*([_prose(head)] if head else []), *(
        _prose(f"{condition.status.shape} {condition.word}: {condition.said}"
               f"{f' Try: {condition.look}' if condition.look else ''}")
        for condition in findings.shown_conditions(assignment) if assignment.right)]


def _speed(assignment: AssignmentResult) -> list[RenderableType]:
    performance = assignment.performance
    if speed.measured(assignment):
        said = [speed.how_fast(performance), speed.why_points(assignment), *performance.notes,
                speed.how_far(performance)]
        paragraphs = [_prose("Speed: " + " ".join(line for line in said if line), "Speed:")]
        if place := speed.ladder_place(performance):
            paragraphs.append(_prose(f"Among the course's stages: {place}", "Among the course's stages:"))
        roofs = [flag for flag in assignment.flags if flag.what == "roof"]
        return [*paragraphs, *(_prose(f"Looks impossible: {flag.evidence}.") for flag in roofs)]
    if performance.status == "measured" and performance.max_points:
        earned = f"{points(performance.points)} of {points(performance.max_points)} points"
        return [_prose(f"Speed: {earned}. {findings.sentence(performance.reason)}")]
    return []


def _indented(block: RenderableType) -> RenderableType:
    return Padding(block, (0, 0, 0, 2), expand=False)


def _prose(text: str, lead: str = "") -> Text:
    prose = Text(text)
    if lead:
        prose.stylize("bold", 0, len(lead))
    prose.highlight_regex(_QUOTED, "cyan")
    return prose


def _quoted(title: str, text: str) -> RenderableType:
    lines = text.strip("\n").splitlines()
    left = [f"[{len(lines) - MOST_LINES} lines before]"] if len(lines) > MOST_LINES else []
    return Group(title, _indented(Text("\n".join([*left, *lines[-MOST_LINES:]]), "dim", overflow="fold")))
