"""Whose a submission is: found in the roster however the source spells it, and never guessed."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.intake.manifest import Member
from grader.classroom.intake.people import Register, read_groups
from grader.classroom.intake.source import IntakeError, RawSubmission
from grader.course.roster import Student
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
    register, found = Register(ROSTER, {}), RawSubmission("x", [member])
    assert register.enter(found) is (who is not None)
    (made,) = found.members
    assert made.id == (who or member.id) and made.source_id == member.source_id
    assert {one.id for one in register.missing()} == {one.id for one in ROSTER} - {who}


def test_a_group_is_all_of_its_members(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "all", {
        "byronada_11_1_silu.py": source_of("silu"), "team 7_12_2_silu.py": source_of("silu"),
        "poe_13_3_silu.py": source_of("silu")})
    groups = tmp_path / "groups.csv"
    groups.write_text("group,id\nred,lin\nred,ada@x.edu\nteam 7,zoe\nteam 7,1001\nblue,nobody\n")
    manifest, _ = take_in(source, replace(OPTIONS, roster=ROSTER, groups=read_groups(groups)))
    found = by_folder(manifest)
    assert [(one.id, one.name, one.source_id) for one in found["byronada_11"].members] == [
        ("lin", "李 雷", ""), ("ada", "Ada Byron", "11")]
    assert [one.id for one in found["team_7_12"].members] == ["zoe", "1001"]
    assert manifest.unknown == ["poe_13"] and {one.id for one in manifest.missing} == {
        "1002", "bo-ada", "José", "eve@x.edu"}
    assert Register(ROSTER, read_groups(groups)).strangers == ["nobody"]


@pytest.mark.parametrize(("text", "says"), [
    ("team,id\n", "name the columns group and id"), ("group,id\nred\n", "row 2: no group or no id; give both")])
def test_groups_that_cannot_be_read(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "groups.csv").write_text(text)
    with pytest.raises(IntakeError, match=says):
        read_groups(tmp_path / "groups.csv")
