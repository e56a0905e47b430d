"""The students' files in the folder of results, which are written from the attempts that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.classroom.attempts.attempt import Attempt, hash_of_rules
from grader.classroom.attempts.policy import counting_hand_ins
from grader.classroom.attempts.selected import by_assignment, newest, newest_books, pending, select_attempts
from grader.classroom.attempts.store import Store
from grader.console import failed
from grader.course.course import Course
from grader.course.late import LatePolicy
from grader.pages.leaderboard import key_of
from grader.pages.load import Failure, load_results
from grader.pages.people import pseudonym, shown_people
from grader.results.files import replace
from grader.results.hidden import any_hidden, for_student, staff
from grader.results.mark import Mark, counting
from grader.results.result import Result, with_assignments
from grader.results.text import some

if TYPE_CHECKING:
    from grader.pages.pages import Progress

RESULT = "result.json"
LOG = "checks.log"
PAGE = "report.html"


Books = Mapping[str, tuple[str, str]]


def shown_attempts(store: Store, late: LatePolicy, slug: str | None = None) -> dict[str, list[Attempt]]:
    """Return the attempts that each folder's files show: of each assignment the one that counts."""
    attempts: dict[str, list[Attempt]] = {}
    # A student's best attempt may depend on other hand-ins of that student, in other folders, too.
    needed = store.attempts(None if late.count == "best" else slug)
    selected = list(select_attempts(needed, store.decisions()).values())
    for (folder, _), hand_in in counting_hand_ins(selected, late).items():
        if slug in (None, folder):
            attempts.setdefault(folder, []).append(hand_in.attempt)
    return attempts


def complete_results(store: Store, out: Path, late: LatePolicy, slug: str | None = None) -> dict[str, Result]:
    """Return the complete result of the folder `slug`, or of all, as `refresh` writes it. Raises UserError."""
    by_folder = shown_attempts(store, late, slug)
    books, marks = _books(by_folder), counting(store.marks())
    joined = ((folder, _complete_result(store, out, attempts, books, marks)) for folder, attempts in by_folder.items())
    return {folder: result for folder, result in joined if result is not None}


def outdated_lines(results: Mapping[str, Result], written: Mapping[str, Result]) -> list[str]:
    """Return a line about folders whose files differ from the `results` that the attempts give; empty if there are
    none. Such files remain if a command was killed after it recorded attempts or decisions, or if the course counts
    other attempts by now. `written` are the results in the files."""
    # Notes may differ, since they compare a grade with other students' grades.
    old = [folder for folder, result in results.items()
           if folder not in written or _judgements(result) != _judgements(written[folder])]
    return [f"{some(old)}: report.html and result.json are older than the grade, as after a command that was killed or "
            "another [late]; run kernelmark apply, which writes them"] if old else []


def removed_lines(gone: Sequence[str]) -> list[str]:
    """Return a line about graded assignments that the course no longer has; empty if there are none."""
    have = "is no assignment of the course and does" if len(gone) == 1 else "are no assignments of the course and do"
    return [f"{some(gone)}: graded, but {have} not count; pass the --course that has it"] if gone else []


def _judgements(result: Result) -> str:
    # Compared as text, in which NaN equals NaN.
    return result.model_dump_json(include={"assignments"})


def under_another_course_file(store: Store, late: LatePolicy) -> set[tuple[str, str]]:
    """Return each (folder, assignment) that was graded by other tests or rules than the assignment's newest selected
    attempt."""
    shows = [attempt for attempts in shown_attempts(store, late).values() for attempt in attempts if not attempt.failed]
    books = newest_books(shows)
    return {(attempt.slug, attempt.assignment) for attempt in shows if attempt.book != books[attempt.assignment]}


def refresh(store: Store, out: Path, late: LatePolicy, slug: str | None = None) -> list[str]:
    """Write the files of the folder `slug`, or of all, that differ from the attempts that count. Return a line for each
    failure.

    For a single folder, differences from the course files of other folders are not noticed.
    """
    by_folder, lines = shown_attempts(store, late, slug), []
    books, marks = _books(by_folder), counting(store.marks())
    for folder, attempts in by_folder.items():
        try:
            write_files(store, out, attempts, books, marks)
        except OSError as error:
            lines.append(f"{attempts[0].student}: results not written: {failed(error, out / folder)}")
        except ValueError as error:
            lines.append(f"{attempts[0].student}: results not written: {error}")
    return lines


