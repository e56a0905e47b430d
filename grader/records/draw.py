"""A student's files in the folder of results, drawn from the standing attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.model.course import Course
from grader.model.files import replace
from grader.model.hidden import any_hidden, for_student, staff
from grader.model.result import Result, with_assignments
from grader.model.text import some
from grader.records.attempt import Attempt, hash_of_rules
from grader.records.standing import by_assignment, latest, newest, newest_books, pending, standing
from grader.records.store import Store
from grader.report.leaderboard import key_of, pseudonym

RESULT = "result.json"
LOG = "checks.log"
PAGE = "report.html"


Books = Mapping[str, tuple[str, str]]


def shown(store: Store, slug: str | None = None) -> dict[str, list[Attempt]]:
    """By folder, the attempts that its files show: of each assignment the one that stands for the latest hand-in."""
    found: dict[str, list[Attempt]] = {}
    for (folder, _), hand_ins in by_assignment(standing(store.attempts(slug), store.decisions())).items():
        found.setdefault(folder, []).append(latest(hand_ins).attempt)
    return found


def under_another_course_file(store: Store) -> set[tuple[str, str]]:
    """The (folder, assignment) whose files show what was graded by other tests or rules than the newest that stands."""
    shows = [one for attempts in shown(store).values() for one in attempts if not one.failed]
    books = newest_books(shows)
    return {(one.slug, one.assignment) for one in shows if one.book != books[one.assignment]}


def refresh(store: Store, out: Path, slug: str | None = None) -> list[str]:
    """Draws what is not as the standing attempts say, of this folder or of all. Returns a line for each failure.

    Of one folder alone, it is not seen that others were graded under another course file.
    """
    found, lines = shown(store, slug), []
    books = newest_books(one for attempts in found.values() for one in attempts if not one.failed)
    for folder, attempts in found.items():
        try:
            draw(store, out, attempts, books)
        except OSError as error:
            lines.append(f"{attempts[0].student}: results not written: {error.strerror} ({out / folder})")
        except ValueError as error:
            lines.append(f"{attempts[0].student}: results not written: {error}")
    return lines


def beside(store: Store, course: Course) -> list[str]:
    """What a person has to know or decide: files that are gone, newer attempts beside those that stand, and points of
    another course file."""
    attempts, decisions = store.attempts(), store.decisions()
    stands, waiting = standing(attempts, decisions), pending(attempts, decisions)
    rules = {name: hash_of_rules(name, course) for name in {one.assignment for one in attempts}}
    known = {after.hand_in for _, after in waiting if after.rules == rules[after.assignment]}
    newer, other = len(waiting), sum(one.attempt.judged and one.attempt.rules != rules[one.attempt.assignment]
                                     for hand_in, one in stands.items() if hand_in not in known)
    lines = []
    if gone := [(slug, name) for (slug, name), hand_ins in by_assignment(stands).items()
                if newest(hand_ins).attempt.empty and not latest(hand_ins).attempt.empty]:
        lines.append("Handed in before and not there any more, or the stub again, so that the grade of the file before "
                     f"it counts: {some([' '.join(one) for one in gone])}")
    if newer:
        have = "1 standing grade has a newer attempt beside it" if newer == 1 else (
            f"{newer:,} standing grades have a newer attempt beside them")
        lines.append(f"{have}: kernelmark diff shows what would change, kernelmark apply changes it")
    if other:
        are = "1 grade is" if other == 1 else f"{other:,} grades are"
        lines.append(f"{are} by other points or thresholds than the course file: kernelmark rescore gives those of now")
    return lines


def draw(store: Store, out: Path, attempts: Sequence[Attempt], books: Books) -> bool:
    """Writes the files of the student whose attempts these are, unless they are so already; says whether it did.

    `books` are tests and rules of the class's newest attempts. Raises OSError, ValueError and StoreError. The result is
    written last: where it is right, so are the others.
    """
    records = {one.id: record for one in attempts if (record := store.result(one)) is not None}
    attempts = [one for one in attempts if one.id in records]
    if not attempts:
        return False
    folder = out / attempts[0].slug
    result = _joined(attempts, records, books)
    if (key := key_of(out)) is not None:
        name = pseudonym(key, attempts[0].slug)
        result.notes.append(f"Your name on the leaderboard, which lists those with points, is {name}.")
    hidden = any_hidden(result)
    whole = staff(folder) if hidden else folder
    texts = {folder / RESULT: _json(for_student(result))} | ({whole / RESULT: _json(result)} if hidden else {})
    if all(_read(path) == text for path, text in texts.items()) and all(
            path.is_file() for path in (whole / LOG, folder / PAGE)):
        return False
    # A comparison draws nothing, and does without jinja2.
    from grader.report.pages import HOME, write_student

    folder.mkdir(exist_ok=True)
    if hidden:
        whole.parent.mkdir(mode=0o700, exist_ok=True)
        whole.mkdir(exist_ok=True)
    # It names every check.
    replace(whole / LOG, "\n".join(store.logs(sorted({one.run for one in attempts}))).encode(errors="replace"))
    if hidden:
        (folder / LOG).unlink(missing_ok=True)
    else:
        for name in (LOG, RESULT):
            (staff(folder) / name).unlink(missing_ok=True)
    write_student(result, folder, home=HOME)
    for path, text in reversed(texts.items()):
        replace(path, text.encode(errors="replace"))
    return True


def _joined(attempts: Sequence[Attempt], records: Mapping[int, Result], books: Books) -> Result:
    """One result of attempts of several gradings; what it says of the grading is the newest one's."""
    here = max(attempts, key=lambda one: one.id)
    newest = records[here.id]
    notes = list(newest.notes)
    for one in attempts:
        record = records[one.id]
        differs = []
        if one.book != books.get(one.assignment):
            differs.append(" under another course file than the newest grades")
        if record.environment.device != newest.environment.device:
            differs.append(f" on another device ({record.environment.device})")
        if one.run != here.run or differs:
            title = record.assignments[one.assignment].title
            notes.append(f"{title} was graded earlier ({record.graded_at}){','.join(differs)}.")
    runs = {one.run: records[one.id].seconds for one in attempts}
    assignments = {one.assignment: records[one.id].assignments[one.assignment] for one in attempts}
    # Of a folder in which something was found, nothing else is asked.
    unread = [] if any(a.source_sha256 for a in assignments.values()) else newest.unread
    return with_assignments(
        newest, assignments, seconds=round(sum(runs.values()), 3), notes=notes, unread=unread)


def _json(result: Result) -> str:
    return result.model_dump_json(by_alias=True, indent=1)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
