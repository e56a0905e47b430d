"""An evening of a TA whose commands are killed at any moment: what the next ones say and leave is as if none had been.

The class is taken in anew, graded, scored again, applied and exported. In `make test` the grading is killed once; in
`make test-all` each command, at random, and begun again: the seed is printed, and KILLS_SEED repeats it.
"""

import itertools
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.attempts.selected import select_attempts
from grader.classroom.attempts.store import Store
from grader.home import ROOT
from grader.results.result import Result
from tests.command import SECONDS, SILU, eventually, gone, kernelmark

WRONG = SILU.replace("tl.exp(-x)", "tl.exp(x)")
# What each hands in, at first and then.
FIRST = {"ada_1_1_silu.py": WRONG, "bob_2_2_silu.py": SILU}
THEN = {"ada_1_3_silu.py": SILU, "bob_2_2_silu.py": SILU, "cy_3_4_silu.py": WRONG}
# Changes that mend what is wrong are not looked for: that takes seconds.
FIRST_RULES = '[hints]\nlevel = "off"\n'
HARDER = f"{FIRST_RULES}[points]\ncorrectness = 30\n"
# In the words of a folder that holds all; with one seed, so that inputs are the same.
STEPS = {
    "intake": "intake {root}/then --into {root}/class --force",
    "grade": "grade {root}/class --out {root}/out --only silu --jobs 1 --seed 7 --device cpu "
             "--course {root}/first.toml",
    "rescore": "rescore --out {root}/out --course {root}/then.toml",
    "apply": "apply --out {root}/out",
    "export": "export csv {root}/out --out {root}/grades.csv --force --course {root}/then.toml",
}
State = dict[str, Any]


@dataclass(frozen=True)
class Evening:
    """Where it begins, and the state before the first step and after each."""

    root: Path
    states: list[State]


def start(root: Path, words: str) -> subprocess.Popen[bytes]:
    (root / "tmp").mkdir(exist_ok=True)
    with (root / "said.txt").open("wb") as writer:
        return subprocess.Popen(
            [sys.executable, "-m", "grader", *words.format(root=root).split()], cwd=ROOT, stdout=writer, stderr=writer,
            start_new_session=True, env={**os.environ, "TMPDIR": str(root / "tmp")})


def finish(root: Path, words: str) -> None:
    status, said = start(root, words).wait(SECONDS), (root / "said.txt").read_text()
    assert status == 0 and "Traceback" not in said, (words, said)


def finish_here(root: Path, words: str) -> None:
    result = kernelmark(*words.format(root=root).split())
    assert result.returncode == 0, result


def state(root: Path) -> State:
    """All that the class has: files, attempts, what stands, what each student is shown, and the tables."""
    out = root / "out"
    found: State = {
        "class": {str(path.relative_to(root)): path.read_bytes() for path in root.glob("class/**/*") if path.is_file()},
        "shown": {}, "pages": {}}
    with Store.existing(out) as store:
        attempts = store.attempts()
        found["attempts"] = Counter((one.student, one.submission, one.verdict, one.score, one.of is None)
                                    for one in attempts)
        assert all(store.result(attempt) is not None for attempt in attempts)
        found["standing"] = {one.attempt.slug: (one.attempt.submission, one.attempt.verdict, one.attempt.score)
                             for one in select_attempts(attempts, store.decisions()).values()}
    for path in sorted(out.glob("*/result.json")):
        result = Result.model_validate_json(path.read_bytes()).assignments["silu"]
        found["shown"][path.parent.name] = (result.source_sha256, result.verdict, result.score)
        # Without the clock's words.
        found["pages"][path.parent.name] = result.source in (path.parent / "report.html").read_text() or result.verdict
    for name in ("out/gradebook.csv", "grades.csv"):
        found[name] = (root / name).read_text() if (root / name).exists() else None
    return found


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    root = tmp_path_factory.mktemp("evening")
    for name, files in (("first", FIRST), ("then", THEN)):
        (root / name).mkdir()
        for file, text in files.items():
            (root / name / file).write_text(text)
    (root / "first.toml").write_text(FIRST_RULES)
    (root / "then.toml").write_text(HARDER)
    for words in (STEPS["intake"].replace("then", "first"), STEPS["grade"], STEPS["export"]):
        finish_here(root, words)
    begun = Path(shutil.copytree(root, root.with_name("begun")))
    states = [state(root)]
    for words in STEPS.values():
        finish_here(root, words)
        states.append(state(root))
    # Every step does something, or there is nothing to lose.
    assert all(before != after for before, after in itertools.pairwise(states))
    return Evening(begun, states)


