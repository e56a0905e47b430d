"""A scheduler and lanes on the loopback: processes of the command, as on machines of their own."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import psutil

from grader.classroom.attempts.store import Store
from grader.home import ROOT
from tests.command import SECONDS, hand_in

# As typed at a terminal: what these tests are run by may ignore signals, as a script's `&` and nohup do.
COMMAND = (str(shutil.which("env")), "--default-signal", sys.executable, "-m", "grader")


def started(log: Path, *words: str | Path, cwd: Path, path: str) -> subprocess.Popen[bytes]:
    """The command in a process of its own, with all that it says in `log`."""
    with log.open("wb") as stream:
        return subprocess.Popen(
            [*COMMAND, *map(str, words)], cwd=cwd, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(cwd), "PATH": path, "COLUMNS": "200"})


def until(log: Path, words: str, process: subprocess.Popen[bytes] | None = None) -> str:
    """What stands in `log` once it holds `words`."""
    deadline = time.monotonic() + SECONDS
    while words not in (text := log.read_text(errors="replace")):
        assert time.monotonic() < deadline, f"{words!r} expected in {text!r}"
        assert process is None or process.poll() is None, f"{words!r} expected, ended with {text!r}"
        time.sleep(0.02)
    return text


class Cluster:
    """A scheduler, which `lane` gives lanes; all are killed with the block."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.key, self.address = folder, folder / "cluster.pem", "tls://127.0.0.1:0"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._count = 0
        if not self.key.exists():
            made = subprocess.run([*COMMAND, "cluster-key", str(self.key)], cwd=ROOT, capture_output=True, check=False)
            assert made.returncode == 0, made.stderr
        self.listen()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    @property
    def words(self) -> list[str | Path]:
        return ["--key", self.key]

    def start(
        self, *words: str | Path, cwd: Path = ROOT, path: str = os.environ["PATH"]
    ) -> tuple[subprocess.Popen[bytes], Path]:
        self._count += 1
        log = self.folder / f"{words[0]}-{self._count}.log"
        process = started(log, *words, *self.words, cwd=cwd, path=path)
        self._processes.append(process)
        return process, log

    def listen(self) -> None:
        """Starts the scheduler, again where it was."""
        self.scheduler, log = self.start("scheduler", "--listen", self.address)
        self.address = until(log, "\n", self.scheduler).split()[-1]

    def lane(
        self, *, wait: bool = True, jobs: int = 1, cwd: Path = ROOT, path: str = os.environ["PATH"]
    ) -> subprocess.Popen[bytes]:
        """A process with so many lanes, once they have joined."""
        process, log = self.start("lane", self.address, "--jobs", str(jobs), cwd=cwd, path=path)
        if wait:
            until(log, " joined ", process)
        return process

    def grade(self, submissions: Path, out: Path, *words: str) -> tuple[subprocess.Popen[bytes], Path]:
        return self.start("grade", submissions, "--out", out, "--lanes", self.address, *words)


def class_of(root: Path, names: Sequence[str]) -> Path:
    for name in names:
        hand_in(root, name)
    return root


def recorded(out: Path) -> dict[str, list[str]]:
    """Of each student the verdicts of all attempts on record."""
    found: dict[str, list[str]] = {}
    with Store.create(out) as store:
        for attempt in store.attempts():
            found.setdefault(attempt.student, []).append(attempt.verdict)
    return found


def grading_processes(lane: psutil.Process) -> list[psutil.Process]:
    return [child for child in lane.children() if any("spawn_main" in word for word in child.cmdline())]
