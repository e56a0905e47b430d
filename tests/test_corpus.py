"""What is kept of the corpus fails tests where a verdict changes and the version of the judge does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.results.version import JUDGE_CHANGES, JUDGE_VERSION, POINTS_CHANGES
from tests import corpus, members
from tests.corpus import Book, Got

KEPT = Got.of("wrong_answer", 0, "Line 12 stores 3.5e-2 twice.")
BOOK = Book(7, {"graded wrong_answer/a/silu": KEPT})


def test_the_file_is_of_this_version_and_of_members_that_are_there() -> None:
    book = corpus.read()
    assert book.version == JUDGE_VERSION, f"run `make verdicts`, which writes {corpus.FILE}"
    gone = [name for name, there in corpus.there(book).items() if not there]
    assert not gone, f"run `make verdicts`: {gone}"
    assert corpus.text(book) == corpus.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("now", [
    Got.of("runtime_error", 0, KEPT.hint), Got.of("wrong_answer", 20, KEPT.hint), Got.of("wrong_answer", 0, "New.")])
def test_a_change_without_another_version_says_what_to_do(now: Got) -> None:
    got = {"graded wrong_answer/a/silu": now}
    (said,) = corpus.differences(BOOK, got, version=7)
    assert said.startswith("graded wrong_answer/a/silu got") and said.endswith(corpus.RAISE)
    assert "JUDGE_VERSION" in corpus.RAISE and "make verdicts" in corpus.RAISE
    with pytest.raises(ValueError, match="JUDGE_VERSION"):
        corpus.merged(BOOK, got, {}, version=7)
    # Written under another version, and no difference from then on.
    assert not corpus.differences(BOOK, got, version=8)
    assert corpus.merged(BOOK, got, {}, version=8) == Book(8, got)


def test_other_figures_are_no_change_and_new_members_need_no_version() -> None:
    same = {"graded wrong_answer/a/silu": Got.of("wrong_answer", 0, "Line 7 stores 1,024 twice.")}
    assert not corpus.differences(BOOK, same, version=7)
    new = {"graded wrong_answer/b/silu": KEPT}
    assert corpus.differences(BOOK, new, version=7) == [
        "graded wrong_answer/b/silu is not in verdicts.json: run `make verdicts`"]
    assert corpus.merged(BOOK, new, {}, version=7).members == {**BOOK.members, **new}
    assert corpus.merged(BOOK, new, dict.fromkeys(BOOK.members, False), version=7).members == new


def test_what_is_shared_is_shared_and_a_member_is_whole() -> None:
    found = [path.read_bytes() for path in members.HERE.rglob("*.py") if members.SHARED not in path.parents]
    for shared in members.SHARED.iterdir():
        lines = [f"# {how}: {shared.stem}\n".encode() for how in ("shared", "base")]
        assert sum(any(line in one for line in lines) for one in found) > 1, shared
    member = members.HERE / "hostile/exhausting/source_of_names"
    whole = (members.whole(member) / "silu.py").read_text().splitlines()
    assert whole[2:4] == ["a0 = lambda: (a1, a2.b)", "a1 = lambda: (a8, a5.b)"] and len(whole) == 2506
    wrong = members.text(members.HERE / "wrong_answer/silu_wrong_sign/silu.py").decode().splitlines()
    right = members.text(members.SHARED / "silu.py").decode().splitlines()
    assert wrong[0].startswith("# exp(x) where") and wrong[3:-1] != right[:-1] and wrong[3:9] == right[:6]


@pytest.mark.parametrize(("changes", "said"), [
    ("#-no such line\n#+x\n", "lines that stand once in it expected, got no such line"),
    ("#-    n = x.numel()\nx = 1\n", "lines that begin with #- or #+ expected")])
def test_a_member_that_does_not_fit_its_base_is_told(tmp_path: Path, changes: str, said: str) -> None:
    (tmp_path / "silu.py").write_text(f"# A mistake.\n# base: silu\n{changes}")
    with pytest.raises(ValueError, match=re.escape(said)):
        members.text(tmp_path / "silu.py")


def test_each_version_says_what_it_changed() -> None:
    for changes in (JUDGE_CHANGES, POINTS_CHANGES):
        assert list(changes) == list(range(1, len(changes) + 1)) and all(changes.values())
