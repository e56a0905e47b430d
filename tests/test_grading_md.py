"""What `docs/grading.md` has a TA type between a platform and its grades, run as it stands there."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.sheet import read_sheet
from grader.home import ROOT
from tests.classroom.intake.made import GIT, Files, committed, laid_out, zipped
from tests.command import SILU, kernelmark

TEXT = (ROOT / "docs/grading.md").read_text().partition("## From a platform, and back")[2].partition("\n## ")[0]
SECTIONS = {title: [command for block in re.findall(r"```\n(.*?)```", body, re.DOTALL)
                    for command in block.splitlines()]
            for title, _, body in (part.partition("\n") for part in TEXT.split("\n### "))}
ROSTER = "id,name,email,section,late_days\nada,Ada Byron,ada@x.edu,A,2\nmax,Max Moe,max@x.edu,B,\n"
CANVAS: Files = {"byronada_LATE_101_7_silu-1.py": SILU, "poepam_102_8_hw.zip": b"PK\3\4"}


def canvas(folder: Path) -> None:
    zipped(folder / "submissions.zip", CANVAS)
    (folder / "gradebook.csv").write_text(
        'Student,ID,Section,Kernels (9)\n    Points Possible,,,60\n"Byron, Ada",101,A,\n')


def moodle(folder: Path) -> None:
    zipped(folder / "submissions.zip", {"Ada Byron_101_assignsubmission_file_/hw/silu.py": SILU})
    (folder / "worksheet.csv").write_text(
        "Identifier,Full name,Email address,Grade,Last modified (grade)\nParticipant 101,Ada Byron,ada@x.edu,,-\n")


def gradescope(folder: Path) -> None:
    zipped(folder / "export.zip", {
        "assignment_9_export/submission_metadata.yml":
            "submission_11:\n  :submitters:\n  - :name: Ada Byron\n    :sid: ada\n  - :name: Bo\n    :sid: bo\n"
            "  :created_at: 2026-03-01 23:10:00.5 +01:00\n",
        "assignment_9_export/submission_11/silu.py": SILU})


def clones(folder: Path) -> None:
    ada = folder / "clones" / "gpu-kernels-ada"
    committed(ada, "2026-03-01T10:00:00+01:00", {"silu.py": SILU})
    subprocess.run([*GIT, "tag", "submit/2026-03-01T09-00-05Z-0a1b2c3"], cwd=ada, check=True)
    committed(ada, "2026-03-02T10:00:00+01:00", {"silu.py": "late"})


def drop(folder: Path) -> None:
    laid_out(folder / "drop", {"ada/attempt-1/silu.py": SILU})


SOURCES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "": (canvas, set()),
    "Canvas": (canvas, {"filled.csv"}), "Moodle": (moodle, {"filled.csv", "feedback.zip"}),
    "Gradescope": (gradescope, {"grades.csv", "autograder.zip"}),
    "Git clones and Classroom 50": (clones, {"classroom50"}),
    "A repository that checks each push": (lambda folder: None, {"kernels"}),
    "Anything else": (drop, {"grades.csv", "checks.xml", "plagiarism"}),
}


@pytest.mark.parametrize("title", SECTIONS)
def test_the_commands_of_each_section_do_what_they_say(tmp_path: Path, title: str) -> None:
    make, written = SOURCES[title]
    make(tmp_path)
    (tmp_path / "roster.csv").write_text(ROSTER)
    there = {path.name for path in tmp_path.iterdir()}
    said = ""
    assert SECTIONS[title]
    for command in SECTIONS[title]:
        name, *words = shlex.split(command)
        result = kernelmark(*words, cwd=tmp_path)
        assert name == "kernelmark" and result.returncode == 0, result
        said += result.stdout + result.stderr
    made = {path.name for path in tmp_path.iterdir()} - there
    graded = "kernelmark grade class" in SECTIONS[title]
    assert made == written | ({"class", "results"} if graded else set())
    if graded:
        page = next(path for path in tmp_path.glob("results/*/report.html") if "poe" not in path.parent.name)
        assert "60 of" in page.read_text()
    for table, cell in (("filled.csv", "60"), ("grades.csv", "60")):
        if table in made:
            assert any(cell in row for row in read_sheet(tmp_path / table).rows[1:])
    if title == "Canvas":
        # Told by intake, and by grade once more.
        assert said.count("poepam_102_8_hw.zip: is damaged") == 2 and "Missing: max (Max Moe)" in said