def write_class_page(
    store: Store | None, out: Path, late: LatePolicy, failures: Sequence[Failure] = (),
    progress: Progress | None = None,
) -> set[str]:
    """Write the class page and the gradebook from the students' files, and return the folders of these. `failures` are
    those of the run that is in `progress`. Without a store the results show which of them differ. Raises OSError and
    UserError."""
    # Late: pages are slow to import.
    from grader.pages.pages import write_class

    others = None if store is None else under_another_course_file(store, late)
    results, reported = load_results(out), {failure.folder for failure in failures}
    further = [failure for failure in results.failures if failure.folder not in reported]
    write_class(results.entries, out, failures=[*failures, *further], others=others, progress=progress,
                marks=() if store is None else store.marks())
    return {entry.folder for entry in results.entries}


def notices(store: Store, course: Course) -> list[str]:
    """Return lines for a person to read or decide: missing files, newer attempts, points under another course file, and
    assignments that no longer count."""
    attempts, decisions = store.attempts(), store.decisions()
    selected, waiting = select_attempts(attempts, decisions), pending(attempts, decisions)
    rules = {name: hash_of_rules(name, course) for name in {attempt.assignment for attempt in attempts}}
    known = {after.hand_in for _, after in waiting if after.rules == rules[after.assignment]}
    newer = len(waiting)
    stale = sum(attempt.judged and attempt.rules != rules[attempt.assignment]
                for hand_in, (_, attempt, _) in selected.items() if hand_in not in known)
    lines = []
    counts = counting_hand_ins(list(selected.values()), course.late)
    if gone := [(slug, name) for (slug, name), hand_ins in by_assignment(selected.values()).items()
                if newest(hand_ins).attempt.empty and not counts[slug, name].attempt.empty]:
        lines.append("The newest hand-in lacks the file or has the stub alone, so the earlier file's grade counts: "
                     f"{some([' '.join(names) for names in gone])}")
    names = dict.fromkeys(attempt.assignment for attempt in attempts)
    lines += removed_lines([name for name in names if course.assignments and name not in course.assignments])
    if newer:
        have = "1 grade that counts has a newer attempt beside it" if newer == 1 else (
            f"{newer:,} grades that count have a newer attempt beside them")
        lines.append(f"{have}: kernelmark diff shows what would change, kernelmark apply changes it")
    if stale:
        are = "1 grade is" if stale == 1 else f"{stale:,} grades are"
        lines.append(f"{are} based on other points or thresholds than the course file has: kernelmark rescore updates "
                     "them")
    return lines


def write_files(store: Store, out: Path, attempts: Sequence[Attempt], books: Books, marks: Sequence[Mark]) -> bool:
    """Write the files of the student who has these attempts, unless they are up to date. Return whether any was
    written.

    `books` has the hashes of tests and rules of the class's newest attempts; `marks` are the marks in the class that
    count. Raises OSError, ValueError and UserError. The result is written last: if it is up to date, the other files
    are.
    """
    result = _complete_result(store, out, attempts, books, marks)
    if result is None:
        return False
    folder = out / attempts[0].slug
    # Two files may be for staff alone: the complete result, if the student sees only a part of it; and the log, which
    # names every check, if cases are hidden.
    for_staff = {RESULT: for_student(result) is not result, LOG: any_hidden(result)}
    at = {name: (staff(folder) if staff_only else folder) / name for name, staff_only in for_staff.items()}
    texts = {folder / RESULT: _json(for_student(result)), at[RESULT]: _json(result)}
    if all(_read(path) == text for path, text in texts.items()) and all(
            path.is_file() for path in (at[LOG], folder / PAGE)):
        return False
    # Late: jinja2 is slow to import, and comparing attempts needs no page.
    from grader.pages.pages import HOME, write_student

    folder.mkdir(exist_ok=True)
    if for_staff[RESULT]:
        staff(folder).parent.mkdir(mode=0o700, exist_ok=True)
        staff(folder).mkdir(exist_ok=True)
    runs = sorted({attempt.run for attempt in attempts if attempt.assignment in result.assignments})
    replace(at[LOG], "\n".join(store.logs(runs)).encode(errors="replace"))
    (folder if for_staff[LOG] else staff(folder)).joinpath(LOG).unlink(missing_ok=True)
    if not for_staff[RESULT]:
        (staff(folder) / RESULT).unlink(missing_ok=True)
    write_student(result, folder, home=HOME)
    for path, text in reversed(texts.items()):
        replace(path, text.encode(errors="replace"))
    return True


