"""A run can be watched: on a terminal, by a program, and in a class page that is whole and true at any moment."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.home import ROOT
from grader.pages.leaderboard import begin, key_of
from grader.pages.pages import write_all
from grader.pages.people import pseudonym
from tests.command import SECONDS, SILU, hand_in, kernelmark, load

SLOW = "import time\ntime.sleep(60)\n" + SILU


def test_json_is_an_object_a_line_and_nothing_else(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "alice")
    hand_in(tmp_path / "class", "bob", "def silu(x, out):\n    pass\n")
    asked = ("grade", tmp_path / "class", "--out", tmp_path / "out", "--only", "silu", "--jobs", "1", "--json")
    result = kernelmark(*asked)
    assert result.returncode == 0, result
    *graded, end = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["event"], one["done"], one["of"], one["student"], one["verdicts"], one["failures"])
            for one in graded] == [("graded", 1, 2, "alice", {"silu": "accepted"}, []),
                                   ("graded", 2, 2, "bob", {"silu": "wrong_answer"}, [])]
    assert (graded[0]["score"], graded[0]["measured_max"], graded[1]["score"]) == (60, 60, 0)
    assert end["event"] == "end" and (end["graded"], end["interrupted"], end["failures"]) == (2, False, [])
    assert not (tmp_path / "out" / "leaderboard.html").exists()
    assert end["page"] == str(tmp_path / "out" / "index.html") and "2 graded in" in result.stderr
    (end,) = [json.loads(line) for line in kernelmark(*asked).stdout.splitlines()]
    assert (end["graded"], list(end["skipped"].values())) == (0, [2])
    documented = (ROOT / "docs" / "grading.md").read_text().partition("```json\n")[2].partition("```")[0].splitlines()
    assert [set(json.loads(line)) for line in documented] == [set(graded[0]), set(end)]
    refused = kernelmark("grade", tmp_path / "class", "--only", "slu", "--json")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_terminal_and_the_page_show_who_is_at_what_and_a_killed_run_leaves_a_true_page(tmp_path: Path) -> None:
    for name, text in (("a", SILU), ("b", "def silu(x, out):\n    pass\n"), ("c", SLOW), ("d", SLOW)):
        hand_in(tmp_path / "class", name, text)
    asked: list[str | Path] = [
        "grade", tmp_path / "class", "--out", tmp_path / "out", "--only", "silu", "--jobs", "1"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", *asked], cwd=ROOT, stdout=theirs, stderr=theirs, start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"})
    os.close(theirs)
    os.set_blocking(ours, False)
    path, said, pages = tmp_path / "out" / "index.html", "", set()
    until = time.monotonic() + SECONDS
    try:
        page = ""
        while "2 of 4 graded" not in page or "c: silu" not in re.sub(r"<[^>]*>", "", page):
            assert time.monotonic() < until and process.poll() is None, said
            page = path.read_text() if path.exists() else ""
            pages.add(page)
            said += read(ours)
            time.sleep(0.02)
        # The display is drawn anew four times a second.
        time.sleep(0.6)
        said += read(ours)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)
    for text in ("a: 60 of 60 points", "2 of 4 graded", "not passed: 1 wrong answer", "left", "silu", "since "):
        assert text in said
    for page in (pages | {path.read_text()}) - {""}:
        assert page.rstrip().endswith("</html>")
        match = re.search(r"(\d) of 4 graded</b> as of", page)
        assert match is not None and page.count('<tr><th scope="row"') == int(match[1])
    assert "2 of 4 graded" in path.read_text() and sorted(load(tmp_path / "out")) == ["a", "b"]
    for name in "cd":
        (tmp_path / "class" / name / "silu.py").write_text(SILU)
    result = kernelmark(*asked)
    assert result.returncode == 0 and "Skipped 2 of 4" in result.stdout
    assert "as of" not in path.read_text() and path.read_text().count('<tr><th scope="row"') == 4


def read(terminal: int) -> str:
    try:
        return os.read(terminal, 1 << 20).decode("utf-8", "replace")
    except (BlockingIOError, OSError):
        return ""


def test_a_leaderboard_is_there_where_it_was_asked_for_and_says_no_name(tmp_path: Path) -> None:
    hand_in(tmp_path / "class", "alice-liddell")
    hand_in(tmp_path / "class", "bob-builder", "def silu(x, out):\n    pass\n")
    out = tmp_path / "out"
    (tmp_path / "roster.csv").write_text("id,name,section\nalice-liddell,Alice Liddell,B\ncy,Cy Carter,B\n")
    asked = ("grade", tmp_path / "class", "--out", out, "--only", "silu", "--leaderboard")
    done = kernelmark(*asked, "--roster", tmp_path / "roster.csv")
    assert done.returncode == 0 and f"Not in {tmp_path}/roster.csv: bob-builder.\n" in done.stdout
    page = (out / "leaderboard.html").read_text()
    assert '"alice-liddell","Alice Liddell","B",60' in (out / "gradebook.csv").read_text()
    assert '"cy","Cy Carter","B",0,100,60,0,"missing",""\n' in (out / "gradebook.csv").read_text()
    assert (out / ".staff" / "leaderboard.key").stat().st_mode & 0o777 == 0o600
    assert "alice" not in page.casefold() and "bob" not in page and "1 with points" in page
    name = (out / "gradebook.csv").read_text().splitlines()[1].rsplit(",", 1)[1].strip('"')
    assert re.fullmatch(r"[a-z]{6}-[a-z]{6}", name) and name in page
    report, other = ((out / who / "report.html").read_text() for who in ("alice-liddell", "bob-builder"))
    assert f"which lists those with points, is {name}." in report and name not in other
    write_all(out)
    assert (out / "leaderboard.html").read_text() == page
    (out / "leaderboard.html").unlink()
    write_all(out)
    assert not (out / "leaderboard.html").exists() and "pseudonym" not in (out / "gradebook.csv").read_text()
    assert kernelmark(*asked[:-1], "--names", "pseudonyms").returncode == 0
    # The key is the same, so that the pseudonyms are.
    assert f'"{name}","B",60' in (out / "gradebook.csv").read_text() and "Alice" not in (out / "index.html").read_text()
    assert "leaderboard" not in (out / "alice-liddell" / "report.html").read_text()


def test_pseudonyms_differ_with_the_key_and_the_student() -> None:
    keys = bytes(32), bytes(31) + b"\1"
    names = [pseudonym(key, folder) for key in keys for folder in ("alice", "bob", "\udcff")]
    assert len(set(names)) == 6 and names == [pseudonym(key, folder) for key in keys
                                              for folder in ("alice", "bob", "\udcff")]


@pytest.mark.parametrize("size", [0, 31])
def test_without_a_whole_key_there_is_no_leaderboard(tmp_path: Path, size: int) -> None:
    begin(tmp_path)
    assert len(key_of(tmp_path) or b"") == 32
    (tmp_path / ".staff" / "leaderboard.key").write_bytes(bytes(size))
    assert key_of(tmp_path) is None
