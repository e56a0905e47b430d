"""The folder of results: written whole or not at all, added to, and never emptied of a grade by a failure of ours."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from pydantic import ValidationError

from grader.assignment import file_of
from grader.hidden import any_hidden, for_student, staff
from grader.lanes import Graded
from grader.report.pages import write_student
from grader.result import SCHEMA, AssignmentResult, Result, with_assignments
from grader.scoring import Earlier, earlier_shares
from grader.submission import Submission, read_source_file

RESULT = "result.json"
FAILED = "result.failed.json"
LOG = "checks.log"


def keep(graded: Graded, out: Path, source_bytes: int) -> list[str]:
    """Writes a student's files below `out`. Returns one line for each failure of ours.

    Where a failure of ours meets an earlier grade, the grade stays. Where only some assignments were graded, the
    others of an earlier grading stay too, as long as the student's file (read up to `source_bytes`) is the same.
    """
    submission, result = graded.submission, graded.result
    if result is None:
        return [f"{submission.student}: not graded: {graded.error}"]
    failed = [name for name, a in result.assignments.items() if a.verdict == "infrastructure_error"]
    lines = [f"{submission.student}: {name}: {_why(result.assignments[name])}" for name in failed]
    folder = out / submission.slug
    try:
        folder.mkdir(exist_ok=True)
        stored = _stored(folder)
        if failed and stored is not None:
            _write_both(folder, FAILED, result)
            return [f"{line} (the earlier result was kept)" for line in lines]
        if stored is not None:
            result = _joined(stored, result, submission, source_bytes)
        whole = _write_both(folder, RESULT, result)
        # It names every check.
        _write(whole / LOG, graded.log)
        for old in {folder, staff(folder)}:
            (old / FAILED).unlink(missing_ok=True)
            if old != whole:
                (old / LOG).unlink(missing_ok=True)
        write_student(result, folder)
    except OSError as error:
        lines.append(f"{submission.student}: results not written: {error.strerror} ({folder})")
    except ValueError as error:
        lines.append(f"{submission.student}: results not written: {error}")
    return lines


def earlier(out: Path, submission: Submission) -> dict[str, Earlier]:
    """The shares of the points for speed that an earlier grading into `out` gave, by assignment.

    A result that cannot be read, or is of another version or another student, is ignored. So is one in the submission's
    own folder, where the student could have put it.
    """
    folder = out / submission.slug
    try:
        if folder.resolve().is_relative_to(submission.folder.resolve()):
            return {}
    except (OSError, RuntimeError):
        return {}
    found = _read(folder)
    if found is None or found.schema_ != SCHEMA or found.student != submission.student:
        return {}
    return earlier_shares(found)


def _read(folder: Path) -> Result | None:
    try:
        return Result.model_validate_json((folder / RESULT).read_bytes())
    except (OSError, ValidationError):
        return None


def _why(failed: AssignmentResult) -> str:
    """What failed of ours; a message for students does not tell it of hidden cases."""
    hidden = [check.detail.message for check in failed.correctness.checks
              if check.hidden and check.detail and check.detail.kind == "infrastructure"]
    return " ".join([failed.message, *hidden[:1]])


def _write_both(folder: Path, name: str, result: Result) -> Path:
    """Writes a result for its student, and where that leaves something out the whole one, too. Returns the folder for
    what is whole."""
    whole = staff(folder)
    if any_hidden(result):
        whole.parent.mkdir(mode=0o700, exist_ok=True)
        whole.mkdir(exist_ok=True)
        _write(whole / name, _json(result))
    else:
        (whole / name).unlink(missing_ok=True)
    _write(folder / name, _json(for_student(result)))
    return whole if any_hidden(result) else folder


def _stored(folder: Path) -> Result | None:
    """The result of an earlier grading in which nothing of ours failed."""
    stored = _read(staff(folder)) or _read(folder)
    if stored is None or any(a.verdict == "infrastructure_error" for a in stored.assignments.values()):
        return None
    return stored


def _joined(stored: Result, result: Result, submission: Submission, source_bytes: int) -> Result:
    """`result` with the assignments of `stored` that were not graded this time and still stand."""
    missing = {name: a for name, a in stored.assignments.items() if name not in result.assignments}
    if not missing:
        return result
    if stored.environment.course != result.environment.course or stored.environment.device != result.environment.device:
        note = f"Not graded this time, and graded earlier with another course.toml or device: {', '.join(missing)}."
        return result.model_copy(update={"notes": [*result.notes, note]})
    assignments, notes = dict(result.assignments), list(result.notes)
    for name, earlier in missing.items():
        content = read_source_file(submission.folder, file_of(name), source_bytes).content
        if earlier.source_sha256 == (hashlib.sha256(content).hexdigest() if content is not None else ""):
            assignments[name] = earlier
            notes.append(f"{earlier.title} was graded earlier ({stored.graded_at}); its file is the same.")
        else:
            notes.append(f"{earlier.title} was graded earlier, but its file has changed: grade it again.")
    # In the order in which they are taught, as a grading of all of them would have it.
    ordered = {name: assignments[name] for name in stored.assignments if name in assignments} | assignments
    return with_assignments(result, ordered, notes=notes)


def _json(result: Result) -> str:
    return result.model_dump_json(by_alias=True, indent=1)


def _write(path: Path, text: str) -> None:
    """Replaces a file as a whole: a reader never sees half a file, and a full disk leaves the old one."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
