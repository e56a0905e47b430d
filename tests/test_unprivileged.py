"""What holds for root holds for a user without privileges: the same tests, run by one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from grader.catalogue import ROOT

TESTS = ("tests/judge/test_isolation.py", "tests/judge/test_session.py")
SECONDS = 280


def test_the_sandbox_holds_for_a_user_without_privileges() -> None:
    if os.geteuid() != 0:
        pytest.skip("these tests have just been run by a user without privileges")
    command = [
        str(shutil.which("unshare")), "--mount", "--propagation", "private", "--",
        sys.executable, "-m", "tests.unprivileged",
        sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *TESTS]
    if subprocess.run([*command[:5], "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this container lets root make no mount namespace")
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= 35, done.stdout[-2000:]
