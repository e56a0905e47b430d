"""The watchdog over real processes: trees that stand for a fork server, its worker and what the worker starts."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypedDict

import pytest

from grader.plan import wire
from grader.sandbox.confine import processes
from grader.sandbox.forkserver import watchdog
from grader.sandbox.forkserver.watchdog import Excess, Watchdog
from tests.sandbox.confine.restricted import by_nobody

LIMITS = wire.Limits(memory_mb=256, file_mb=1, processes=8, cpu_seconds=60)
TIMEOUT = 60
# Times that a look costs which asks what is shared, over one that need not.
DEARER = 3

# Grows a tree as its plan says, says when it stands, and falls with its standard input.
TREE = """
import ctypes, json, mmap, os, sys, threading, time

def fill(pages):
    for start in range(0, len(pages), 4096):
        pages[start] = 1

def grow(plan, up, inherited):
    private = bytearray(plan.get("mb", 0) << 20)
    shared = mmap.mmap(-1, plan["shared_mb"] << 20) if "shared_mb" in plan else []
    fill(private)
    fill(shared)
    if plan.get("dirties"):
        fill(inherited)
    if plan.get("adopts"):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    for _ in range(plan.get("threads", 0)):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    for below in plan.get("below", []):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            grow(below, write, private)
        os.read(read, 1)
        if below.get("dies"):
            # It stays unwaited for, and its children are somebody else's by then.
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    os.write(up, b"1")
    until = time.monotonic() + plan.get("churns", 0)
    while time.monotonic() < until:
        if os.fork() == 0:
            os._exit(0)
        os.waitpid(-1, 0)
    if not plan.get("dies"):
        os.read(0, 1)
    os._exit(0)

grow(json.loads(sys.argv[1]), 1, b"")
"""


class Plan(TypedDict, total=False):
    """A process: MiB of its own, MiB mapped shared, further threads, and the processes that it forks."""

    mb: int
    shared_mb: int
    threads: int
    below: list[Plan]
    # Writes to every page of `mb` that it has from its parent.
    dirties: bool
    # Takes in orphans. Ends once it has forked. Forks and waits for so many seconds.
    adopts: bool
    dies: bool
    churns: float


@contextlib.contextmanager
def tree(plan: Plan) -> Iterator[int]:
    """The root's pid."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", TREE, json.dumps(plan)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as root:
        assert root.stdout is not None
        try:
            assert root.stdout.read(1) == b"1"
            yield root.pid
        finally:
            root.kill()


def as_myself(dog: Watchdog) -> Excess | None:
    return dog.check()


def as_nobody(dog: Watchdog) -> Excess | None:
    """By a user who may not trace the tree, and so cannot see which pages are shared."""
    def checked() -> list[str] | None:
        excess = dog.check()
        return [excess.kind, excess.message] if excess else None

    found = by_nobody(checked)
    return Excess(*found) if found else None


Look = Callable[[Watchdog], Excess | None]
BOTH = pytest.mark.parametrize("look", [as_myself, as_nobody])


def check_memory(look: Look, plan: Plan, used: int | None, given_mb: int = 0) -> None:
    with tree(plan) as root:
        watchdog = Watchdog(root, None, LIMITS)
        watchdog.give(given_mb << 20)
        excess = look(watchdog)
    if used is None:
        assert excess is None
        return
    assert excess is not None and excess.kind == "out_of_memory"
    match = re.fullmatch(r"([\d,]+) MiB in (\d) process(es)?, 256 MiB allowed", excess.message)
    assert match, excess
    assert used - 5 <= int(match[1].replace(",", "")) <= used + 25
    assert int(match[2]) == len(plan["below"])


@BOTH
@pytest.mark.parametrize(("plan", "used"), [
    ({"below": [{"mb": 300}]}, 300),
    ({"below": [{"mb": 200}]}, None),
    ({"below": [{"mb": 100}, {"mb": 100}, {"mb": 100}]}, 300),
    ({"below": [{"shared_mb": 300}]}, 300),
    # The root's own memory, and what a fork shares with it.
    ({"mb": 300}, None),
    ({"mb": 300, "below": [{}]}, None),
    ({"mb": 200, "below": [{"mb": 10}, {"mb": 20}]}, None),
    ({"mb": 200, "below": [{"mb": 100}, {"mb": 200}]}, 300),
])
def test_memory_of_all_processes_together(look: Look, plan: Plan, used: int | None) -> None:
    check_memory(look, plan, used)


@BOTH
@pytest.mark.parametrize(("plan", "given_mb", "used"), [
    ({"below": [{"shared_mb": 300, "mb": 100}]}, 300, None),
    ({"below": [{"shared_mb": 300, "mb": 300}]}, 300, 300),
    # More was given than is in use: nothing is set against the worker's own memory.
    ({"below": [{"mb": 300}]}, 1000, 300),
])
def test_memory_that_the_judge_gave_does_not_count(look: Look, plan: Plan, given_mb: int, used: int | None) -> None:
    check_memory(look, plan, used, given_mb)


@pytest.mark.parametrize(("plan", "used"), [
    ({"below": [{"mb": 150, "below": [{"mb": 10}, {"mb": 10}]}]}, None),
    ({"mb": 200, "below": [{"dirties": True}, {"dirties": True}]}, 400),
])
def test_who_may_trace_the_tree_sees_what_is_shared(plan: Plan, used: int | None) -> None:
    check_memory(as_myself, plan, used)


