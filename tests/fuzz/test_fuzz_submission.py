"""Whatever students' folders hold, they are found and read, or the trouble is told. There is no archive to unpack."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grader.course.submission import find_submissions, read_source_file
from grader.errors import UserError
from tests.fuzz.harness import bounded, is_one_line, no_descriptor_left, within

FILES = ("silu.py", "gemm.py", "transpose.py")
CAP = 1000
SECONDS = 1.0
INSIDE, OUTSIDE = b"inside ", b"outside "
NOBODY = 65534

NAMES = st.one_of(
    st.sampled_from([
        *(name.encode() for name in FILES), b"Silu.py", b"SILU.PY", b"silu.py ", b"alice", b"Alice", b"ALICE", b"sub",
        b".git", b"__MACOSX", b"index.html", b"gradebook.csv", b"a\nb", b"\xff\xfe", b"-rf", b"..x", b"...", b"~",
        b"\xe2\x80\xae.py", b" ", b"\xcc\x81", "Zoë".encode(), "Zoe\u0308".encode(), b"\x1b[31m", b"x" * 255, b"con"]),
    st.binary(min_size=1, max_size=12).filter(lambda name: not {0, ord("/")} & set(name) and name not in (b".", b"..")),
)
TARGETS = st.one_of(NAMES, st.sampled_from([
    b"silu.py", b"./silu.py", b"sub/silu.py", b"sub/../silu.py", b"../alice/silu.py", b"../../outside", b"../outside",
    b"/etc/passwd", b"/dev/zero", b"/dev/stdin", b"/proc/self/environ", b"/proc/self/fd/0", b"/proc/self/cwd",
    b".", b"..", b"../..", b"sub", b"/", b"nothing", b"nothing/at/all", b"silu.py/", b"silu.py/x", b"x" * 300,
    b"/".join([b"sub/.."] * 500)]))
MODES = st.sampled_from([0o644, 0o644, 0o644, 0o000, 0o200, 0o100, 0o7777])


@dataclass(frozen=True)
class Entry:
    """One thing in a folder: what it is, its name, and its target, its size in bytes or what it holds."""

    kind: str
    name: bytes
    mode: int = 0o644
    target: bytes = b""
    size: int = 0
    entries: tuple[Entry, ...] = ()


LEAVES = st.one_of(
    st.builds(Entry, st.sampled_from(["file", "sparse"]), NAMES, MODES,
              size=st.sampled_from([0, 1, 50, CAP - 1, CAP, CAP + 1, 1 << 40])),
    st.builds(Entry, st.just("link"), NAMES, target=TARGETS),
    st.builds(Entry, st.sampled_from(["fifo", "socket", "link to itself"]), NAMES, MODES),
)
TREES = st.recursive(
    LEAVES,
    lambda below: st.builds(Entry, st.just("folder"), NAMES, MODES, entries=st.lists(below, max_size=6).map(tuple)),
    max_leaves=12)
STUDENTS = st.builds(Entry, st.just("folder"), NAMES, MODES, entries=st.lists(TREES, max_size=6).map(tuple))


def make(folder: Path, entry: Entry) -> None:
    """Builds an entry; names that are taken, or that a socket's address has no room for, are passed over."""
    path = folder / os.fsdecode(entry.name)
    if os.path.lexists(path):
        return
    if entry.kind == "folder":
        path.mkdir()
        for one in entry.entries:
            make(path, one)
    elif entry.kind in ("file", "sparse"):
        # Only a sparse file may be of any size.
        size = entry.size if entry.kind == "sparse" else min(entry.size, CAP + 1)
        with path.open("wb") as stream:
            stream.write(INSIDE * (size // len(INSIDE)) if entry.kind == "file" else b"")
            stream.truncate(size)
    elif entry.kind.startswith("link"):
        path.symlink_to(os.fsdecode(entry.name if entry.kind == "link to itself" else entry.target))
        return
    elif entry.kind == "fifo":
        os.mkfifo(path)
    elif len(bytes(path)) < 100:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(bytes(path))
    else:
        return
    path.chmod(entry.mode | (0o111 if entry.kind == "folder" and entry.mode else 0))


@contextmanager
def built(entries: list[Entry]) -> Iterator[Path]:
    """A class of these entries, with something secret beside it; root takes an ordinary user's rights to read it."""
    with tempfile.TemporaryDirectory(prefix="k") as root:
        Path(root).chmod(0o755)
        Path(root, "outside").write_bytes(OUTSIDE)
        students = Path(root, "class")
        students.mkdir()
        for entry in entries:
            make(students, entry)
        user = os.geteuid()
        if user == 0:
            os.seteuid(NOBODY)
        try:
            yield students
        finally:
            os.seteuid(user)


def look(path: Path) -> None:
    """Finds the submissions under a path and reads all of their files."""
    try:
        submissions = find_submissions(path, FILES)
    except UserError as error:
        assert is_one_line(str(error))
        return
    assert submissions
    assert len({submission.slug.casefold() for submission in submissions}) == len(submissions)
    for one in submissions:
        assert one.student.isprintable() and one.student.encode()
        assert one.slug == Path(one.slug).name and not one.slug.startswith((".", "-")) and len(one.slug.encode()) <= 90
        for file in FILES:
            source = read_source_file(one.folder, file, CAP)
            assert source.content is None or source.problem is None
            if source.content is not None:
                assert len(source.content) <= CAP
                # What was read is what was put inside, or the emptiness of a sparse file.
                assert not (source.content.replace(INSIDE, b"").strip(b"\0"))
            elif source.problem is not None:
                assert is_one_line(source.problem.message) and file in source.problem.message


@bounded(50)
@given(st.lists(st.one_of(STUDENTS, STUDENTS, TREES), max_size=5))
def test_any_class_is_read_or_told(entries: list[Entry]) -> None:
    with no_descriptor_left(), built(entries) as students, within(SECONDS):
        look(students)


@bounded(35)
@given(st.lists(TREES, max_size=8))
def test_any_students_folder_is_read_or_told(entries: list[Entry]) -> None:
    with no_descriptor_left(), built([Entry("folder", b"alice", entries=tuple(entries))]) as students, within(SECONDS):
        look(students / "alice")


@bounded(35)
@given(st.sampled_from(FILES), st.lists(TREES, max_size=4), TREES)
def test_any_thing_under_a_files_name_is_read_or_told(file: str, others: list[Entry], entry: Entry) -> None:
    named = Entry(entry.kind, file.encode(), entry.mode, entry.target, entry.size, entry.entries)
    alice = Entry("folder", b"alice", entries=(named, *others))
    with no_descriptor_left(), built([alice]) as students, within(SECONDS):
        look(students)
