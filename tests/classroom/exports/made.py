"""A graded class in a folder, as `grade` and `intake` leave it; all people are invented."""

from collections.abc import Mapping
from pathlib import Path

from grader.classroom.intake.manifest import FILE, Kind, Manifest, ManifestEntry, Member
from grader.pages.pages import write_student
from grader.results.hidden import for_student, staff
from grader.results.result import Result
from grader.results.verdicts import Verdict
from tests.pages.samples import result

Verdicts = dict[str, Verdict]


def graded(out: Path, results: Mapping[str, Verdicts | Result]) -> Path:
    """Results by folder, with their pages."""
    for folder, given in results.items():
        one = given if isinstance(given, Result) else result(folder, given)
        (out / folder).mkdir(parents=True)
        whole = staff(out / folder)
        whole.mkdir(parents=True)
        (whole / "result.json").write_text(one.model_dump_json(by_alias=True))
        (out / folder / "result.json").write_text(for_student(one).model_dump_json(by_alias=True))
        write_student(one, out / folder)
    return out


def taken(folder: Path, kind: Kind, *submissions: ManifestEntry) -> Path:
    folder.mkdir(parents=True)
    (folder / FILE).write_text(Manifest(
        kind=kind, source="all.zip", submissions=list(submissions)).model_dump_json(by_alias=True))
    return folder


def hand_in(
    folder: str, *members: Member, at: str | None = None, origin: str = "", late: bool | None = None, tag: str = ""
) -> ManifestEntry:
    return ManifestEntry(folder=folder, members=list(members), submitted_at=at, late=late, commit="0a" * 20, tag=tag,
                         origin=[origin or folder],
                         taken={"silu.py": "0a" * 20 + "/silu.py"})


def person(ident: str, name: str = "", source_id: str = "", email: str = "") -> Member:
    return Member(id=ident, name=name, source_id=source_id or ident, email=email)
