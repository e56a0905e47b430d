"""Student folders as they come: found, named safely, and read without being believed."""

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.classroom.attempts.attempt import hash_of_submission
from grader.course import workspace
from grader.course.submission import (
    Languages,
    Source,
    find_submissions,
    read_source_file,
    read_sources,
    select_submissions,
    with_slugs,
)
from grader.errors import UserError
from grader.languages import front_ends

FILES = ("silu.py", "gemm.py")
CAP = 1024


def student(root: Path, name: str | bytes, *files: str) -> Path:
    folder = root / os.fsdecode(name)
    folder.mkdir(parents=True)
    for file in files:
        (folder / file).write_text("x = 1\n")
    return folder


def problem_of(source: Source) -> str:
    assert source.problem is not None
    return source.problem.message


def test_a_class_and_a_single_student(tmp_path: Path) -> None:
    student(tmp_path, "bob", "silu.py")
    alice = student(tmp_path, "alice", "gemm.py")
    student(tmp_path, ".git", "config")
    student(tmp_path, "__MACOSX", "._silu.py")
    (tmp_path / "notes.txt").write_text("")
    assert [s.student for s in find_submissions(tmp_path, FILES)] == ["alice", "bob"]
    assert [s.student for s in find_submissions(alice, FILES)] == ["alice"]


def test_an_empty_student_folder_is_a_student(tmp_path: Path) -> None:
    student(tmp_path, "carol")
    assert [s.student for s in find_submissions(tmp_path, FILES)] == ["carol"]


def test_what_cannot_be_graded_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for name, says in (("none", "No such file"), ("file", "is a file"), ("empty", "no student's folder")):
        with pytest.raises(UserError, match=says) as info:
            find_submissions(tmp_path / name, FILES)
        assert "; name " in str(info.value) and "\n" not in str(info.value)


NAMES: list[str | bytes] = [
    "Ann Lee", "Zoë", "李雷", 'o"brien', "d'arcy", "a..b", "..x", "=cmd()", "-rf", "a\nb", "index.html",
         "x" * 200, b"\xff\xfe", "<script>", "a&b", "%2e%2e", "$HOME", "Ann_Lee"]


def test_results_folders_are_plain_distinct_and_inside(tmp_path: Path) -> None:
    for name in [*NAMES, "ann lee"]:
        student(tmp_path, name, "silu.py")
    submissions = find_submissions(tmp_path, FILES)
    slugs = [s.slug for s in submissions]
    assert len({slug.casefold() for slug in slugs}) == len(NAMES) + 1
    for slug in slugs:
        assert slug == Path(slug).name and slug not in (".", "..") and not slug.startswith((".", "-")), slug
        assert len(slug.encode()) <= 90 and slug.isprintable() and slug.casefold() != "index.html"
    assert all(s.student.isprintable() for s in submissions)


def test_ids_that_differ_in_case_get_folders_of_their_own(tmp_path: Path) -> None:
    student(tmp_path, "Alice", "silu.py")
    student(tmp_path, "alice", "silu.py")
    assert len({s.slug.casefold() for s in find_submissions(tmp_path, FILES)}) == 2


def test_whoever_has_a_folder_of_results_keeps_it_whoever_else_is_graded_along(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("Ann Lee", "Ann_Lee")]
    alone = with_slugs(folders[1:])
    recorded = [(submission.student, submission.slug) for submission in alone]
    submissions = with_slugs(folders, recorded)
    assert [one.slug for one in alone] == ["Ann_Lee"] and [one.slug for one in submissions] == ["Ann_Lee-2", "Ann_Lee"]
    assert with_slugs(folders[:1], [(one.student, one.slug) for one in submissions])[0].slug == "Ann_Lee-2"
    # A student's own name says who is meant before a folder of results does.
    assert [submission.student for submission in select_submissions(with_slugs(folders), ["Ann_Lee"])] == ["Ann_Lee"]
    assert [submission.student for submission in select_submissions(with_slugs(folders), ["Ann_Lee-2"])] == ["Ann_Lee"]


