"""Compilers that a language needs, wherever they are installed: workers read them, and start their programs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader import languages
from grader.plan import language_folders
from grader.sandbox.confine import surroundings


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    known = languages.front_ends()
    # Two languages share a toolkit.
    others = {name: replace(known[name], tools=lambda: (str(tmp_path),)) for name in ("cuda", "numba")}
    monkeypatch.setattr(languages, "front_ends", lambda: {**known, **others})
    for cached in (surroundings.tools, surroundings.readable):
        cached.cache_clear()
    yield tmp_path
    for cached in (surroundings.tools, surroundings.readable):
        cached.cache_clear()


def test_tools_are_among_what_a_worker_may_read(elsewhere: Path) -> None:
    assert str(elsewhere) in surroundings.readable() and surroundings.tools() == (str(elsewhere),)


def test_the_parts_of_a_front_end_are_those_that_have_a_main() -> None:
    assert language_folders.parts("builder") == ["cuda/builder"]
    assert set(language_folders.parts("compiler", "planner")) == {
        f"{language}/{part}" for language in ("cuda", "numba", "triton") for part in ("compiler", "planner")}
