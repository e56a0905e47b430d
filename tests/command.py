"""The command, submissions handed in to it, and the results it leaves."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self
from unittest import mock

from typer.main import get_command

from grader import home
from grader.commands.cli import app
from grader.console import console, errors
from grader.grading.job import JobOutcome
from grader.grading.lanes import Jobs, Lanes, OngoingGrading, Survey
from grader.home import ROOT
from grader.results.result import Environment, Result
from grader.sandbox.confine import processes

SILU = (ROOT / "reference" / "silu.py").read_text()
SECONDS = 120
# Made once: typer makes it anew at each call, which takes a tenth of a second.
COMMAND = get_command(app)
# Verbs that run in this process: most of their time would go into imports. Those below that start processes use this
# process's own lane, which stays open; with an environment, those that grade have processes of their own.
HERE = frozenset({"answer", "apply", "assignments", "diff", "explain-grade", "export", "handouts", "init", "intake",
                  "kit", "mark", "new", "request", "requests", "rescore", "verify"})
LANE_CLOSE = "grader.judging.running.lane.LANE.close"
SHARED = {"grade": "grader.grading.whole_class.LocalLanes", "regrade": "grader.grading.whole_class.LocalLanes",
          "check": LANE_CLOSE, "inspect": LANE_CLOSE}


def kernelmark(
    *arguments: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] = MappingProxyType({}),
    apart: bool = False, seconds: float = SECONDS,
) -> subprocess.CompletedProcess[str]:
    """What the command says and returns. A process of its own, with so many `seconds`, where it is `apart`, or its verb
    is none of those above."""
    if arguments[0] in ("grade", "regrade") and "--jobs" not in arguments:
        # A lane imports torch twice, and other tests keep the other cores busy.
        arguments = (*arguments, "--jobs", "1")
    if not apart and (arguments[0] in HERE or (arguments[0] in SHARED and not environment)):
        return _here([str(argument) for argument in arguments], cwd, environment)
    # As the installed command: without the working directory on the path (-P), and from wherever it is run.
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, "-P", "-m", "grader", *map(str, arguments)], capture_output=True, text=True,
        timeout=seconds, cwd=cwd, check=False,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", **environment})


def refused(says: str, *arguments: str | Path, **options: Any) -> str:
    """The one line with which the command refuses what it was asked, with status 2, and which says this."""
    result = kernelmark(*arguments, **options)
    assert result.returncode == 2 and says in result.stderr and result.stderr.strip().count("\n") == 0, result
    return result.stderr


def _here(arguments: list[str], cwd: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    out, err, code = io.StringIO(), io.StringIO(), 0
    # pytest's own width is known to consoles since they were made.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with (contextlib.chdir(cwd), mock.patch.dict(os.environ, environment), mock.patch.object(console, "_width", 200),
          mock.patch.object(errors, "_width", 200), contextlib.ExitStack() as shared,
          # Who adopts orphans ends all processes below it but its fork servers, and so other tests' as well.
          mock.patch.object(processes, "adopt_orphans", lambda: None),
          contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)):
        if name := SHARED.get(arguments[0]):
            shared.enter_context(mock.patch(name, _lanes if name.endswith("LocalLanes") else lambda: None))
        try:
            COMMAND(arguments, prog_name="kernelmark")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            home.enter(None)
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def _lanes(*_: object, **__: object) -> Lanes:
    return _ThisProcess()


class _ThisProcess:
    """A lane that is this process, which has a fork server already: one of its own takes seconds to start."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def survey(self, survey: Survey, asked: str, names: Sequence[str]) -> Future[tuple[str, Environment]]:
        future: Future[tuple[str, Environment]] = Future()
        try:
            future.set_result(survey(asked, names))
        except Exception as error:
            future.set_exception(error)
        return future

    def leave_out_spare(self) -> None:
        pass

    def running(self) -> list[OngoingGrading]:
        return []

    def words(self) -> str:
        return ""

    def grade(self, jobs: Jobs, side_by_side: int, interrupted: object = None) -> Iterator[JobOutcome]:
        # Late: few who call commands wait for torch.
        from grader.grading.grading import grade

        # Without looking for changes that mend what failed, which takes seconds.
        yield from map(grade, filter(None, jobs))


def eventually(holds: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something holds: a killed process takes a moment to be gone, and a started one to be there."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        # Looking through all processes takes a core's time.
        time.sleep(0.1)


def gone(session: int) -> bool:
    """Return whether no process of a session runs any more: one that has ended is listed until it is waited for."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, of, *_ = stat.read_text().rpartition(")")[2].split()
            if int(of) == session and state not in "ZX":
                return False
    return True


def hand_in(root: Path, student: str, content: str | bytes = SILU) -> Path:
    folder = root / student
    folder.mkdir(parents=True)
    (folder / "silu.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def load(out: Path) -> dict[str, Any]:
    """Verdicts of silu by student, read from disk."""
    results = [Result.model_validate_json(path.read_bytes()) for path in out.glob("*/result.json")]
    return {result.student: result.assignments["silu"] for result in results}
