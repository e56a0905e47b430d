"""The pages made from results: a student's `report.html`, and the class's `index.html` and `gradebook.csv`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from grader.pages import (
    charts,
    error_map,
    findings,
    leaderboard,
    margins,
    source,
    speed,
    tally,
    text,
)
from grader.pages.curve import chart, sentences
from grader.pages.gradebook import gradebook
from grader.pages.inspected import InspectedFile, instructions
from grader.pages.line import MOST_FLAGS, NOTHING, Line, absent, comparable, devices, line, marked
from grader.pages.load import Entry, Failure, load_results
from grader.pages.people import People, pseudonym, shown_people
from grader.results.files import replace
from grader.results.hidden import for_student
from grader.results.mark import Mark, open_requests, signed
from grader.results.result import (
    AssignmentResult,
    CheckResult,
    Correctness,
    Detail,
    Interval,
    OutputFigures,
    Performance,
    Result,
    Timing,
)
from grader.results.result import Environment as GradingEnvironment
from grader.results.text import FIELD_BYTES, clean, folded
from grader.results.verdicts import GRADERS_FAULT, UNJUDGED, VERDICTS

NOBODY = People()
Others = Collection[tuple[str, str]] | None
TEMPLATES = Path(__file__).parent / "templates"
STUDENT_PAGE_BYTES = 1_000_000
# Limits of a text's bytes, tried in turn until the page is small enough: a student needs no 300 long tracebacks.
FIELD_LIMITS = (FIELD_BYTES, 5_000, 1_000, 250)
FAILURE_BYTES = 480
MOST_NAMED, MOST_KINDS = 8, 15
# The most characters of a row's name, id and section: where six columns have words; where none has. The most of the
# section alone.
MOST_LABEL, MOST_LINE, MOST_SECTION = 44, 56, 20
MOST_ROWS = 60
MOST_CHANGES = 100
# The address of the class page on a student's page.
HOME = "../index.html"
MOST_CASES = 3
PTX_BYTES = 400_000
SPEED_HELPERS: tuple[Callable[..., Any], ...] = (
    speed.measured, speed.how_fast, speed.why_points, speed.how_far, speed.share, text.percent, speed.bar,
    speed.impossible, speed.teraflops, speed.sample_rows, speed.thresholds, speed.rungs,
    speed.course_rungs, speed.ladder_place, speed.next_step, findings.margin, findings.absent, findings.exact,
    margins.compared, margins.advised, margins.line_words,
)


@dataclass(frozen=True)
class OngoingRow:
    """A grading in progress: the student, the assignment or the lane, and the start."""

    student: str
    at: str
    since: str


@dataclass(frozen=True)
class Progress:
    """The progress of a run at the time of day `now`. `ended`: the run was interrupted. `lanes` describes the lanes'
    state."""

    done: int
    total: int
    now: str
    left: str = ""
    running: Sequence[OngoingRow] = ()
    ended: bool = False
    lanes: str = ""


def write_student(result: Result, folder: Path, *, home: str = "") -> Path:
    """Write `folder/report.html`, at most about 1 MB, and return its path. `home` is the address for a link to the
    class page; "": no link."""
    page = ""
    for limit in FIELD_LIMITS:
        page = student_page(result, limit, home)
        if len(page.encode()) <= STUDENT_PAGE_BYTES:
            break
    return replace(folder / "report.html", page.encode())


def write_class(
    entries: Sequence[Entry], out: Path, *, failures: Sequence[Failure] = (), others: Others = None,
    progress: Progress | None = None, marks: Sequence[Mark] = (),
) -> None:
    """Write `out/index.html` and `out/gradebook.csv`, and the leaderboard if there is one. `others` are the (folder,
    assignment) that were graded under another course file than the newest grades; if it is None, the results show
    which. `marks` are the marks that people gave, some of them perhaps to somebody who handed in nothing.
    """
    lines = marked([line(entry) for entry in entries], others)
    missing = write_lines(lines, out, failures, progress, marks)
    key = leaderboard.key_of(out)
    pseudonyms = {} if key is None else {line.folder: pseudonym(key, line.folder) for line in lines if not line.hidden}
    stale = {(line.folder, name) for line in lines for name, cell in line.cells.items() if cell.other}
    replace(out / "gradebook.csv", gradebook(entries, stale, pseudonyms, missing).encode())
    if key is not None:
        alike = comparable(lines)
        places = leaderboard.places(alike, key)
        replace(out / leaderboard.PAGE, _environment().get_template("leaderboard.html.j2").render(
            places=places, columns=tally.columns(alike), left=len(lines) - len(places),
            fast=any(cell.interval for line in alike for cell in line.cells.values())).encode())


def write_lines(
    lines: Sequence[Line], out: Path, failures: Sequence[Failure], progress: Progress | None, marks: Sequence[Mark]
) -> list[Line]:
    """Write `out/index.html` from lines that are marked already. Return the lines of people who handed in nothing."""
    people, why = shown_people(out)
    missing = absent(people, lines, marks)
    replace(out / "index.html", class_page_of([*lines, *missing], failures, progress, people, why).encode())
    return missing


def write_all(out: Path) -> Path:
    """Write every page under `out` again from the results there, and return the class page's path."""
    results = load_results(out)
    for entry in results.entries:
        write_student(entry.result, out / entry.folder, home=HOME)
    write_class(results.entries, out, failures=results.failures)
    return out / "index.html"


