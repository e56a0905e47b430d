"""Programs that write or run without end are ended; what others say is kept."""

import io
import sys

import pytest

from grader.plan import children

MOST = 1 << 20


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_writes_without_end_is_ended(stream: str) -> None:
    endless = f"import sys\nwhile True: sys.{stream}.write('a' * 65536)"
    with pytest.raises(children.TooMuchError):
        children.run([sys.executable, "-c", endless], most=MOST)


# Of the last the output is closed, and it goes on.
@pytest.mark.parametrize("endless", [
    "while True: pass", "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(600)",
    "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)'])"])
def test_what_does_not_end_is_ended(endless: str) -> None:
    with pytest.raises(TimeoutError):
        children.run([sys.executable, "-c", endless], most=MOST, seconds=2)


def test_what_ends_is_told_with_all_that_it_said() -> None:
    say = "import sys\nprint('b' * 500_000, end='')\nprint('why', file=sys.stderr)\nsys.exit(3)"
    assert children.run([sys.executable, "-c", say], most=MOST) == children.ChildEnd(3, b"b" * 500_000, b"why\n")
    target = io.BytesIO()
    assert children.run([sys.executable, "-c", say], most=MOST, into=target).output == b""
    assert target.getvalue() == b"b" * 500_000
