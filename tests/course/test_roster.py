"""A roster as a TA or a spreadsheet writes it, and the one line that says what is wrong with it."""

import csv
import io
from pathlib import Path

import pytest

from grader.course.roster import Student, read_roster
from grader.course.sheet import read_sheet
from grader.errors import UserError


@pytest.mark.parametrize("text", [
    "id,name,email,section,late_days\nada,Ada Byron,ada@x.edu,B,3\n\nlin,李 雷,,,\n",
    "\ufeffid;name;email;section;late_days\r\nada;Ada Byron;ada@x.edu;B;3\r\nlin;李 雷;;;\r\n",
    "id,name,email,section,late_days\rada,Ada Byron,ada@x.edu,B,3\rlin,李 雷,,,\r",
    "\ufeffsep=;\r\nid;name;email;section;late_days\r\nada;Ada Byron;ada@x.edu;B;3\r\nlin;李 雷;;;\r\n",
    'Email\t"Name"\tID\tsection\tlate_days\nada@x.edu\tAda Byron\tada\tB\t3\n\t李 雷\tlin\t\t\n',
], ids=["commas", "semicolons and BOM", "carriage returns", "a line for Excel", "tabs, another order"])
def test_students_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode())
    assert read_roster(path) == [Student("ada", "Ada Byron", "ada@x.edu", "B", 3), Student("lin", "李 雷")]