def student_page(result: Result, limit: int = FIELD_BYTES, home: str = "", back: str = "class") -> str:
    """Return the HTML of a student's report, without hidden parts, with each text cut to `limit` bytes. `home` is the
    address of the page to which a link leads back, and `back` names that page."""
    original = for_student(result)
    # Cutting a source in its middle would renumber its lines, so the shown lines are cut one by one instead.
    files = {name: a.source for name, a in original.assignments.items()}
    result = text.clean_model(original.model_copy(update={"assignments": {
        name: a.model_copy(update={"source": ""}) for name, a in original.assignments.items()}}), limit)
    return _environment().get_template("student.html.j2").render(
        result=result, found=findings.findings(result), home=home, back=back,
        excerpts=lambda name, place, note, change: source.excerpts(files[name], place, note, change),
        annotated=lambda name: margins.annotated(inspection, files[name])
        if (inspection := result.assignments[name].inspection) else [])


def inspection_page(shown: Sequence[InspectedFile]) -> str:
    """Return the HTML of an inspection by `kernelmark inspect`."""
    return _environment().get_template("inspection.html.j2").render(
        shown=shown, instructions=lambda text: list(instructions(clean(text, PTX_BYTES))),
        lines=[margins.annotated(file.inspection, file.source) if file.inspection else [] for file in shown])


def class_page(entries: Sequence[Entry], failures: Sequence[Failure] = ()) -> str:
    """Return the HTML of the class page."""
    return class_page_of(marked([line(entry) for entry in entries], None), failures)


def class_page_of(
    lines: Sequence[Line], failures: Sequence[Failure], progress: Progress | None = None, people: People = NOBODY,
    nameless: str = "",
) -> str:
    """Return the HTML of the class page, during a run or after it, from lines that are marked already; they are sorted
    by student. `nameless` says why names cannot be shown."""
    every = sorted(lines, key=lambda line_: (folded(line_.shown), line_.folder))
    lines = [line_ for line_ in every if not line_.absent]
    failed_by_grader = {
        line_.folder for line_ in lines if any(c.verdict in GRADERS_FAULT for c in line_.cells.values())}
    # These submissions have a place of their own on the page, where the same words stand once.
    broken = sorted(_failure(failure, people) for failure in failures if failure.folder not in failed_by_grader)
    if nameless:
        broken.insert(0, ("", f"Names are not shown: {clean(nameless, FAILURE_BYTES)}"))
    environments: dict[str, tuple[GradingEnvironment, list[str]]] = {}
    for line_ in lines:
        # The reasons for missing isolation name things that differ between sessions of one user.
        key = line_.environment.model_dump_json(exclude={"isolation_missing"})
        environments.setdefault(key, (line_.environment, []))[1].append(line_.shown)
    return _environment().get_template("class.html.j2").render(
        lines=lines, every=every, failures=broken, columns=tally.columns(lines, len(every) - len(lines)),
        alike=comparable(lines), devices=devices(lines),
        environments=list(environments.values()), progress=progress, hidden=people.hidden)


def _failure(failure: Failure, people: People) -> tuple[str, str]:
    """Return the name of a failed submission, and its failure. With pseudonyms the message is left out, since it may
    hold names."""
    if people.hidden:
        return (people.owner(failure.folder).pseudonym if failure.folder else "The grading",
                "its message may hold names, so it is shown only where it was graded.")
    return clean(failure.folder), clean(failure.message, FAILURE_BYTES)


def link(folder: str) -> str:
    """Return the address of a student's report, relative to the class page."""
    return f"./{quote(os.fsencode(folder), safe='')}/report.html"


