"""Faults that the tests notice: plants one at a time in a copy of the tree, and runs the tests that should see it.

    .venv/bin/python -m benchmarks.planted_faults [--only WORDS] [--jobs 2] > benchmarks/results/planted-faults.md

Prints a table in Markdown, with a column for the tests of `make test` and one for those of `make test-all`. A fault is
caught if a test fails that passes without it. Takes six minutes on two cores.
A fault whose text does not stand exactly once in its file is an error: plant it again in the file of today.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from grader.home import ROOT

SECONDS = 1200
"""The most seconds for the tests of one fault."""
CAUGHT, MISSED = "caught", "**missed**"
QUICK, ALL = "not gpu and not full", "not gpu"


class Fault(NamedTuple):
    """`old` stands once in `grader/<file>` and becomes `new`; `tests` are words for pytest, below `tests/`."""

    file: str
    old: str
    new: str
    tests: str
    why: str


JUDGE = "judging/test_compare.py"
RULES = "judging/test_rules.py"
RACES = "languages/triton/simulator/test_findings.py languages/triton/simulator/test_clocks.py"
PAGES = "pages/test_desk.py pages/test_pages.py -k 'not hundred and not small'"
CALLS = "sandbox/confine/test_seccomp_program.py sandbox/confine/test_seccomp_refusals.py"
FILES = "sandbox/confine/test_landlock_rules.py sandbox/confine/test_landlock_files.py"
FAULTS = (
    Fault("judging/answers/compare.py", "wrong = (error <= limit).logical_not_()", "wrong = error > limit", JUDGE,
          "NaN is right, since no comparison with it holds"),
    Fault("judging/answers/compare.py", "0x7FC0_5EED", "0x7FC0_0000", JUDGE,
          "the poison is the NaN that arithmetic produces"),
    Fault("judging/answers/compare.py", "wrong = got.view(as_integer) != expected.to(got.dtype).view(as_integer)",
          "wrong = got != expected.to(got.dtype)", JUDGE, "an exact copy may turn -0.0 into 0.0"),
    Fault("judging/answers/compare.py", "wrong |= unwritten", "pass", JUDGE,
          "a byte that was never written is right where it holds the answer by chance"),
    Fault("judging/plans/rules.py", "if number < len(self.given) and not self.given[number].output:",
          "if False:", RULES,
          "a plan may write an input"),
    Fault("plan/plan.py", "1 + sum((extent - 1) * stride", "1 + sum((extent - 2) * stride", RULES,
          "a view ends a stride too early, so that it may leave its buffer"),
    Fault("judging/plans/rules.py", "if source.buffer not in self.used_buffers:", "if False:", RULES,
          "host code may copy a tensor that no kernel wrote"),
    Fault("judging/plans/rules.py", "if total > most:", "if total > 2 * most:", RULES,
          "temporaries may take twice the memory"),
    Fault("judging/plans/rules.py", "if buffer.place == \"host\":", "if False:", RULES,
          "a kernel may take pageable memory"),
    Fault("judging/plans/rules.py", "if size < room or self.plan.buffers[buffer].given:", "if size < room:",
          "judging/test_forged_plans.py",
          "host code may fill the output with data"),
    Fault("device/guards.py", "_guarded).any(1)", "_guarded).all(1)", "device/test_guards.py",
          "one changed byte behind a tensor goes unseen"),
    Fault("device/guards.py", "max(before, around)", "min(before, around)", "device/test_guards.py",
          "a large tensor's neighbour lies in its guard zone"),
    Fault("judging/running/arena.py", "secrets.randbelow(guards.MOST_DISTANCE)", "0", "judging/test_arena.py",
          "tensors lie at distances that everybody knows"),
    Fault("judging/running/time_budget.py", "self.left -= clock.now() - started", "pass",
          "judging/test_toolchain.py",
          "cases may take as long as they like together"),
    Fault("judging/running/simulation.py", "poison_mask(again.outputs[name], other=True)",
          "poison_mask(again.outputs[name])", JUDGE,
          "of bytes nobody asks which were never written"),
    Fault("results/estimate.py", "chosen = values[draw.integers(len(values), size=(resamples, size))]",
          "chosen = values[draw.integers(len(values) - 1, size=(resamples, size))]", "results/test_estimate.py",
          "the bootstrap never draws the last ratio"),
    Fault("results/estimate.py", "return previous if kept else highest / steps", "return highest / steps",
          "course/test_scoring.py", "points move at each rerun"),
    Fault("results/estimate.py", "share * steps + 0.5", "share * steps", "results/test_estimate.py",
          "steps are rounded down"),
    Fault("results/estimate.py", "np.log(_positive(baseline)) - np.log(_positive(student))",
          "np.log(_positive(student)) - np.log(_positive(baseline))", "results/test_estimate.py",
          "the slower the better"),
    Fault("judging/speed/paired.py", "third = student()", "third = second", "judging/speed/test_paired.py",
          "the student's side is measured once a block"),
    Fault("judging/speed/paired.py", "for blocks in (every,) if unstable else (every, steady):",
          "for blocks in (every, steady):", "judging/speed/test_paired.py",
          "blocks count between whose halves the clock fell"),
    Fault("judging/speed/fitness.py", "if n.percent is None or n.percent > 0]", "if n.percent]",
          "judging/speed/test_fitness.py", "a neighbour whose use is unknown counts as idle"),
    Fault("judging/speed/fitness.py", "deque(maxlen=RECENT)", "deque()", "judging/speed/test_fitness.py",
          "a lane never forgets its first figures"),
    Fault("judging/speed/replays.py", "self._replays.append(own)", "pass", "judging/speed/test_replays.py",
          "a kernel that writes the device's clock is not noticed"),
    Fault("judging/speed/pool.py", "if sampled and bool(late | self._is_late()):", "if False:",
          "judging/speed/test_pool.py",
          "work may end after the clock has stopped"),
    Fault("judging/speed/pool.py", "if (self._outputs.overruns() or", "if (", "judging/speed/test_pool.py",
          "writes beside the output go unseen while the clock runs"),
    Fault("course/scoring.py", "share = sum(name in passed for name in expected) / len(expected) if expected else 0",
          "share = sum(name in passed for name in expected) / max(1, len(passed)) if expected else 0",
          "course/test_scoring.py", "checks that were not run do not count against it"),
    Fault("course/scoring.py", "return ACCEPTED if complete and expected else", "return ACCEPTED if True else",
          "course/test_scoring.py", "accepted without evidence"),
    Fault("course/scoring.py", "earlier.contest == now else None",
          "earlier.contest.floor == now.floor else None", "course/test_scoring.py",
          "a share is kept that another device gave"),
    Fault("course/late.py", "return max(map(self.instant", "return min(map(self.instant",
          "classroom/attempts/test_policy.py",
          "an extension shortens"),
    Fault("course/late.py", "(_utc(there.replace(fold=fold)) for fold in (0, 1))",
          "(_utc(there.replace(fold=fold)) for fold in (0,))", "classroom/attempts/test_policy.py",
          "an hour that clocks show twice ends at its first turn"),
    Fault("classroom/attempts/policy.py", "count = math.ceil(left.in_days)", "count = left.days",
          "classroom/attempts/test_policy.py",
          "the first day late costs nothing"),
    Fault("classroom/attempts/policy.py", "(best[days][0], -days)", "(best[days][0], days)",
          "classroom/attempts/test_policy.py",
          "grace days are spent for nothing"),
    Fault("classroom/attempts/selected.py", "1 if not attempt.failed else 2", "1",
          "classroom/attempts/test_selected.py",
          "a failure of ours stands before what only a GPU can judge"),
    Fault("classroom/attempts/selected.py", "decision.batch not in undone:", "True:",
          "classroom/attempts/test_selected.py",
          "what was undone still stands"),
    Fault("classroom/attempts/store.py", "begin select raise(abort", "begin select (1",
          "classroom/attempts/test_store.py",
          "a record can be changed"),
    Fault("classroom/attempts/choice.py", "elif force or not graded:", "elif not graded:",
          "classroom/attempts/test_choice.py",
          "--force grades nothing"),
    Fault("classroom/intake/archive.py", "or \"..\" in parts or", "or", "classroom/intake/test_archive.py",
          "an archive may lead out of its folder"),
    Fault("classroom/intake/archive.py", "if self.bytes_left < 0:", "if False:", "classroom/intake/test_archive.py",
          "a bomb unpacks"),
    Fault("classroom/intake/people.py", "return users[max(ends, key=len)] if ends else None",
          "return users[min(ends, key=len)] if ends else None", "classroom/intake/test_people.py",
          "a clone is given to a shorter name"),
    Fault("classroom/intake/people.py", "several.add(key)", "pass", "classroom/intake/test_people.py",
          "of two students with one mail the first has all"),
    Fault("course/submission.py", "if not target.is_relative_to(folder.resolve()):", "if False:",
          "course/test_submission.py", "a link reads another's file"),
    Fault("course/roster.py", "if earlier := lines.get(student.id.casefold()):",
          "if earlier := lines.get(student.id):", "course/test_roster.py", "two students who differ in case alone"),
    Fault("results/hidden.py", "name, case = f\"hidden-{number}\", f\"hidden {number}\"", "name = f\"hidden-{number}\"",
          "results/test_hidden.py", "a student sees a hidden case's sizes"),
    Fault("classroom/exports/fill.py", "and member.name != \"anon\":", "and True:", "classroom/exports/test_sheets.py",
          "an anonymous number is taken for a user's"),
    Fault("classroom/exports/fill.py", "for number in rows]", "for number in sorted(rows, reverse=True)]",
          "classroom/exports/test_sheets.py",
          "Canvas's rows come back in another order"),
    Fault("pages/gradebook.py", "or text.lstrip().startswith(FORMULA_STARTS)", "", PAGES,
          "a blank hides a formula from us and not from a spreadsheet"),
    Fault("pages/gradebook.py", "\"\" if unjudged else number(result.score)", "number(result.score)", PAGES,
          "a failure of ours reads as nought"),
    Fault("pages/text.py", "str(escape(text))", "str(text)", PAGES, "a message is HTML"),
    Fault("pages/tally.py", "int(score / top * BINS)", "round(score / top * BINS)", PAGES,
          "bars count their neighbours' students"),
    Fault("pages/leaderboard.py", "scores.index(line.score) + 1", "won.index(line) + 1", PAGES,
          "equal points have different ranks"),
    Fault("pages/margins.py", "if launch.scale > 1", "if False", "commands/test_inspect.py -k wasteful",
          "a sample's bytes are said to be exact"),
    Fault("languages/triton/confined/simulator/races.py",
          "clash = (before != 0) & (self.who(before) != owners)\n            if clash.any():\n                differs",
          "clash = self.who(before) == owners\n            if clash.any():\n                differs", RACES,
          "stores of two programs to one element do not race"),
    Fault("languages/triton/confined/simulator/races.py",
          "clash = atomic & (other != 0) & (self.who(other) != owners) & (self.who(before) == owners)",
          "clash = atomic & False", RACES, "a load beside another program's atomic is ordered"),
    Fault("languages/triton/confined/simulator/clocks.py", "np.maximum.at(self.known, pairs // programs,",
          "np.minimum.at(self.known, pairs // programs,", "test_submissions.py -k waits",
          "who waits for another learns nothing"),
    Fault("languages/triton/confined/simulator/memory.py", "bad = (offsets < 0) | (offsets >= elements)",
          "bad = (offsets < 0) | (offsets > elements)", RACES, "one element past the end is inside"),
    Fault("languages/triton/confined/simulator/memory.py", "return kind.type(np.nan) if kind.kind == \"f\" else",
          "return kind.type(0) if kind.kind == \"f\" else", "languages/triton/simulator/test_findings.py",
          "masked lanes hold zeros"),
    Fault("host/audit.py", "\"os.posix_spawn\", ", "", "languages/triton/planner/test_refusals.py",
          "a process is started and no line is named"),
    Fault("sandbox/confine/seccomp.py", "\"connect\": (42, 203),", "", "test_hostile.py -k network",
          "a worker may connect"),
    Fault("sandbox/confine/seccomp.py", "\"TIOCSTI\": 0x5412, ", "", CALLS,
          "a worker may type into the grader's terminal"),
    Fault("sandbox/confine/landlock.py", "(read, _READ | (_EXECUTE if execute else 0)),",
          "(read, _WRITE | (_EXECUTE if execute else 0)),", FILES, "what may be read may be written"),
    Fault("sandbox/forkserver/watchdog.py", "follow_symlinks=False", "follow_symlinks=True",
          "sandbox/forkserver/test_watchdog.py",
          "a link counts as what it leads to"),
    Fault("sandbox/forkserver/watchdog.py", "max(about.st_size, about.st_blocks * 512)", "about.st_blocks * 512",
          "sandbox/forkserver/test_watchdog.py", "a file of holes counts nothing"),
    Fault("plan/frames.py", "if seq is not None and message.seq != seq:", "if False:", "plan/test_frames.py",
          "an answer to an earlier question is taken"),
    Fault("judging/explain/evidence.py", "self.written = ~comparison.unwritten", "self.written = comparison.unwritten",
          "judging/test_explain.py", "claims are held against what was never written"),
    Fault("judging/explain/summary.py", "if count >= RECOGNISED_SHARE * len(voters):", "if count:",
          "judging/test_summary.py", "what one case shows speaks for all"),
    Fault("judging/explain/values.py", "        if evidence.is_explained_by(answer):", "        if True:",
          "judging/test_explain.py", "any wrong answer is called an input"),
    Fault("judging/explain/accesses.py", "if apart and apart not in right), None)", "if not right), None)",
          "test_hints.py -k transpose", "a stride of another tensor is not seen"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="plant faults and say which of them tests notice")
    parser.add_argument("--only", default="", help="words in a fault's file or reason")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if options.only in f"{fault.file} {fault.why}"]
    if wrong := [f"{fault.file}: {fault.old!r} stands {count} times" for fault in faults
                 if (count := _read(ROOT, fault).count(fault.old)) != 1]:
        raise SystemExit("\n".join([*wrong, "each has to stand once: plant them again"]))
    for fault in faults:
        compile(_read(ROOT, fault).replace(fault.old, fault.new), fault.file, "exec")
    print("# Faults that the tests notice\n\nCommand: `.venv/bin/python -m benchmarks.planted_faults`. Each is planted "
          "alone, and the tests named are run.\n\n| file | what is planted | tests | `make test` | `make test-all` |\n"
          "|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="kernelmark-faults-") as folder:
        # Some tests read it as another user.
        Path(folder).chmod(0o755)
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(_copied(Path(folder) / str(number)))
        with ThreadPoolExecutor(options.jobs) as pool:
            named = {fault.tests for fault in faults}
            plain = sorted({file for tests in named if " -k " not in tests for file in tests.split()} | {
                tests for tests in named if " -k " in tests})
            if broken := [tests for tests, passed in zip(plain, pool.map(
                    lambda tests: _tried(copies, None, tests, ALL), plain), strict=True) if not passed]:
                raise SystemExit(f"fail without a fault: {'; '.join(broken)}")
            by_quick = by_all = 0
            noticed = pool.map(lambda fault: _notice(copies, fault), faults)
            for fault, (quick, every) in zip(faults, noticed, strict=True):
                by_quick, by_all = by_quick + quick, by_all + every
                print(f"| `{fault.file}` | {fault.why} | `{fault.tests}` | {CAUGHT if quick else MISSED} | "
                      f"{CAUGHT if every else MISSED} |", flush=True)
    print(f"\n`make test` catches {by_quick} of {len(faults)}, `make test-all` {by_all}.")


def _copied(to: Path) -> Path:
    """Copy the files that git knows to a folder, and return it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split("\0"):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name, follow_symlinks=False)
    return to


