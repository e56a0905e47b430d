"""A duel of real workers on the CPU: the ratio is found, every answer is checked, and tricks with time gain nothing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack

import numpy
import pytest
import torch

from grader.assignment import Assignment, Case, Inputs, Renewal
from grader.catalogue import assignments
from grader.forkserver.handle import InfrastructureError, Zygote
from grader.forkserver.watchdog import Watchdog
from grader.judge.clock import Clock
from grader.judge.duel import WATCH_AHEAD, Measured, Side, _Duel, duel
from grader.judge.ring import Ring, Wrong
from grader.judge.session import Lost, Refused, Session
from grader.plan import wire

LIMITS = wire.Limits(memory_mb=512, file_mb=8, processes=32, cpu_seconds=120)
CASE = Case(name="64x64", sizes={"M": 64, "N": 64})
SLOTS = 4
# Plain PyTorch, which no policy looks at here: what is tested is time.
HONEST = "import torch\ndef silu(x, out):\n    torch.ops.aten.silu.out(x, out=out)\n"
SLOW = "import time\n" + HONEST + "    time.sleep({seconds})\n"


@pytest.fixture(scope="module")
def silu() -> Assignment:
    return assignments()["silu"]


@pytest.fixture(scope="module")
def other() -> Iterator[Zygote]:
    """The baselines' own zygote, without the sandbox that only strangers need."""
    zygote = Zygote(interpret=True, layers=wire.Layers())
    yield zygote
    zygote.close()


class Match:
    """A student's source against a baseline's."""

    def __init__(
        self, zygotes: tuple[Zygote, Zygote], assignment: Assignment, slots: int = SLOTS, *,
        case: Case = CASE, least: int | None = None, seconds: float = 60,
    ) -> None:
        self._zygotes, self._assignment, self._case, self._slots = zygotes, assignment, case, slots
        self._least, self._seconds = least or slots, seconds

    def __call__(self, student: str, baseline: str = HONEST) -> Measured | Lost | Wrong:
        sides = []
        sessions = []
        try:
            for zygote, source in zip(self._zygotes, (student, baseline), strict=True):
                session = Session(
                    zygote, self._assignment, source.encode(), LIMITS, 1000, 10, time.monotonic() + 100)
                sessions.append(session)
                lost = session.load()
                assert lost is None, lost
                sides.append(Side(session))
            return duel(
                self._assignment, self._case, sides[0], sides[1], self._slots, least=self._least, cuda=False,
                until=time.monotonic() + self._seconds)
        finally:
            for session in sessions:
                session.close()


@pytest.fixture
def match(zygote: Zygote, other: Zygote, silu: Assignment) -> Match:
    return Match((zygote, other), silu)


def test_a_submission_against_itself_is_as_fast(match: Match) -> None:
    source = SLOW.format(seconds=0.01)
    found = match(source, source)
    assert isinstance(found, Measured), found
    assert found.slots == SLOTS and len(found.student) == len(found.baseline) == len(found.contended) >= 12
    # Wide, since other tests run beside this one: a shift of roles or units would be a factor of SLOTS or more.
    assert 1 / 3 < found.estimate.median < 3
    assert min(found.student + found.baseline) >= 0.01
    assert found.round_trip > 0 and found.exposed > 0


def test_the_ratio_is_that_of_the_times(match: Match) -> None:
    found = match(SLOW.format(seconds=0.01), SLOW.format(seconds=0.05))
    assert isinstance(found, Measured), found
    assert min(found.student) >= 0.01 and min(found.baseline) >= 0.05
    assert 1.5 < found.estimate.median < 15


def test_slow_calls_are_timed_on_fewer_slots(match: Match) -> None:
    found = match(SLOW.format(seconds=0.2))
    assert isinstance(found, Measured), found
    assert 1 <= found.slots <= 2 and min(found.student) >= 0.2


COUNTS = "calls = 0\n" + HONEST.replace("def silu(x, out):\n", "def silu(x, out):\n    global calls\n    calls += 1\n")
WRONG = {
    "wrong from the ninth call on": COUNTS + "    if calls > 8: out.zero_()\n",
    "the first slot's answer for all": (
        "kept = []\n" + HONEST + "    kept.append(out.clone())\n    out.copy_(kept[0])\n"),
    "an element left out": HONEST + "    out.view(-1)[-1] = float('nan')\n",
    "the answer by the address of the input": (
        "import torch\nkept = {}\ndef silu(x, out):\n    if x.data_ptr() not in kept:\n"
        "        kept[x.data_ptr()] = torch.nn.functional.silu(x)\n    out.copy_(kept[x.data_ptr()])\n"),
}


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_every_answer_of_every_batch_is_checked(match: Match, source: str) -> None:
    found = match(source)
    assert isinstance(found, Wrong) and found.what == "values", found


