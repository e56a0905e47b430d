"""What is kept of the corpus fails tests where a verdict changes and the version of the judge does not."""

import importlib.util
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.results.version import JUDGE_CHANGES, JUDGE_VERSION, POINTS_CHANGES
from tests import corpus, members
from tests.corpus import Book, MemberOutcome
from tests.rows import each_row

KEPT = MemberOutcome.of("wrong_answer", 0, "Line 12 stores 3.5e-2 twice.")
BOOK = Book(7, {"graded wrong_answer/a/silu": KEPT})


def test_the_file_is_of_this_version_and_of_members_that_are_there() -> None:
    book = corpus.read()
    assert book.version == JUDGE_VERSION, f"run `make verdicts`, which writes {corpus.FILE}"
    gone = [name for name, there in corpus.there(book).items() if not there]
    assert not gone, f"run `make verdicts`: {gone}"
    assert corpus.text(book) == corpus.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("now", [
    MemberOutcome.of("runtime_error", 0, KEPT.hint), MemberOutcome.of("wrong_answer", 20, KEPT.hint),
    MemberOutcome.of("wrong_answer", 0, "New.")])
def test_a_change_without_another_version_says_what_to_do(now: MemberOutcome) -> None:
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
    same = {"graded wrong_answer/a/silu": MemberOutcome.of("wrong_answer", 0, "Line 7 stores 1,024 twice.")}
    assert not corpus.differences(BOOK, same, version=7)
    new = {"graded wrong_answer/b/silu": KEPT}
    assert corpus.differences(BOOK, new, version=7) == [
        "graded wrong_answer/b/silu is not in verdicts.json: run `make verdicts`"]
    assert corpus.merged(BOOK, new, {}, version=7).members == {**BOOK.members, **new}
    assert corpus.merged(BOOK, new, dict.fromkeys(BOOK.members, False), version=7).members == new


def test_a_piece_is_shared_and_a_member_is_with_its_like() -> None:
    used: Counter[str] = Counter()
    for path in members.HERE.glob("*/*.toml"):
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            used.update([table.get("base", "")])
            for value in table.values():
                used.update(value if isinstance(value, list) else ())
            room, _, title = name.rpartition("/")
            language = title.split("_")[0] if title.startswith(("cuda_", "numba_")) else "triton"
            assert room == f"hostile/{path.stem}" or (path.parent.name == language and any(
                key.partition(".")[0] == path.stem for key in table)), f"{name} stands in {path}"
    assert [name for name in members.pieces() if used[name] <= (name not in members.MADE)] == []


def test_an_attack_names_modules_of_the_grader_that_are_there() -> None:
    """Else it attacks nothing, since a module has moved."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in members.HERE.rglob("*.toml")}
    named = {(file, name) for file, text in texts.items() for name in re.findall(r"\bgrader(?:\.[a-z_0-9]+)+", text)}
    gone = {one for one in named if one[1] != "grader.py" and importlib.util.find_spec(one[1]) is None}
    assert len(named) > 8 and gone == set()


def test_a_member_is_written_whole(tmp_path: Path) -> None:
    """From pieces, and with its notes above what differs from its base."""
    names = members.Member("hostile/exhausting/source_of_names").source.splitlines()
    assert names[2:4] == ["a0 = lambda: (a1, a2.b)", "a1 = lambda: (a8, a5.b)"] and len(names) == 2506
    wrong = (members.Member("wrong_answer/silu_wrong_sign").written(tmp_path) / "silu.py").read_text().splitlines()
    right = members.pieces()["silu"].splitlines()
    assert wrong[:3] == ["# exp(x) where exp(-x) is meant: x * sigmoid(-x).", "# expect: sign in exp",
                         "# never: triton.cdiv"]
    assert [(old.strip(), new.strip()) for old, new in zip(right, wrong[3:], strict=True) if old != new] == [
        ("tl.store(out_ptr + offs, x / (1.0 + tl.exp(-x)), mask=offs < n)",
         "tl.store(out_ptr + offs, x / (1.0 + tl.exp(x)), mask=offs < n)")]


def test_contributing_shows_a_member_that_can_be_added(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```toml\n(.+?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "silu.toml").write_text(shown)
    ((name, table),) = members.tables(tmp_path).items()
    assert name not in members.tables()
    assert " 0.5 * x" in members.changed(members.pieces()[table["base"]], table["silu.py"])


@each_row(("diff", "said"), [
    ("-no such line\n+x\n", "lines to change must stand in one place of the base, not in 0: no such line"),
    ("-a\n", "not in 2: a"), (" a\n b\n-c\n\n+d\nx\n", "a line of a diff begins with -, + or a blank, not so: x")])
def test_a_diff_that_does_not_fit_its_base_is_refused(diff: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        members.changed("a\nb\na\n", diff)


def test_places_of_a_diff_are_changed_in_turn() -> None:
    assert members.changed("a\nb\n\na\n", " a\n-b\n+c\n@@\n\n-a\n") == "a\nc\n\n"


@each_row(("text", "said"), [
    ('["x/a"]\nexpects = ""\n', "x/a: expects is no note; choose one of about, "),
    ('["x/a"]\n"a.py" = ""\n', "x/a stands twice in the corpus; choose another name")])
def test_a_table_that_is_wrong_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir(exist_ok=True)
    (tmp_path / "x" / "a.toml").write_text(text)
    (tmp_path / "x" / "b.toml").write_text('["x/a"]\n')
    with pytest.raises(ValueError, match=re.escape(said)):
        members.tables(tmp_path)


def test_each_version_says_what_it_changed() -> None:
    for changes in (JUDGE_CHANGES, POINTS_CHANGES):
        assert list(changes) == list(range(1, len(changes) + 1)) and all(changes.values())
