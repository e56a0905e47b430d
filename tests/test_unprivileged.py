"""What holds for root holds for a user without privileges: the same tests, run by one."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.home import ROOT
from tests.hostile_lane import TABLE
from tests.unprivileged import USER

SECONDS = 400
# The tests that run, and how many must pass at least: a family of attacks and some of another, and honest files by
# their first letter.
RUNS: dict[str, tuple[tuple[str, ...], int]] = {
    "the sandbox": (
        ("tests/sandbox/forkserver/test_isolation.py", "tests/sandbox/confine/test_defences.py",
         "tests/sandbox/confine/test_rlimits.py", "-k", "not CPU and not not_counted"), 25),
    "the sandbox, at length": (
        ("tests/sandbox/forkserver/test_isolation.py", "tests/sandbox/forkserver/test_conversation.py",
         "tests/sandbox/confine/test_rlimits.py", "-k", "conversation or CPU or not_counted"), 5),
    "hostile": (("tests/test_hostile.py", "-k", "nothing_left and (network or of_parent or left_behind)"), 20),
    "honest": (("tests/test_submissions.py", "-k", "accepted and (silu_a or silu_p)"), 12),
}


@pytest.mark.full
@pytest.mark.timeout(SECONDS + 20)
@pytest.mark.parametrize("run", RUNS)
def test_it_holds_for_a_user_without_privileges(run: str, record_property: Callable[[str, object], None]) -> None:
    if os.geteuid() != 0:
        pytest.skip("these tests have just been run by a user without privileges")
    tests, least = RUNS[run]
    around = [str(shutil.which("unshare")), "--mount", "--propagation", "private", "--"]
    if subprocess.run([*around, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this container lets root make no mount namespace")
    with tempfile.TemporaryDirectory(prefix="kernelmark-test-") as folder:
        os.chown(folder, USER, USER)
        path = Path(folder) / "tests.xml"
        result = subprocess.run(
            [*around, sys.executable, "-m", "tests.unprivileged",
             sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
             "-m", "not gpu", "-o", "junit_family=xunit1", f"--junitxml={path}", *tests],
            cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
        for element in ElementTree.parse(path).iter("property"):
            if element.get("name") == TABLE:
                record_property(TABLE, element.get("value"))
    passed = re.search(r"(\d+) passed", result.stdout)
    assert least <= int(passed[1] if passed else 0), result.stdout[-2000:]
