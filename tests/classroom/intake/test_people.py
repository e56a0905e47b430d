"""Whose a submission is: found in the roster however the source spells it, and never guessed."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.intake.manifest import FILE, Manifest, ManifestEntry, Member, RawSubmission, read_manifest
from grader.classroom.intake.people import Register, read_groups
from grader.course.roster import Student
from grader.errors import UserError
from tests.classroom.intake.made import OPTIONS, by_folder, laid_out, source_of, take_in
from tests.rows import each_row

ROSTER = [Student("ada", "Ada Byron", "ada@x.edu", "B"), Student("lin", "李 雷"), Student("zoe", "Zoë van der Meer"),
          Student("1001", "Jane Doe"), Student("1002", "Jane Doe"), Student("bo-ada", "Bo"),
          Student("José", "Ñúñez"), Student("eve@x.edu", others=("octo-eve", "583231"))]


@each_row(("member", "who"), [
    (Member(id="ADA"), "ada"), (Member(id="x", source_id="Ada"), "ada"), (Member(id="9", email="Ada@X.edu"), "ada"),
    (Member(id="ada@x.edu"), "ada"), (Member(id="9", name="byronada"), "ada"),
    (Member(id="9", name="Byron, Ada"), "ada"),
    (Member(id="9", name="李雷"), "lin"), (Member(id="9", name="雷李"), "lin"), (Member(id="Ada Byron"), "ada"),
    (Member(id="9", name="vandermeerzoë"), "zoe"), (Member(id="9", name="Zoe\u0308 van der Meer"), "zoe"),
    (Member(id="kernels-lin"), "lin"),
    # As macOS spells names of files.
    (Member(id="Jose\u0301"), "José"), (Member(id="9", name="N\u0303u\u0301n\u0303ez"), "José"),
    # The user of GitHub Classroom, whose number ends no clone's name.
    (Member(id="kernels-octo-eve"), "eve@x.edu"), (Member(id="kernels-583231"), None),
    # It ends in another's id, too, which is shorter.
    (Member(id="hw-bo-ada"), "bo-ada"),
    # Two of a name, nobody.
    (Member(id="9", name="doejane"), None), (Member(id="9", name="poe"), None),
    (Member(id="9"), None),
])
def test_a_member_is_found_or_unknown(member: Member, who: str | None) -> None:
    register, submission = Register(ROSTER, {}), RawSubmission("x", [member])
    assert register.enter(submission) is (who is not None)
    (made,) = submission.members
    assert made.id == (who or member.id) and made.source_id == member.source_id
    assert {member.id for member in register.missing()} == {student.id for student in ROSTER} - {who}


def test_a_group_is_all_of_its_members(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "all", {
        "byronada_11_1_silu.py": source_of("silu"), "team 7_12_2_silu.py": source_of("silu"),
        "poe_13_3_silu.py": source_of("silu")})
    groups = tmp_path / "groups.csv"
    groups.write_text("group,id\nred,lin\nred,ada@x.edu\nteam 7,zoe\nteam 7,1001\nblue,nobody\n")
    manifest, _ = take_in(source, replace(OPTIONS, roster=ROSTER, groups=read_groups(groups)))
    found = by_folder(manifest)
    assert [(member.id, member.name, member.source_id) for member in found["byronada_11"].members] == [
        ("lin", "李 雷", ""), ("ada", "Ada Byron", "11")]
    assert [member.id for member in found["team_7_12"].members] == ["zoe", "1001"]
    assert manifest.unknown == ["poe_13"] and {member.id for member in manifest.missing} == {
        "1002", "bo-ada", "José", "eve@x.edu"}
    assert Register(ROSTER, read_groups(groups)).strangers == ["nobody"]


@pytest.mark.parametrize(("text", "says"), [
    ("team,id\n", "name the columns group and id"), ("group,id\nred\n", "row 2: no group or no id; give both")])
def test_groups_that_cannot_be_read(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "groups.csv").write_text(text)
    with pytest.raises(UserError, match=says):
        read_groups(tmp_path / "groups.csv")


ADA = ManifestEntry(folder="ada", members=[Member(id="ada", source_id="17")], submitted_at="2026-03-01T23:59:00+01:00",
             late=False, origin=["ada_17_23_silu.py"], taken={"silu.py": "ada_17_23_silu.py"})


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Manifest(kind="canvas", source="all.zip", submissions=[ADA], unknown=["ada"])
    (tmp_path / FILE).write_text(written.model_dump_json(by_alias=True, indent=1))
    assert read_manifest(tmp_path) == written
    assert '"schema": "kernelmark/intake/v1"' in (tmp_path / FILE).read_text()


@pytest.mark.parametrize(("content", "says"), [
    (None, "No such file or directory; name the folder that kernelmark intake wrote"),
    ("[]", "run kernelmark intake again"),
    ('{"schema": "kernelmark/intake/v2", "kind": "git", "source": "", "submissions": []}', "schema: "),
    ('{"kind": "git", "source": "", "submissions": [{"folder": "a", "members": [], "origin": []}]}', "members: "),
    ('{"kind": "git", "source": "", "submissions": [{"folder": "a", "members": [{"id": "a"}], "origin": [], '
     '"submitted_at": "2026-03-01T10:00"}]}', "submitted_at: Value error, expected a time with a zone"),
])
def test_what_is_no_manifest_is_told_in_one_line(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / FILE).write_text(content)
    with pytest.raises(UserError) as info:
        read_manifest(tmp_path)
    assert says in str(info.value) and "\n" not in str(info.value)