def test_files_beside_students_folders_and_under_other_names_are_told(tmp_path: Path) -> None:
    alice = student(tmp_path / "class", "alice", "SiLU.py")
    for name in ("bob.zip", "carol_silu.py", "notes.txt"):
        (tmp_path / "class" / name).touch()
    assert sorted(workspace.files_beside(tmp_path / "class", [alice])) == ["bob.zip", "carol_silu.py"]
    assert workspace.files_beside(alice, [alice]) == []
    files = ", ".join(sorted({Path(file).stem + one.suffix for file in FILES for one in front_ends().values()}))
    with pytest.raises(UserError, match=rf"none of {files} \(found SiLU\.py\); name another folder$"):
        find_submissions(alice, FILES)


def test_a_plain_file_is_read(tmp_path: Path) -> None:
    folder = student(tmp_path, "alice", "silu.py")
    assert read_source_file(folder, "silu.py", CAP).content == b"x = 1\n"
    assert read_source_file(folder, "gemm.py", CAP) == read_source_file(folder, "nothing.py", CAP)


def test_a_file_is_read_in_whichever_language_it_is(tmp_path: Path) -> None:
    folder = student(tmp_path, "alice", "silu.cu")
    assert [s.student for s in find_submissions(folder, FILES)] == ["alice"]
    found = read_sources(folder, ["silu", "gemm"], CAP)
    assert found == {"silu": Source(content=b"x = 1\n", file="silu.cu"), "gemm": Source()}
    assert hash_of_submission(found["silu"]) != hash_of_submission(Source(content=b"x = 1\n", file="silu.py"))
    assert hash_of_submission(Source(content=b"x = 1\n")) == hash_of_submission(Source(b"x = 1\n", file="silu.py"))


@pytest.mark.parametrize(("content", "cause"), [
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 812\n", "lfs"),
    ("import torch\n".encode("utf-16"), "utf16"), ("import torch\n".encode("utf-16-le"), "utf16"),
    ("import torch\n".encode("utf-16-be"), "utf16"), ("\ufeffimport torch\n".encode(), None), (b"", None),
    (b"import torch\0", None), (b"# version https://git-lfs.github.com/spec/v1\n", None)])
@pytest.mark.parametrize("file", ["silu.py", "silu.cu"])
def test_a_pointer_of_lfs_and_utf_16_are_no_text(tmp_path: Path, file: str, content: bytes, cause: str | None) -> None:
    (tmp_path / file).write_bytes(content)
    source = read_sources(tmp_path, ["silu"], 1 << 20)["silu"]
    assert (source.problem and source.problem.cause) == cause and (source.content is None) == (cause is not None)


def test_of_two_files_for_one_assignment_none_is_read(tmp_path: Path) -> None:
    folder = student(tmp_path, "alice", "silu.cu", "silu.py")
    source = read_sources(folder, ["silu"], CAP)["silu"]
    assert source.content is None and source.problem is not None and source.problem.cause == "two_files"
    assert source.problem.message == "silu.py and silu.cu are both there; hand in one of them"


@pytest.mark.parametrize("languages, files, read, problem", [
    (Languages((".cu", ".py"), "first"), ("silu.cu", "silu.py"), "silu.cu", ""),
    (Languages((".py", ".cu"), "first"), ("silu.cu", "silu.py"), "silu.py", ""),
    (Languages((".py",)), ("silu.cu", "silu.py"), "silu.py", ""),
    (Languages((".py",)), ("silu.cu",), "silu.cu",
     "silu.cu is in a language that this course does not take; hand in silu.py"),
    (Languages((".py",), names=("numba",)), ("silu.py",), "silu.py",
     "silu.py is in Triton, which this course does not take; write it in Numba-CUDA"),
])
def test_a_course_says_which_languages_count(
    tmp_path: Path, languages: Languages, files: tuple[str, ...], read: str, problem: str
) -> None:
    source = read_sources(student(tmp_path, "alice", *files), ["silu"], CAP, languages)["silu"]
    assert source.file == read and (source.content is None) == bool(problem)
    assert (source.problem.message if source.problem else "") == problem