def test_a_changed_input_is_found(match: Match) -> None:
    found = match(HONEST + "    x.view(-1)[5] += 1\n")
    assert isinstance(found, Wrong) and found.what == "input x"


# Says "done" through the page it has found, and goes on writing.
EARLY = """
import ctypes, time, torch
calls = 0
def silu(x, out):
    global calls
    calls += 1
    if calls % 4 == 0:
        page = [int(line.split('-')[0], 16) for line in open('/proc/self/maps') if 'memfd:clock' in line][0]
        words = (ctypes.c_int64 * 512).from_address(page)
        words[32] = words[24]
        time.sleep(0.01)
    torch.ops.aten.silu.out(x, out=out)
"""


def test_who_says_done_too_early_is_late(match: Match) -> None:
    found = match(EARLY)
    assert isinstance(found, Wrong) and found.what == "late", found


# A thread that computes the answer as soon as it sees new inputs, into memory of its own.
AHEAD = """
import threading, time, torch
known, done = {}, {}
def work():
    seen = {}
    while True:
        for key, x in list(known.items()):
            mark = float(x[0, 0])
            if seen.get(key) != mark:
                time.sleep(0.01)
                done[key] = (mark, torch.nn.functional.silu(x))
                seen[key] = mark
threading.Thread(target=work, daemon=True).start()
def silu(x, out):
    key = x.data_ptr()
    known[key] = x
    ready = done.get(key)
    if ready is not None and ready[0] == float(x[0, 0]):
        out.copy_(ready[1])
        return
    time.sleep(0.01)
    torch.ops.aten.silu.out(x, out=out)
"""


def test_a_thread_that_computes_ahead_has_next_to_no_time_to(match: Match) -> None:
    found = match(AHEAD, SLOW.format(seconds=0.010))
    # It may win some of the moment that it is left. With all the time between two batches it would win a factor of 10.
    assert isinstance(found, Measured) and found.estimate.median < 3, found


# Puts itself into the moment in which inputs are in sight and the clock has not been started.
WORKS_FIRST = """
import sys, time, torch
def wake(batches):
    time.sleep(0.06)
sys.modules['grader.worker.batches'].Batches.wake = wake
""" + HONEST


def test_what_is_done_between_waking_and_ready_is_in_the_time(match: Match) -> None:
    found = match(WORKS_FIRST)
    assert isinstance(found, Measured), found
    assert found.exposed >= 0.06 and statistics.median(found.student) * found.slots >= 0.05
    assert (statistics.median(found.student) - statistics.median(found.baseline)) * found.slots >= 0.03


# The worker's part of a batch in the submission's own hands: everything is done before the clock starts.
ALL_BEFORE = HONEST + """
import sys
def run(self, function, request, recording):
    words, number = self._words, request.number
    with recording:
        {at_marks}
        words[{marks}] = number
        while words[{set}] != number:
            pass
        for slot in [*request.slots, *{also}]:
            time.sleep({seconds})
            function(*self._slots[slot])
        words[{ready}] = number
        while words[{go}] != number:
            pass
        {at_go}
        words[{done}] = number
import time
sys.modules['grader.worker.batches'].Batches.run = run
"""
WORDS = {"marks": wire.MARKS, "set": wire.SET, "ready": wire.READY, "go": wire.GO, "done": wire.DONE,
         "at_marks": "pass", "at_go": "pass"}


@pytest.mark.parametrize("seconds", [0.01, 0.02])
def test_who_does_all_before_the_clock_starts_gains_a_share_at_most(match: Match, seconds: float) -> None:
    found = match(ALL_BEFORE.format(seconds=seconds, also="[]", **WORDS), SLOW.format(seconds=seconds))
    # By the clock alone it would be thousands of times as fast.
    assert isinstance(found, Measured) and found.estimate.median < 2, found


