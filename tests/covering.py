"""Which members of the corpus `make test-all` alone judges: those that show nothing that others do not.

    python -m tests.covering        (judges every member, for half an hour, and writes tests/repeats.txt)

A member shows the lines of the judge, the plans and the front ends that it runs, in workers too; each kind of failure
and pattern; each refusal, whatever it names; and each name of a module or of CUDA that its own text uses. Of those that
show all of it together the cheapest are kept, one by one. A new member is none of the file's, and so judged every time.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import mmap
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grader.engine.forkserver import handle
from grader.home import ROOT
from grader.model.result import AssignmentResult, CheckResult
from tests import hostile_lane, members, test_hints, test_hostile, test_submissions
from tests.graded import FILES, results, unfit

WORDS = re.compile(r"\b\w+(?:\.\w+)+|\bcuda\w+|\b__\w+")
IMPORTED = re.compile(r"^\s*(?:import|from) (\w+)|\bimport [\w.]+ as (\w+)", re.MULTILINE)
# What a message names, and its figures.
NAMED = re.compile(r"`[^`]*`|\"[^\"]*\"|'[^']*'|\([^)]*\)|\w*[._\d]\w[\w.]*(\(\))?|\d+")
# Failures whose words are of the numbers that were wrong, and those whose message is another's.
OF_NUMBERS = ("wrong_values", "unwritten", "not_finite")
OF_OTHERS = ("exception", "import_error", "compile_error", "time_out", "crash")
SETTLED = 0.3
"""Seconds that a member takes at least: of two that take as good as nothing, neither is much cheaper."""
TRACED = ("judge", "frontends", "plan")
CALLS = 150
"""After so many a function is not looked at any more, since tracing takes long."""


class Shown(NamedTuple):
    """What a member shows, and the seconds that it took."""

    name: str
    what: list[str]
    seconds: float


def _trace(descriptor: int, offsets: Mapping[str, int], most: int, workers: bool) -> Any:
    """Marks each line that is run in shared memory, at its file's offset. Nothing else of this file is at hand."""
    import mmap
    import os
    import sys
    import threading

    parent = os.getpid()
    seen = mmap.mmap(descriptor, 0)
    counts: dict[int, int] = {}
    local: dict[int, Any] = {}

    def call(frame: Any, event: str, arg: Any) -> Any:
        code = frame.f_code
        offset = offsets.get(code.co_filename)
        if offset is None:
            # A simulator has tests of its own, and takes long. The zygote imports it.
            if "/simulator/" in code.co_filename and "/grader/" in code.co_filename and workers and (
                    os.getpid() != parent):
                sys.settrace(None)
            return None
        counts[id(code)] = counts.get(id(code), 0) + 1
        if counts[id(code)] > most:
            return None

        def line(frame: Any, event: str, arg: Any) -> Any:
            seen[offset + frame.f_lineno] = 1
            return line

        return local.setdefault(id(code), line)

    threading.settrace(call)
    sys.settrace(call)
    return seen


@cache
def _files() -> dict[str, int]:
    """Where the lines of each file begin."""
    found, offset = {}, 0
    for path in sorted(path for folder in TRACED for path in (ROOT / "grader" / folder).rglob("*.py")):
        if "simulator" not in path.parts:
            found[str(path)] = offset
            offset += len(path.read_bytes().splitlines()) + 2
    found[""] = offset
    return found


@cache
def _of_functions() -> dict[int, str]:
    """The lines of functions' bodies, by name: those around them are run by an import."""
    found = {}
    for file, offset in _files().items():
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8") if file else "")):
            if isinstance(node, ast.FunctionDef):
                for line in range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1):
                    found[offset + line] = f"{Path(file).relative_to(ROOT)}:{line}"
    return found


@cache
def _memory() -> int:
    """Shared memory of this process and of its workers, which trace themselves from now on."""
    descriptor = os.memfd_create("lines", 0)
    os.ftruncate(descriptor, _files()[""])
    handle.BOOT = "\n".join([
        "from typing import Any", "from collections.abc import Mapping", inspect.getsource(_trace),
        f"_trace({descriptor}, {_files()!r}, {CALLS}, True)", handle.BOOT])

    class WithMemory(subprocess.Popen[Any]):
        def __init__(self, *words: Any, pass_fds: Iterable[int] = (), **more: Any) -> None:
            super().__init__(*words, pass_fds=[*pass_fds, descriptor], **more)

    setattr(subprocess, "Popen", WithMemory)  # noqa: B010
    return descriptor