def test_links_within_the_folder_are_followed_and_others_refused(tmp_path: Path) -> None:
    folder = student(tmp_path, "alice", "silu.py")
    (tmp_path / "secret.py").write_text("secret\n")
    (folder / "gemm.py").symlink_to("silu.py")
    assert read_source_file(folder, "gemm.py", CAP).content == b"x = 1\n"
    for target, says in (("../secret.py", "out of the submission"), ("/etc/passwd", "out of the submission"),
                         ("nothing", "link to nothing"), ("gemm.py", "cannot be read")):
        (folder / "gemm.py").unlink()
        (folder / "gemm.py").symlink_to(target)
        source = read_source_file(folder, "gemm.py", CAP)
        assert source.content is None and source.problem is not None and says in source.problem.message, target


def test_what_is_no_readable_regular_file_is_a_problem_at_once(tmp_path: Path) -> None:
    folder = student(tmp_path, "alice")
    os.mkfifo(folder / "fifo.py")
    (folder / "folder.py").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket.py"))
    (folder / "big.py").write_bytes(b"#" * (CAP + 1))
    (folder / "device.py").symlink_to("/dev/zero")
    for name in ("fifo.py", "folder.py", "socket.py", "big.py", "device.py"):
        source = read_source_file(folder, name, CAP)
        assert source.content is None and source.problem and name in source.problem.message


def test_a_sparse_giant_is_refused_by_its_size(tmp_path: Path) -> None:
    folder = student(tmp_path, "alice")
    with (folder / "silu.py").open("wb") as stream:
        stream.truncate(1 << 40)
    assert "at most 1,024 are allowed" in problem_of(read_source_file(folder, "silu.py", CAP))


def test_links_to_nowhere_are_nobody_and_hide_nobody(tmp_path: Path) -> None:
    student(tmp_path, "alice", "silu.py")
    for name, to in (("circle", "circle"), ("long", "x" * 300), ("dangling", "nothing")):
        (tmp_path / name).symlink_to(to)
    assert [s.student for s in find_submissions(tmp_path, FILES)] == ["alice"]


def test_a_link_to_a_folder_is_a_student_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("alice", "bob"):
        latest = student(tmp_path, f"store/{name}/latest", "silu.py")
        (tmp_path / "class").mkdir(exist_ok=True)
        (tmp_path / "class" / name).symlink_to(latest)
    assert [s.student for s in find_submissions(tmp_path / "class", FILES)] == ["alice", "bob"]
    # `.` has no name but that of the folder it is.
    monkeypatch.chdir(tmp_path / "class" / "alice")
    assert [s.student for s in find_submissions(Path(), FILES)] == ["latest"]


def test_trouble_with_an_odd_name_is_told_in_one_line(tmp_path: Path) -> None:
    student(tmp_path, "a\nb", "silu.py")
    (tmp_path / "silu.py").write_text("")
    with pytest.raises(UserError, match="holds silu") as info:
        find_submissions(tmp_path, FILES)
    assert "\n" not in str(info.value)


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """Root reads every file; for the test it takes the rights of another user."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_an_unreadable_file_or_folder_is_told() -> None:
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        folder = student(Path(root), "alice", "silu.py")
        (folder / "silu.py").chmod(0)
        with ordinary_user():
            assert "Permission denied" in problem_of(read_source_file(folder, "silu.py", CAP))
        folder.chmod(0)
        with ordinary_user(), pytest.raises(UserError, match="Permission denied"):
            find_submissions(folder, FILES)
        folder.chmod(0o755)


def test_a_folder_that_may_not_be_looked_into_hides_nobody() -> None:
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        student(Path(root), "alice", "silu.py")
        closed = [student(Path(root), "bob", "silu.py"), student(Path(root), ".hidden", "silu.py")]
        (Path(root) / "carol").symlink_to("bob/deeper")
        for folder in closed:
            folder.chmod(0)
        with ordinary_user():
            assert [s.student for s in find_submissions(Path(root), FILES)] == ["alice", "bob", "carol"]
            (bob,) = (s for s in find_submissions(Path(root), FILES) if s.student == "bob")
            assert "Permission denied" in problem_of(read_source_file(bob.folder, "silu.py", CAP))
        for folder in closed:
            folder.chmod(0o755)