def _books(by_folder: Mapping[str, Sequence[Attempt]]) -> Books:
    return newest_books(attempt for attempts in by_folder.values() for attempt in attempts if not attempt.failed)


def _complete_result(
    store: Store, out: Path, attempts: Sequence[Attempt], books: Books, marks: Sequence[Mark],
) -> Result | None:
    """Return the complete result of one folder's attempts, with its marks; None if the grader failed in all
    attempts."""
    records = {attempt.id: record for attempt in attempts if (record := store.result(attempt)) is not None}
    attempts = [attempt for attempt in attempts if attempt.id in records]
    if not attempts:
        return None
    result = _marked(_joined(attempts, records, books), attempts, marks)
    course = shown_people(out)[0].assignments
    if gone := [a.title for name, a in result.assignments.items() if course is not None and name not in course]:
        is_ = "is no assignment" if len(gone) == 1 else "are no assignments"
        result.notes.append(f"{some(gone)}: {is_} of the course any more, so that these points do not count.")
    if (key := key_of(out)) is not None:
        name = pseudonym(key, attempts[0].slug)
        result.notes.append(f"Your name on the leaderboard, which lists those with points, is {name}.")
    return result


def _joined(attempts: Sequence[Attempt], records: Mapping[int, Result], books: Books) -> Result:
    """Join attempts of several gradings into one result, with the newest one's environment and notes."""
    last = max(attempts, key=lambda attempt: attempt.id)
    newest = records[last.id]
    notes = list(newest.notes)
    for attempt in attempts:
        record = records[attempt.id]
        differs = []
        if attempt.book != books.get(attempt.assignment):
            differs.append(" under another course file than the newest grades")
        if record.environment.device != newest.environment.device:
            differs.append(f" on another device ({record.environment.device})")
        if attempt.run != last.run or differs:
            title = record.assignments[attempt.assignment].title
            notes.append(f"{title} was graded earlier ({record.graded_at}){','.join(differs)}.")
    runs = {attempt.run: records[attempt.id].seconds for attempt in attempts}
    assignments = {attempt.assignment: records[attempt.id].assignments[attempt.assignment] for attempt in attempts}
    # Unread files only matter in a folder that has no assignment's file.
    unread = [] if any(a.source_sha256 for a in assignments.values()) else newest.unread
    return with_assignments(
        newest, assignments, seconds=round(sum(runs.values()), 3), notes=notes, unread=unread)


def _marked(result: Result, attempts: Sequence[Attempt], marks: Sequence[Mark]) -> Result:
    """Return the result with all marks on it."""
    slug = attempts[0].slug
    ids = {name.casefold() for attempt in attempts for name in (attempt.student, *attempt.members)}
    mine = [mark for mark in marks if mark.slug == slug or (not mark.slug and mark.student.casefold() in ids)]
    if not mine:
        return result
    if all(len(attempt.members) <= 1 for attempt in attempts):
        # The folder has one owner, whom marks need not name.
        mine = [mark.model_copy(update={"student": ""}) for mark in mine]
    assignments = {name: a.model_copy(update={"marks": [mark for mark in mine if mark.assignment == name]})
                   for name, a in result.assignments.items()}
    # All members read the notes, so leave out marks for one member.
    foreign = [f"{mark.assignment}: {mark.said}" for mark in mine
               if mark.assignment not in assignments and not mark.student]
    return result.model_copy(update={"assignments": assignments, "notes": [*result.notes, *foreign]})


def _json(result: Result) -> str:
    return result.model_dump_json(by_alias=True, indent=1)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