def test_a_roster_of_classroom_50(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text("username,first_name,last_name,email,section,github_id\nadab,Ada,Byron,ada@x.edu,B,1815\n")
    assert read_roster(path) == [Student("adab", "Ada Byron", "ada@x.edu", "B")]


def test_a_roster_of_github_classroom(tmp_path: Path) -> None:
    path = tmp_path / "classroom_roster.csv"
    path.write_text('"identifier","github_username","github_id","name"\n"ada.b@x.edu","octo-ada","583231","Ada B"\n'
                    '"e\u0301ve","","",""\n', encoding="utf-8")
    assert read_roster(path) == [
        Student("ada.b@x.edu", "Ada B", "ada.b@x.edu", others=("octo-ada", "583231")), Student("éve")]


CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Kernels (4711),Final Score
,,,,,Manual Posting,
    Points Possible,,,,,600,(read only)
"Müller, Jörg",101,u1,jmueller,Tutorial A,EX,
"O'Neill, Zoë",102,,,"Tutorial A and Tutorial B",,
"Student, Test",103,,f00,Tutorial A,,
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_gradebook_of_canvas(tmp_path: Path, encoding: str, delimiter: str) -> None:
    path = tmp_path / "gradebook.csv"
    content = io.StringIO()
    csv.writer(content, delimiter=delimiter).writerows(csv.reader(io.StringIO(CANVAS)))
    path.write_bytes(content.getvalue().encode(encoding))
    assert read_roster(path) == [
        Student("jmueller", "Müller, Jörg", section="Tutorial A", others=("u1", "101")),
        Student("102", "O'Neill, Zoë", section="Tutorial A and Tutorial B")]


@pytest.mark.parametrize(("text", "expected"), {
    "First name,Last name,Email address\nJörg,Müller,jm@x.edu\n": Student("jm@x.edu", "Jörg Müller", "jm@x.edu"),
    "Vorname;Nachname;ID-Nummer;E-Mail-Adresse;Gruppen\nJörg;Müller;0815;jm@x.edu;A, B\n":
        Student("0815", "Jörg Müller", "jm@x.edu", "A, B"),
    "Prénom,Nom de famille,Numéro d'identification,Adresse de courriel,Groupes\nJörg,Müller,,jm@x.edu,A\n":
        Student("jm@x.edu", "Jörg Müller", "jm@x.edu", "A"),
    "Username,First name,Last name,Email address\njm,Jörg,Müller,jm@x.edu\n":
        Student("jm", "Jörg Müller", "jm@x.edu"),
    "姓,名,メールアドレス,グループ\n李,雷,lei@x.edu,A\n": Student("lei@x.edu", "李 雷", "lei@x.edu", "A"),
    "Teilnehmer/in,Vollständiger Name,E-Mail-Adresse,Status\nTeilnehmer/in4711,Jörg Müller,jm@x.edu,Abgegeben\n":
        Student("jm@x.edu", "Jörg Müller", "jm@x.edu", others=("4711",)),
    "Név,Azonosító,Cím\nKis Éva,s0815,eva@x.hu\n": Student("s0815", "Kis Éva", "eva@x.hu"),
}.items())
def test_participants_of_moodle_in_any_language(tmp_path: Path, text: str, expected: Student) -> None:
    path = tmp_path / "participants.csv"
    path.write_text(text)
    assert read_roster(path) == [expected]


@pytest.mark.parametrize(("content", "says"), {
    b"": "empty; add a row of headings",
    b"name,email\nAda,\n": "row 1: no 'id'; use the headings id, name,",
    b"id,emial\nada,\n": "row 1: 'emial'; use each once of the headings id, name,",
    b"id,name,name\nada,A,B\n": "row 1: 'name'; use each once of the headings id, name, email, section, late_days",
    b"assignment_name,github_username,roster_identifier\na,b,c@x.edu\n": "row 1: has grades of GitHub Classroom; give",
    b"sep=;\nid;name\nada;A\n;B\n": "row 4: no id",
    "id,name\nJos\u00e9,A\nJose\u0301,B\n".encode(): "row 3: 'José' is in row 2, too",
    b"id,name\n": "no student; add a row for each",
    b"id,name\n,Ada\n": "row 2: no id",
    b"id,name\nada,A\nADA,B\n": "row 3: 'ADA' is in row 2, too",
    b"id,name\nada,Byron,Ada\n": "row 2: 3 values; give 2",
    b"id,late_days\nada,-1\n": "row 2: late_days: '-1'; give a whole number from 0 to 999",
    b'id,name\nada,"Byron\n': "save it as CSV",
    b"id,name\nada,Zo\x81\n": "not text in UTF-8, UTF-16 or Latin-1; save it as CSV",
    b"id,name\nada,A\0\n": "not text in UTF-8, UTF-16 or Latin-1; save it as CSV",
    b"Student,ID\nAda,1\nLin,1\n": "row 3: '1' is in row 2, too; list each ID once",
    b"Vorname,Mail\nAda,a@x.edu\nLin,\n": "row 3: no Mail; give each student one",
    b"Vorname,Mail\nAda,a@x.edu\nLin\n": "row 3: 1 values; give 2",
    b"x" * (128 << 10) + b"x\n": "row 1: field larger than field limit (131072); close its quotes or",
    b"id,name\nada,A\nlin," + b"x" * (128 << 10) + b"x\n": "row 3: field larger than field limit (131072); close",
}.items())
def test_what_is_wrong_is_told_in_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(content)
    with pytest.raises(UserError) as info:
        read_roster(path)
    assert says in str(info.value) and str(info.value).startswith(str(path)) and "\n" not in str(info.value)


def test_a_device_is_read_up_to_a_limit() -> None:
    with pytest.raises(UserError, match=r"^/dev/zero: more than 64 MiB; give the table of a class$"):
        read_roster(Path("/dev/zero"))


def test_no_roster(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file or directory; name a CSV file"):
        read_roster(tmp_path / "roster.csv")


@pytest.mark.parametrize("content", [
    b"a,b\n1,x\n", b"\xef\xbb\xbfa;b\r\n\"1;2\";\"3,5\"\r\n", b"sep=;\r\na;b\r\n1;2\r\n", b"a,b\r1,2\r",
    b'a\tb\n"two\nlines"\t"say ""so"""\n',
])
def test_a_table_is_written_as_it_came(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    sheet = read_sheet(path)
    (tmp_path / "again.csv").write_bytes(sheet.text().encode())
    assert read_sheet(tmp_path / "again.csv") == sheet
    assert len(sheet.rows) == 2 and all(len(row) == 2 for row in sheet.rows)