@contextlib.contextmanager
def _traced() -> Iterator[set[str]]:
    """The lines that are run meanwhile."""
    with mmap.mmap(_memory(), 0) as seen:
        seen[:] = bytes(len(seen))
    lines: set[str] = set()
    seen = _trace(_memory(), _files(), CALLS, False)
    try:
        yield lines
    finally:
        sys.settrace(None)
        threading.settrace(None)
        lines.update(_of_functions()[at] for at, byte in enumerate(seen[:]) if byte and at in _of_functions())


def shown(how: str, folder: Path) -> Shown:
    """What a member shows, judged as the tests that name it `how` do."""
    began = time.monotonic()
    with _traced() as lines:
        verdicts, checks = JUDGED[how](folder)
    group = folder.parent.name
    what = {f"{how} {group} {one}" for one in verdicts}
    for detail in (check.detail for check in checks if check.detail):
        # tests/judge/test_mistakes.py tells each mistake of an assignment from the others.
        what.add(f"{detail.kind} {detail.pattern.partition(': ')[0]}")
        what |= _words_of(detail.kind, detail.message, detail.hint)
    if (how == "graded" and group not in test_submissions.MISTAKES) or group in test_hostile.CONFINED:
        for file in folder.rglob("*.*"):
            what |= _words(members.text(file).decode("utf-8", "replace")) if file.suffix in (".py", ".cu") else set()
    return Shown(f"{how} {folder.relative_to(members.HERE)}", sorted(what | lines), time.monotonic() - began)


def _words_of(kind: str, message: str, hint: str) -> set[str]:
    words = [] if kind in OF_NUMBERS else [hint] if kind in OF_OTHERS else [message, hint]
    return {f"{kind}: {NAMED.sub('', text)[:60]}" for text in words}


def _words(text: str) -> set[str]:
    imported = {name for pair in IMPORTED.findall(text) for name in pair}
    return {word for word in WORDS.findall(text) if "." not in word or word.split(".")[0] in imported}


def _hinted(folder: Path) -> tuple[list[str], list[CheckResult]]:
    files = [one.name for one in folder.iterdir() if one.name in FILES]
    return files, [check for file in files for _, checks in test_hints.graded(folder, file, test_hints.SEEDS[:1])[1]
                   for check in checks]


def _told(found: Mapping[str, AssignmentResult]) -> tuple[list[str], list[CheckResult]]:
    return [f"{name} {one.verdict}" for name, one in found.items()], [
        check for one in found.values() for check in one.correctness.checks]


def _graded(folder: Path) -> tuple[list[str], list[CheckResult]]:
    limits = test_submissions.BRIEF if folder.parent.name == "time_limit" else test_submissions.LIMITS
    return _told({} if unfit(folder) else results(folder, limits))


def _hostile(folder: Path) -> tuple[list[str], list[CheckResult]]:
    notes = "\n".join(test_hostile.sources(folder).values())
    brief = "time_limit" in " ".join(members.notes(notes, "verdict"))
    return _told(results(folder, hostile_lane.BRIEF if brief else hostile_lane.LIMITS))


JUDGED: dict[str, Callable[[Path], tuple[list[str], list[CheckResult]]]] = {
    "hinted": _hinted, "graded": _graded, "hostile": _hostile}


def needed(found: Iterable[Shown]) -> set[str]:
    """The names of members that together show all that is shown: always the one that adds most in its time."""
    whats = {one.name: set(one.what) for one in found}
    cost = {one.name: one.seconds + SETTLED for one in found}
    left, kept = set().union(*whats.values()), []
    while left:
        best = max(whats, key=lambda name: (len(whats[name] & left) / cost[name], name))
        kept.append(best)
        left -= whats[best]
    times = Counter(what for name in kept for what in whats[name])
    for name in sorted(kept, key=cost.__getitem__, reverse=True):
        # What came later may show all that it does.
        if all(times[what] > 1 for what in whats[name]):
            kept.remove(name)
            times.subtract(whats[name])
    return set(kept)


def main() -> None:
    each = [("hinted", path) for path in test_hints.MEMBERS] + [("graded", path) for path in test_submissions.MEMBERS]
    each += [("hostile", path) for path in test_hostile.MEMBERS]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(shown, *zip(*each, strict=True)))
    kept = needed(found)
    members.REPEATS.write_text("".join(sorted(f"{one.name}\n" for one in found if one.name not in kept)))
    print(f"{len(kept)} of {len(found)} are judged every time: {Counter(name.split()[0] for name in kept)}")


if __name__ == "__main__":
    main()
