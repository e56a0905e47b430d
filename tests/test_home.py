"""A course is found from the folder that a command runs in, and nobody else's is taken for it."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import home
from grader.classroom.attempts.attempt import hash_of_tests
from grader.course import catalogue
from grader.course.course import Course
from grader.errors import UserError
from grader.home import ROOT
from tests.command import hand_in, kernelmark, refused


@pytest.fixture(autouse=True)
def _nothing_entered() -> Iterator[None]:
    home.enter(None)
    yield
    home.enter(None)


def course(folder: Path, *assignments: str) -> Path:
    """A course with the assignments of this name, as far as finding it needs them."""
    for name in assignments:
        (folder / "assignments" / name).mkdir(parents=True)
    folder.mkdir(exist_ok=True)
    (folder / "course.toml").write_text("")
    return folder


def test_the_nearest_course_is_taken_from_any_folder_below(tmp_path: Path) -> None:
    outer = course(tmp_path / "Größe der Welt", "one")
    inner = course(outer / "repository" / "inner", "two")
    (outer / "repository" / ".git").mkdir()
    (inner / "deep" / "deeper").mkdir(parents=True)
    for start, expected in ((outer, outer), (outer / "repository", outer), (outer / "assignments/one", outer),
                            (inner, inner), (inner / "deep/deeper", inner), (inner / "nowhere.py", inner)):
        found = home.find(start)
        assert found == home.Home(expected, expected / "course.toml"), start
    link = tmp_path / "link"
    link.symlink_to(inner)
    assert home.find(link / "deep").root == inner
    assert home.named(link).root == home.named(link / "course.toml").root == inner


def test_a_folder_that_was_removed_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    for words in ("assignments", "doctor"):
        result = subprocess.run(["sh", "-c", f'rmdir ../gone; exec "{sys.executable}" -m grader {words}'],
                                cwd=tmp_path / "gone", capture_output=True, text=True, check=False,
                                env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert (result.returncode, result.stdout) == (2, ""), result
        assert result.stderr == "kernelmark: the folder that this runs in was removed; change to another\n"
        (tmp_path / "gone").mkdir()


def test_a_course_file_alone_gives_other_rules_for_the_assignments_around_it(tmp_path: Path) -> None:
    outer, alone = course(tmp_path / "outer", "one"), course(tmp_path / "outer" / "exam")
    assert home.find(alone) == home.Home(outer, alone / "course.toml")
    lonely = course(tmp_path / "lonely")
    assert home.find(lonely) == home.Home(ROOT, lonely / "course.toml", shipped=True)
    for words in (("new", "axpy"), ("handouts",)):
        # The package's own are not theirs to change.
        refused(f"{lonely}/course.toml: no assignments/ beside it", *words, cwd=lonely)
    with contextlib.chdir(outer):
        (tmp_path / "exam.toml").write_text("")
        assert home.named(tmp_path / "exam.toml") == home.Home(outer, tmp_path / "exam.toml", named=True)


def test_without_a_course_it_is_the_packages_and_said_so(tmp_path: Path) -> None:
    assert home.find(tmp_path) == home.Home(ROOT, ROOT / "course.toml", shipped=True)
    done = kernelmark("assignments", cwd=tmp_path)
    assert done.returncode == 0 and "transpose(x, out)" in done.stdout and f"kernelmark: {home.NONE}\n" == done.stderr
    for words in (("new", "axpy"), ("handouts",)):
        refused = kernelmark(*words, cwd=tmp_path)
        assert (refused.returncode, refused.stderr) == (2, f"kernelmark: {home.NONE}\n"), refused
    assert not (ROOT / "assignments/axpy").exists()


def test_a_course_without_assignments_says_what_writes_one(tmp_path: Path) -> None:
    empty = course(tmp_path / "empty", "any")
    (empty / "assignments/any").rmdir()
    for words in (("assignments",), ("verify",), ("kit", "kit"), ("grade", ".", "--out", "../out")):
        result = kernelmark(*words, cwd=empty)
        assert result.returncode == 2 and result.stderr.count("\n") == 1, result
        assert "course.toml: " in result.stderr, result
    process = kernelmark("new", "axpy", cwd=empty)
    assert process.returncode == 0 and (empty / "reference/axpy.py").exists(), process


def test_a_course_that_others_can_put_there_has_to_be_named(tmp_path: Path) -> None:
    planted = course(tmp_path / "planted", "one")
    (planted / "below").mkdir()
    shared = 4711 if os.geteuid() == 0 else next((group for group in os.getgroups() if group != os.getgid()), None)
    for path, what in ((planted, "its folder"), (planted / "course.toml", "course.toml"),
                       (planted / "assignments", "assignments/")):
        mode, group = path.stat().st_mode & 0o755, path.stat().st_gid
        path.chmod(mode | 0o002)
        with pytest.raises(UserError, match=f"everybody may write into {what}.*; if you trust it, pass --course"):
            home.find(planted / "below")
        assert home.named(planted).root == planted
        if shared is not None:
            os.chown(path, -1, shared)
            path.chmod(mode | 0o020)
            with pytest.raises(UserError, match=f"a group may write into {what}, and its assignments would run.*, or "
                                                f"first close it: chmod go-w {path}$"):
                home.find(planted)
            os.chown(path, -1, group)
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, 4711, -1)
            with pytest.raises(UserError, match="belongs to another user"):
                home.find(planted)
            os.chown(path, 0, -1)
    assert home.find(planted).root == planted
    if os.geteuid() == 0:
        # Where each user has a group, its folders are open to it.
        planted.chmod(0o775)
        assert home.find(planted).root == planted


PLANTED = """from pathlib import Path
Path({mark!r}).touch()
raise ValueError
"""


def test_a_submission_does_not_choose_the_course_by_which_it_is_graded(tmp_path: Path) -> None:
    own, elsewhere = course(tmp_path / "own"), course(tmp_path / "rules")
    folder, bob, mark = hand_in(own / "class", "eve"), hand_in(own / "class", "bob"), tmp_path / "ran"
    course(folder, "silu")
    (folder / "assignments/silu/assignment.py").write_text(PLANTED.format(mark=str(mark)))
    with contextlib.chdir(own):
        home.find_here().refuse(own / "class")
        home.find_here().refuse(bob, alone=True)
        home.named(folder).refuse(bob, alone=True)
    lies, beside = "lies in the submission, which has no say", "so it may be another student's"
    rules = ("--course", str(elsewhere / "course.toml"))
    for words, cwd, said in (
        (("grade", "."), folder, f"course.toml: {lies}"), (("grade", ".."), folder, f"course.toml: {lies}"),
        (("grade", str(folder)), folder, f"course.toml: {lies}"),
        # The rules are named, and the assignments are not.
        (("grade", ".", *rules), folder, f"assignments: {lies}"),
        (("grade", "../bob"), folder, beside), (("grade", "../bob", *rules), folder, beside),
        # Nothing but the file to look at is there.
        (("check", str(folder / "silu.py")), tmp_path, "if you trust it, pass --course"),
        (("inspect", str(folder / "silu.py")), tmp_path, "if you trust it, pass --course"),
    ):
        out = ("--out", str(tmp_path / "out")) if words[0] == "grade" else ()
        result = kernelmark(*words, *out, cwd=cwd)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1) and said in result.stderr, (words, result)
    assert not mark.exists() and not (tmp_path / "out").exists()


def test_an_assignment_imports_what_lies_beside_it_and_is_graded_anew_when_that_changes(tmp_path: Path) -> None:
    hashes = []
    for number in (1, 2):
        root = tmp_path / str(number)
        shutil.copytree(ROOT / "assignments/silu", root / "assignments/silu")
        (root / "assignments/_shared").mkdir()
        (root / "assignments/_shared/words.py").write_text(f"TITLE = 'number {number}'\n")
        (root / "assignments/silu/tables.py").write_text("from assignments._shared.words import TITLE\n")
        (root / "assignments/common.py").write_text("")
        text = (root / "assignments/silu/assignment.py").read_text().replace('title="SiLU"', "title=TITLE")
        (root / "assignments/silu/assignment.py").write_text(text.replace(
            "from collections", "import assignments.common\nfrom .tables import TITLE\nfrom collections", 1))
        # Of two courses in a process, each has its own.
        assert catalogue.assignments(root)["silu"].title == f"number {number}"
        hashes += [hash_of_tests("silu", Course(), root)]
    assert hashes[0] != hashes[1]
    assert list(catalogue.assignments(root)) == ["silu"]
    (root / "assignments/_shared/words.py").write_text("TITLE = 'number 1'\n")
    assert hash_of_tests("silu", Course(), root) == hashes[0]