def distinct_texts(checks: Sequence[CheckResult], attribute: str, most: int = 3) -> list[tuple[str, str]]:
    """Return the distinct texts of failing checks (`message`, `traceback` or `output`), each with the cases that gave
    it."""
    cases: dict[str, list[str]] = {}
    for check in checks:
        if check.detail and getattr(check.detail, attribute):
            cases.setdefault(getattr(check.detail, attribute), []).append(findings.label(check))
    return [(body, ", ".join(names[:MOST_CASES]) + (f" and {len(names) - MOST_CASES} more"
                                                    if len(names) > MOST_CASES else ""))
            for body, names in list(cases.items())[:most]]


OutputPicture = tuple[OutputFigures, error_map.Picture]
"""A wrong output, and a picture of its wrong elements."""


def mapped(assignment: AssignmentResult, shown: CheckResult | None) -> tuple[CheckResult, list[OutputPicture]] | None:
    """Return the maps of the failing case that is shown; if none is shown, the maps of the clearest case."""
    maps = error_map.clearest(assignment.correctness.checks, shown)
    if maps is None:
        return None
    pictures = [(output, picture) for output, cells in maps[1]
                if (picture := error_map.picture(cells, output.worst.index if output.worst else None))]
    return (maps[0], pictures) if pictures else None


def thumbnails(checks: Sequence[CheckResult], drawn: CheckResult | None) -> dict[str, list[OutputPicture]]:
    """Return small maps of failing cases, by check's id, except for the case that is drawn large."""
    maps = {check.id: [(output, picture) for output, cells in error_map.informative(check)
                        if (picture := error_map.picture(cells, None, small=True))]
            for check in checks[:MOST_ROWS] if check is not drawn}
    return {name: pictures for name, pictures in maps.items() if pictures}


@cache
def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(prose=text.prose, points=text.points, figure=text.figure, seconds=text.seconds)
    helpers: dict[str, Any] = {
        "asset": lambda name: Markup((TEMPLATES / name).read_text(encoding="utf-8")),
        "status": findings.status, "verdict_words": findings.verdict_words, "check_status": findings.CHECK_STATUS,
        "verdicts": VERDICTS, "headline": findings.headline, "not_measured": findings.not_measured,
        "ladder": charts.ladder, "strip": charts.strip, "curve": chart, "curve_said": sentences,
        "unanswered": open_requests, "signed": signed,
        "tally": tally, "unjudged": UNJUDGED,
        "most_label": MOST_LABEL, "most_line": MOST_LINE, "most_section": MOST_SECTION,
        "most_named": MOST_NAMED, "most_kinds": MOST_KINDS, "most_flags": MOST_FLAGS, "nothing": NOTHING,
        "most_changes": MOST_CHANGES,
        "too_fast": lambda cell: cell.impossible,
        "palette": error_map.PALETTE,
        **{helper.__name__: helper for helper in SPEED_HELPERS},
        "shown_conditions": findings.shown_conditions, "conditions_heading": findings.conditions_heading,
        "inspected_launches": margins.launches, "moved": margins.MOVED, "grouped": distinct_texts,
        "label": findings.label, "sentence": findings.sentence, "how_much": findings.how_much,
        "beside": findings.beside,
        "diff_lines": source.difference, "mapped": mapped,
        "thumbnails": thumbnails, "link": link, "pairs": zip, "most_rows": MOST_ROWS,
    }
    environment.globals.update(helpers)
    return environment


def draw_trial() -> None:
    """Draw the pages of a made-up result, with all kinds of charts except the error map. Raises whatever a missing or
    broken template, file or chart raises."""
    even = Interval(median=1, low=1, high=1)
    result = Result(
        student="", score=0, max_score=2, measured_max=2, graded_at="", seconds=0, environment=GradingEnvironment(
            device="", python="", torch="", triton="", numpy="", platform="", isolation="", seed=""),
        assignments={"one": AssignmentResult(
            title="", signature="", verdict="wrong_answer", score=0, max_score=2, message="",
            correctness=Correctness(max_points=1, checks=[CheckResult(
                id="1", stage="case", outcome="failed", detail=Detail(kind="wrong_values", message=""))]),
            performance=Performance(
                status="measured", max_points=1, speedup=even, floor=0.5, target=2, timings=[Timing(
                    case="1", sizes={}, slots=1, student_us=1, baseline_us=1, ratios=[1, 1], speedup=even)]))})
    student_page(result)
    class_page([Entry("", result)])
