"""Builds that are kept: what comes back is what was made of the very same, or nothing."""

import hashlib
import os
from pathlib import Path

import pytest

from grader.judging.running import build_cache
from grader.judging.running.build_cache import BuildCache

PARTS = (b"cuda/builder", b"{}", b"source")


@pytest.fixture
def kept(tmp_path: Path) -> BuildCache:
    return BuildCache(tmp_path / "built")


def test_a_build_comes_back_for_the_same_parts_alone(kept: BuildCache) -> None:
    kept.keep(b"made", *PARTS)
    assert kept.get(*PARTS) == b"made"
    # Parts are not told apart by what they are together.
    assert kept.get(b"cuda/builder{}", b"", b"source") is None
    assert kept.get(b"cuda/builder", b"{}", b"another source") is None


def test_a_build_that_is_not_whole_is_none(kept: BuildCache, tmp_path: Path) -> None:
    kept.keep(b"made", *PARTS)
    (file,) = (tmp_path / "built").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert kept.get(*PARTS) is None
    kept.keep(b"made", *PARTS)
    assert kept.get(*PARTS) == b"made"


def test_the_oldest_builds_make_room(kept: BuildCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_cache, "MOST_BYTES", 2 * (100 + hashlib.sha256().digest_size))
    for number, name in enumerate((b"first", b"second")):
        kept.keep(bytes(100), name)
        for file in (tmp_path / "built").iterdir():
            os.utime(file, (number, number))
    assert kept.get(b"first") is not None
    kept.keep(bytes(100), b"third")
    assert kept.get(b"second") is None
    assert kept.get(b"first") is not None and kept.get(b"third") is not None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = BuildCache(tmp_path / "file" / "built")
    kept.keep(b"made", *PARTS)
    assert kept.get(*PARTS) is None