def _read(tree: Path, fault: Fault) -> str:
    return (tree / "grader" / fault.file).read_text(encoding="utf-8")


def _notice(copies: SimpleQueue[Path], fault: Fault) -> tuple[bool, bool]:
    """Return whether the quick tests notice a fault, and whether all do."""
    quick = not _tried(copies, fault, fault.tests, QUICK)
    return quick, quick or not _tried(copies, fault, fault.tests, ALL)


def _tried(copies: SimpleQueue[Path], fault: Fault | None, tests: str, tier: str) -> bool:
    """Return whether the tests of a tier pass in one of the copies, with a fault in it or as it is."""
    copy = copies.get()
    text = _read(copy, fault) if fault else ""
    try:
        if fault:
            _written(copy, fault, text.replace(fault.old, fault.new))
        return _passed(copy, tests, tier)
    finally:
        if fault:
            _written(copy, fault, text)
        copies.put(copy)


def _written(copy: Path, fault: Fault, text: str) -> None:
    (copy / "grader" / fault.file).write_text(text, encoding="utf-8")


def _passed(copy: Path, tests: str, tier: str) -> bool:
    # Bytecode is recognised by the second in which its source was written, so none is cached.
    result = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", tier,
         *_words(tests)],
        cwd=copy, capture_output=True, text=True, timeout=SECONDS, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])})
    # 5: the tier has none of these tests.
    if result.returncode not in (0, 1, 5):
        raise SystemExit(f"{tests}: pytest ended with {result.returncode}\n{result.stdout[-3000:]}")
    return result.returncode != 1


def _words(tests: str) -> Iterable[str]:
    """Return words for pytest: files and folders, and after `-k` an expression."""
    files, _, words = tests.partition(" -k ")
    return [*(f"tests/{file}" for file in files.split()), *(["-k", words.strip("'")] if words else [])]


if __name__ == "__main__":
    main()
