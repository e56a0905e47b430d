"""Tests that need no torch do not wait for its import, which takes seconds."""

import subprocess
import sys

import pytest

from grader.home import ROOT

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
    done = subprocess.run([sys.executable, "-c", RUN, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[-1] == "imported:", done.stdout