def between(now: State, before: State, after: State, about: object) -> None:
    """Fails if a killed step lost, doubled or mixed something."""
    assert now["class"] in (before["class"], after["class"]), about
    assert before["attempts"] <= now["attempts"] <= after["attempts"], about
    for table in ("out/gradebook.csv", "grades.csv"):
        assert now[table] is None or set(now[table].splitlines()) <= {
            *(before[table] or "").splitlines(), *(after[table] or "").splitlines()}, about
    for part in ("standing", "shown"):
        assert set(before[part]) <= set(now[part]) <= set(after[part]), about
        for student, what in now[part].items():
            assert what in (before[part].get(student), after[part][student]), (about, part, student)


def killed_in(root: Path, name: str, process: subprocess.Popen[bytes], evening: Evening, about: str) -> None:
    """Kills a step, and fails if it lost, doubled or mixed something, or the next command leaves something of it."""
    process.send_signal(signal.SIGKILL)
    process.wait()
    eventually(lambda: gone(process.pid))
    # The next command, which has nothing to do with the killed one.
    finish(root, "assignments")
    left = [str(path.relative_to(root)) for path in root.rglob("*")
            if "kernelmark-" in path.name or path.name.endswith(".new") or path.name.startswith(".aside")]
    assert left == [] and os.listdir(root / "tmp") == [], (about, left, os.listdir(root / "tmp"))
    before, after = evening.states[list(STEPS).index(name):][:2]
    between(state(root), before, after, about)


def test_a_grading_that_is_killed_goes_on_where_it_was(evening: Evening, tmp_path: Path) -> None:
    root = Path(shutil.copytree(evening.root, tmp_path / "evening"))
    finish_here(root, STEPS["intake"])
    process = start(root, STEPS["grade"])
    # One of two is graded.
    eventually(lambda: "[1/2] " in (root / "said.txt").read_text() or process.poll() is not None, SECONDS)
    assert process.poll() is None, (root / "said.txt").read_text()
    killed_in(root, "grade", process, evening, "after the first student")
    for number, name in enumerate(("grade", "rescore"), 2):
        finish_here(root, STEPS[name])
        assert state(root) == evening.states[number], name


@pytest.mark.full
@pytest.mark.timeout(1200)
def test_nothing_is_lost_doubled_or_mixed(evening: Evening, tmp_path: Path) -> None:
    seed = int(os.environ.get("KILLS_SEED") or secrets.randbelow(2**32))
    print(f"seed {seed}")
    dice, killed, classes = random.Random(seed), Counter[str](), 0
    seconds: dict[str, float] = {}
    while killed.total() < 5:
        root = Path(shutil.copytree(evening.root, tmp_path / str(classes)))
        classes += 1
        for number, (name, words) in enumerate(STEPS.items()):
            # In the first evening nothing is killed: it tells how long a step takes.
            for _ in range(dice.choice((1, 2, 3)) if name in seconds else 0):
                process = start(root, words)
                try:
                    process.wait(timeout=dice.uniform(0.2, 1.05) * seconds[name])
                    break
                except subprocess.TimeoutExpired:
                    killed[name] += 1
                killed_in(root, name, process, evening, f"seed {seed}, kill {killed.total()}, in {name}")
            began = time.monotonic()
            finish(root, words)
            seconds.setdefault(name, time.monotonic() - began)
            assert state(root) == evening.states[number + 1], f"seed {seed}, after {name}"
        shutil.rmtree(root)
    print(f"{killed.total()} kills in {classes} evenings: {dict(killed)}")
