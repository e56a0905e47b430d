"""The tiers of tests: what is slow is found, named in a file, and fails `make test-all` until it is."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from grader.home import ROOT
from tests import test_hints, test_hostile, test_submissions, tiers

SLEEPS = """
import time
import pytest

taken = []

def test_slow_each_time():
    time.sleep(0.8)

def test_slow_the_first_time():
    taken.append(time.sleep(0 if taken else 0.8))

@pytest.mark.full
def test_slow_and_marked():
    time.sleep(0.8)

def test_slow_and_failing():
    time.sleep(0.8)
    raise ValueError("its own words")
"""
# Two rows of a run: in the first somebody else's start-up was paid for.
REPORT = """<testsuites><testsuite><testcase classname="tests.judging.test_a" name="test_b[1-x]" time="{}"/>
<testcase classname="tests.test_c" name="test_d" time="9"><skipped/></testcase></testsuite></testsuites>"""


def test_a_slow_test_fails_by_itself_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "test_sleeps.py").write_text(SLEEPS)
    (tmp_path / "conftest.py").write_text(
        "from tests import tiers\nfrom tests.tiers import *\ntiers.SHARE, tiers.CONTROL = 0.1, 1e9\n"
        "tiers.listed = lambda file: frozenset()\n")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, "-c", "/dev/null",
         "--tiers", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "2 failed, 2 passed" in result.stdout, result.stdout
    said = r"test_slow_each_time took \d\.\d s, twice, where a test of the quick tier may take 0\.6 s"
    assert re.search(said, result.stdout), result.stdout
    assert "add its name to tests/full.txt" in result.stdout and "its own words" in result.stdout


def test_slow_tests_are_added_to_the_file_and_sentinels_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in (("FULL", "tests/a.py::kept\n"), ("SENTINELS", "tests/judging/test_a.py::test_e  # why\n")):
        monkeypatch.setattr(tiers, name, tmp_path / name)
        (tmp_path / name).write_text(text)
    reports = [tmp_path / f"{seconds}.xml" for seconds in ("2.5", "1.6", "0.4")]
    for report in reports:
        report.write_text(REPORT.format(report.stem))
    tiers.main([str(path) for path in reports])
    assert (tmp_path / "FULL").read_text() == "tests/a.py::kept\n"
    tiers.main([str(path) for path in reports[:2]])
    assert (tmp_path / "FULL").read_text() == "tests/a.py::kept\ntests/judging/test_a.py::test_b[1-x]\n"
    assert "1 added" in capsys.readouterr().out


def test_the_quick_tier_judges_a_member_of_each_verdict_and_language_and_each_family() -> None:
    every_time, rooms = defaultdict(set), defaultdict(set)
    for test, members in (
        ("test_submissions.py::test_verdict[{}]", test_submissions.MEMBERS),
        ("test_hints.py::test_a_mistake_is_named_and_nothing_else[{}]", test_hints.MEMBERS),
        ("test_hostile.py::test_zero_points_and_nothing_left[{}-strongest]", test_hostile.MEMBERS),
    ):
        for member in members:
            language = "cuda" if member.title.startswith("cuda_") else "triton"
            # A family of attacks is one, in any language.
            hostile = member.verdict == "hostile"
            room = test_hostile.family(member) if hostile else member.verdict, "" if hostile else language
            rooms[room].add(member)
            name = f"tests/{test.format(member.name.removeprefix('hostile/'))}"
            if name not in tiers.listed(tiers.FULL):
                every_time[room].add(member)
    assert [room for room in rooms if not every_time[room]] == []


def test_sentinels_are_in_the_quick_tier() -> None:
    assert not tiers.listed(tiers.SENTINELS) & tiers.listed(tiers.FULL)


# As pytest is run on a few files, and then: which heavy packages it has imported.
RUN = """
import sys
import pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]])
print("imported:", *sorted({"torch", "triton", "matplotlib", "distributed"} & set(sys.modules)))
sys.exit(code)
"""


@pytest.mark.full
@pytest.mark.timeout(900)
def test_files_of_tests_import_what_they_need() -> None:
    files = ("tests/pages/test_wording.py", "tests/classroom/attempts/test_selected.py",
             "tests/classroom/intake/test_people.py", "tests/course/test_scoring.py")
    result = subprocess.run([sys.executable, "-c", RUN, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result
    assert result.stdout.splitlines()[-1] == "imported:", result.stdout