@pytest.mark.parametrize("lists_children", [True, False])
@pytest.mark.parametrize(("plan", "tasks"), [
    ({"threads": 9, "below": [{}] * 8}, 8),
    ({"below": [{}] * 12}, 12),
    ({"below": [{"threads": 7}]}, 8),
    ({"below": [{"threads": 8}]}, 9),
    ({"below": [{"below": [{"below": [{"threads": 7}]}]}]}, 10),
    # The dead one is waited for by nobody, its children fall to the root.
    ({"adopts": True, "below": [{"dies": True, "below": [{"threads": 4}, {"threads": 4}]}]}, 11),
])
def test_processes_and_threads(
    monkeypatch: pytest.MonkeyPatch, plan: Plan, tasks: int, lists_children: bool,
) -> None:
    monkeypatch.setattr(processes, "LISTS_CHILDREN", lists_children)
    with tree(plan) as root:
        excess = Watchdog(root, None, LIMITS).check()
    # Counting ends with whichever process passes the limit.
    told = [Excess("too_many_processes", f"{n} or more processes and threads, 8 allowed") for n in range(9, tasks + 1)]
    assert excess in told if told else excess is None


def test_processes_that_come_and_go_never_raise() -> None:
    with tree({"churns": 1.5, "below": [{"churns": 1.5}, {"churns": 1.5}]}) as root:
        dog = Watchdog(root, None, LIMITS)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            assert dog.check() is None
    assert dog.check() is None


def test_a_look_is_cheap_while_memory_is_far_from_its_limit() -> None:
    def seconds(memory_mb: int) -> float:
        limits = LIMITS.model_copy(update={"memory_mb": memory_mb})
        found = []
        for _ in range(20):
            started = time.process_time()
            assert Watchdog(root, None, limits).check() is None
            found.append(time.process_time() - started)
        return min(found)

    # Together they show 200 MiB, of which they have 50 once.
    with tree({"below": [{"mb": 50, "below": [{}, {}, {}]}]}) as root:
        assert DEARER * seconds(1000) < seconds(120)


# The worker's folder


@pytest.fixture
def alone() -> Iterator[int]:
    """A process with none below it: tests before may have left some below this one."""
    with tree({}) as root:
        yield root


def disk(alone: int, folder: Path) -> str | None:
    excess = Watchdog(alone, folder, LIMITS, entries=50).check()
    assert excess is None or excess.kind == "disk"
    return excess.message if excess else None


def test_files_within_the_limits(alone: int, tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "large"
    outside.write_bytes(bytes(3 << 20))
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "almost").write_bytes(bytes(900 * 1024))
    (folder / "root").symlink_to("/")
    (folder / "a" / "up").symlink_to(tmp_path)
    (folder / "large").symlink_to(outside)
    os.mkfifo(folder / "fifo")
    assert disk(alone, folder) is None


def test_too_many_bytes(alone: int, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("one", "a/two"):
        (tmp_path / name).write_bytes(bytes(600 * 1024))
    assert disk(alone, tmp_path) == "1.2 MiB or more in files, 1 MiB allowed"


def test_a_file_with_holes_counts_in_full(alone: int, tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(3 << 20)
    assert disk(alone, tmp_path) == "3.0 MiB or more in files, 1 MiB allowed"


def test_too_many_entries(alone: int, tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number:02}").mkdir()
    assert disk(alone, tmp_path) is None
    (tmp_path / "07" / "file").touch()
    assert disk(alone, tmp_path) == "more than 50 files and folders, 50 allowed"


def test_folders_too_deep_to_look_into(alone: int, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*"d" * (watchdog.DEPTH + 1))
    deep.mkdir(parents=True)
    excess = Watchdog(alone, tmp_path, LIMITS).check()
    assert excess == Excess("disk", "folders nested more than 64 deep")
    deep.rmdir()
    assert Watchdog(alone, tmp_path, LIMITS).check() is None


def test_a_folder_that_may_not_be_listed_is_told(alone: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        hidden = Path(folder) / "hidden"
        hidden.mkdir()
        hidden.chmod(0o300)
        Path(folder).chmod(0o755)
        excess = as_nobody(Watchdog(alone, Path(folder), LIMITS))
        assert excess == Excess("disk", "a folder that cannot be read")


def test_files_that_come_and_go_never_raise_and_later_looks_see_them(alone: int, tmp_path: Path) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            (tmp_path / "a" / "b").mkdir(parents=True)
            (tmp_path / "a" / "b" / "file").touch()
            (tmp_path / "a" / "b" / "file").unlink()
            (tmp_path / "a" / "b").rmdir()
            (tmp_path / "a").rmdir()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            assert disk(alone, tmp_path) is None
    finally:
        stop.set()
        thread.join(TIMEOUT)
    dog = Watchdog(alone, tmp_path, LIMITS)
    assert dog.check() is None
    (tmp_path / "large").write_bytes(bytes(2 << 20))
    until = time.monotonic() + TIMEOUT
    while dog.check() is None:
        assert time.monotonic() < until
    assert Watchdog(alone, tmp_path / "gone", LIMITS).check() is None
