"""A roster as a TA or a spreadsheet writes it, and the one line that says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.model.roster import RosterError, Student, read_roster
from grader.model.sheet import read_sheet


@pytest.mark.parametrize("text", [
    "id,name,email,section,late_days\nada,Ada Byron,ada@x.edu,B,3\n\nlin,李 雷,,,\n",
    "\ufeffid;name;email;section;late_days\r\nada;Ada Byron;ada@x.edu;B;3\r\nlin;李 雷;;;\r\n",
    'Email\t"Name"\tID\tsection\tlate_days\nada@x.edu\tAda Byron\tada\tB\t3\n\t李 雷\tlin\t\t\n',
], ids=["commas", "semicolons and BOM", "tabs, another order"])
def test_students_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode())
    assert read_roster(path) == [Student("ada", "Ada Byron", "ada@x.edu", "B", 3), Student("lin", "李 雷")]


def test_a_roster_of_classroom_50(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("username,first_name,last_name,email,section,github_id\nadab,Ada,Byron,ada@x.edu,B,1815\n")
    assert read_roster(path) == [Student("adab", "Ada Byron", "ada@x.edu", "B")]


@pytest.mark.parametrize(("content", "says"), {
    b"": "empty; add a row of headings",
    b"name,email\nAda,\n": "row 1: no 'id'; use the headings id, name,",
    b"id,emial\nada,\n": "row 1: 'emial'; use the headings id, name,",
    b"id,name,name\nada,A,B\n": "row 1: 'name'; use the headings id, name, email, section, late_days, each once",
    b"id,name\n": "no student; add a row for each",
    b"id,name\n,Ada\n": "row 2: no id",
    b"id,name\nada,A\nADA,B\n": "row 3: 'ADA' is in row 2, too",
    b"id,name\nada,Byron,Ada\n": "row 2: 3 values; give 2",
    b"id,late_days\nada,-1\n": "row 2: late_days: '-1'; give a whole number from 0 to 999",
    b'id,name\nada,"Byron\n': "save it as CSV",
    "id,name\nada,Zoë\n".encode("latin-1"): "not UTF-8; save it as CSV",
    b"x" * (128 << 10) + b"x\n": "field larger than field limit (131072); save it as CSV",
}.items())
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(content)
    with pytest.raises(RosterError) as caught:
        read_roster(path)
    assert says in str(caught.value) and str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_no_roster(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match="No such file or directory; name a CSV file"):
        read_roster(tmp_path / "roster.csv")


@pytest.mark.parametrize("content", [
    b"a,b\n1,x\n", b"\xef\xbb\xbfa;b\r\n\"1;2\";\"3,5\"\r\n", b'a\tb\n"two\nlines"\t"say ""so"""\n',
])
def test_a_table_is_written_as_it_came(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    sheet = read_sheet(path)
    (tmp_path / "again.csv").write_bytes(sheet.text().encode())
    assert read_sheet(tmp_path / "again.csv") == sheet
    assert len(sheet.rows) == 2 and all(len(row) == 2 for row in sheet.rows)