def test_what_fits_into_the_moment_before_the_clock_is_bounded_by_the_batch(
    match: Match, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the moment were long enough for all of the work, as it is for a GPU's shortest calls.
    for name in ("READY_SECONDS", "READY_ONCE_SECONDS"):
        monkeypatch.setattr(f"grader.judge.charges.{name}", 1.0)
    before, slow = ALL_BEFORE.format(seconds=0.01, also="[]", **WORDS), SLOW.format(seconds=0.01)
    found = match(before, slow)
    assert isinstance(found, Measured) and found.estimate.median < 2, found
    monkeypatch.setattr("grader.judge.charges.READY_SHARE", 1e9)
    control = match(before, slow)
    assert isinstance(control, Measured) and control.estimate.median > 4, control


# Host memory has no veil.
COLUMN = "def copy_first_column(matrix, out):\n    out.copy_(matrix[:, 0])\n"
TALL = Case(name="64x1024", sizes={"rows": 64, "cols": 1024})


def test_what_is_copied_from_the_host_before_the_clock_starts_is_not_the_answer(
    zygote: Zygote, other: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = assignments()["copy_first_column"]
    match = Match((zygote, other), column, 24, case=TALL)
    before = ALL_BEFORE.replace(HONEST, COLUMN).format(seconds=0, also="set(request.warm)", **WORDS)
    # Calls before the clock starts find contents that are whole.
    monkeypatch.setattr("grader.judge.duel.WARM_SECONDS", 1.0)
    honest = match(COLUMN, COLUMN)
    assert isinstance(honest, Measured) and honest.slots >= 20, honest
    found = match(before, COLUMN)
    assert isinstance(found, Wrong) and found.what == "values", found
    with pytest.MonkeyPatch.context() as patch:
        fill = Ring.fill

        def fill_whole(self: Ring) -> None:
            fill(self)
            self.complete()

        patch.setattr(Ring, "fill", fill_whole)
        assert isinstance(match(before, COLUMN), Measured)
    # What keeps its old value could be known by it.
    marked = ALL_BEFORE.replace(HONEST, COLUMN).format(seconds=0, also="set(request.warm)", **{
        **WORDS, "at_marks": "[matrix[:, 0].fill_(-7777.0) for matrix, out in self._slots]",
        "at_go": "[out.copy_(out.where(out != -7777.0, matrix[:, 0])) for matrix, out in self._slots]"})
    found = match(marked, COLUMN)
    assert isinstance(found, Wrong) and found.what == "values", found
    renew = column.renew
    assert renew is not None

    def renew_from_old(inputs: Inputs, generator: numpy.random.Generator) -> Renewal:
        return renew(inputs, generator)._replace(decoys=inputs["matrix"][:2, 0].clone())

    old = Match((zygote, other), column.model_copy(update={"renew": renew_from_old}), 24, case=TALL)
    assert isinstance(old(marked, COLUMN), Measured)


def test_calls_that_warm_up_are_checked_like_all(
    zygote: Zygote, other: Zygote, silu: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only short calls are warmed up for, and here none is.
    monkeypatch.setattr("grader.judge.duel.WARM_SECONDS", 1.0)
    many = Match((zygote, other), silu, 24)
    for source in (HONEST, ALL_BEFORE.format(seconds=0, also="set(request.warm)", **WORDS)):
        found = many(source)
        assert isinstance(found, Measured) and found.slots >= 20, found
    skipped = many(ALL_BEFORE.format(seconds=0, also="[]", **WORDS))
    # The slot after those of the batch, of which a busy machine may have fewer.
    assert isinstance(skipped, Wrong) and skipped.what == "values" and skipped.slot >= 20, skipped


# Writes over its inputs as soon as its answer is given, for whoever comes next.
SPOILS = """
import threading, time, torch
seen = {}
def work():
    while True:
        time.sleep(0.0005)
        for x in list(seen.values()):
            x.fill_(3.0)
def silu(x, out):
    torch.ops.aten.silu.out(x, out=out)
    seen[x.data_ptr()] = x
    if len(seen) == 1 and threading.active_count() == 1:
        threading.Thread(target=work, daemon=True).start()
"""


def test_who_spoils_inputs_harms_itself_alone(match: Match) -> None:
    found = match(SPOILS)
    # The baseline's answers stay right: that they are wrong would be a failure of ours.
    assert isinstance(found, Wrong | Measured), found


def test_who_is_slow_while_slots_are_counted_out_gets_all_of_them(match: Match) -> None:
    # The first two batches have one call each.
    found = match("calls = 0\nimport time\n" + HONEST + (
        "    global calls\n    calls += 1\n    time.sleep(0.4 if calls < 4 else 0.002)\n"))
    assert isinstance(found, Measured) and found.slots == SLOTS, found


TOUCHES = "import time\nseen = set()\n" + HONEST + """
    if x.data_ptr() not in seen:
        seen.add(x.data_ptr())
        time.sleep(0.05)
"""


def test_memory_that_is_touched_for_the_first_time_does_not_make_batches_short(
    zygote: Zygote, other: Zygote, silu: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Four such calls, or more than there are slots of those that a slow machine makes.
    monkeypatch.setattr("grader.judge.duel.BATCH_SECONDS", 0.2)
    found = Match((zygote, other), silu, 15, least=4)(TOUCHES, TOUCHES)
    assert isinstance(found, Measured) and found.slots == 15, found
    assert statistics.median(found.student) < 0.03, found.student


def test_no_garbage_is_collected_in_timed_calls(match: Match) -> None:
    found = match("import gc\n" + HONEST + "    assert not gc.isenabled()\n")
    assert isinstance(found, Measured), found


def test_who_uses_up_the_time_is_told_so_and_a_baseline_that_does_is_ours(
    zygote: Zygote, other: Zygote, silu: Assignment
) -> None:
    short = Match((zygote, other), silu, seconds=0.5)
    lost = short(SLOW.format(seconds=0.2))
    assert isinstance(lost, Lost) and lost.kind == "time_out" and "timed calls took" in lost.message, lost
    with pytest.raises(InfrastructureError, match="before enough of them were made"):
        short(HONEST, SLOW.format(seconds=0.2))


def test_work_that_begins_while_contents_are_written_is_not_there_while_the_baseline_is_timed(
    zygote: Zygote, other: Zygote, silu: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    blamed: list[Lost] = []
    inner = _Duel._timed_baseline

    def timed_baseline(self: _Duel, which: int) -> object:
        def await_quiet() -> None:
            blamed.append(self.student.session.lose("late_write", "Work was still running."))
            raise Refused(blamed[0])

        if self._student and not blamed:
            monkeypatch.setattr(self.placing, "await_quiet", await_quiet)
        return inner(self, which)

    monkeypatch.setattr(_Duel, "_timed_baseline", timed_baseline)
    with ExitStack() as opened:
        sessions: list[Session] = []
        for source in (zygote, other, zygote):
            if source is zygote and sessions:
                sessions[0].close()
            session = Session(source, silu, HONEST.encode(), LIMITS, 1000, 10, time.monotonic() + 100)
            opened.callback(session.close)
            sessions.append(session)
            assert session.load() is None
            if len(sessions) == 1:
                continue
            baseline = Side(sessions[1])
            found = duel(silu, CASE, Side(sessions[0 if source is other else 2]), baseline, SLOTS, least=SLOTS,
                         cuda=False, until=time.monotonic() + 60)
            # It is the student's failure, and the baseline's worker goes on.
            assert isinstance(found, Measured) if source is zygote else found == blamed[0], found
    assert len(blamed) == 1


def test_nobody_is_watched_while_the_clock_runs(match: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a look at memory takes would be in the time: ten milliseconds and more of a baseline with many processes.
    started, within, between = [0.0], list[float](), [0]
    awaits, check = Clock._await, Watchdog.check

    def awaited(self: Clock, word: int, number: int, deadline: float) -> bool:
        started[0] = time.monotonic() if word == wire.DONE else 0.0
        try:
            return awaits(self, word, number, deadline)
        finally:
            started[0] = 0.0

    def checked(self: Watchdog) -> object:
        if started[0]:
            within.append(time.monotonic() - started[0])
        else:
            between[0] += 1
        return check(self)

    monkeypatch.setattr(Clock, "_await", awaited)
    monkeypatch.setattr(Watchdog, "check", checked)
    found = match(SLOW.format(seconds=0.008), SLOW.format(seconds=0.008))
    assert isinstance(found, Measured), found
    # Batches that a busy machine draws out are watched after a while.
    assert between[0] and min(within, default=1.0) > 0.6 * WATCH_AHEAD, within


def test_what_ran_is_recorded_in_calls_that_do_not_count(match: Match) -> None:
    found = match(HONEST)
    assert isinstance(found, Measured)
    assert [use.name for use in found.operators][:1] == ["aten::silu"]


def test_a_baseline_that_fails_is_a_failure_of_ours(match: Match) -> None:
    with pytest.raises(InfrastructureError, match="the baseline failed: ValueError: broken"):
        match(HONEST, "def silu(x, out):\n    raise ValueError('broken')\n")
    # Whose doing that is shows when the submission is gone.
    with pytest.raises(torch.OutOfMemoryError, match="the baseline found no memory"):
        match(HONEST, "import torch\ndef silu(x, out):\n    raise torch.OutOfMemoryError('none left')\n")
    with pytest.raises(InfrastructureError, match="the baseline's answer is wrong"):
        match(HONEST, "def silu(x, out):\n    out.zero_()\n")
