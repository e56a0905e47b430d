"""A file is written whole or not at all, for whom the umask lets read it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.results.files import exchange, replace


def test_a_file_and_its_folders_are_made_and_the_file_replaced(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    for content in (b"once", b"twice"):
        assert replace(path, content) == path and path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("umask", "mode", "expected"), [
    (0o022, 0o666, 0o644), (0o077, 0o666, 0o600), (0, 0o600, 0o600)])
def test_the_umask_says_who_may_read_it(tmp_path: Path, umask: int, mode: int, expected: int) -> None:
    before = os.umask(umask)
    try:
        path = replace(tmp_path / "a.txt", b"", mode)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == expected


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_cannot_be_written_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def refused(*_: object) -> None:
        raise error

    path = replace(tmp_path / "a.txt", b"old")
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(type(error)):
        replace(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_stays(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(path := tmp_path / "a.txt")
    (link := tmp_path / "link").symlink_to(path)
    before = path.lstat()
    with pytest.raises(FileExistsError, match="already exists and is no regular file"):
        replace(path, b"new")
    assert replace(link, b"new").read_bytes() == b"new" and not link.is_symlink()
    assert path.lstat() == before and {*tmp_path.iterdir()} == {path, link}


def test_folders_are_exchanged_in_one_step(tmp_path: Path) -> None:
    path, other = tmp_path / "one", tmp_path / "other"
    for folder in (path, other):
        (folder / f"in {folder.name}").mkdir(parents=True)
    if not exchange(path, other):
        pytest.skip("this file system cannot exchange folders")
    assert (os.listdir(path), os.listdir(other)) == (["in other"], ["in one"])
    with pytest.raises(FileNotFoundError):
        exchange(path, tmp_path / "none")
